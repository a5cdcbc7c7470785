"""Iterations of generalized approximate message passing, damped if they oscillate: Rangan (2011), Algorithm 1."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.theory import priors
from lrlab.theory.channels import TINY, Answer, answer

LEAST_VARIANCE, FARTHEST = 1e-12, 1e3
"""Bounds of variances and of indices, beyond which likelihoods overflow."""
PATIENCE, TURNS, LEAST_STEP = 10, 4, 0.3
ROWS = 2**14


class State(NamedTuple):
    """Posterior mean b (p,); variance V and mean w (n,) of the indices X b; score g (n,); variances of entries (p,).

    score is None at an initialization; variances is None if all entries have V / p, as in the limit of large p.
    """

    b: Array
    V: float
    w: Array
    score: Array | None = None
    variances: Array | None = None


class Point(NamedTuple):
    """A state, the log-likelihoods of the responses there (n,), the size of the change that follows, and its step."""

    state: State
    log_chance: Array
    change: float
    step: float


def iterations(problem: Any, start: State, rate: float) -> Iterator[Point]:
    """Yield `start` and the states that follow, without end.

        g_i = d log P(y_i; w_i, V) / dw,  h_i = -dg_i / dw,  S = 1 / sum_i h_i,  R = b + S X^T g
        b <- E[b | R = b + N(0, S)],  V <- summed variances of b,  w <- X b - V g

    problem: X (n, p), y (n,), a link, which has `theory.channels.answer`, and checkpoint. rate: of the entries of b
    that are not 0; ||b_true|| = 1.
    """
    X, (b, V, w, score, v) = problem.X, start
    scale, step, changes, cosines, before = math.sqrt(len(b)), 1.0, list[float](), list[float](), 0.0 * b
    while True:
        spread = V if v is None else np.maximum(squared(X, v), LEAST_VARIANCE)
        at = answers(problem, problem.link, np.clip(w, -FARTHEST, FARTHEST), spread)
        g = at.score if score is None else step * at.score + (1.0 - step) * score
        S = entry_noise(X, g, at.curvature, v)
        # In units of 1 / sqrt(p), so that an entry has variance 1.
        posterior = priors.posterior(scale * (b + S * (g @ X)), scale**2 * S, rate)
        b_next, V_next = posterior.mean / scale, min(max(posterior.variance, LEAST_VARIANCE), 1.0) ** step
        V_next *= V ** (1.0 - step)
        # Left free, ||b||^2 and V drift against each other while V is small; made to agree while V is large, they
        # oscillate.
        b_next = b_next * ((1.0 - V_next) / max(float(b_next @ b_next), TINY)) ** ((1.0 - V_next) / 2.0)
        b_next = step * b_next + (1.0 - step) * b
        move = b_next - b
        size = float(np.linalg.norm(move))
        changes.append(max(size, abs(V_next - V)) / step)
        cosines.append(float(move @ before) / max(size * float(np.linalg.norm(before)), TINY))
        yield Point(State(b, V, w, score, v), at.log_chance, changes[-1], step)
        if v is not None:
            v = (np.maximum(posterior.variances, LEAST_VARIANCE) / scale**2) ** step * v ** (1.0 - step)
        b, V, score, before = b_next, V_next, g, move
        w = X @ b - (V if v is None else squared(X, v)) * g
        if oscillates(changes, cosines):
            step, changes, cosines = max(LEAST_STEP, step / 1.5), [], []


def answers(problem: Any, link: Any, w: Array, spread: Array | float) -> Answer:
    """Return the likelihood of the responses, by blocks of rows: quadratures take a hundred numbers per row."""
    n, parts = len(w), list[Answer]()
    for first in range(0, n, ROWS):
        problem.checkpoint(first / n)
        rows = slice(first, first + ROWS)
        own = spread[rows] if isinstance(spread, np.ndarray) and spread.ndim else spread
        parts.append(answer(link, w[rows], own, problem.y[rows]))
    return parts[0] if len(parts) == 1 else Answer(*map(np.concatenate, zip(*parts, strict=True)))


def entry_noise(X: Array, g: Array, h: Array, v: Array | None) -> Array | float:
    """Return S, the variances of the entries given all responses g, h (n,): one for all, or (p,)."""
    total = (lambda a: float(a.sum())) if v is None else (lambda a: squared(X.T, a))
    precision = total(h)
    if np.min(precision) <= 0.0:
        # E h = E g^2 under the model, and a sum of squares is positive.
        precision = np.where(precision > 0.0, precision, total(np.square(g)))
    return 1.0 / np.maximum(precision, 1e-30)


def squared(X: Array, v: Array) -> Array:
    """Return the product of the squared entries of X with v."""
    return np.einsum("ij,ij,j->i", X, X, v)


def oscillates(changes: list[float], cosines: list[float]) -> bool:
    """Return whether changes reverse four times without falling, or have not fallen for ten iterations.

    A change may grow for some iterations: while a sparse truth takes shape, damping would only disturb.
    """
    reverses = len(cosines) >= TURNS and max(cosines[-TURNS:]) < -0.5 and changes[-1] > 0.7 * changes[-TURNS]
    last, earlier = changes[-PATIENCE:], changes[-2 * PATIENCE : -PATIENCE]
    return reverses or (len(earlier) == PATIENCE and min(last) > 0.9 * min(earlier))

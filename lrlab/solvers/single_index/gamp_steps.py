"""Iterations of generalised approximate message passing in a single-index model, damped where they oscillate."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.models.protocols import SingleIndexData
from lrlab.theory import priors
from lrlab.theory.channels import TINY, answer
from lrlab.theory.predicted_overlap import spectral_start
from lrlab.theory.spectral import known_link_weights

# Variances cannot fall to 0: answers without noise would then be events of probability 0.
LEAST_VARIANCE = 1e-12
ROWS = 2**14
PATIENCE, TURNS = 10, 4
LEAST_STEP = 0.3


class State(NamedTuple):
    """Posterior means b (p,) with the summed variance V of its entries, and the means w (n,) of the indices X b.

    score: g (n,) of the update that led here, None at the start.
    """

    b: Array
    V: float
    w: Array
    score: Array | None


class Point(NamedTuple):
    """A state, the size of the change that follows it, and the step with which it is made."""

    state: State
    change: float
    step: float


def path(problem: SingleIndexData, now: State, rate: float) -> Iterator[Point]:
    """Yield `now` and the states that follow, without end; steps are damped where they oscillate."""
    step, changes, cosines, before = 1.0, list[float](), list[float](), now.b * 0.0
    while True:
        following = updated(problem, now, rate, step)
        move = following.b - now.b
        size = float(np.linalg.norm(move))
        changes.append(max(size, abs(following.V - now.V)) / step)
        cosines.append(float(move @ before) / max(size * float(np.linalg.norm(before)), TINY))
        yield Point(now, changes[-1], step)
        if oscillates(changes, cosines):
            step, changes, cosines = max(LEAST_STEP, step / 1.5), [], []
        now, before = following, move


def oscillates(changes: list[float], cosines: list[float]) -> bool:
    """Return whether changes, one an iteration, reverse four times, or stay as they are for ten.

    cosines: of the angles between each change of b and the one before. A change may well grow for some iterations:
    while a sparse truth takes shape, damping would only disturb.
    """
    reverses = len(cosines) >= TURNS and max(cosines[-TURNS:]) < -0.5 and changes[-1] > 0.7 * changes[-TURNS]
    return reverses or (
        len(changes) >= 2 * PATIENCE and min(changes[-PATIENCE:]) > 0.9 * min(changes[-2 * PATIENCE : -PATIENCE])
    )


def updated(problem: SingleIndexData, now: State, rate: float, step: float) -> State:
    """Return the state after one update, of which g and b move by the share `step`."""
    X, p = problem.X, len(now.b)
    score, precision = _answers(problem, now)
    if now.score is not None:
        score = step * score + (1.0 - step) * now.score
    if precision <= 0.0:
        # E h = E g^2 under the model; the sum of squares cannot be negative where chance makes the other so.
        precision = float(score @ score)
    S = 1.0 / max(precision, TINY)
    # In units of 1 / sqrt(p), in which an entry has variance 1.
    posterior = priors.posterior(math.sqrt(p) * (now.b + S * (score @ X)), p * S, rate)
    b = posterior.mean / math.sqrt(p)
    V = min(max(posterior.variance, LEAST_VARIANCE), 1.0)
    # 1 = ||b_true||^2 = ||b||^2 + V. Left free, the two drift against each other for hundreds of iterations where V is
    # small; made equal where little is known of b, they oscillate.
    b = b * ((1.0 - V) / max(float(b @ b), TINY)) ** ((1.0 - V) / 2.0)
    b = step * b + (1.0 - step) * now.b
    return State(b, V, X @ b - V * score, score)


def _answers(problem: SingleIndexData, now: State) -> tuple[Array, float]:
    """Return g (n,) and the sum of h, by blocks of rows: a link's quadrature takes some hundred numbers a row."""
    score, precision, n = np.empty_like(now.w), 0.0, len(now.w)
    for start in range(0, n, ROWS):
        problem.checkpoint(start / n)
        rows = slice(start, start + ROWS)
        at = answer(problem.link, now.w[rows], now.V, problem.y[rows])
        score[rows] = at.score
        precision += float(at.curvature.sum())
    return score, precision


def from_spectral(problem: SingleIndexData, v: Array) -> State:
    """Return the optimal spectral estimate v (p,), scaled to be a posterior mean of its predicted overlap."""
    (n, p), weights = problem.shape, known_link_weights(problem.link.moments)
    limit = spectral_start(problem.link, n / p)
    # Below the weak-recovery threshold the estimate is noise, and t is 1, its value there.
    q, t = (limit.overlap, limit.dual) if limit.overlap > 0 else (0.0, 1.0)
    q = max(q, 1.0 / math.sqrt(p))
    b = math.sqrt(q) * v
    return State(b, 1.0 - q, problem.X @ b * (1.0 - t * np.where(problem.y > 0, weights.pos, weights.neg)), None)

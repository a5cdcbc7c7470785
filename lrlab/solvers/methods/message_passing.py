"""Generalized approximate message passing (GAMP): Rangan (2011), Algorithm 1 with scalar variances, and damping.

From responses y with P(y_i; w, V) for an index <x_i, b> ~ N(w, V), and a prior of b with ||b|| = 1, one iteration is

    g_i = d log P(y_i; w_i, V) / dw,    h_i = -dg_i / dw                    (`theory.channels`)
    S = 1 / sum_i h_i,    R = b + S X^* g
    b <- E[b | R = b + N(0, S)],    V <- the summed variances of b          (`theory.priors`)
    w <- X b - V g
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from lrlab.arrays import Array, Vector
from lrlab.linalg import length, unit
from lrlab.theory import priors
from lrlab.theory.channels import TINY, answer

ROWS = 2**14


class State(NamedTuple):
    """Posterior mean b (p,), variance V and mean w (n,) of the indices.

    `iterations` adds X b (n,), the size of the change that follows, and its step, below 1 if damped.
    """

    b: Vector
    V: float
    w: Vector
    Xb: Vector = np.empty(0)
    change: float = math.inf
    step: float = 1.0


def spectral_state(X: Any, v: Vector, overlap: float, pull: Array | float = 0.0) -> State:
    """Return the state of an estimate along v (p,) with a predicted overlap.

    pull: t T(y_i) for the eigenvector of sum T(y_i) x_i x_i^* with the dual t (`theory.spectral`, `theory.phase`), so
    that w_i is the index of an eigenvector that has not seen response i (compare Mondelli & Venkataramanan 2021,
    "Approximate message passing with spectral initialization").
    """
    b = math.sqrt(overlap) * unit(v)
    return State(b, 1.0 - overlap, (1.0 - pull) * (X @ b))


def iterations(
    problem: Any, start: State, rate: float = 1.0, *, scaled: bool = True, patience: int = 10, least_step: float = 0.3
) -> Iterator[State]:
    """Yield `start` and the states that follow, without end.

    problem: X (n, p), y (n,), a link, which has `theory.channels.answer`, and checkpoint. rate: of the entries of b
    that are not 0. scaled: whether b is scaled towards ||b||^2 = 1 - V. If changes reverse, or have not fallen for
    `patience` iterations, g, b and log V move part of the way only, at least `least_step`.
    """
    X, (b, V, w, *_), score = problem.X, start, 0.0 * start.w
    p, least = len(b), 1e-12 if scaled else 1e-28
    step, changes, cosines, move_before, Xb = 1.0, list[float](), list[float](), 0.0 * b, X @ b
    while True:
        g, h = channel(problem, w, V)
        g = step * g + (1.0 - step) * score
        # E h = E |g|^2 under the model, and a sum of squares is positive.
        S = 1.0 / max(h if h > 0.0 else float(np.vdot(g, g).real), 1e-30)
        # In units of 1 / sqrt(p), so that an entry has variance 1.
        mean, variance = priors.posterior(np.sqrt(p) * (b + S * (g.conj() @ X).conj()), p * S, rate)
        b_next, V_next = mean / np.sqrt(p), min(max(variance, least), 1.0) ** step * V ** (1.0 - step)
        if scaled:
            # Left free, ||b||^2 and V drift against each other while V is small; made to agree while V is large, they
            # oscillate.
            b_next = b_next * ((1.0 - V_next) / max(length(b_next) ** 2, TINY)) ** ((1.0 - V_next) / 2.0)
        b_next = step * b_next + (1.0 - step) * b
        move = b_next - b
        changes.append(max(length(move), abs(V_next - V)) / step)
        cosines.append(np.vdot(move, move_before).real / max(length(move) * length(move_before), TINY))
        yield State(b, V, w, Xb, changes[-1], step)
        b, V, score, move_before, Xb = b_next, V_next, g, move, X @ b_next
        w = Xb - V * g
        # A change may grow for some iterations: while a sparse truth takes shape, damping would only disturb.
        reverses = len(cosines) >= 4 and max(cosines[-4:]) < -0.5 and changes[-1] > 0.7 * changes[-4]
        if reverses or stands_still(changes, patience):
            step, changes, cosines = max(least_step, step / 1.5), [], []


def channel(problem: Any, w: Vector, V: float) -> tuple[Vector, float]:
    """Return the score g (n,) and the sum of h, by blocks of rows: quadratures take a hundred numbers per row."""
    # Likelihoods overflow beyond 1,000.
    g, h, w = np.empty_like(w), 0.0, w * np.minimum(1.0, 1e3 / np.maximum(np.abs(w), 1.0))
    for first in range(0, len(w), ROWS):
        problem.checkpoint(first / len(w))
        rows = slice(first, first + ROWS)
        at = answer(problem.link, w[rows], V, problem.y[rows])
        g[rows], h = at.score, h + float(at.curvature.sum())
    return g, h


def stands_still(values: Sequence[float], patience: int) -> bool:
    """Return whether the last values are hardly smaller than as many before them."""
    earlier = values[-2 * patience : -patience]
    return len(earlier) == patience and min(values[-patience:]) > 0.9 * min(earlier)

"""The rank of a matrix from linear measurements: by held-out measurements, or by growing fits."""

import math

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.operators.krylov import nearest
from lrlab.operators.operator import Operator
from lrlab.operators.tangent import gauss_newton_step, point

HELD_OUT = 0.1
"""Fraction of held-out measurements."""
BETTER, PATIENCE, EXACT = 0.97, 4, 1e-4
"""A larger rank lowers the held-out residual norm at least to this fraction; number of larger ranks to try without
success; relative residual norm that ends the search."""
PREDICTED = 0.5
"""Relative held-out residual norm below which measurements count as predicted."""
ROUGH = 0.1
"""Accuracy of the term that is added to a fit before it is refined."""


def held_out(A: Operator, b: Array, most: int, rng: Generator) -> tuple[int, float]:
    """Return the k <= most whose fit to nine tenths of the measurements predicts the others best.

    Also return the least relative residual norm of the held-out measurements.

    Ranks 1, 2, ... are fitted by Gauss-Newton, each from the fit before and the leading term of the moment of its
    residual. Terms that noise hides are not worth their unknowns: the guess is then smaller than the rank.
    """
    if len(b) < 2:
        return 1, np.inf
    held, inside = np.split(rng.permutation(len(b)), [max(1, round(HELD_OUT * len(b)))])
    held, inside = np.sort(held), np.sort(inside)
    part, others = A.subset(inside), A.subset(held)
    W, best, guess = lowrank.zero(A.shape, 0, A.dtype), np.inf, 1
    for k in range(1, most + 1):
        W = fitted(part, b[inside], extended(part, b[inside], W, rng), EXACT / 10, 15, 0.9)
        misfit = relative_misfit(others, b[held], W)
        if misfit < BETTER * best:
            best, guess = misfit, k
        if best < EXACT or k >= guess + PATIENCE:
            break
    return guess, best


def by_growth(A: Operator, b: Array, most: int, rng: Generator) -> int:
    """Return the smallest k <= most with a matrix that fits all measurements; else the result of `held_out`.

    A direction is added while the residual exceeds rounding; directions are dropped again if a fit exists without them.
    If noise leaves a residual at any rank, held-out measurements decide if they are predicted; else the rank is `most`.
    """
    exact, W = math.sqrt(float(np.finfo(A.dtype).eps)), lowrank.zero(A.shape, 0, A.dtype)

    def fit(W: LowRank) -> LowRank:
        return fitted(A, b, W, exact, 40, 0.98)

    for _ in range(most):
        W = fit(extended(A, b, W, rng))
        if relative_misfit(A, b, W) <= exact:
            break
    else:
        guess, misfit = held_out(A, b, most, rng)
        return guess if misfit < PREDICTED else most
    k = len(W.s)
    while k > 1:
        smaller = (W.truncated(k - 1), nearest(A.moment(b), k - 1, rng, ROUGH))
        if all(relative_misfit(A, b, fit(T)) > exact for T in smaller):
            break
        k -= 1
    return k


def extended(A: Operator, b: Array, W: LowRank, rng: Generator) -> LowRank:
    """Return W and the leading term of the moment of its residual."""
    term = nearest(A.moment(b - A(W)), 1, rng, ROUGH)
    left, s, right = (np.concatenate(parts, axis=-1) for parts in zip(W, term, strict=True))
    return lowrank.from_square(left, s) if A.symmetric else lowrank.from_product(left * s, right)


def fitted(A: Operator, b: Array, W: LowRank, exact: float, steps: int, settled: float) -> LowRank:
    """Return a better fit of the same rank, by Gauss-Newton until a step leaves more than `settled` of its residual.

    Inaccurate least squares in the tangent space suffice.
    """
    misfit, d1, k = relative_misfit(A, b, W), A.shape[0], len(W.s)
    for _ in range(steps):
        Z = gauss_newton_step(A, point(A, W, b), 0.1, 30).D
        (U, s, V), symmetric = W, A.symmetric
        if symmetric:
            basis, R = np.linalg.qr(np.hstack([U, Z]))
            new = lowrank.from_core(basis, R @ np.block([[np.diag(s), np.eye(k)], [np.eye(k), 0 * np.eye(k)]]) @ R.T, k)
        else:
            new = lowrank.from_product(np.hstack([U * s + Z[:d1], U]), np.hstack([V, Z[d1:]]), k)
        before, misfit = misfit, relative_misfit(A, b, new)
        if misfit < before:
            W = new
        if not exact < misfit < settled * before:
            break
    return W


def relative_misfit(A: Operator, b: Array, W: LowRank) -> float:
    """Return ||A(W) - b|| / ||b||."""
    return float(np.linalg.norm(A(W) - b) / (np.linalg.norm(b) or 1.0))

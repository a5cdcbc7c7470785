"""The rank of a matrix from linear measurements: by held-out ones, or by fits of growing rank."""

import math

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.operators.krylov import nearest
from lrlab.operators.operator import Operator
from lrlab.operators.tangent import gauss_newton_step, point

EXACT = 1e-4
"""Relative residual norm of held-out measurements that ends the search."""


def held_out(
    A: Operator, b: Array, most: int, rng: Generator, better: float = 0.97, patience: int = 4
) -> tuple[int, float]:
    """Return the k <= most whose fit to nine tenths of the measurements predicts the others best, and their misfit.

    Ranks 1, 2, ... are fitted by Gauss-Newton, each from the fit before and the leading term of the moment of its
    residual. A larger rank must lower the held-out residual norm at least to the fraction `better`; the search ends
    after `patience` ranks that do not. Terms that noise hides are not worth their unknowns: the guess is then smaller
    than the rank.
    """
    if len(b) < 2:
        return 1, np.inf
    held, inside = np.split(rng.permutation(len(b)), [max(1, round(0.1 * len(b)))])
    held, inside = np.sort(held), np.sort(inside)
    part, others = A.subset(inside), A.subset(held)
    W, best, guess = lowrank.zero(A.shape, 0, A.dtype), np.inf, 1
    for k in range(1, most + 1):
        W = fitted(part, b[inside], extended(part, b[inside], W, rng), EXACT / 10)
        misfit = relative_misfit(others, b[held], W)
        if misfit < better * best:
            best, guess = misfit, k
        if best < EXACT or k >= guess + patience:
            break
    return guess, best


def least_that_fits(A: Operator, b: Array, most: int, rng: Generator) -> int:
    """Return the least k <= most with a matrix that fits all measurements up to rounding.

    Terms are added while the residual exceeds rounding, and dropped again if a fit exists without them. If noise leaves
    a residual at any rank, the rank is the one of `held_out` if that predicts half of the measurements, else `most`.
    """
    exact, W = math.sqrt(float(np.finfo(A.dtype).eps)), lowrank.zero(A.shape, 0, A.dtype)

    def fit(W: LowRank) -> LowRank:
        return fitted(A, b, W, exact, steps=40, settled=0.98)

    for _ in range(most):
        W = fit(extended(A, b, W, rng))
        if relative_misfit(A, b, W) <= exact:
            break
    else:
        guess, misfit = held_out(A, b, most, rng)
        return guess if misfit < 0.5 else most
    for k in range(len(W.s) - 1, 0, -1):
        smaller = W.truncated(k), nearest(A.moment(b), k, rng, settled=0.1)
        if all(relative_misfit(A, b, fit(T)) > exact for T in smaller):
            return k + 1
    return 1


def extended(A: Operator, b: Array, W: LowRank, rng: Generator) -> LowRank:
    """Return W and the leading term of the moment of its residual, roughly: the fit refines it."""
    term = nearest(A.moment(b - A(W)), 1, rng, settled=0.1)
    left, s, right = (np.concatenate(parts, axis=-1) for parts in zip(W, term, strict=True))
    return lowrank.from_square(left, s) if A.symmetric else lowrank.from_product(left * s, right)


def fitted(A: Operator, b: Array, W: LowRank, exact: float, steps: int = 15, settled: float = 0.9) -> LowRank:
    """Return a better fit of the same rank, by Gauss-Newton until a step leaves more than `settled` of its residual.

    A relative residual norm of `exact` ends it, too. Inaccurate least squares in the tangent space suffice.
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

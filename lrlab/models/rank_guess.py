"""The rank of a matrix from linear measurements: by the gap of their moment, numbers held out, or fits that grow."""

import math

import numpy as np
from numpy.random import Generator
from scipy.sparse.linalg import LinearOperator, svds

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.operators.operator import Operator, least_squares

FORMED = 400**2
"""Moments of up to so many entries are formed and decomposed whole."""

HELD_OUT = 0.1
"""Share of the measurements that are held out."""

BETTER = 0.97
"""A larger rank is taken if the held-out misfit falls below this share of that of a smaller one."""

EXACT = 1e-4
"""Relative held-out misfit at which no larger rank is tried."""

PATIENCE = 4
"""Ranks without improvement after which no larger one is tried."""

PREDICTED = 0.5
"""Relative held-out misfit below which numbers count as predicted."""

ROUGH = 0.1
"""Accuracy of the term that is added to a fit before it is refined."""

STEPS, INNER_STEPS, INNER_TOL, SETTLED = 15, 30, 0.1, 0.9
"""Gauss-Newton steps of a rank, conjugate-gradient steps and accuracy of each; share of the misfit that ends them."""

LONG_STEPS, SLOW = 40, 0.98
"""The same steps, and the same share, of a fit that is to be exact."""


def by_gap(operator: Operator, b: Array, most: int) -> int:
    """Return the k <= most at which s_k / s_(k+1) is largest, s the singular values of the moment of b.

    Right where the singular values of W are equal and the measurements many, as noise of the moment hides small ones.
    """
    s = np.abs(leading(operator, b, most + 1).s)
    return int(np.argmax(s[:-1] / np.maximum(s[1:], 1e-300))) + 1 if len(s) > 1 else 1


def by_held_out(operator: Operator, b: Array, most: int, rng: Generator) -> int:
    """Return the k <= most whose fit to nine tenths of the measurements predicts the others best."""
    return held_out(operator, b, most, rng)[0]


def held_out(operator: Operator, b: Array, most: int, rng: Generator) -> tuple[int, float]:
    """Return the guess of `by_held_out`, and the least relative misfit of the numbers that are held out.

    Ranks 1, 2, ... are fitted by Gauss-Newton, each from the fit before and the leading term of the moment of what it
    leaves. Terms that noise hides are not worth their unknowns: the guess is then smaller than the rank.
    """
    inside = np.ones_like(b)
    inside[rng.permutation(len(b))[: max(1, round(HELD_OUT * len(b)))]] = 0.0
    W, best, guess = lowrank.zero(operator.shape, 0, operator.dtype), np.inf, 1
    for k in range(1, most + 1):
        term = leading(operator, inside * (b - operator.forward(W)), 1, ROUGH)
        W = fitted(operator, b, inside, joined(operator, W, term))
        misfit = relative_misfit(operator, b, 1.0 - inside, W)
        if misfit < BETTER * best:
            best, guess = misfit, k
        if best < EXACT or k >= guess + PATIENCE:
            break
    return guess, best


def by_growth(operator: Operator, b: Array, most: int, rng: Generator) -> int:
    """Return the least k <= most of which a matrix is found that fits all measurements; else that of `by_held_out`.

    A direction is added while the misfit is more than rounding, and those are dropped again without which a fit is
    found. Where noise leaves a misfit at any rank, numbers that are held out decide, if they are predicted; else it is
    `most`.
    """
    W = grown(operator, b, most)
    if W is None:
        guess, misfit = held_out(operator, b, most, rng)
        return guess if misfit < PREDICTED else most
    k = len(W.s)
    while k > 1 and any(fit(operator, b, T)[1] for T in (W.truncated(k - 1), leading(operator, b, k - 1, ROUGH))):
        k -= 1
    return k


def grown(operator: Operator, b: Array, most: int) -> LowRank | None:
    """Return a matrix that fits all measurements: of rank 1, 2, ..., each from the one before and a term of its misfit.

    None where there is none of a rank up to `most`.
    """
    W = lowrank.zero(operator.shape, 0, operator.dtype)
    for _ in range(most):
        W, exact = fit(operator, b, joined(operator, W, leading(operator, b - operator.forward(W), 1, ROUGH)))
        if exact:
            return W
    return None


def fit(operator: Operator, b: Array, W: LowRank) -> tuple[LowRank, bool]:
    """Return a fit, of the rank of W, to all measurements, and whether nothing is left of them but slow convergence."""
    everything, exact = np.ones_like(b), math.sqrt(float(np.finfo(operator.dtype).eps))
    W = fitted(operator, b, everything, W, exact, LONG_STEPS, SLOW)
    return W, relative_misfit(operator, b, everything, W) <= exact


def leading(operator: Operator, r: Array, rank: int, tol: float = 0.0) -> LowRank:
    """Return the leading terms of the moment of r; large ones to a relative accuracy, 0 for that of the arithmetic."""
    if operator.shape[0] * operator.shape[1] <= FORMED:
        M = operator.moment(r)
        return lowrank.from_symmetric(M, rank) if operator.symmetric else lowrank.from_dense(M, rank)
    times = LinearOperator(
        operator.shape,
        matvec=lambda v: operator.moment_left(r, v.reshape(-1, 1), operator.right(v.reshape(-1, 1))).ravel(),
        rmatvec=lambda u: operator.moment_right(r, u.reshape(-1, 1), operator.left(u.reshape(-1, 1))).ravel(),
        dtype=operator.dtype,
    )
    U, s, Vt = svds(times, k=min(rank, min(operator.shape) - 1), v0=np.ones(min(operator.shape)), tol=tol)
    order = np.argsort(-s)
    U, s, V = U[:, order], s[order], Vt[order].T
    if not operator.symmetric:
        return LowRank(U, s, V)
    return LowRank(U, s * np.sign((U * V).sum(axis=0)), U)


def joined(operator: Operator, W: LowRank, term: LowRank) -> LowRank:
    """Return W + term."""
    left, s, right = (np.concatenate(parts, axis=-1) for parts in zip(W, term, strict=True))
    if not operator.symmetric:
        return lowrank.from_product(left * s, right)
    Q, R = np.linalg.qr(left)
    return lowrank.from_core(Q, (R * s) @ R.T, len(s))


def fitted(
    operator: Operator,
    b: Array,
    inside: Array,
    W: LowRank,
    exact: float = EXACT / 10,
    steps: int = STEPS,
    settled: float = SETTLED,
) -> LowRank:
    """Return a better fit, of the rank of W, to the numbers that are inside: Gauss-Newton until a step helps little."""
    misfit = relative_misfit(operator, b, inside, W)
    for _ in range(steps):
        new = gauss_newton_step(operator, b, inside, W)
        before, misfit = misfit, relative_misfit(operator, b, inside, new)
        if misfit < before:
            W = new
        if not exact < misfit < settled * before:
            break
    return W


def gauss_newton_step(operator: Operator, b: Array, inside: Array, W: LowRank) -> LowRank:
    """Return the nearest matrix of the rank of W to W + A V^T + U B^T, A and B a least-squares solution."""
    (U, s, V), d1, k = W, len(W.U), len(W.s)
    P = operator.left(U)
    Q = P if operator.symmetric else operator.right(V)
    rest = inside * (b - operator.pair(P * s, Q))
    if operator.symmetric:
        Z = least_squares(
            lambda Z: 2 * inside * operator.pair(operator.left(Z), P),
            lambda r: 2 * operator.pull_left(r, P),
            rest,
            np.zeros_like(U),
            0.0,
            INNER_TOL,
            INNER_STEPS,
        )
        basis, R = np.linalg.qr(np.hstack([U, Z]))
        core = np.diag(np.concatenate([s, np.zeros_like(s)]))
        core[:k, k:] = core[k:, :k] = np.eye(k)
        return lowrank.from_core(basis, R @ core @ R.T, k)
    S = least_squares(
        lambda S: inside * (operator.pair(operator.left(S[:d1]), Q) + operator.pair(P, operator.right(S[d1:]))),
        lambda r: np.vstack([operator.pull_left(r, Q), operator.pull_right(r, P)]),
        rest,
        np.zeros((d1 + len(V), k), s.dtype),
        0.0,
        INNER_TOL,
        INNER_STEPS,
    )
    return lowrank.from_product(np.hstack([U * s + S[:d1], U]), np.hstack([V, S[d1:]]), k)


def relative_misfit(operator: Operator, b: Array, counted: Array, W: LowRank) -> float:
    """Return ||A(W) - b|| / ||b|| over the numbers that are counted."""
    return float(np.linalg.norm(counted * (operator.forward(W) - b)) / (np.linalg.norm(counted * b) or 1.0))

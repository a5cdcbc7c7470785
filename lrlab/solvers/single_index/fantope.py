"""Sparse leading eigenvectors by convex relaxation: the Fantope problem of Vu et al. (2013), solved by ADMM."""

from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from lrlab.arrays import Array

BALANCE = 2.0
ADAPTED = 100


class FantopeState(NamedTuple):
    """One iteration: P = vectors diag(weights) vectors^T, feasible, and a dual W (p, p), |W_ij| <= rho.

    weights (r,), largest first, sum to 1; vectors (p, r) are orthonormal.
    gap: an upper bound of what P's objective lacks to the maximum.
    """

    weights: Array
    vectors: Array
    W: Array
    gap: float


def fantope_admm(M: Array, rho: float) -> Iterator[FantopeState]:
    r"""Recover the projector on a sparse leading eigenvector of a symmetric M (p, p).

    maximise    <M, P> - rho ||P||_{1,1}  over tr P = 1, 0 <= P <= I   (every entry is penalised; rho >= 0)
    update      P <- projection of Q + (M - W) / tau on the Fantope
                W <- clip(W + tau P, -rho, rho),  Q <- (W_old + tau P - W) / tau
    start       W = clip(M, -rho, rho), so that M - W is the soft-thresholded M, and Q = v v^T, v leading in it
    converges   for every fixed tau > 0. The penalty tau decides the speed, so it starts at c = tr(M) / p and is
                doubled or halved while ||P - Q|| and (tau / c) ||Q - Q_old|| differ by more than a factor 2, within
                the first 100 iterations

    Yields endlessly. An iteration costs one eigendecomposition: all of it while P has a high rank, the leading few
    eigenvectors later.
    Reference: Vu, Cho, Lei, Rohe (2013), "Fantope projection and selection", Algorithm 1; Boyd et al. (2011), 3.4.1.
    """
    p = len(M)
    W = np.clip(M, -rho, rho)
    v = eigh(M - W, subset_by_index=(p - 1, p - 1))[1]
    Q, rank = v @ v.T, 1
    scale = float(np.trace(M)) / p or 1.0
    tau = scale
    for iteration in count(1):
        weights, vectors, rest = fantope_projection(Q + (M - W) / tau, rank)
        P, rank = compose(weights, vectors), len(weights)
        # The dual objective is lambda_max(M - W), and M - W = tau (A - Q) for the matrix A that was projected.
        dual = tau * (rest + float(np.linalg.norm(P - Q)))
        yield FantopeState(weights, vectors, W, dual - fantope_objective(M, rho, P))
        Q_old, Q, W = Q, *_shrink(W, P, tau, rho)
        if iteration <= ADAPTED:
            tau *= _balance(float(np.linalg.norm(P - Q)), tau / scale * float(np.linalg.norm(Q - Q_old)))


def _shrink(W: Array, P: Array, tau: float, rho: float) -> tuple[Array, Array]:
    # Q is the soft-thresholded P + W / tau, and what the threshold takes away is the new multiplier: W lies in
    # rho times the subdifferential of ||Q||_{1,1} in every iteration.
    moved = W + tau * P
    W = np.clip(moved, -rho, rho)
    moved -= W
    moved /= tau
    return moved, W


def _balance(primal: float, dual: float) -> float:
    if primal > BALANCE * dual:
        return 2.0
    return 0.5 if dual > BALANCE * primal else 1.0


def compose(weights: Array, vectors: Array) -> Array:
    """Return vectors diag(weights) vectors^T (p, p)."""
    return (vectors * weights) @ vectors.T


def fantope_objective(M: Array, rho: float, P: Array) -> float:
    """Return <M, P> - rho ||P||_{1,1}."""
    return float(np.vdot(M, P)) - rho * float(np.abs(P).sum())


def fantope_projection(A: Array, expected_rank: int = 0, dimension: int = 1) -> tuple[Array, Array, float]:
    """Return the matrix nearest to a symmetric A (p, p) with trace `dimension` and eigenvalues in 0..1.

    It has A's eigenvectors and the eigenvalues clip(lambda - shift, 0, 1): returned are those that are not zero (r,),
    largest first, their eigenvectors (p, r), and the largest eigenvalue of the rest, A minus the projection. With a
    small `expected_rank` only so many eigenpairs are computed, more if they turn out not to determine the projection.
    """
    p = len(A)
    computed = expected_rank + dimension + 2 if expected_rank else p
    # Below a third of all eigenvectors the partial decomposition is the cheaper one.
    while 3 * computed < p:
        values, vectors = eigh(A, subset_by_index=(p - computed, p - 1), check_finite=False)
        shift = fantope_shift(values, dimension)
        # The eigenvalues left out are smaller still, and would be clipped to zero.
        if values[0] <= shift:
            return _clipped(values, vectors, shift)
        computed *= 3
    values, vectors = eigh(A, driver="evd", check_finite=False)
    return _clipped(values, vectors, fantope_shift(values, dimension))


def _clipped(values: Array, vectors: Array, shift: float) -> tuple[Array, Array, float]:
    weights = np.clip(values - shift, 0.0, 1.0)
    positive = np.flatnonzero(weights > 0)[::-1]
    # lambda - clip(lambda - shift, 0, 1) does not fall in lambda: the largest eigenvalue leaves the largest rest.
    return weights[positive], vectors[:, positive], float(values[-1] - weights[-1])


def fantope_shift(values: Array, dimension: int = 1) -> float:
    """Return the shift with sum clip(values - shift, 0, 1) = dimension, for at least `dimension` values.

    The sum falls piecewise linearly in the shift, with kinks at `values` and `values - 1`: the exact solution lies on
    the segment between the two kinks whose sums enclose the dimension.
    """
    kinks = np.sort(np.concatenate([values, values - 1.0]))
    # slope -(number of values in shift .. shift + 1): one more at each `value - 1`, one fewer at each `value`.
    low, high = np.sort(values - 1.0), np.sort(values)
    active = np.searchsorted(low, kinks, side="right") - np.searchsorted(high, kinks, side="right")
    sums = len(values) - np.concatenate([[0.0], np.cumsum(active[:-1] * np.diff(kinks))])
    segment = max(int(np.searchsorted(-sums, -float(dimension), side="left")) - 1, 0)
    slope = active[segment]
    return float(kinks[segment] + ((sums[segment] - dimension) / slope if slope else 0.0))

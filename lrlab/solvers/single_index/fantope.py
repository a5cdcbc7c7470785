"""Sparse leading eigenvectors by convex relaxation: the Fantope problem of Vu et al. (2013), solved by ADMM."""

from collections.abc import Iterator
from itertools import count

import numpy as np
from scipy.linalg import eigh

from lrlab.arrays import Array


def fantope_admm(M: Array, rho: float) -> Iterator[tuple[Array, Array, float]]:
    r"""Recover the projector on a sparse leading eigenvector of a symmetric M (p, p).

    maximize    <M, P> - rho ||P||_{1,1}  over tr P = 1, 0 <= P <= I   (every entry is penalized; rho >= 0)
    update      P <- projection of Q + (M - W) / tau on the Fantope
                W <- clip(W + tau P, -rho, rho),  Q <- (W_old + tau P - W) / tau
    start       W = clip(M, -rho, rho), so that M - W is the soft-thresholded M, and Q = v v^T, v leading in it
    converges   for every fixed tau > 0. The penalty tau decides the speed, so it starts at c = tr(M) / p and is
                doubled or halved while ||P - Q|| and (tau / c) ||Q - Q_old|| differ by more than a factor 2, within
                the first 100 iterations

    Yields endlessly weights (r,), largest first, orthonormal vectors (p, r), and a gap: P = vectors diag(weights)
    vectors^T is feasible, and its objective lacks at most the gap to the maximum. An iteration costs one
    eigendecomposition: all of it while P has a high rank, the leading few eigenvectors later.
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
        P, rank = (vectors * weights) @ vectors.T, len(weights)
        # The dual objective is lambda_max(M - W), and M - W = tau (A - Q) for the matrix A that was projected.
        dual = tau * (rest + float(np.linalg.norm(P - Q)))
        yield weights, vectors, dual - float(np.vdot(M, P) - rho * np.abs(P).sum())
        # Q is the soft-thresholded P + W / tau, and the part that it removes is the new multiplier: W lies in
        # rho times the subdifferential of ||Q||_{1,1} in every iteration.
        moved, Q_old = W + tau * P, Q
        W = np.clip(moved, -rho, rho)
        Q = (moved - W) / tau
        primal, change = float(np.linalg.norm(P - Q)), tau / scale * float(np.linalg.norm(Q - Q_old))
        if iteration <= 100:
            tau *= 2.0 if primal > 2.0 * change else 0.5 if change > 2.0 * primal else 1.0


def fantope_projection(A: Array, expected_rank: int) -> tuple[Array, Array, float]:
    """Return the matrix nearest to a symmetric A (p, p) with trace 1 and eigenvalues in 0..1.

    It has A's eigenvectors, and its eigenvalues are the projection of A's on the simplex, max(lambda - shift, 0):
    returned are those that are not zero (r,), largest first, their eigenvectors (p, r), and the largest eigenvalue of
    the rest, A minus the projection. Only so many eigenpairs as the rank suggests are computed, more if they turn out
    not to determine the projection.
    """
    p, computed = len(A), expected_rank + 3
    while True:
        # Below a third of all eigenvectors the partial decomposition is the cheaper one.
        if 3 * computed < p:
            values, vectors = eigh(A, subset_by_index=(p - computed, p - 1), check_finite=False)
        else:
            values, vectors = eigh(A, driver="evd", check_finite=False)
        largest = values[::-1]
        shifts = (np.cumsum(largest) - 1.0) / np.arange(1, len(largest) + 1)
        rank = int(np.flatnonzero(largest > shifts)[-1]) + 1
        # The remaining eigenvalues are smaller still, and would be clipped to zero.
        if rank < len(values) or len(values) == p:
            weights = largest[:rank] - shifts[rank - 1]
            return weights, vectors[:, ::-1][:, :rank], float(largest[0] - weights[0])
        computed *= 3

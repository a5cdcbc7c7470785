"""GNIMC and R2RILS: least squares for both factors of a matrix of low rank at once."""

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.tangent import EvaluatedMatrix, gauss_newton_step, point, solved, stationarity
from lrlab.solver_entry import Generator, Iterate, Iterates, Stop, solver
from lrlab.solvers.low_rank.completion import refuse_features
from lrlab.solvers.low_rank.tangent import spectral_start


@solver(models=("rank-one-sensing", "inductive-completion", "multilabel-regression"), oracle="rank", memory=0.6)
def gnimc(problem: LowRankData, *, rng: Generator) -> Iterates:
    r"""GNIMC (Gauss-Newton on factors).

    Linearizes in both factors and solves by few steps of LSQR, as published; fast, but may go astray.

    .. math:: (\Delta U, \Delta V) = \arg\min \|\mathcal A(U V^\top + U \Delta V^\top + \Delta U V^\top) - b\|

    minimize    f(U, V) = ||A(U V^T) - b||^2 / 2 over U (d1, k), V (d2, k)
    start       the leading singular triples of the moment of b
    update      (dU, dV) = the least in norm that minimizes ||A(U V^T + U dV^T + dU V^T) - b||, in orthonormal bases of
                U and V; (U, V) <- (U + dU, V + dV)
    converges   quadratically near the ground truth without noise. Far from it, until the relative residual norm is
                below 1e-5, ten steps of LSQR solve the linear problem inaccurately, and recovery from few entries
                relies on that; f need not fall
    cost        products with the data of each LSQR step

    With W = U diag(s) V^T the least-norm step is a tangent vector D V^T + U E^T, and the update reads
    W <- (U diag(s) + D) diag(1/s) (V diag(s) + E)^T, whatever the scaling of the factors. CGLS has the iterates of LSQR
    in exact arithmetic. Yields before each step: objective f, residual its `stationarity`.

    Reference: Zilber & Nadler (2022), "Inductive matrix completion: no bad local minima and a fast algorithm",
    Algorithm 1, with the numbers of steps of its authors' program; Paige & Saunders (1982), LSQR.
    """
    A, b = problem.operator, problem.b
    at = point(A, spectral_start(A, b, problem.rank, rng), b)
    while True:
        yield Iterate(at.W, at.objective, stationarity(A, at, b))
        if solved(at.d, b):
            return Stop.CONVERGED
        misfit = float(np.linalg.norm(at.d) / np.linalg.norm(b))
        rtol, limit = (max(misfit**2, 1e-15), 1000) if misfit < 1e-5 else (1e-15, 10)
        D, E = np.split(gauss_newton_step(A, at, rtol, limit).D, [len(at.W.U)])
        s = np.maximum(at.W.s, 1e-12 * at.W.s.max())
        at = point(A, lowrank.from_product((at.W.left + D) / s, at.W.V * at.W.s + E, len(s)), b)


@solver(models="inductive-completion", oracle="rank", memory=1.8, refuse=refuse_features)
def r2rils(problem: LowRankData, *, rng: Generator) -> Iterates:
    r"""R2RILS (rank-2r least squares).

    Least squares over matrices of twice the rank, averaged with the last factors; slow but undemanding.

    .. math:: (B, D) = \arg\min \|\mathcal A(U B^\top + D V^\top) - b\|, \quad
        (U, V) \leftarrow N((U, V) + N(D, B))

    minimize    ||A(U B^T + D V^T) - b|| over the factors B (n2, k) and D (n1, k) of a matrix of rank 2k
    start       the leading singular triples of the zero-filled matrix
    update      (B, D) = its minimum of least norm, U and V with columns of length 1;
                U <- N(U + N(D)),  V <- N(V + N(B)),  N scales columns to length 1
    estimate    the nearest matrix of rank k to U B^T + D V^T
    converges   quadratically near the ground truth, without noise; nothing promises that the residual norm falls
    cost        products with the data of each LSQR step

    LSQR (here CGLS, the same iterates in exact arithmetic) ends when the gradient has shrunk by the square of the
    relative residual norm, or by 1e-5 if that is larger. Yields the estimate after each update: objective
    ||A(W) - b||^2 / 2, residual its `stationarity`.

    Reference: Bauch, Nadler, Zilber (2021), "Rank 2r iterative least squares: efficient recovery of ill-conditioned
    low rank matrices from few entries", Algorithm 1.
    """
    A, b = problem.operator, problem.b
    W = spectral_start(A, b, problem.rank, rng)
    U, V, misfit = W.U, W.V, 1.0
    while True:
        fixed = EvaluatedMatrix(LowRank(U, np.ones(U.shape[1]), V), A.left(U), A.right(V), -b)
        tol = max(min(1e-5, misfit**2), 1e-15)
        D, B = np.split(gauss_newton_step(A, fixed, tol, 1000).D, [len(U)])
        at = point(A, lowrank.from_product(np.hstack([D, U]), np.hstack([V, B]), problem.rank), b)
        yield Iterate(at.W, at.objective, stationarity(A, at, b))
        misfit = float(np.linalg.norm(at.d) / (np.linalg.norm(b) or 1.0))
        U, V = scaled(U + scaled(D)), scaled(V + scaled(B))


def scaled(factor: Array) -> Array:
    """Return a factor with columns of length 1."""
    return factor / np.maximum(np.linalg.norm(factor, axis=0), np.finfo(float).tiny)

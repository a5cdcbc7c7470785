"""R2RILS: completion of a table by least squares over twice its rank, averaged with the last factors."""

from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.tangent import EvaluatedMatrix, gauss_newton_step, point, stationarity
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates
from lrlab.solvers.low_rank.requirements import ranked_entry, refuse_features
from lrlab.solvers.low_rank.starts import spectral_start

LOOSEST, TIGHTEST = 1e-5, 1e-15


def r2rils(
    problem: LowRankData,
    *,
    inner_steps: Annotated[
        int, Parameter(meaning="most LSQR steps in one iteration", low=1, high=100_000, scale="log")
    ] = 1000,
    rng: Generator,
) -> Iterates:
    r"""Complete a table W (n1, n2) of rank k from its entries b at m places.

    minimise   ||A(U B^T + D V^T) - b||  over the factors B (n2, k) and D (n1, k) of a table of rank 2k
    update     (B, D) = its minimum of least norm, U and V with columns of length 1;
               U <- N(U + N(D)),  V <- N(V + N(B)),  N scales columns to length 1
    estimate   the nearest table of rank k to U B^T + D V^T
    converges  quadratically near the truth, without noise; nothing promises that the misfit falls on the way

    The start is spectral. LSQR (here CGLS, the same iterates in exact arithmetic) ends when the gradient has shrunk by
    the square of the relative misfit, or by 1e-5 where that is larger. Yields the estimate after each update: objective
    ||A(W) - b||^2 / 2, residual its `stationarity`.
    Reference: Bauch, Nadler, Zilber (2021), "Rank 2r iterative least squares: efficient recovery of ill-conditioned
    low rank matrices from few entries", Algorithm 1.
    """
    A, b = problem.operator, problem.b
    W = spectral_start(A, b, problem.rank, rng)
    U, V, misfit = W.U, W.V, 1.0
    while True:
        fixed = EvaluatedMatrix(LowRank(U, np.ones(U.shape[1]), V), A.left(U), A.right(V), -b)
        tol = max(min(LOOSEST, misfit**2), TIGHTEST)
        D, B = np.split(gauss_newton_step(A, fixed, tol, inner_steps).D, [len(U)])
        at = point(A, lowrank.from_product(np.hstack([D, U]), np.hstack([V, B]), problem.rank), b)
        yield Iterate(at.W, at.objective, stationarity(A, at, b))
        misfit = float(np.linalg.norm(at.d) / (np.linalg.norm(b) or 1.0))
        U, V = scaled(U + scaled(D)), scaled(V + scaled(B))


def scaled(factor: Array) -> Array:
    """Return a factor with columns of length 1."""
    return factor / np.maximum(np.linalg.norm(factor, axis=0), np.finfo(float).tiny)


ENTRY = ranked_entry(
    title="R2RILS (rank-2r least squares)",
    update=r"(B, D) = \arg\min \|\mathcal A(U B^\top + D V^\top) - b\|, \quad (U, V) \leftarrow N((U, V) + N(D, B))",
    summary="Least squares over tables of twice the rank, averaged with the last factors; slow but undemanding.",
    run=r2rils,
    models=("inductive-completion",),
    memory=1.8,
    refuse=refuse_features,
)

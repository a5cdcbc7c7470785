"""GNIMC: Gauss-Newton on the factors of a matrix of low rank, as published for completion with features."""

from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.models.protocols import LowRankData
from lrlab.operators.tangent import gauss_newton_step, point, solved, stationarity
from lrlab.parameters import number
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solver_entry import solver
from lrlab.solvers.low_rank.starts import spectral_start


@solver(models=("rank-one-sensing", "inductive-completion", "multilabel-regression"), oracle="rank", memory=0.6)
def gnimc(
    problem: LowRankData,
    *,
    first_steps: Annotated[
        int, number(1, 10_000, "LSQR steps per iteration while the residual norm is large", scale="log")
    ] = 10,
    last_steps: Annotated[int, number(1, 100_000, "LSQR steps per iteration afterwards", scale="log")] = 1000,
    near: Annotated[float, number(0, 1, "relative residual norm that starts last_steps", scale="log")] = 1e-5,
    rng: Generator,
) -> Iterates:
    r"""GNIMC (Gauss-Newton on factors).

    Linearizes in both factors and solves by few steps of LSQR, as published; fast, but may go astray.

    .. math:: (\Delta U, \Delta V) = \arg\min \|\mathcal A(U V^\top + U \Delta V^\top + \Delta U V^\top) - b\|

    minimize    f(U, V) = ||A(U V^T) - b||^2 / 2 over U (d1, k), V (d2, k)
    start       the leading singular triples of the moment of b
    update      (dU, dV) = the least in norm that minimizes ||A(U V^T + U dV^T + dU V^T) - b||, in orthonormal bases of
                U and V; (U, V) <- (U + dU, V + dV)
    converges   quadratically near the ground truth without noise. Far from it few steps of LSQR solve the linear
                problem inaccurately, and recovery from few entries relies on that; f need not fall
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
        rtol, limit = (max(misfit**2, 1e-15), last_steps) if misfit < near else (1e-15, first_steps)
        D, E = np.split(gauss_newton_step(A, at, rtol, limit).D, [len(at.W.U)])
        s = np.maximum(at.W.s, 1e-12 * at.W.s.max())
        at = point(A, lowrank.from_product((at.W.left + D) / s, at.W.V * at.W.s + E, len(s)), b)

"""GNIMC: Gauss-Newton on the factors of a matrix of low rank, as published for completion with features."""

from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.models.protocols import LowRankData
from lrlab.operators.tangent import gauss_newton_step, point, solved, stationarity
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solvers.low_rank.requirements import ranked_entry
from lrlab.solvers.low_rank.starts import spectral_start

LEAST_TOLERANCE, LEAST_VALUE = 1e-15, 1e-12
"""Accuracy of the inner problem, until its steps are used up, and the least singular value over the largest."""


def gnimc(
    problem: LowRankData,
    *,
    first_steps: Annotated[
        int, Parameter(meaning="LSQR steps in one iteration while the misfit is large", low=1, high=10_000, scale="log")
    ] = 10,
    last_steps: Annotated[
        int, Parameter(meaning="LSQR steps in one iteration afterwards", low=1, high=100_000, scale="log")
    ] = 1000,
    near: Annotated[
        float, Parameter(meaning="relative misfit from which on it takes last_steps", low=0, high=1, scale="log")
    ] = 1e-5,
    rng: Generator,
) -> Iterates:
    r"""Recover a matrix W = U V^T of rank k from b = A(W), entries of X W Y^T above all.

    minimise   f(U, V) = ||A(U V^T) - b||^2 / 2
    update     (dU, dV) = the least in norm that minimises ||A(U V^T + U dV^T + dU V^T) - b||, in bases of U and V
               that are orthonormal; (U, V) <- (U + dU, V + dV)
    converges  quadratically near the truth without noise. Far from it few steps of LSQR solve the linear problem to a
               low accuracy, which is what recovery from few entries rests on; nothing promises that f falls

    With W = U diag(s) V^T the least-norm step is a tangent vector D V^T + U E^T, and the update reads
    W <- (U diag(s) + D) diag(1/s) (V diag(s) + E)^T, whatever the scaling of the factors. The start is spectral; CGLS
    has the iterates of LSQR in exact arithmetic. Yields before each step: objective f, residual its `stationarity`.
    Reference: Zilber & Nadler (2022), "Inductive matrix completion: no bad local minima and a fast algorithm",
    Algorithm 1, with the numbers of steps of its authors' programme; Paige & Saunders (1982), LSQR.
    """
    operator, b = problem.operator, problem.b
    at = point(operator, spectral_start(operator, b, problem.rank, rng), b)
    while True:
        yield Iterate(at.W, at.objective, stationarity(operator, at, b))
        if solved(at.d, b):
            return Stop.CONVERGED
        misfit = float(np.linalg.norm(at.d) / np.linalg.norm(b))
        tolerance, limit = (misfit**2, last_steps) if misfit < near else (LEAST_TOLERANCE, first_steps)
        D, E = np.split(gauss_newton_step(operator, at, max(tolerance, LEAST_TOLERANCE), limit).D, [len(at.W.U)])
        s = np.maximum(at.W.s, LEAST_VALUE * at.W.s.max())
        at = point(operator, lowrank.from_product((at.W.left + D) / s, at.W.V * at.W.s + E, len(s)), b)


ENTRY = ranked_entry(
    title="GNIMC (Gauss-Newton on factors)",
    update=r"(\Delta U, \Delta V) = \arg\min \|\mathcal A(U V^\top + U \Delta V^\top + \Delta U V^\top) - b\|",
    summary="Linearises in both factors and solves by few steps of LSQR, as published; fast, but may go astray.",
    run=gnimc,
    models=("rank-one-sensing", "inductive-completion", "multilabel-regression"),
    memory=0.6,
)

"""Singular value projection (normalized iterative hard thresholding): gradient steps, truncated to the rank."""

from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.models.protocols import LowRankData
from lrlab.operators.operator import unsettled
from lrlab.operators.rank_one import RankOne
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates
from lrlab.solvers.low_rank.requirements import ranked_entry
from lrlab.solvers.low_rank.starts import stepped
from lrlab.solvers.low_rank.tangent import gradient, line, point

PROJECTED = 1e-14
NO_ISOMETRY = "Rank-one measurements obey no restricted isometry: nothing promises that this method converges here."


def svp(
    problem: LowRankData,
    *,
    step: Annotated[
        str,
        Parameter(
            meaning="adaptive: exact line search along the tangent space; fixed: 1 / (1 + isometry)",
            choices=("adaptive", "fixed"),
        ),
    ] = "adaptive",
    isometry: Annotated[
        float, Parameter(meaning="restricted isometry constant of the fixed step", symbol="δ", low=0, high=100)
    ] = 1 / 3,
    rng: Generator,
) -> Iterates:
    r"""Recover W (d1, d2) of a known rank k from b = A(W) where A nearly keeps norms of matrices of low rank.

    minimise    F(W) = ||A(W) - b||^2 / 2  over matrices of rank k
    update      W <- P_k(W - eta G),  G = scale A*(A(W) - b), E[scale A*A] = I, P_k the nearest matrix of rank k
    start       W = 0; the first adaptive step is 1
    step        fixed: eta = 1 / (1 + delta); adaptive: eta = ||T||^2 / (scale ||A(T)||^2), T = G on the tangent space
    converges   linearly with the fixed step if the isometry constant of rank 2k is below 1/3

    Yields after each step: objective F; residual the change of A(W) relative to the misfit A(W) - b, 0 when that is
    rounding error. One singular value decomposition of a d1 x d2 matrix a step, of its leading part if it is large.
    Reference: Jain, Meka, Dhillon (2010), "Guaranteed rank minimization via singular value projection", Algorithm 1;
    Tanner & Wei (2013), "Normalized iterative hard thresholding for matrix completion", equation 2.4.
    """
    A, b = problem.operator, problem.b
    at = point(A, lowrank.zero(A.shape, problem.rank, b.dtype), b)
    while True:
        eta = 1.0 if step == "adaptive" else 1.0 / (1.0 + isometry)
        if step == "adaptive" and at.W.s.any():
            T = gradient(A, at)
            image = line(A, at, T).image
            eta = T.dot(T) / (A.scale * float(image @ image) or np.inf)
        at, before = point(A, stepped(A, at.W, at.misfit, eta, rng, PROJECTED), b), at.misfit
        note = NO_ISOMETRY if isinstance(A, RankOne) else ""
        yield Iterate(at.W, at.objective, unsettled(at.misfit, at.misfit - before, b), note)


ENTRY = ranked_entry(
    title="Singular value projection",
    update=r"W \leftarrow P_k\bigl(W - \eta\, \mathcal A^*(\mathcal A(W) - b)\bigr)",
    summary="Gradient steps on the matrix, each projected to the rank; made for measurements with an isometry.",
    run=svp,
    models=("rank-one-sensing", "inductive-completion"),
)

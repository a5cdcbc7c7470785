"""Singular value projection (normalized iterative hard thresholding): gradient steps, truncated to the rank."""

from typing import Annotated

import numpy as np

from lrlab import lowrank
from lrlab.models.protocols import LowRankData
from lrlab.operators.krylov import nearest
from lrlab.operators.rank_one import RankOne
from lrlab.operators.tangent import point, unsettled
from lrlab.solver_entry import Generator, Iterate, Iterates, choice, number, solver
from lrlab.solvers.low_rank.tangent import gradient, line

NO_ISOMETRY = "Rank-one measurements obey no restricted isometry: nothing promises that this method converges here."


@solver(models=("rank-one-sensing", "inductive-completion"), oracle="rank", memory=0.6)
def svp(
    problem: LowRankData,
    *,
    step: Annotated[
        str, choice("adaptive", "fixed", help="adaptive: exact search along the tangent space; fixed: 1 / (1 + δ)")
    ] = "adaptive",
    isometry: Annotated[float, number(0, 100, "restricted isometry constant of the fixed step", symbol="δ")] = 1 / 3,
    rng: Generator,
) -> Iterates:
    r"""Singular value projection.

    Gradient steps on the matrix, each projected to the rank; made for measurements with an isometry.

    .. math:: W \leftarrow P_k\bigl(W - \eta\, \mathcal A^*(\mathcal A(W) - b)\bigr)

    minimize    F(W) = ||A(W) - b||^2 / 2  over W (d1, d2) of rank k
    start       W = 0; the first adaptive step is 1
    step        fixed: eta = 1 / (1 + delta); adaptive: eta = ||T||^2 / (scale ||A(T)||^2), with T the part of the
                gradient G = scale A*(A(W) - b) that is tangent at W, and scale such that E[scale A*A] = I
    converges   linearly with the fixed step if the isometry constant of rank 2k is below 1/3
    cost        one singular value decomposition of a d1 x d2 matrix, of its leading part if it is large

    Yields W after each step, with objective F; the residual is the change of A(W) relative to A(W) - b, and 0 if
    A(W) - b is rounding error.

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
            eta = float(np.vdot(T, T)) / (A.scale * float(image @ image) or np.inf)
        W = nearest(at.W - A.moment(eta * at.d), problem.rank, rng, settled=1e-14)
        at, before = point(A, W, b), at.d
        note = NO_ISOMETRY if isinstance(A, RankOne) else ""
        yield Iterate(at.W, at.objective, unsettled(at.d, at.d - before, b), note)

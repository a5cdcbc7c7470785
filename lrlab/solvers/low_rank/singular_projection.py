"""Singular value projection: projected gradient steps on the matrices of a rank, with a fixed or an exact step."""

from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.operator import Operator, unsettled
from lrlab.operators.rank_one import RankOne
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates
from lrlab.solvers.low_rank.requirements import ranked_entry
from lrlab.solvers.low_rank.starts import formed, leading_triples

PROJECTED = 1e-14
NO_ISOMETRY = "Rank-one measurements obey no restricted isometry: nothing promises that this method converges here."


def singular_value_projection(
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
        float,
        Parameter(meaning="restricted isometry constant that the fixed step assumes", symbol="δ", low=0, high=100),
    ] = 1 / 3,
    rng: Generator,
) -> Iterates:
    r"""Recover W (d1, d2) of a known rank k from b = A(W) where A nearly keeps norms of matrices of low rank.

    minimise    F(W) = ||A(W) - b||^2 / 2  over matrices of rank k
    update      W <- P_k(W + eta G),  G = A*(b - A(W)), P_k the nearest matrix of rank k; W = 0 at first
    step        fixed: eta = scale / (1 + delta), where scale makes E[scale ||A(W)||^2] = ||W||_F^2
                adaptive: eta = ||T||^2 / ||A(T)||^2, T the projection of G on the tangent space at W
    converges   linearly with the fixed step if the isometry constant of rank 2k is below 1/3

    Yields after each step: objective F; residual the change of A(W) relative to the misfit A(W) - b, 0 when that is
    rounding error. One singular value decomposition of a d1 x d2 matrix a step, of its leading part if it is large.
    Reference: Jain, Meka, Dhillon (2010), "Guaranteed rank minimization via singular value projection", Algorithm 1;
    Tanner & Wei (2013), "Normalized iterative hard thresholding for matrix completion", equation 2.4.
    """
    A, b = problem.operator, problem.b
    note = NO_ISOMETRY if isinstance(A, RankOne) else ""
    W = lowrank.zero(A.shape, problem.rank, b.dtype)
    fit = np.zeros_like(b)
    while True:
        step_map = Descent(A, W, b - fit)
        # At W = 0 there is no tangent space: the moment of b is the first gradient, truncated.
        eta = A.scale / (1 + isometry) if step == "fixed" else step_map.exact_step() if W.s.any() else A.scale
        W = step_map.projected(eta, problem.rank, rng)
        fit, before = A.forward(W), fit
        yield Iterate(W, float(np.vdot(fit - b, fit - b)) / 2, unsettled(fit - b, fit - before, b), note)


class Descent:
    """The gradient G = A*(rest) at W, formed or as products, and steps along it."""

    def __init__(self, A: Operator, W: LowRank, rest: Array) -> None:
        self.A, self.W, self.rest = A, W, rest
        self.G = A.adjoint(rest) if formed(A) else None

    def times(self, V: Array) -> Array:
        """Return G V."""
        return self.A.pull_left(self.rest, self.A.right(V)) if self.G is None else self.G @ V

    def transposed(self, U: Array) -> Array:
        """Return G^T U."""
        return self.A.pull_right(self.rest, self.A.left(U)) if self.G is None else self.G.T @ U

    def exact_step(self) -> float:
        """Return ||T||^2 / ||A(T)||^2 for T = U (G^T U)^T + (G V - U U^T G V) V^T."""
        U, _, V = self.W
        H, E = self.transposed(U), self.times(V)
        E = E - U @ (U.T @ E)
        left, right = np.hstack([U, E]), np.hstack([H, V])
        image = self.A.pair(self.A.left(left), self.A.right(right))
        squared_image = float(image @ image)
        return (float(np.vdot(H, H)) + float(np.vdot(E, E))) / squared_image if squared_image > 0 else 0.0

    def projected(self, eta: float, rank: int, rng: Generator) -> LowRank:
        """Return the nearest matrix of a rank to W + eta G."""
        W = self.W
        if self.G is not None:
            return lowrank.from_dense(W.dense() + eta * self.G, rank)
        times = lambda V: W.left @ (W.V.T @ V) + eta * self.times(V)  # noqa: E731
        back = lambda U: W.V @ (W.left.T @ U) + eta * self.transposed(U)  # noqa: E731
        return leading_triples(times, back, W.shape, rank, rng, W.U.dtype, near=W.V, settled=PROJECTED)


ENTRY = ranked_entry(
    name="svp",
    title="Singular value projection",
    update=r"W \leftarrow P_k\bigl(W + \eta\, \mathcal A^*(b - \mathcal A(W))\bigr), \qquad P_k \text{ the"
    r" nearest matrix of rank } k",
    summary="Gradient steps on the matrix, each projected to the rank; made for measurements with an isometry.",
    run=singular_value_projection,
    models=("rank-one-sensing", "inductive-completion"),
)

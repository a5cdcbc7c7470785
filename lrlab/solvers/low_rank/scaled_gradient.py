"""Scaled gradient descent on the factors of a low-rank matrix, with an exact line search."""

from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.linalg import solve_positive
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.operator import Operator, alignment
from lrlab.protocol import Iterate, Iterates
from lrlab.solvers.low_rank.requirements import Directions, ranked_entry
from lrlab.solvers.low_rank.starts import Start, started
from lrlab.solvers.low_rank.tangent import EvaluatedMatrix, Pair, Path, least, point
from lrlab.solvers.low_rank.whole_steps import WholeSteps

REFRESHED = 10
"""Iterations after which images are computed from the factors again, lest rounding errors add up."""
LEAST_PIVOT = 1e-5
LEAST_VALUE = 1e-10


def scaled_gradient(
    problem: LowRankData, *, directions: Directions = "conjugate", start: Start = "moment", rng: Generator
) -> Iterates:
    r"""Recover W (d1, d2) of a known rank k, or a symmetric one, from b = A(W), m linear measurements.

    minimise    F(W) = ||A(W) - b||^2 / 2  over W = U diag(s) V^T; symmetric: V = U, s of either sign
    direction   (X, Y) = -(G V diag(1/s), G^T U diag(1/s)),  G = A*(A(W) - b): with L = U diag(s)^(1/2) and R alike
                the gradients G R (R^T R)^-1 and G^T L (L^T L)^-1, which see no condition number
    update      W <- (U + eta X) diag(s) (V + eta Y)^T; F is a quartic polynomial of eta, minimised exactly
    symmetric   s is then refitted by least squares with U fixed: on the path itself no value could change its sign,
                and the small ones of a spectral start have arbitrary signs
    leaves      minima that have the wrong terms, by steps with the whole gradient, see `WholeSteps`
    converges   linearly at a rate that does not depend on the singular values of W, near W and with measurements
                enough; of tables (60 x 60, rank 2) with 3 times the degrees of freedom it recovers 2 of 10 at condition
                100, where matrix-irls recovers all

    Start: the leading part of the moment of b. Yields the point before each step: objective F; residual the cosine
    between the misfit and A of the direction, 0 when the misfit is rounding error.
    An iteration costs two products with each of the data's sides. Memory O(m k) beside the data.
    Reference: Tong, Ma, Chi (2021), "Accelerating ill-conditioned low-rank matrix estimation via scaled gradient
    descent" (ScaledGD); Polak & Ribiere (1969). The line search and the refit are additions of this lab.
    """
    A, b = problem.operator, problem.b
    at = point(A, started(A, b, problem.rank, rng, start), b)
    old, leave = None, WholeSteps(A, b, rng).leave
    for iteration in count(1):
        gradient, steepest = descent(A, at)
        slope = -inner(gradient, steepest)
        step = steepest
        if old is not None and directions == "conjugate":
            # Polak and Ribiere's ratio in the metric of the scaling, cut at 0.
            beta = max(0.0, (slope + inner(gradient, old.steepest)) / old.slope)
            combined = steepest[0] + beta * old.step[0], steepest[1] + beta * old.step[1]
            step = combined if inner(gradient, combined) < 0 else steepest
        path = Path.along(A, at, step)
        yield Iterate(at.W, at.objective, alignment(at.misfit, path.first, b))
        new, turn = moved(A, b, at, step, path)
        better = leave(new, at.objective)
        at, turn = (new, turn) if better is None else (better, None)
        old = None if turn is None or slope <= 0 else Memory(turned(steepest, turn), turned(step, turn), slope)
        if iteration % REFRESHED == 0:
            at = point(A, at.W, b)


class Memory(NamedTuple):
    """The last scaled gradient and step, carried over to the present factors, and the slope they had."""

    steepest: Pair
    step: Pair
    slope: float


def inner(one: Pair, other: Pair) -> float:
    """Return the sum of the inner products of both parts."""
    return float(np.vdot(one[0], other[0])) + float(np.vdot(one[1], other[1]))


def turned(step: Pair, turn: Pair) -> Pair:
    """Return a step in the columns of turned factors."""
    return step[0] @ turn[0], step[1] @ turn[1]


def moved(A: Operator, b: Array, at: EvaluatedMatrix, step: Pair, path: Path) -> tuple[EvaluatedMatrix, Pair | None]:
    """Return the best point of the path, and the k x k matrices that turn (U + eta X, V + eta Y) into its factors.

    No matrices where they would be too ill-conditioned to carry images over: these are then taken anew.
    """
    W, eta = at.W, least(at.misfit, path)
    Q_u, R_u = np.linalg.qr(W.U + eta * step[0])
    Q_v, R_v = (Q_u, R_u) if A.symmetric else np.linalg.qr(W.V + eta * step[1])
    core = (R_u * W.s) @ R_v.T
    if A.symmetric:
        s, left = np.linalg.eigh((core + core.T) / 2)
        right = left
    else:
        left, s, right_t = np.linalg.svd(core)
        right = right_t.T
    W, turn = LowRank(Q_u @ left, s, Q_v @ right), None
    if min(pivot(R_u), pivot(R_v)) < LEAST_PIVOT:
        _, P, Q, _ = point(A, W, b)
    else:
        turn = np.linalg.solve(R_u, left), np.linalg.solve(R_v, right)
        P, Q = (at.P + eta * path.P) @ turn[0], (at.Q + eta * path.Q) @ turn[1]
    if A.symmetric:
        # The s that makes ||A(U diag(s) U^T) - b|| least, largest in size first.
        squares = P * P
        s = s + solve_positive(squares.T @ squares, squares.T @ (b - squares @ s))
        order = np.argsort(-np.abs(s), kind="stable")
        U, P = W.U[:, order], P[:, order]
        W, Q, turn = LowRank(U, s[order], U), P, turn and (turn[0][:, order], turn[1][:, order])
    return EvaluatedMatrix(W, P, Q, A.pair(P * W.s, Q) - b), turn


def pivot(R: Array) -> float:
    """Return the least over the largest pivot of a triangular matrix, 0 where it is singular."""
    pivots = np.abs(np.diagonal(R))
    return float(pivots.min() / (pivots.max() or 1.0))


def descent(A: Operator, at: EvaluatedMatrix) -> tuple[Pair, Pair]:
    """Return the gradient in (X, Y) at 0, and the scaled direction."""
    s = at.W.s
    least_size = LEAST_VALUE * np.abs(s).max() or 1.0
    divisor = np.copysign(np.maximum(np.abs(s), least_size), s)
    left = A.pull_left(at.misfit, at.Q)
    right = left if A.symmetric else A.pull_right(at.misfit, at.P)
    return (left * s, right * s), (-left / divisor, -right / divisor)


ENTRY = ranked_entry(
    title="Scaled gradient descent",
    update=r"W \leftarrow (U + \eta X) \operatorname{diag}(s) (V + \eta Y)^\top, \quad X = -G V"
    r" \operatorname{diag}(1/s)",
    summary="Factor gradients scaled by the singular values: fast at any condition with many measurements; scarce "
    "entries of ill-conditioned tables take matrix-irls.",
    run=scaled_gradient,
    families=("low-rank",),
    max_iter=1000,
)

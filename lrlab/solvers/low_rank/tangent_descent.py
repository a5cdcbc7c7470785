"""Conjugate directions of Polak and Ribiere in the tangent spaces of matrices of rank k, with exact steps."""

from collections.abc import Generator
from dataclasses import replace
from itertools import count

import numpy as np
from numpy.random import Generator as Random

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.operator import Operator
from lrlab.operators.rank_one import RankOne
from lrlab.operators.tangent import EvaluatedMatrix, alignment, point, solved
from lrlab.solver_entry import Iterate, Iterates, Stop, solver
from lrlab.solvers.low_rank import tangent
from lrlab.solvers.low_rank.tangent import Line, Start, WholeSteps, started

MUCH, RESOLVED = 2**20, 8 * float(np.sqrt(np.finfo(float).eps))
"""With more data than that many numbers, the first steps are in single precision. Along a direction of that cosine, a
step changes ||A(W) - b||^2 only by rounding."""


@solver(family="low-rank", oracle="rank", memory=0.7, max_iter=1000)
def tangent_descent(problem: LowRankData, *, start: Start = "moment", rng: Random) -> Iterates:
    r"""Tangent descent.

    Conjugate gradients on the manifold of rank k with exact steps: cheap, whatever the condition number.

    .. math:: W \leftarrow P_k(W + \eta D), \quad D = -H^{-1} T + \beta D', \quad T = P_U G + G P_V - P_U G P_V

    minimize    F(W) = ||A(W) - b||^2 / 2  over W (d1, d2) of rank k
    update      G = A*(d), d = A(W) - b,  T = P_U G + G P_V - P_U G P_V, the gradient of F on the tangent space,
                N = H^-1 T, H the mean of A*A on the tangent space: T itself, but for the trace if W is symmetric,
                D = -N + beta D', D' the last direction carried over, beta of Polak & Ribiere, never negative,
                W <- nearest matrix of rank k to W + eta D,  eta = -<d, A(D)> / ||A(D)||^2, halved until F falls
    leaves      minima that have the wrong terms, by steps with the whole gradient, see `WholeSteps`
    converges   linearly from a spectral initialization, once m is a few times the degrees of freedom; the condition
                number of W costs a few such steps
    cost        O(m (d1 + d2) k): reads the data twice (symmetric) or four times

    CONVERGED says that T = 0 up to the tolerance, with noise too. Yields an Iterate per step: objective F, residual the
    cosine between d and A(D); of many measurements by vectors the first ones, until progress is slow, are computed in
    single precision. Ends STALLED if no step lowers F.

    Reference: Vandereycken (2013), "Low-rank matrix completion by Riemannian optimization"; Soltani & Hegde (2018),
    section 1.3, for the bias of the trace.
    """
    A, b = problem.operator, problem.b
    if isinstance(A, RankOne) and A.size * sum(A.shape) > MUCH:
        W = yield from single_steps(A.in_single(), problem, rng, start)
    else:
        W = started(A, b, problem.rank, rng, start)
    return (yield from descent(A, b, point(A, W, b), WholeSteps(A, b, rng)))


def single_steps(A: Operator, problem: LowRankData, rng: Random, start: str) -> Generator[Iterate, None, LowRank]:
    """Yield iterates in single precision until progress is slow; return the last estimate."""
    b, value, cosine = problem.b.astype(np.float32), np.inf, np.inf
    for now in descent(A, b, point(A, started(A, b, problem.rank, rng, start), b), WholeSteps(A, b, rng), 0.0):
        U, s, V = (factor.astype(problem.b.dtype) for factor in now.estimate)
        W = lowrank.from_square(U, s) if A.symmetric else lowrank.from_product(U * s, V)
        before, value, turned, cosine = value, now.objective or 0.0, cosine, now.residual or 0.0
        # Slow: F falls by less than 2%, and the cosine hardly. Single precision resolves about 3e-5, which ends no run.
        if cosine <= 3e-5 or (value > 0.98 * before and cosine > 0.7 * turned):
            break
        yield replace(now, estimate=W)
    return W


def descent(
    A: Operator, b: Array, at: EvaluatedMatrix, whole: WholeSteps, least: float = RESOLVED
) -> Generator[Iterate, None, Stop]:
    """Yield the iterates of the descent from a point; return why they end.

    The residual of each is the cosine between A(W) - b and the image of the next direction. It ends at a
    cosine of `least`.
    """
    last: tuple[LowRank, Array, Array, Array] | None = None
    for number in count(1):
        slope = tangent.gradient(A, at)
        steepest = tangent.newton_step(A, at.W, slope)
        direction = conjugate(*last, at.W, slope, steepest) if last else steepest
        along = tangent.line(A, at, direction)
        cosine = alignment(at.d, along.image, b)
        yield Iterate(at.W, at.objective, cosine)
        if cosine <= least:
            return Stop.CONVERGED
        new = searched(A, at, along, b)
        if new is None and direction is not steepest:
            # Conjugate directions can fail; if the gradient's direction fails too, only rounding errors remain.
            new = searched(A, at, tangent.line(A, at, steepest), b)
        better = whole.leave(new or at, at.objective)
        if (following := better or new) is None:
            break
        last = (at.W, slope, steepest, direction) if better is None else None
        # Updated images gather rounding errors.
        at = point(A, following.W, b) if solved(following.d, b) or number % 50 == 0 else following
    return Stop.STALLED


def conjugate(
    old: LowRank, old_slope: Array, old_steepest: Array, old_direction: Array, W: LowRank, slope: Array, steepest: Array
) -> Array:
    """Return the conjugate direction of Polak & Ribiere; the steepest one if that is no longer conjugate."""
    change = steepest - tangent.transported(old_steepest, old, W)
    beta = tangent.inner(slope, change, W) / tangent.inner(old_slope, old_steepest, old)
    return steepest + beta * tangent.transported(old_direction, old, W) if beta > 0 else steepest


def searched(A: Operator, at: EvaluatedMatrix, along: Line, b: Array) -> EvaluatedMatrix | None:
    """Return the point at the exact step of the linear model, halved until F falls; None if it never does."""
    size = float(along.image @ along.image)
    step = -float(at.d @ along.image) / size if size else 0.0
    # In single precision the last steps, which are exact, change F by less than its rounding error.
    before = at.objective * (1.0 + (1e-5 if b.dtype == np.float32 else 0.0))
    trials = (tangent.moved(A, at, along, step * 0.5**halvings, b) for halvings in range(30 if step else 0))
    return next((new for new in trials if new.objective < before), None)

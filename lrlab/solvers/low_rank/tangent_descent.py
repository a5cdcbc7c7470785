"""Conjugate directions of Polak and Ribiere in the tangent spaces of matrices of rank k, with exact steps."""

from collections.abc import Generator
from itertools import count

import numpy as np

from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.operator import Operator
from lrlab.operators.tangent import EvaluatedMatrix, alignment, point, solved, unresolvable
from lrlab.solver_entry import Iterate, Iterates, Stop, solver
from lrlab.solvers.low_rank.starts import Start, started
from lrlab.solvers.low_rank.tangent import Line, WholeSteps, gradient, inner, line, moved, newton_step, transported


@solver(family="low-rank", oracle="rank", memory=0.7, max_iter=1000)
def tangent_descent(problem: LowRankData, *, start: Start = "moment", rng: np.random.Generator) -> Iterates:
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
    cosine between d and A(D). Ends STALLED if no step lowers F.

    Reference: Vandereycken (2013), "Low-rank matrix completion by Riemannian optimization"; Soltani & Hegde (2018),
    section 1.3, for the bias of the trace.
    """
    A, b = problem.operator, problem.b
    at = point(A, started(A, b, problem.rank, rng, start), b)
    return (yield from descent(A, b, at, WholeSteps(A, b, rng)))


def descent(A: Operator, b: Array, at: EvaluatedMatrix, whole: WholeSteps) -> Generator[Iterate, None, Stop]:
    """Yield the iterates of the descent from a point; return why they end.

    The residual of each is the cosine between A(W) - b and the image of the next direction.
    """
    last: tuple[LowRank, Array, Array, Array] | None = None
    for number in count(1):
        slope = gradient(A, at)
        steepest = newton_step(A, at.W, slope)
        direction = conjugate(*last, at.W, slope, steepest) if last else steepest
        along = line(A, at, direction)
        cosine = alignment(at.d, along.image, b)
        yield Iterate(at.W, at.objective, cosine)
        if unresolvable(cosine, b):
            return Stop.CONVERGED
        new = searched(A, at, along, b)
        if new is None and direction is not steepest:
            # Conjugate directions can fail; if the gradient's direction fails too, only rounding errors remain.
            new = searched(A, at, line(A, at, steepest), b)
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
    change = steepest - transported(old_steepest, old, W)
    beta = inner(slope, change, W) / inner(old_slope, old_steepest, old)
    return steepest + beta * transported(old_direction, old, W) if beta > 0 else steepest


def searched(A: Operator, at: EvaluatedMatrix, along: Line, b: Array) -> EvaluatedMatrix | None:
    """Return the point at the exact step of the linear model, halved until F falls; None if it never does."""
    size = float(along.image @ along.image)
    step = -float(at.d @ along.image) / size if size else 0.0
    # In single precision the last steps, which are exact, change F by less than its rounding error.
    before = at.objective * (1.0 + (1e-5 if b.dtype == np.float32 else 0.0))
    trials = (moved(A, at, along, step * 0.5**halvings, b) for halvings in range(30 if step else 0))
    return next((new for new in trials if new.objective < before), None)

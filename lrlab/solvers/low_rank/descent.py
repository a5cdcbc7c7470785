"""Descent along conjugate directions in tangent spaces, and steps with the whole gradient that leave slow points."""

from collections.abc import Callable, Generator, Iterator
from itertools import count

import numpy as np

from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.operators.krylov import nearest
from lrlab.operators.operator import Operator
from lrlab.operators.tangent import EvaluatedMatrix, alignment, point, solved, unresolvable
from lrlab.protocol import Iterate, Stop
from lrlab.solvers.low_rank.tangent import Line, gradient, inner, line, moved, newton_step, transported

Leave = Callable[[EvaluatedMatrix, float], EvaluatedMatrix | None]
"""leave(point, F before): a better point elsewhere, or None."""

SLOW = 0.02
"""Relative decrease of F below which a step with the whole gradient is worth its price."""


class WholeSteps:
    r"""Steps W <- P_k(W - eta G), P_k the nearest matrix of rank k, G the moment of A(W) - b, about W - W_true.

    Methods that move on the tangent space change the sign of an eigenvalue, or exchange a term for another one, only by
    way of matrices of lower rank, and stop at minima that have the wrong terms. Such a step exchanges the weakest term
    u s v^T for one outside the tangent space. It is tried if progress is slow and the residual is larger than the image
    of the weakest term; after every failure twice as many slow steps pass before the next trial.
    Reference: Jain, Meka, Dhillon (2010), "Guaranteed rank minimization via singular value projection", Algorithm 1,
    and for networks Soltani & Hegde (2018), Algorithm 1, whose steps they are.
    """

    def __init__(self, A: Operator, b: Array, rng: np.random.Generator) -> None:
        self.A, self.b, self.rng = A, b, rng
        self.slow, self.due = 0, 1

    def leave(self, at: EvaluatedMatrix, before: float) -> EvaluatedMatrix | None:
        """Return a better point; None if the last step, from an F of `before`, went well or none exists."""
        least = (1 - SLOW) * at.objective
        if at.objective < (1 - SLOW) * before:
            return None
        self.slow += 1
        weakest = self.A.pair(at.P[:, -1:] * at.W.s[-1], at.Q[:, -1:])
        if self.slow < self.due or np.linalg.norm(weakest) >= np.linalg.norm(at.d):
            return None
        # With many measurements the step 1 leads to the truth.
        for eta in (1.0, 0.5, 0.25):
            W = nearest(at.W - self.A.moment(eta * at.d), len(at.W.s), self.rng, settled=0.05)
            if (new := point(self.A, W, self.b)).objective < least:
                self.slow, self.due = 0, 1
                return new
        self.due *= 2
        return None


def steps_to_the_end(
    A: Operator, b: Array, first: EvaluatedMatrix, conjugately: bool, leave: Leave
) -> Generator[Iterate, None, Stop]:
    """Yield the iterates from a point; return why they end."""
    for at, residual in descent(A, b, first, conjugately, leave):
        yield Iterate(at.W, at.objective, residual)
        if unresolvable(residual, b):
            return Stop.CONVERGED
    return Stop.STALLED


def descent(
    A: Operator, b: Array, at: EvaluatedMatrix, conjugately: bool, leave: Leave = lambda at, before: None
) -> Iterator[tuple[EvaluatedMatrix, float]]:
    """Yield every point of the descent with the cosine between its residual and the image of the next direction.

    leave(point, F before): a better point elsewhere, or None.
    """
    last: tuple[LowRank, Array, Array, Array] | None = None
    for number in count(1):
        slope = gradient(A, at)
        steepest = newton_step(A, at.W, slope)
        direction = conjugate(*last, at.W, slope, steepest) if last and conjugately else steepest
        along = line(A, at, direction)
        yield at, alignment(at.d, along.image, b)
        if solved(at.d, b):
            return
        new = searched(A, at, along, b)
        if new is None and direction is not steepest:
            # Conjugate directions can fail; if the gradient's direction fails too, only rounding errors remain.
            new = searched(A, at, line(A, at, steepest), b)
        better = leave(new or at, at.objective)
        if (following := better or new) is None:
            return
        last = (at.W, slope, steepest, direction) if better is None else None
        # Updated images gather rounding errors.
        at = point(A, following.W, b) if solved(following.d, b) or number % 50 == 0 else following


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

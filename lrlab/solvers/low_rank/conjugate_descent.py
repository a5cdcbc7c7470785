"""Conjugate directions of Polak and Ribiere on the manifold of matrices of rank k, with exact steps."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.operators.operator import Operator
from lrlab.solvers.low_rank.tangent import (
    EvaluatedMatrix,
    Line,
    Vector,
    gradient,
    line,
    moved,
    newton_step,
    point,
    solved,
    transported,
)
from lrlab.solvers.low_rank.whole_steps import objective

HALVINGS, ROUNDING = 30, 1e-5

REFRESHED = 50
"""Steps after which images are computed from the factors again, lest rounding errors add up; and at the end."""


def stay(at: EvaluatedMatrix, before: float) -> None:
    """Look for no better point elsewhere."""


def descent(
    operator: Operator,
    b: Array,
    at: EvaluatedMatrix,
    *,
    conjugately: bool,
    leave: Callable[[EvaluatedMatrix, float], EvaluatedMatrix | None] = stay,
) -> Iterator[tuple[EvaluatedMatrix, Array | None]]:
    """Yield every point of the descent, with the image of the direction that is taken from there.

    The first comes without one: a start is worth seeing before the data is read twice more.
    leave(point, f before): a better point elsewhere, where there is one.
    """
    yield at, np.zeros_like(b) if solved(at.misfit, b) else None
    last, steps = None, 0
    while True:
        slope = gradient(operator, at)
        steepest = newton_step(operator, at.W, slope)
        direction = conjugate(operator, last, at, slope, steepest) if last and conjugately else steepest
        along = line(operator, at, direction)
        if solved(at.misfit, b):
            # The data has been read for this direction: a step along it leaves nothing but rounding.
            at = searched(operator, at, along, b) or at
        if steps:
            yield at, along.image
        if solved(at.misfit, b):
            return
        new = searched(operator, at, along, b)
        if new is None and direction is not steepest:
            # Conjugate directions can lead nowhere; when the gradient's own does too, rounding is all that is left.
            new = searched(operator, at, line(operator, at, steepest), b)
        better = leave(new or at, objective(at))
        following = better or new
        if following is None:
            return
        last = Leg(at.W, slope, steepest, direction) if better is None else None
        at, steps = following, steps + 1
        if solved(at.misfit, b) or steps % REFRESHED == 0:
            at = point(operator, at.W, b)


class Leg(NamedTuple):
    """A step that was taken: from where, the gradient there, the step of steepest descent, the direction taken."""

    W: LowRank
    slope: Vector
    steepest: Vector
    direction: Vector


def searched(operator: Operator, at: EvaluatedMatrix, along: Line, b: Array) -> EvaluatedMatrix | None:
    """Return the point at the exact step of the linear model, halved until f falls; None if it never does."""
    size = float(along.image @ along.image)
    step = -float(at.misfit @ along.image) / size if size else 0.0
    # In single precision the last steps, which are exact, change f by less than its rounding error.
    slack = ROUNDING if b.dtype == np.float32 else 0.0
    before = objective(at) * (1.0 + slack)
    for _ in range(HALVINGS if step else 0):
        new = moved(operator, at, along, step, b)
        if objective(new) < before:
            return new
        step /= 2
    return None


def conjugate(operator: Operator, last: Leg, at: EvaluatedMatrix, slope: Vector, steepest: Vector) -> Vector:
    """Return the conjugate direction of Polak & Ribiere; the steepest one where that is no longer conjugate."""
    W = at.W
    change = steepest.plus(transported(operator, last.steepest, last.W, W), -1.0)
    beta = slope.inner(change, W) / last.slope.inner(last.steepest, last.W)
    if beta <= 0:
        return steepest
    return transported(operator, last.direction, last.W, W).times(beta).plus(steepest, 1.0)

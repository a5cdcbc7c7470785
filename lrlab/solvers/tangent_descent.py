"""Conjugate directions in the tangent spaces of matrices of rank k, with the debiased gradient and exact steps."""

from collections.abc import Iterator
from typing import Annotated, NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab.operators.operator import Operator
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate
from lrlab.solvers.starts import spectral_start
from lrlab.solvers.tangent import (
    Line,
    Point,
    Vector,
    gradient,
    line,
    moved,
    point,
    solved,
    stationarity,
    transported,
)

HALVINGS = 30


def tangent_descent(
    problem,
    *,
    directions: Annotated[
        str,
        Parameter(meaning="conjugate (Polak-Ribiere), or plain projected gradients", choices=("conjugate", "gradient")),
    ] = "conjugate",
    rng: Generator,
) -> Iterator[Iterate]:
    r"""Recover a matrix W of rank k from b = A(W) + noise.

    minimise   f(W) = ||A(W) - b||^2 / 2  over rank W = k
    update     G = unbiased estimate of W - W_true from d = A(W) - b  (debiased where W is symmetric),
               T = P_U G + G P_V - P_U G P_V, the tangent vector nearest to G,
               D = -T + beta D', D' the last direction carried over, beta of Polak & Ribiere, never negative,
               W <- nearest matrix of rank k to W + eta D,  eta = -<d, A(D)> / ||A(D)||^2
    converges  linearly from a spectral start, once m is a few times the degrees of freedom; with noise it ends where
               G leads no further down, beside the stationary point of f by less than the noise moves it

    An iteration reads the data twice (symmetric) or four times (general) and is O(m (d1 + d2) k). Steps that raise f
    are halved. Yields an Iterate a step: objective f, residual the cosine between d and A(D).
    Reference: Soltani & Hegde (2018), section 5.3, for G; Vandereycken (2013) for conjugate directions on the manifold.
    """
    operator, b = problem.operator, problem.b
    at = point(operator, spectral_start(operator, b, problem.rank, rng), b)
    slope = gradient(operator, at)
    direction = slope.times(-1.0)
    while True:
        along = line(operator, at, direction)
        yield Iterate(at.W, objective(at), stationarity(at.misfit, along.image, b))
        new = None if solved(at.misfit, b) else searched(operator, at, along, b)
        if new is None:
            # Conjugate directions can lead nowhere; when the gradient's own does too, rounding is all that is left.
            along = line(operator, at, slope.times(-1.0))
            new = None if solved(at.misfit, b) else searched(operator, at, along, b)
        if new is None:
            return
        last, at = Leg(at, slope, direction), new
        slope = gradient(operator, at)
        direction = conjugate(operator, last, at, slope) if directions == "conjugate" else slope.times(-1.0)


class Leg(NamedTuple):
    """A step that was taken: from where, the gradient there, the direction taken."""

    at: Point
    slope: Vector
    direction: Vector


def objective(at: Point) -> float:
    """Return f = ||A(W) - b||^2 / 2."""
    return float(at.misfit @ at.misfit) / 2


def searched(operator: Operator, at: Point, along: Line, b: np.ndarray) -> Point | None:
    """Return the point at the exact step of the linear model, halved until f falls; None if it never does."""
    size = float(along.image @ along.image)
    step = -float(at.misfit @ along.image) / size if size else 0.0
    for _ in range(HALVINGS if step else 0):
        new = moved(operator, at, along, step, b)
        if objective(new) < objective(at):
            return new
        step /= 2
    return None


def conjugate(operator: Operator, last: Leg, at: Point, slope: Vector) -> Vector:
    """Return the conjugate direction of Polak & Ribiere; the negative gradient where that is no longer conjugate."""
    before = transported(operator, last.slope, last.at.W, at.W)
    beta = slope.dot(slope.plus(before, -1.0)) / last.slope.dot(last.slope)
    if beta <= 0:
        return slope.times(-1.0)
    return transported(operator, last.direction, last.at.W, at.W).times(beta).plus(slope, -1.0)

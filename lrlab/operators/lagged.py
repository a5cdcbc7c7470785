"""Least squares in turn, of maps that change little: conjugate gradients on the Cholesky factor of an earlier one."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve

from lrlab.arrays import Array
from lrlab.linalg import positive_factor, solve_positive

Map = Callable[[Array], Array]
STEPS = 8
"""Steps after which a new factor is formed: it takes as long as some ten of them."""
REDUCTION = 1e-12
"""Of the gradient, in the norm of the factor: beyond it a direct solution has rounding errors, too."""


class Products(NamedTuple):
    """A linear map J from factors D (d, k) to m numbers.

    forward(D): J D (m,). pull(r): J^T r (d, k). normal(): J^T J (k d, k d), unknowns ordered column by column.
    """

    forward: Map
    pull: Map
    normal: Callable[[], Array]


class Lagged:
    """Solutions of a sequence of problems, each of which is solved to rounding error."""

    def __init__(self) -> None:
        """Begin without a factor."""
        self._factor: Array | None = None

    def solve(self, J: Products, b: Array) -> Array:
        """Return D (d, k) that minimises ||J D - b||; of minimum norm where J^T J is singular."""
        gradient = J.pull(b)
        if self._factor is not None and (solution := iterated(self._factor, J, b, gradient)) is not None:
            return solution
        N = J.normal()
        self._factor = positive_factor(N)
        if self._factor is not None:
            return divided(self._factor, gradient)
        return stacked(solve_positive(N, gradient.T.ravel()), gradient)


def divided(factor: Array, gradient: Array) -> Array:
    """Return the solution of the normal equations with a Cholesky factor."""
    return stacked(cho_solve((factor, True), gradient.T.ravel(), check_finite=False), gradient)


def iterated(factor: Array, J: Products, rest: Array, gradient: Array) -> Array | None:
    """Return the solution by conjugate gradients with a factor of other normal equations; None after STEPS steps."""
    direction = divided(factor, gradient)
    D, now = np.zeros_like(gradient), float(np.vdot(gradient, direction))
    target, rounding = REDUCTION**2 * now, (8 * float(np.finfo(rest.dtype).eps)) ** 2
    for _ in range(STEPS):
        image = J.forward(direction)
        if not (curvature := float(image @ image)) > 0.0:
            return D
        D, rest = D + now / curvature * direction, rest - now / curvature * image
        gradient = J.pull(rest)
        steepest = divided(factor, gradient)
        before, now = now, float(np.vdot(gradient, steepest))
        if now <= max(target, rounding * float(rest @ rest)):
            return D
        direction = steepest + now / before * direction
    return None


def stacked(solution: Array, like: Array) -> Array:
    """Return a vector of unknowns, ordered column by column, as a factor of the shape of `like`."""
    return np.ascontiguousarray(solution.reshape(like.shape[::-1]).T)

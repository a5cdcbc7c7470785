"""Least squares by conjugate gradients (CGLS)."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array

Map = Callable[[Array], Array]


class Solution(NamedTuple):
    """A solution, the number of steps, and the remaining fraction of the gradient if these did not suffice."""

    D: Array
    steps: int
    left: float


def least_squares(
    forward: Map,
    pull: Map,
    rest: Array,
    D: Array,
    ridge: float,
    rtol: float,
    limit: int = 500,
    gradient: Array | None = None,
) -> Solution:
    """Return D + S, where S minimizes ||forward(S) - rest||^2 + ridge ||D + S||_F^2; `pull` is the adjoint of forward.

    Conjugate gradients on the normal equations (CGLS) end when the gradient has shrunk by the factor rtol, so that a
    warm start moves on, or to rounding error. gradient: pull(rest) - ridge D in higher precision. Later gradients then
    follow by their own recursion, because a residual norm that noise keeps large would spoil them in low precision.
    Reference: Paige & Saunders (1982), "LSQR: an algorithm for sparse linear equations and sparse least squares".
    """
    follow, gradient = gradient is not None, pull(rest) - ridge * D if gradient is None else gradient
    direction, now = gradient, float(np.vdot(gradient, gradient))
    first, floor, largest, steps = now, (4 * float(np.finfo(gradient.dtype).eps)) ** 2, 1.0, 0
    target = rtol**2 * now
    while now > target and steps < limit:
        image = forward(direction)
        curvature = float(image @ image) + ridge * float(np.vdot(direction, direction))
        largest = max(largest, curvature / now)
        # A direction in the null space of the measurements, but for rounding errors of the gradient.
        if not curvature > floor * largest * now:
            return Solution(D, steps, 0.0)
        step, steps = now / curvature, steps + 1
        D = D + step * direction
        if follow:
            gradient = gradient - step * (pull(image) + ridge * direction)
        else:
            rest = rest - step * image
            gradient = pull(rest) - ridge * D
            target = max(target, floor * largest * float(rest @ rest))
        before, now = now, float(np.vdot(gradient, gradient))
        direction = gradient + (now / before) * direction
    return Solution(D, steps, 0.0 if now <= target else min(1.0, float(np.sqrt(now / first))))

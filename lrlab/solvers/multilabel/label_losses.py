"""Losses between a label a and a score b, with their derivatives in b (Yu et al. 2014, Table 1, corrected)."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from lrlab.arrays import Array
from lrlab.lowrank import LowRank


class Signed(LowRank):
    """A low-rank W whose scores x^T W predict labels coded -1 and +1: a label is on where its score is positive."""

    threshold = 0.0


class Loss(NamedTuple):
    """A convex loss l(a, b) of arrays of labels a and scores b.

    off, on: how labels are coded. value, slope, curvature: l and its first and second derivative in b. kind: what an
    estimate with such scores is, LowRank with its threshold 1/2 or Signed with 0.
    """

    off: float
    on: float
    value: Callable[[Array, Array], Array]
    slope: Callable[[Array, Array], Array]
    curvature: Callable[[Array, Array], Array]
    kind: type[LowRank]

    @property
    def quadratic(self) -> bool:
        """Whether l is quadratic in b, so that slopes are affine."""
        return self.slope is SQUARED.slope

    def coded(self, positive: Array) -> Array:
        """Return labels 0 and 1 as this loss codes them."""
        return self.off + (self.on - self.off) * positive


SQUARED = Loss(
    off=0.0,
    on=1.0,
    value=lambda a, b: (b - a) ** 2 / 2,
    slope=lambda a, b: b - a,
    curvature=lambda a, b: np.ones_like(b),
    kind=LowRank,
)
"""l = (a - b)^2 / 2."""
SQUARED_SIGNS = SQUARED._replace(off=-1.0, kind=Signed)
"""The same for labels -1 and +1, which features without a constant can follow."""

sign_loss = partial(Loss, off=-1.0, on=1.0, kind=Signed)

# The paper prints the first derivative with e^{-ab}, and the second one negative.
LOGISTIC = sign_loss(
    value=lambda a, b: np.logaddexp(0.0, -a * b),
    slope=lambda a, b: -a * expit(-a * b),
    curvature=lambda a, b: expit(b) * expit(-b),
)
"""l = log(1 + e^{-ab}), with slope -a / (1 + e^{ab}) and curvature e^{-ab} / (1 + e^{-ab})^2."""

SQUARED_HINGE = sign_loss(
    value=lambda a, b: np.maximum(0.0, 1.0 - a * b) ** 2,
    slope=lambda a, b: -2.0 * a * np.maximum(0.0, 1.0 - a * b),
    curvature=lambda a, b: 2.0 * (a * b < 1.0),
)
"""l = max(0, 1 - ab)^2; its curvature jumps where ab = 1, and is 0 there."""

HINGE = sign_loss(
    value=lambda a, b: np.maximum(0.0, 1.0 - a * b),
    slope=lambda a, b: -a * (a * b < 1.0),
    curvature=lambda a, b: np.zeros_like(b),
)
"""l = max(0, 1 - ab); its slope jumps where ab = 1, and is 0 there."""

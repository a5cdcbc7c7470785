"""Losses between a label a and a score b, with their derivatives in b (Yu et al. 2014, Table 1, corrected)."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lrlab import losses
from lrlab.arrays import Array
from lrlab.lowrank import LowRank


class Signed(LowRank):
    """A low-rank W whose scores x^T W predict labels coded -1 and +1: a positive score predicts a positive label."""

    threshold = 0.0


class Loss(NamedTuple):
    """A convex loss l(a, b) of arrays of labels a and scores b.

    off: code of a negative label; a positive one is 1. value, slope, curvature: l and its derivatives in b. kind: class
    of estimates with such scores, LowRank with its threshold 1/2 or Signed with 0.
    """

    value: Callable[[Array, Array], Array]
    slope: Callable[[Array, Array], Array]
    curvature: Callable[[Array, Array], Array]
    off: float = -1.0
    kind: type[LowRank] = Signed

    @property
    def quadratic(self) -> bool:
        """Whether l is quadratic in b."""
        return self.slope is SQUARED.slope

    def coded(self, positive: Array) -> Array:
        """Return labels 0 and 1 as this loss codes them."""
        return self.off + (1.0 - self.off) * positive


SQUARED = Loss(lambda a, b: (b - a) ** 2 / 2, lambda a, b: b - a, lambda a, b: np.ones_like(b), 0.0, LowRank)
SQUARED_SIGNS = SQUARED._replace(off=-1.0, kind=Signed)
"""The squared loss of labels -1 and +1, for features without a constant."""


def of_margin(loss: losses.Loss) -> Loss:
    """Return a loss of the margins a b; the paper prints the second derivative of the logistic one negative."""
    return Loss(
        value=lambda a, b: loss.value(a * b),
        slope=lambda a, b: a * loss.slope(a * b),
        curvature=lambda a, b: loss.curvature(a * b),
    )


LOGISTIC, SQUARED_HINGE, HINGE = map(of_margin, (losses.LOGISTIC, losses.SQUARED_HINGE, losses.HINGE))
LOSSES = {"squared": SQUARED, "logistic": LOGISTIC, "squared-hinge": SQUARED_HINGE, "hinge": HINGE}

"""Convex losses of a margin m = y (<x, b> + c), y = +-1: value, slope, curvature and proximal map of each."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import erfcx, expit, log_ndtr

from lrlab.arrays import Array


class Loss(NamedTuple):
    """A convex loss that falls in the margins m, an array, with its first and second derivatives.

    derivatives(m) returns the three together, which is faster. log(1 + e^{-m}) (logistic) and -log Phi(m) (probit) are
    -log P(y | x); max(0, 1 - m) is the hinge.
    """

    name: str
    value: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    curvature: Callable[[Array], Array]
    derivatives: Callable[[Array], tuple[Array, Array, Array]]

    def prox(self, a: Array, step: float, start: Array, tol: float = 1e-10, most: int = 60) -> tuple[Array, Array]:
        """Return the m that minimizes value(m) + (m - a)^2 / (2 step), and its curvature.

        Newton within a bracket: until the largest relative change is `tol`, or for `most` steps.
        """
        low, high = a, a - step * self.slope(a)
        m = np.clip(start, low, high)
        for _ in range(most):
            _, slope, curvature = self.derivatives(m)
            excess = m - a + step * slope
            low, high = np.where(excess < 0, m, low), np.where(excess > 0, m, high)
            following = m - excess / (1.0 + step * curvature)
            # The slope of a piecewise linear loss jumps.
            halved = (following < low) | (following > high) | ((curvature == 0) & (excess != 0))
            following = np.where(halved, (low + high) / 2.0, following)
            change, m = np.abs(following - m).max(), following
            if change <= tol * (1.0 + np.abs(m).max()):
                break
        return m, curvature


def _logistic(m: Array) -> tuple[Array, Array, Array]:
    e = np.exp(-np.abs(m))
    whole = 1.0 + e
    return np.log1p(e) - np.minimum(m, 0.0), -np.where(m > 0, e, 1.0) / whole, e / np.square(whole)


def _probit(m: Array) -> tuple[Array, Array, Array]:
    log_chance = log_ndtr(m)
    # Phi'(m) / Phi(m) is 0/0 below m = -38. Logarithms are quicker than erfcx, but their digits cancel far below that.
    if m.min(initial=0.0) > -100.0:
        ratio = np.exp(-np.square(m) / 2.0 - log_chance) / math.sqrt(2.0 * math.pi)
    else:
        ratio = math.sqrt(2.0 / math.pi) / erfcx(-m / math.sqrt(2.0))
    # The curvature is in 0..1 for every m; the sum cancels if m is far below 0.
    return -log_chance, -ratio, np.clip(ratio * (m + ratio), 0.0, 1.0)


def _hinge(m: Array) -> tuple[Array, Array, Array]:
    return np.maximum(0.0, 1.0 - m), -(m < 1.0).astype(float), np.zeros_like(m)


def _squared_hinge(m: Array) -> tuple[Array, Array, Array]:
    short = np.maximum(0.0, 1.0 - m)
    return short**2, -2.0 * short, 2.0 * (m < 1.0)


def _loss(name: str, derivatives: Callable[[Array], tuple[Array, Array, Array]]) -> Loss:
    return Loss(
        name, lambda m: derivatives(m)[0], lambda m: derivatives(m)[1], lambda m: derivatives(m)[2], derivatives
    )


LOGISTIC = Loss(
    "logistic", lambda m: np.logaddexp(0.0, -m), lambda m: -expit(-m), lambda m: expit(m) * expit(-m), _logistic
)
PROBIT = _loss("probit", _probit)._replace(value=lambda m: -log_ndtr(m))
HINGE = _loss("hinge", _hinge)
SQUARED_HINGE = _loss("squared-hinge", _squared_hinge)

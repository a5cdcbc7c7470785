"""The logistic and the probit likelihood of an answer by its margin, with derivatives that do not overflow."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_ndtr, logit, ndtri

from lrlab.arrays import Array


class Likelihood(NamedTuple):
    """-log P(y | x) = loss(m), m = y (<x, b> + c), its first and second derivatives; quantile(P(y = 1)) = <x, b> + c.

    loss = log(1 + e^{-m}) (logistic) or -log Phi(m) (probit); both are convex and fall in the margins m, an array.
    derivatives(m) returns the three together, which is faster.
    """

    name: str
    loss: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    curvature: Callable[[Array], Array]
    quantile: Callable[[float], float]
    derivatives: Callable[[Array], tuple[Array, Array, Array]]


def _mills(m: Array) -> Array:
    # Phi'(m) / Phi(m) by logarithms: the quotient itself is 0/0 below m = -38.
    return np.exp(-np.square(m) / 2.0 - log_ndtr(m)) / math.sqrt(2.0 * math.pi)


def _probit_curvature(m: Array) -> Array:
    ratio = _mills(m)
    # In 0..1 for every m; the sum cancels where m is far below 0.
    return np.clip(ratio * (m + ratio), 0.0, 1.0)


def _probit_derivatives(m: Array) -> tuple[Array, Array, Array]:
    log_chance = log_ndtr(m)
    ratio = np.exp(-np.square(m) / 2.0 - log_chance) / math.sqrt(2.0 * math.pi)
    return -log_chance, -ratio, np.clip(ratio * (m + ratio), 0.0, 1.0)


def _logistic_derivatives(m: Array) -> tuple[Array, Array, Array]:
    e = np.exp(-np.abs(m))
    whole = 1.0 + e
    return np.log1p(e) - np.minimum(m, 0.0), -np.where(m > 0, e, 1.0) / whole, e / np.square(whole)


LOGISTIC = Likelihood(
    "logistic",
    lambda m: np.logaddexp(0.0, -m),
    lambda m: -expit(-m),
    lambda m: expit(m) * expit(-m),
    logit,
    _logistic_derivatives,
)
PROBIT = Likelihood(
    "probit", lambda m: -log_ndtr(m), lambda m: -_mills(m), _probit_curvature, ndtri, _probit_derivatives
)

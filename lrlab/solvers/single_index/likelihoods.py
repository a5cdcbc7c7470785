r"""Likelihoods of answers +-1 given a margin m = y (<x, b> + c), and Newton's method for few coefficients.

-log P(y | x) = loss(m) with loss = log(1 + e^{-m}) (logistic) or -log Phi(m) (probit); both are convex and fall in m.
"""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_ndtr, logit, ndtri

from lrlab.arrays import Array

SHORTEST_STEP = 1e-8
DAMPING = 1e-10


class Likelihood(NamedTuple):
    """loss(m) and its first and second derivatives, each of an array of margins; quantile(P(y = 1)) = <x, b> + c.

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


def newton(likelihood: Likelihood, Z: Array, y: Array, start: Array, tol: float = 1e-9) -> Iterator[Array]:
    r"""Yield coefficients (k,) on the way to the maximum of a likelihood, without a penalty.

    minimise    F(theta) = mean loss(y_i <z_i, theta>),  Z (n, k), y (n,) in +-1
    update      theta <- theta - t H^{-1} g,  g and H the gradient and Hessian of F, t halved until F falls enough
    converges   from every start where the answers are not separable; where they are, F tends to 0 and the direction
                of theta to one that parts the answers

    Ends when max |g| <= `tol`, or when no step lowers F by more than rounding. Memory: one copy of Z.
    """
    theta, margin = start, y * (Z @ start)
    value = float(likelihood.loss(margin).mean())
    while True:
        yield theta
        gradient = Z.T @ (y * likelihood.slope(margin)) / len(y)
        if np.abs(gradient).max() <= tol:
            return
        hessian = Z.T @ (likelihood.curvature(margin)[:, None] * Z) / len(y)
        # Makes the system solvable where columns are dependent; it changes the path, never the solution.
        hessian.flat[:: len(theta) + 1] += DAMPING * hessian.trace() + np.finfo(float).tiny
        direction = -np.linalg.solve(hessian, gradient)
        step, descent = 1.0, float(gradient @ direction)
        while True:
            candidate = theta + step * direction
            margin = y * (Z @ candidate)
            reached = float(likelihood.loss(margin).mean())
            if reached <= value + 1e-4 * step * descent:
                break
            step /= 2.0
            if step < SHORTEST_STEP:
                return
        theta, value = candidate, reached

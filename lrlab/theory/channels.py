r"""The response of a single-index model given an uncertain index: likelihood, score and curvature.

For an index z ~ N(w, V) and a response y of a link f, P(y; w, V) = (1 + y E f(z)) / 2. With S^2 = V + noise^2 and the
base link f0 of `theory.links` this is (1 + y E f0(w + S e)) / 2, e ~ N(0, 1): noise only adds to V. State evolution
and approximate message passing need

    g = d log P / dw = (E[z | y] - w) / V,    h = -dg / dw = (V - Var[z | y]) / V^2

(Rangan 2011, "Generalized approximate message passing for estimation with random linear mixing", eqs. 34-35). They are
evaluated by logarithms, since P underflows and differences of tails cancel far from the truth.
"""

import math
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, log_ndtr

from lrlab.arrays import Array
from lrlab.theory.links import Link, LogisticLink, SignLink, ThresholdLink
from lrlab.theory.smoothing import smoothed

LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)
TINY = np.finfo(float).tiny


class Answer(NamedTuple):
    """log P(y; w, V), its slope g in w, and h = -dg/dw; arrays of one shape."""

    log_chance: Array
    score: Array
    curvature: Array


@singledispatch
def answer(link: Any, w: Array, variance: Array | float, y: Array | float) -> Answer:
    """Return the likelihood of responses y (+1 or -1) at z ~ N(w, variance); arguments are broadcast.

    This general form integrates the base link by quadrature, see `theory.smoothing`; known links have their own.
    """
    S = np.sqrt(variance + link.noise**2)
    f, slope, bend = smoothed(link, w, S)
    chance = np.maximum((1.0 + y * f) / 2.0, 1e-14)
    return _from_derivatives(chance, y * slope / 2.0, y * bend / 2.0)


@answer.register
def _(link: SignLink, w: Array, variance: Array | float, y: Array | float) -> Answer:
    S = np.sqrt(variance + link.noise**2)
    t = y * w / S
    log_chance = log_ndtr(t)
    # The Mills ratio r = pdf / cdf; r (r + t) lies in 0..1, and the sum cancels for t far below 0.
    r = np.exp(-np.square(t) / 2.0 - LOG_ROOT_TWO_PI - log_chance)
    sharp = Answer(log_chance, y * r / S, np.clip(r * (r + t), 0.0, 1.0) / S**2)
    return flipped(sharp, link)


@answer.register
def _(link: ThresholdLink, w: Array, variance: Array | float, y: Array | float) -> Answer:
    S = np.sqrt(variance + link.noise**2)
    size, T = np.abs(w) / S, link.threshold / S
    above, below = size - T, -size - T
    log_yes = np.logaddexp(log_ndtr(above), log_ndtr(below))
    # P(no) = cdf(-above) - cdf(below), a difference that would cancel far out.
    log_no = log_ndtr(-above) + log_of_rest(log_ndtr(below) - log_ndtr(-above))
    log_chance = np.where(np.asarray(y) > 0, log_yes, log_no)
    # dP/dw is (pdf(above) - pdf(below)) / S in size, whose quotient pdf(below) / pdf(above) is exp(-2 size T).
    density = np.exp(-np.square(above) / 2.0 - LOG_ROOT_TWO_PI - log_chance)
    slope = -density * np.expm1(-2.0 * size * T)
    bend = density * (-above - below * np.exp(-2.0 * size * T))
    score = y * np.sign(w) * slope / S
    return flipped(Answer(log_chance, score, (slope**2 - y * bend) / S**2), link)


@answer.register
def _(link: LogisticLink, w: Array, variance: Array | float, y: Array | float) -> Answer:
    S, y = np.sqrt(variance + link.noise**2), np.asarray(y, dtype=float)
    # The trapezoidal rule converges geometrically; the poles of expit(v) at +-i pi leave exp(-2 pi^2 / (S step)).
    step = min(0.5, 2.0 * math.pi**2 / (32.0 * float(np.max(S))))
    e = step * np.arange(-math.ceil(8.0 / step), math.ceil(8.0 / step) + 1)
    weights = step * np.exp(-np.square(e) / 2.0 - LOG_ROOT_TWO_PI)
    margin = np.asarray(y * (w + link.intercept))[..., None] + np.asarray(S)[..., None] * e
    yes = expit(margin)
    slope = yes * (1.0 - yes)
    derivatives = yes @ weights, y * (slope @ weights), (slope * (1.0 - 2.0 * yes)) @ weights
    return flipped(_from_derivatives(*derivatives), link)


def flipped(at: Answer, link: Link) -> Answer:
    """Return the likelihood if each response is flipped with the probability `link.flip`."""
    flip = link.flip
    if flip == 0.0:
        return at
    chance = np.exp(at.log_chance)
    mixed = flip + (1.0 - 2.0 * flip) * chance
    share = (1.0 - 2.0 * flip) * chance / mixed
    score = share * at.score
    return Answer(np.log(mixed), score, score**2 - share * (at.score**2 - at.curvature))


def log_of_rest(a: Array) -> Array:
    """Return log(1 - e^a) for a <= 0; at a = 0, the logarithm of the smallest difference instead of -inf."""
    return np.log(-np.expm1(np.minimum(a, -TINY)))


def _from_derivatives(chance: Array, slope: Array, bend: Array) -> Answer:
    score = slope / chance
    return Answer(np.log(chance), score, score**2 - bend / chance)

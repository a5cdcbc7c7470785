r"""Limits of recovery from magnitudes: likelihood, score and information of a measurement, thresholds of exact ones.

For z ~ N(w, V), or circular complex Gaussian with E |z - w|^2 = V, and the answer y = |z| the posterior of z given y
has the mean and variance

    m = rho y w / |w|,    v = y^2 (1 - rho^2),    rho = tanh(y |w| / V) real,  I1 / I0 (2 y |w| / V) complex

(Bessel functions of the first two orders). With noise, y = |z|^k + noise e, and 0 if that is negative, k = 1 for
magnitudes and 2 for intensities: m and v are then averaged over |z| given y. As for one-bit data (`theory.channels`)
state evolution and message passing need g = (m - w) / V and h = (V - v) / V^2.

For a ~ N(0, I_p), or circular complex, m = delta p measurements and a truth in a random direction (a Gaussian prior),
`theory.state_evolution` needs I(q) = E |g|^2 over w of variance q and its measurement at V = 1 - q. The curve
delta = q / ((1 - q) I(q)) of its fixed points gives all thresholds of exact measurements:

    at q -> 0    weak recovery in polynomial time: 1/2 real, 1 complex
    its maximum  full recovery in polynomial time: 1.13 real, 2.03 complex
    at q -> 1    full recovery by any method: 1 real, 2 complex

References: Mondelli & Montanari (2018), "Fundamental limits of weak recovery with applications to phase retrieval";
Barbier, Krzakala, Macris, Miolane, Zdeborova (2019), "Optimal errors and phase transitions in high-dimensional
generalized linear models", for real magnitudes; Maillard, Loureiro, Krzakala, Zdeborova (2020), "Phase retrieval in
high dimensions: statistical and computational phase transitions", for complex ones.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, i0e, i1e, log_ndtr

from lrlab.arrays import Array, Vector
from lrlab.theory.channels import LOG_ROOT_TWO_PI, TINY, Answer, answer
from lrlab.theory.information import LEVELS, log_information
from lrlab.theory.phase import density
from lrlab.theory.smoothing import legendre
from lrlab.theory.state_evolution import fixed_points

REACH = 7.5
"""Standard deviations in the integral."""


@dataclass(frozen=True)
class Magnitudes:
    """A measurement: field is "real" or "complex", data "magnitude" or "intensity", and the noise."""

    field: str
    noise: float = 0.0
    data: str = "magnitude"

    @property
    def sharp(self) -> bool:
        """Whether measurements are exact: smaller noise is rounding."""
        return self.noise < 1e-9

    @property
    def power(self) -> int:
        """The measured power k of |z|."""
        return 2 if self.data == "intensity" else 1

    @property
    def radial(self) -> float:
        """Variance of |z| relative to V, for large |w|."""
        return 0.5 if self.field == "complex" else 1.0


@answer.register
def _(channel: Magnitudes, w: Vector, V: Array | float, y: Array) -> Answer:
    """Return the likelihood of measurements y >= 0 at z around w with variance V; arguments are broadcast.

    The score has the direction of w; the likelihood is a density, except at y = 0 with noise.
    """
    size = np.abs(w)
    if channel.sharp:
        r = y if channel.power == 1 else np.sqrt(y)
        loss = slack(channel.field, r * size / V)
        at = Answer(log_radius(channel.field, r, size, V), r - size - r * loss, r**2 * loss * (2.0 - loss))
    else:
        at = _averaged(channel, *np.broadcast_arrays(size, V, y))
    direction = w / np.where(size > 0, size, 1.0)
    return Answer(at.log_chance, at.score / V * direction, (V - at.curvature) / np.square(V))


def slack(field: str, x: Array) -> Array:
    """Return 1 - rho at x = |z| |w| / V >= 0."""
    if field == "real":
        return 2.0 * expit(-2.0 * x)
    x = 2.0 * x
    # Above 1,000 the expansion is more accurate than the difference.
    far = 1.0 / np.maximum(x, 1e3)
    return np.where(x > 1e3, far / 2.0 * (1.0 + far / 4.0 * (1.0 + far)), 1.0 - i1e(x) / i0e(x))


def log_radius(field: str, r: Array, size: Array, V: Array | float) -> Array:
    """Return the logarithm of the density of |z| at r >= 0 for |w| = `size`."""
    gap = np.square(r - size) / V
    if field == "real":
        return -gap / 2.0 - LOG_ROOT_TWO_PI - np.log(V) / 2.0 + np.log1p(np.exp(-2.0 * r * size / V))
    return np.log(2.0 * np.maximum(r, TINY) / V) - gap + np.log(i0e(2.0 * r * size / V))


def _averaged(channel: Magnitudes, size: Array, V: Array, y: Array) -> Answer:
    """Return log P, m - |w| and v of noisy measurements, by Gauss-Legendre over |z| in the bulk of both densities."""
    low, high = window(channel, size, V)
    least, most = (np.maximum(y + s * REACH * channel.noise, 0.0) ** (1 / channel.power) for s in (-1.0, 1.0))
    begin, end = np.maximum(low, least), np.minimum(high, most)
    # If they contradict each other, the mass lies in the gap.
    begin, width = np.minimum(begin, end), np.maximum(np.abs(end - begin), TINY)
    x, weights = legendre(24)
    r = begin[..., None] + width[..., None] * (1.0 + x) / 2.0
    size, V, y = size[..., None], V[..., None], y[..., None]
    miss = (y - r**channel.power) / channel.noise
    log_likelihood = np.where(y > 0, -np.square(miss) / 2.0 - LOG_ROOT_TWO_PI - math.log(channel.noise), log_ndtr(miss))
    log_weight = log_radius(channel.field, r, size, V) + log_likelihood
    top = log_weight.max(axis=-1, keepdims=True)
    weight = weights / 2.0 * np.exp(log_weight - top)
    total = weight.sum(axis=-1, keepdims=True)
    weight /= total
    loss = slack(channel.field, r * size / V)
    m = (weight * (r - r * loss)).sum(axis=-1, keepdims=True)
    v = (weight * (np.square(r - m) + 2.0 * r * m * loss)).sum(axis=-1)
    return Answer((top + np.log(total))[..., 0] + np.log(width), (m - size)[..., 0], v)


def window(channel: Magnitudes, size: Array, V: Array) -> tuple[Array, Array]:
    """Return the range of |z|."""
    spread = REACH * np.sqrt(channel.radial * V)
    return np.maximum(size - spread, 0.0), size + spread


def channel_of(spec: Any) -> Magnitudes:
    """Return the measurement of a phase retrieval spec."""
    return Magnitudes(spec.field, spec.noise, spec.data)


class Thresholds(NamedTuple):
    """Smallest m/p for weak recovery, full recovery in polynomial time, and full recovery by any method."""

    weak: float
    fast: float
    information: float


def weak_recovery(channel: Magnitudes) -> float:
    """Return the m/p above which polynomial-time methods beat a guess: 1 / E (E[|z|^2 | y] - 1)^2."""
    return float(np.exp(fixed_points(channel, 1.0).log_ratios[0]))


def thresholds(field: str) -> Thresholds:
    """Return the thresholds of exact measurements, "real" or "complex"."""
    curve = fixed_points(Magnitudes(field), 1.0).log_ratios
    return Thresholds(*(float(np.exp(value)) for value in (curve[0], curve.max(), curve[-1])))


@log_information.register
def _(channel: Magnitudes, levels: Array) -> Array:
    """Return log I(q) at q = expit(levels) (k,); of noisy measurements by a spline, whose error is at most 1e-3."""
    # Imported here: it is not needed to start the lab.
    from scipy.interpolate import CubicSpline

    return _integrated(channel, levels) if channel.sharp else CubicSpline(LEVELS, _table(channel))(levels)


@lru_cache(maxsize=256)
def _table(channel: Magnitudes) -> Array:
    return _integrated(channel, LEVELS)


def _integrated(channel: Magnitudes, levels: Array) -> Array:
    """Integrate by Gauss-Legendre in w and in the root of the measurement.

    In x with w = S sinh(x), so that nodes are dense near projections with an uncertain sign or phase.
    """
    q, V, noise = expit(levels)[:, None], expit(-levels)[:, None], 0.0 if channel.sharp else channel.noise
    S = np.sqrt(V) + noise ** (1.0 / channel.power)
    # With noise a third integral is needed.
    x, weights = legendre(40 if channel.sharp else 24)
    last = np.arcsinh(REACH * np.sqrt(channel.radial * q) / S)
    t = last * (1.0 + x) / 2.0
    w = S * np.sinh(t)
    mass = last / 2.0 * weights * S * np.cosh(t) * density(channel.field, w, q)
    low, high = window(channel, w, V)
    power = 1 if channel.sharp else channel.power
    begin, end = (np.maximum(r**power + s * REACH * noise, 0.0) ** (1 / power) for r, s in ((low, -1.0), (high, 1.0)))
    u = begin[..., None] + (end - begin)[..., None] * (1.0 + x) / 2.0
    step = (end - begin)[..., None] / 2.0 * weights * power * u ** (power - 1)
    exact = Magnitudes(channel.field) if channel.sharp else channel
    at = answer(exact, w[..., None], V[..., None], u**power)
    total = (mass * (step * np.exp(at.log_chance) * np.abs(at.score) ** 2).sum(axis=-1)).sum(axis=-1)
    if not channel.sharp:
        # Answers that noise has made negative.
        none = answer(channel, w, V, np.zeros_like(w))
        total += (mass * np.exp(none.log_chance) * np.abs(none.score) ** 2).sum(axis=-1)
    return np.log(total)

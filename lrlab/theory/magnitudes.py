r"""A magnitude given an uncertain projection: likelihood, score and curvature, real and complex.

For z ~ N(w, V), or circular complex Gaussian with E |z - w|^2 = V, and the answer y = |z| the posterior of z given y
has the mean and variance

    m = rho y w / |w|,    v = y^2 (1 - rho^2),    rho = tanh(y |w| / V) real,  I1 / I0 (2 y |w| / V) complex

(Bessel functions of the first two orders). With noise, y = |z|^k + noise e, and 0 if that is negative, k = 1 for
magnitudes and 2 for intensities: m and v are then averaged over |z| given y. As for one-bit data (`theory.channels`)
state evolution and message passing need g = (m - w) / V and h = (V - v) / V^2.

References: Barbier, Krzakala, Macris, Miolane, Zdeborova (2019), "Optimal errors and phase transitions in
high-dimensional generalized linear models", for real magnitudes; Maillard, Loureiro, Krzakala, Zdeborova (2020),
"Phase retrieval in high dimensions: statistical and computational phase transitions", for complex ones.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, i0e, i1e, log_ndtr

from lrlab.arrays import Array, Vector
from lrlab.theory.cells import legendre
from lrlab.theory.channels import LOG_ROOT_TWO_PI, TINY, Answer, answer

REACH = 7.5
"""Standard deviations in the integral."""
LARGE = 1000.0
"""Argument above which the expansion of 1 - I1 / I0 is more accurate than the difference."""


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
    far = 1.0 / np.maximum(x, LARGE)
    return np.where(x > LARGE, far / 2.0 * (1.0 + far / 4.0 * (1.0 + far)), 1.0 - i1e(x) / i0e(x))


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

r"""Link functions of single-index models and their Gaussian moments.

P(Y = 1 | x) = (1 + f(<x, b>)) / 2 with x ~ N(0, I_p), ||b|| = 1 (Yi et al. 2015, eq. 1.1). Noise of standard
deviation s is added to the index of the base link f0: f(z) = E f0(z + s e), e ~ N(0, 1).

With tau^2 = 1 + s^2 and V = z + s e = tau Z' for a standard normal Z', E[Z | V] = V / tau^2 and
Var[Z | V] = s^2 / tau^2. The moments mu_k = E[f(Z) Z^k] therefore need one integral over the base link, whatever
the noise: mu_0 = m_0, mu_1 = m_1 / tau, mu_2 = m_2 / tau^2 + m_0 s^2 / tau^2 with m_k = E[f0(tau Z') Z'^k].
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import erf, ndtr, ndtri

from lrlab.arrays import Array

MEDIAN_ABS_NORMAL = float(ndtri(0.75))
"""The median of |Z|, 0.6745: phi changes sign if threshold / tau crosses it (Yi et al. 2015, Lemma 3.4c)."""


def normal_density(z: Array | float) -> Array:
    """Return the standard normal density."""
    return np.exp(-np.square(z) / 2.0) / math.sqrt(2.0 * math.pi)


class Moments(NamedTuple):
    """mu_k = E[f(Z) Z^k] for standard normal Z (Yi et al. 2015, eq. 3.2)."""

    mu0: float
    mu1: float
    mu2: float

    @property
    def phi(self) -> float:
        """The population eigengap phi = mu_1^2 - mu_0 mu_2 + mu_0^2 (eq. 3.1)."""
        return self.mu1**2 - self.mu0 * self.mu2 + self.mu0**2


@dataclass(frozen=True)
class Link(ABC):
    """A link function: `noise` is the standard deviation of the noise in the index.

    flip: the probability that a response is flipped, which scales f by 1 - 2 flip.
    """

    noise: float = 0.0
    flip: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        """Round noise below machine precision to zero: quotients by it would overflow."""
        if self.noise < 1e-15:
            object.__setattr__(self, "noise", 0.0)

    @property
    def tau(self) -> float:
        """Standard deviation of the noisy index."""
        return math.hypot(1.0, self.noise)

    def base(self, index: Array) -> Array:
        """Return E[Y | noisy index], in -1..1."""
        return (1.0 - 2.0 * self.flip) * self.sharp(index)

    def __call__(self, index: Array) -> Array:
        """Return E[Y | index] = f(index), in -1..1."""
        return (1.0 - 2.0 * self.flip) * self.smooth(index)

    @abstractmethod
    def sharp(self, index: Array) -> Array:
        """Return f0 without flips."""

    @abstractmethod
    def smooth(self, index: Array) -> Array:
        """Return f, the mean of f0 over the noise, without flips."""

    def breakpoints(self) -> tuple[float, ...]:
        """Return known jumps and kinks of f0."""
        return ()

    @abstractmethod
    def sharp_moments(self) -> tuple[float, float, float]:
        """Return m_k = E[f0(tau Z) Z^k], k = 0, 1, 2, without flips."""

    @property
    def moments(self) -> Moments:
        """Moments of the noisy link with its flips."""
        return noisy_moments(self)


# A sweep asks for the moments of one link thousands of times, each time from a spec built anew.
@lru_cache(maxsize=4096)
def noisy_moments(link: Link) -> Moments:
    """Return mu_0, mu_1, mu_2 from the moments of the base link."""
    m0, m1, m2 = ((1.0 - 2.0 * link.flip) * moment for moment in link.sharp_moments())
    shrink = 1.0 / link.tau**2
    return Moments(m0, m1 / link.tau, m2 * shrink + m0 * (1.0 - shrink))


@dataclass(frozen=True)
class SignLink(Link):
    """One-bit sensing, f0(v) = sign(v), so f(z) = erf(z / (s sqrt 2)) (eq. 2.7)."""

    def sharp(self, index: Array) -> Array:  # noqa: D102
        return np.sign(index)

    def smooth(self, index: Array) -> Array:  # noqa: D102
        return erf(index / (self.noise * math.sqrt(2.0))) if self.noise > 0 else np.sign(index)

    def breakpoints(self) -> tuple[float, ...]:  # noqa: D102
        return (0.0,)

    def sharp_moments(self) -> tuple[float, float, float]:  # noqa: D102
        return 0.0, math.sqrt(2.0 / math.pi), 0.0


@dataclass(frozen=True)
class LogisticLink(Link):
    """Flipped logistic, f0(v) = tanh((v + intercept) / 2) (eq. 2.3, its misprint corrected)."""

    flip: float = 0.0
    intercept: float = 0.0

    def sharp(self, index: Array) -> Array:  # noqa: D102
        return np.tanh((np.asarray(index) + self.intercept) / 2.0)

    def smooth(self, index: Array) -> Array:  # noqa: D102
        if self.noise == 0:
            return self.sharp(index)
        # The trapezoidal rule converges geometrically for an analytic integrand with a Gaussian weight: the poles of
        # tanh(v / 2) at +-i pi leave an error of exp(-2 pi^2 / (noise step)).
        half = math.ceil(16.0 * max(1.0, self.noise))
        nodes = np.linspace(-8.0, 8.0, 2 * half + 1)
        weights = normal_density(nodes) * 8.0 / half
        return self.sharp(np.asarray(index)[..., None] + self.noise * nodes) @ weights

    def sharp_moments(self) -> tuple[float, float, float]:  # noqa: D102
        # As above: the poles at +-i pi / tau leave exp(-2 pi^2 / (tau step)).
        half = math.ceil(12.0 * max(4.0, 2.5 * self.tau))
        z = np.linspace(-12.0, 12.0, 2 * half + 1)
        mass = self.sharp(self.tau * z) * normal_density(z) * 12.0 / half
        return float(mass.sum()), float(mass @ z), float(mass @ z**2)


@dataclass(frozen=True)
class ThresholdLink(Link):
    """One-bit phase retrieval, f0(v) = sign(|v| - threshold) (eq. 2.9)."""

    threshold: float = 1.0

    def sharp(self, index: Array) -> Array:  # noqa: D102
        return np.sign(np.abs(index) - self.threshold)

    def smooth(self, index: Array) -> Array:  # noqa: D102
        if self.noise == 0:
            return self.sharp(index)
        upper = ndtr((np.asarray(index) - self.threshold) / self.noise)
        lower = ndtr((-np.asarray(index) - self.threshold) / self.noise)
        return 2.0 * (upper + lower) - 1.0

    def breakpoints(self) -> tuple[float, ...]:  # noqa: D102
        return -self.threshold, self.threshold

    def sharp_moments(self) -> tuple[float, float, float]:  # noqa: D102
        t = self.threshold / self.tau
        tail = float(ndtr(-t))
        return 4.0 * tail - 1.0, 0.0, 4.0 * (t * float(normal_density(t)) + tail) - 1.0

r"""Limits of recovery from magnitudes: information of a measurement, and thresholds of exact ones.

For a ~ N(0, I_p), or circular complex, m = delta p measurements and a truth in a random direction (a Gaussian prior),
`theory.state_evolution` needs I(q) = E |g|^2 over w of variance q and its measurement at V = 1 - q
(`theory.magnitudes`). The curve delta = q / ((1 - q) I(q)) of its fixed points gives all thresholds of exact
measurements:

    at q -> 0    weak recovery in polynomial time: 1/2 real, 1 complex
    its maximum  full recovery in polynomial time: 1.13 real, 2.03 complex
    at q -> 1    full recovery by any method: 1 real, 2 complex

References: Mondelli & Montanari (2018), "Fundamental limits of weak recovery with applications to phase retrieval";
Barbier, Krzakala, Macris, Miolane, Zdeborova (2019), "Optimal errors and phase transitions in high-dimensional
generalized linear models"; Maillard, Loureiro, Krzakala, Zdeborova (2020), "Phase retrieval in high dimensions:
statistical and computational phase transitions".
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from lrlab.arrays import Array
from lrlab.theory.cells import legendre
from lrlab.theory.channels import answer
from lrlab.theory.information import LEVELS, log_information
from lrlab.theory.magnitudes import REACH, Magnitudes, window
from lrlab.theory.phase import density
from lrlab.theory.state_evolution import fixed_points

ORDERS = (40, 24)
"""Nodes in w and in the measurement, without noise and with it, which needs a third integral."""


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
    x, weights = legendre(ORDERS[0] if channel.sharp else ORDERS[1])
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

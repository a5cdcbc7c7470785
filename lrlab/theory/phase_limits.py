r"""Limits of recovery from magnitudes: state evolution of Bayes-optimal inference.

For a ~ N(0, I_p), or circular complex, m = delta p measurements and a truth in a random direction
(a Gaussian prior), the squared overlap q of the posterior mean follows in the limit of large p

    q_hat = delta I(q),    I(q) = E |g|^2  over  w of variance q and its answer at V = 1 - q  (`theory.magnitudes`),
    q = q_hat / (1 + q_hat),

so that q is a fixed point at delta = q / ((1 - q) I(q)). This curve gives all thresholds of exact measurements:

    at q -> 0    weak recovery in polynomial time: 1/2 real, 1 complex
    its maximum  full recovery in polynomial time: 1.13 real, 2.03 complex
    at q -> 1    full recovery by any method: 1 real, 2 complex

and among several fixed points, the one with the largest free entropy is the best possible overlap.

References: Mondelli & Montanari (2018), "Fundamental limits of weak recovery with applications to phase retrieval";
Barbier, Krzakala, Macris, Miolane, Zdeborova (2019), "Optimal errors and phase transitions in high-dimensional
generalized linear models"; Maillard, Loureiro, Krzakala, Zdeborova (2020), "Phase retrieval in high dimensions:
statistical and computational phase transitions".
"""

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit

from lrlab.arrays import Array
from lrlab.theory.cells import legendre
from lrlab.theory.magnitudes import REACH, Magnitudes, answer, window
from lrlab.theory.phase import density
from lrlab.theory.state_evolution import Overlaps, Ratios

LEVELS = np.linspace(-18.0, 30.0, 193)
"""log(q / (1 - q)) of overlaps from 1e-8 to within 1e-13 of 1."""
SMALLEST = -60.0
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


@lru_cache(maxsize=256)
def weak_recovery(channel: Magnitudes) -> float:
    """Return the m/p above which polynomial-time methods beat a guess: 1 / E (E[|z|^2 | y] - 1)^2."""
    return float(np.exp(_curve(channel)[0]))


def thresholds(field: str) -> Thresholds:
    """Return the thresholds of exact measurements, "real" or "complex"."""
    curve = _curve(Magnitudes(field))
    k = int(np.argmax(curve))
    rise, fall = curve[k] - curve[k - 1], curve[k] - curve[k + 1]
    # The top of the parabola through three levels.
    top = curve[k] + (rise - fall) ** 2 / (8.0 * (rise + fall))
    return Thresholds(*(float(np.exp(value)) for value in (curve[0], top, curve[-1])))


@lru_cache(maxsize=65536)
def overlaps(channel: Magnitudes, ratio: float) -> Overlaps:
    """Return the limits of the squared overlap at m/p = `ratio` > 0."""
    # Positive if the recursion goes up.
    ahead = math.log(ratio) - _curve(channel)
    levels = [-math.inf] if ahead[0] <= 0 else []
    for k in np.flatnonzero((ahead[:-1] > 0) & (ahead[1:] <= 0)):
        levels.append(LEVELS[k] + (LEVELS[k + 1] - LEVELS[k]) * ahead[k] / (ahead[k] - ahead[k + 1]))
    if ahead[-1] > 0:
        levels.append(math.inf)
    fast, informed = float(expit(levels[0])), float(expit(levels[-1]))
    if ahead[-1] > 0 or len(levels) == 1:
        # The free entropy of an exact solution has no bound.
        return Overlaps(fast, informed, informed)
    entropy = np.interp(levels, LEVELS, _free_entropy(ahead))
    return Overlaps(fast, informed, float(expit(levels[int(np.argmax(entropy))])))


@lru_cache(maxsize=65536)
def ratios(channel: Magnitudes, level: float) -> Ratios:
    """Return the m/p above which the limits exceed an overlap `level` in [0, 1)."""
    curve = _curve(channel)
    fast = math.exp(curve[LEVELS <= max(logit(level), LEVELS[0])].max())
    low, high = fast * 1e-3, fast
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if overlaps(channel, middle).best > level else (middle, high)
    return Ratios(fast, high)


def predicted_iterations(channel: Magnitudes, ratio: float, start: float, iterations: int) -> list[float]:
    """Return the overlaps of the first iterates of message passing from an overlap `start`."""
    return [start, *islice(evolution(channel, ratio, start), iterations - 1)]


def evolution(channel: Magnitudes, ratio: float, start: float) -> Iterator[float]:
    """Yield q after 1, 2, ... steps of the recursion from q = `start`, endlessly."""
    level, curve = max(float(logit(start)), SMALLEST), _curve(channel)
    while True:
        level = max(level + math.log(ratio) - float(np.interp(level, LEVELS, curve)), SMALLEST)
        yield float(expit(level))


def _free_entropy(ahead: Array) -> Array:
    """Return the free entropy at each level, up to a constant: its slope along q_hat is (q_next - q) / 2."""
    following = LEVELS + ahead
    slope, q_hat = expit(following) - expit(LEVELS), np.exp(following)
    return np.concatenate([[0.0], np.cumsum((slope[1:] + slope[:-1]) * np.diff(q_hat))])


@lru_cache(maxsize=256)
def _curve(channel: Magnitudes) -> Array:
    """Return the logarithm of the m/p that makes each of LEVELS a fixed point."""
    # Imported here: it is not needed to start the lab.
    from scipy.interpolate import CubicSpline

    if channel.sharp:
        curve = LEVELS - log_information(channel, LEVELS)
    else:
        # A cubic spline between every fourth level is within 1e-3.
        levels = LEVELS[::4]
        curve = CubicSpline(levels, levels - log_information(channel, levels))(LEVELS)
    curve.setflags(write=False)
    return curve


def log_information(channel: Magnitudes, levels: Array) -> Array:
    """Return log I(q) at q = expit(levels) (k,), by Gauss-Legendre in w and in the root of the measurement.

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

r"""Compressed sensing y = A x + sigma e asymptotically, at fixed n/p: thresholds, the LASSO, and the best.

A (n, p) has N(0, 1/n) entries; x has s entries other than 0, whose mean square is 1. delta = n/p, epsilon = s/p, and
m = x / tau at noise of standard deviation tau (scalar z ~ N(0, 1), eta the soft threshold):

    l1 threshold   delta = min over a of  epsilon (1 + a^2) + (1 - epsilon) E eta(z; a)^2
    LASSO, AMP     tau^2 = sigma^2 + E (eta(x + tau z; a tau) - x)^2 / delta,  lambda = a tau (1 - E eta' / delta)
    Bayes-optimal  q_hat = delta I(q),  q = E[E[x | x + z / sqrt(q_hat)]^2]  (`theory.state_evolution`)

A quantizer acts on the LASSO as noise: for Gaussian z, Q(z) = alpha (z + r) with r uncorrelated with z (Bussgang 1952).
References: Donoho & Tanner (2009), "Observed universality of phase transitions"; Amelunxen, Lotz, McCoy & Tropp (2014),
"Living on the edge"; Donoho, Maleki & Montanari (2011), "The noise-sensitivity phase transition in compressed sensing";
Thrampoulidis, Abbasi & Hassibi (2015), "LASSO with non-linear measurements is equivalent to one with linear
measurements"; Barbier et al. (2019), eqs. 4-8.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, log_ndtr, ndtr

from lrlab.arrays import Array
from lrlab.theory.channels import LOG_ROOT_TWO_PI, Answer, answer, log_of_rest
from lrlab.theory.information import log_information
from lrlab.theory.links import normal_density
from lrlab.theory.state_evolution import overlaps

NOISE_STEP = 0.5
"""Step of the logarithm of the noise between exact tables of a quantizer."""
FAR = 1e6
"""A finite number that stands for the outer edges of a quantizer."""


class Quantizer(NamedTuple):
    """Edges of the cells, of a standard normal number; their values / alpha; the variance of r. No edges: none."""

    edges: Array
    values: Array
    variance: float


@lru_cache(maxsize=16)
def quantizer(bits: int) -> Quantizer:
    """Return the uniform mid-rise quantizer of 2^bits cells whose step is optimal for N(0, 1) (Max 1960); 0: none."""
    if bits == 0:
        return Quantizer(np.empty(0), np.empty(0), 0.0)
    # Imported here and below: it is not needed to start the lab.
    from scipy.optimize import minimize_scalar

    steps = np.arange(-(2 ** (bits - 1)), 2 ** (bits - 1) + 1)

    def moments(step: float) -> tuple[float, float]:
        edges = np.where(np.abs(steps) == steps[-1], FAR * np.sign(steps), step * steps)
        values = step * (steps[:-1] + 0.5)
        return float(values @ -np.diff(normal_density(edges))), float(np.square(values) @ np.diff(ndtr(edges)))

    def distortion(step: float) -> float:
        alpha, square = moments(step)
        return 1.0 - 2.0 * alpha + square

    step = float(minimize_scalar(distortion, bounds=(0.5 * 2.0**-bits, 4.0 * 2.0 ** (1 - bits)), method="bounded").x)
    alpha, square = moments(step)
    return Quantizer(step * steps[1:-1], step * (steps[:-1] + 0.5) / alpha, square / alpha**2 - 1.0)


def soft(v: Array, threshold: Array | float, nonnegative: bool = False) -> Array:
    """Return the soft threshold eta(v); nonnegative: 0 for all negative v."""
    shrunk = np.maximum(v - threshold, 0.0)
    return shrunk if nonnegative else shrunk - np.maximum(-v - threshold, 0.0)


def risk(m: Array | float, a: float, nonnegative: bool) -> Array:
    """Return E (eta(m + z; a) - m)^2 for m >= 0."""
    c = a - m
    above = (1.0 + a * a) * ndtr(-c) + (c - 2.0 * a) * normal_density(c)
    if nonnegative:
        return above + m * m * ndtr(c)
    d = a + m
    return above + (1.0 + a * a) * ndtr(-d) + (d - 2.0 * a) * normal_density(d) + m * m * (ndtr(c) - ndtr(-d))


@lru_cache(maxsize=65536)
def l1_threshold(fraction: float, nonnegative: bool = False) -> tuple[float, float]:
    """Return the smallest n/p for l1 minimization at this s/p, asymptotically, and its threshold a."""
    from scipy.optimize import minimize_scalar

    def dimension(a: float) -> float:
        return fraction * (1.0 + a * a) + (1.0 - fraction) * float(risk(0.0, a, nonnegative))

    least = minimize_scalar(dimension, bounds=(0.0, 10.0), method="bounded", options={"xatol": 1e-10})
    return float(least.fun), float(least.x)


@lru_cache(maxsize=4096)
def minimax_threshold(ratio: float, nonnegative: bool = False) -> float:
    """Return the threshold a of the largest sparsity that l1 minimization recovers at this n/p."""
    from scipy.optimize import brentq

    # Above 1 it would be 0, which suits exact data only.
    fraction = brentq(lambda e: l1_threshold(e, nonnegative)[0] - min(ratio, 0.9), 1e-12, 1.0 - 1e-12)
    return l1_threshold(float(fraction), nonnegative)[1]


def sizes(entries: str) -> tuple[Array, Array]:
    """Return nodes and weights of the law of |x|, x an entry other than 0."""
    if entries == "signs":
        return np.ones(1), np.ones(1)
    log_x = np.linspace(-12.0, 2.2, 400)
    weights = 2.0 * normal_density(np.exp(log_x)) * np.exp(log_x) * (log_x[1] - log_x[0])
    return np.exp(log_x), weights / weights.sum()


class Lasso(NamedTuple):
    """Limits of the LASSO: relative error and squared overlap, and the strength lambda."""

    error: float
    overlap: float
    strength: float


def soft_threshold_limit(ratio: float, fraction: float, entries: str, noise: float, a: float) -> Lasso:
    """Return the fixed point of AMP with the threshold a tau."""
    from scipy.optimize import brentq

    x, weights = sizes(entries)
    positive = entries == "nonnegative"

    def error(tau: float) -> float:
        at = fraction * float(weights @ risk(x / tau, a, positive)) + (1.0 - fraction) * float(risk(0.0, a, positive))
        return tau * tau * at

    # Far out the error is at most tau^2 times its slope, and the map contracts if a is above the minimax threshold.
    last = 4.0 * (1.0 + noise + math.sqrt(fraction / ratio))

    def ahead(tau: float) -> float:
        return noise**2 + error(tau) / ratio - tau * tau

    while ahead(last) > 0.0 and last < FAR:
        last *= 2.0
    least = max(noise * (1.0 - 1e-9), 1e-7)
    tau = brentq(ahead, least, last) if last < FAR and ahead(least) > 0.0 else (FAR if last >= FAR else least)
    m, slope_of_zeros = x / tau, ndtr(-a) * (1 if positive else 2)
    slope = float(weights @ (ndtr(m - a) + (0.0 if positive else ndtr(-m - a))))
    mean = (m - a) * ndtr(m - a) + normal_density(m - a)
    mean = mean if positive else mean + (m + a) * ndtr(-m - a) - normal_density(m + a)
    along, square = fraction * tau * float(weights @ (x * mean)), error(tau)
    length = square + 2.0 * along - fraction
    divergence = (fraction * slope + (1.0 - fraction) * slope_of_zeros) / ratio
    overlap = along**2 / (fraction * length) if length > 0 else 0.0
    return Lasso(math.sqrt(square / fraction), min(overlap, 1.0), a * tau * (1.0 - divergence))


@lru_cache(maxsize=4096)
def lasso_limit(ratio: float, fraction: float, entries: str, noise: float, strength: float) -> Lasso:
    """Return the limits of the LASSO, which minimizes ||y - A x||^2 / 2 + strength ||x||_1."""
    from scipy.optimize import brentq

    def at(a: float) -> Lasso:
        return soft_threshold_limit(ratio, fraction, entries, noise, a)

    least = minimax_threshold(ratio, entries == "nonnegative") + 1e-6
    most = least + 1.0
    while at(most).strength < strength and most < 1e3:
        most *= 2.0
    return at(brentq(lambda a: at(a).strength - strength, least, most) if at(least).strength < strength else least)


@dataclass(frozen=True)
class Measured:
    """The channel of an index z ~ N(0, 1): z + noise e, quantized to so many bits (0: not quantized)."""

    noise: float
    bits: int = 0

    @property
    def edges(self) -> Array:
        """All edges of the cells, the outer ones finite."""
        return np.concatenate([[-FAR], quantizer(self.bits).edges * math.hypot(1.0, self.noise), [FAR]])

    def table(self, levels: Array) -> Array:
        """Return log I at the levels of a table.

        A noisy quantizer takes up to half a second, and its noise relative to A x differs at each n. A cubic in log
        noise through four noises, each NOISE_STEP apart, serves all in between.
        """
        if not (self.bits and self.noise):
            return log_information(self, levels)
        first, t = divmod(math.log(self.noise) / NOISE_STEP, 1.0)
        weights = (
            -t * (t - 1.0) * (t - 2.0) / 6.0,
            (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0,
            -(t + 1.0) * t * (t - 2.0) / 2.0,
            (t + 1.0) * t * (t - 1.0) / 6.0,
        )
        near = (replace(self, noise=math.exp(NOISE_STEP * (first + k))) for k in (-1.0, 0.0, 1.0, 2.0))
        return np.array(weights) @ [_exact(channel, tuple(levels)) for channel in near]


@lru_cache(maxsize=256)
def _exact(channel: Measured, levels: tuple[float, ...]) -> Array:
    return log_information(channel, np.array(levels))


@answer.register
def _(link: Measured, w: Array, variance: Array | float, y: Array) -> Answer:
    """Return the likelihood of measurements y: numbers, or of a quantizer the places of their cells."""
    S = np.sqrt(variance + link.noise**2)
    if link.bits == 0:
        t = (y - w) / S
        return Answer(-np.square(t) / 2.0 - LOG_ROOT_TWO_PI - np.log(S), t / S, np.broadcast_to(1.0 / S**2, t.shape))
    low, high = ((link.edges[np.asarray(y, dtype=int) + k] - w) / S for k in (0, 1))
    # The tail that is smaller has the digits.
    below, above = np.where(low > 0, -high, low), np.where(low > 0, -low, high)
    log_chance = log_ndtr(above) + log_of_rest(log_ndtr(below) - log_ndtr(above))
    at_low, at_high = (np.exp(-np.square(t) / 2.0 - LOG_ROOT_TWO_PI - log_chance) for t in (low, high))
    score = (at_low - at_high) / S
    return Answer(log_chance, score, np.clip(score**2 - (low * at_low - high * at_high) / S**2, 0.0, None))


@log_information.register
def _(channel: Measured, levels: Array, order: int = 40) -> Array:
    """Return log I(q), I = E sum over the cells of (dP/dw)^2 / P, w ~ N(0, q), P at variance 1 - q."""
    q, S = expit(levels), np.sqrt(expit(-levels) + channel.noise**2)
    if channel.bits == 0:
        return -2.0 * np.log(S)
    edges, information = channel.edges, np.empty(len(levels))
    inner = edges[1:-1]
    spacing = inner[1] - inner[0] if len(inner) > 1 else FAR
    for k, (sd, width) in enumerate(zip(np.sqrt(q), S, strict=True)):
        w = sd * np.linspace(-8.5, 8.5, 301 + int(50.0 * min(sd / width, sd / spacing * 8.0)))
        if width < spacing:
            near = (inner[:, None] + width * np.linspace(-9.0, 9.0, 61)).ravel()
            w = np.union1d(w, near[np.abs(near) < 8.5 * sd])
        # Cells farther away than nine widths have no probability.
        reach = min(math.ceil(9.0 * width / spacing) + 1, len(edges))
        columns = np.searchsorted(edges, w)[:, None] + np.arange(-reach, reach + 1)
        t = (edges[np.clip(columns, 0, len(edges) - 1)] - w[:, None]) / width
        P, slope = np.diff(ndtr(t), axis=1), np.diff(normal_density(t), axis=1) / width
        fisher = np.where(P > 1e-13, slope**2 / np.maximum(P, 1e-13), 0.0).sum(axis=1)
        information[k] = np.trapezoid(fisher * normal_density(w / sd) / sd, w)
    return np.log(np.maximum(information, 1e-300))


def bayes_limits(spec: Any) -> dict[str, float]:
    """Return the limits of all methods and of polynomial-time methods for a spec with Gaussian entries."""
    if spec.entries != "gaussian" or spec.sparsity == spec.p:
        return {}
    channel = Measured(spec.index_noise, spec.bits)
    known = overlaps(channel, spec.n / spec.p, spec.sparsity / spec.p).by_name
    # The posterior mean has the squared length q.
    return known | {name.replace("overlap", "error"): _error(spec, q, 1.0 - q) for name, q in known.items()}


def lasso_limits(spec: Any, strength: float) -> dict[str, float]:
    """Return the limits of the LASSO for a spec."""
    return _limits(spec, lambda *of: lasso_limit(*of, strength))


def amp_limits(spec: Any, threshold: float) -> dict[str, float]:
    """Return the limits of AMP for a spec; threshold 0: the minimax one."""
    a = threshold or minimax_threshold(spec.n / spec.p, spec.entries == "nonnegative")
    return _limits(spec, partial(soft_threshold_limit, a=a))


def _limits(spec: Any, limit: Callable[[float, float, str, float], Lasso]) -> dict[str, float]:
    if spec.sparsity == spec.p:
        return {}
    at = limit(spec.n / spec.p, spec.sparsity / spec.p, spec.entries, spec.effective_noise)
    return {"limit_error": _error(spec, at.overlap, at.error**2), "limit_overlap": at.overlap}


def _error(spec: Any, overlap: float, square: float) -> float:
    """Return the relative error of an estimate; with one bit, the error of its direction."""
    return math.sqrt(max(2.0 - 2.0 * math.sqrt(overlap) if spec.bits == 1 else square, 0.0))

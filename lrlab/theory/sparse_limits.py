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
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, log_ndtr, ndtr

from lrlab.arrays import Array
from lrlab.linalg import errors_of
from lrlab.theory import root
from lrlab.theory.channels import LOG_ROOT_TWO_PI, Answer, answer, log_of_rest
from lrlab.theory.information import log_information
from lrlab.theory.links import normal_density
from lrlab.theory.state_evolution import overlaps

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
    levels = np.arange(2**bits) - (2**bits - 1) / 2.0
    middles = levels[:-1] + 0.5

    def excess(step: float) -> float:
        """Return E z Q(z) - E Q(z)^2, half the slope of -E (z - Q(z))^2 in log step."""
        chances = np.diff(ndtr(step * middles), prepend=0.0, append=1.0)
        return step * float(normal_density(step * middles).sum()) - step**2 * float(np.square(levels) @ chances)

    step = root(excess, 0.5 * 2.0**-bits, 8.0 * 2.0**-bits)
    alpha = step * float(normal_density(step * middles).sum())
    return Quantizer(step * middles, step * levels / alpha, 1.0 / alpha - 1.0)


def soft(v: Array, threshold: Array | float, nonnegative: bool = False) -> Array:
    """Return the soft threshold eta(v); nonnegative: 0 for all negative v."""
    shrunk = np.maximum(v - threshold, 0.0)
    return shrunk if nonnegative else shrunk - np.maximum(-v - threshold, 0.0)


def risk(m: Array | float, a: float, nonnegative: bool) -> Array:
    """Return E (eta(m + z; a) - m)^2 for m >= 0."""
    c, d, sides = a - m, a + m, 1.0 if nonnegative else 2.0
    above = (1.0 + a * a) * ndtr(-c) + (c - 2.0 * a) * normal_density(c)
    below = (1.0 + a * a) * ndtr(-d) + (d - 2.0 * a) * normal_density(d)
    return above + (sides - 1.0) * (below - m * m * ndtr(-d)) + m * m * ndtr(c)


def l1_curve(a: float, nonnegative: bool) -> tuple[float, float]:
    """Return s/p and n/p at the threshold of l1 minimization if a is the best soft threshold there."""
    sides, height = 1.0 if nonnegative else 2.0, float(normal_density(a)) / a
    odds = sides * (height - float(ndtr(-a)))
    return odds / (1.0 + odds), sides * height / (1.0 + odds)


@lru_cache(maxsize=65536)
def l1_threshold(fraction: float, nonnegative: bool = False) -> float:
    """Return the smallest n/p for l1 minimization at this s/p, asymptotically."""
    # At s = p the threshold a is 0.
    a = root(lambda a: l1_curve(a, nonnegative)[0] - min(fraction, 1.0 - 1e-9), 1e-12, 30.0)
    return l1_curve(a, nonnegative)[1]


@lru_cache(maxsize=4096)
def minimax_threshold(ratio: float, nonnegative: bool = False) -> float:
    """Return the threshold a of the largest sparsity that l1 minimization recovers at this n/p."""
    # Above 1 it would be 0, which suits exact data only.
    return root(lambda a: l1_curve(a, nonnegative)[1] - min(ratio, 0.9), 1e-12, 30.0)


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
    """Return the fixed point of AMP with the threshold a tau, for noise of at least 1e-7."""
    x, weights = sizes(entries)
    positive, noise = entries == "nonnegative", max(noise, 1e-7)
    sides = 1.0 if positive else 2.0

    def error(tau: float) -> float:
        at = fraction * float(weights @ risk(x / tau, a, positive)) + (1.0 - fraction) * float(risk(0.0, a, positive))
        return tau * tau * at

    def ahead(log_tau: float) -> float:
        tau = math.exp(log_tau)
        return noise**2 + error(tau) / ratio - tau * tau

    # The map contracts if a is above the minimax threshold, and has no fixed point below some threshold.
    last = math.log(FAR)
    tau = FAR if ahead(last) > 0.0 else math.exp(root(ahead, math.log(noise), last))
    m, other = x / tau, sides - 1.0
    slope = ndtr(m - a) + other * ndtr(-m - a)
    mean = (m - a) * ndtr(m - a) + normal_density(m - a) + other * ((m + a) * ndtr(-m - a) - normal_density(m + a))
    along, square = fraction * tau * float(weights @ (x * mean)), error(tau)
    length = square + 2.0 * along - fraction
    divergence = (fraction * float(weights @ slope) + (1.0 - fraction) * sides * ndtr(-a)) / ratio
    overlap = along**2 / (fraction * length) if length > 0 else 0.0
    return Lasso(math.sqrt(square / fraction), min(overlap, 1.0), a * tau * (1.0 - divergence))


@lru_cache(maxsize=4096)
def lasso_limit(ratio: float, fraction: float, entries: str, noise: float, strength: float) -> Lasso:
    """Return the limits of the LASSO, which minimizes ||y - A x||^2 / 2 + strength ||x||_1."""

    def excess(log_a: float) -> float:
        return soft_threshold_limit(ratio, fraction, entries, noise, math.exp(log_a)).strength - strength

    least = math.log(minimax_threshold(ratio, entries == "nonnegative") + 1e-6)
    log_a = root(excess, least, math.log(FAR)) if excess(least) < 0.0 else least
    return soft_threshold_limit(ratio, fraction, entries, noise, math.exp(log_a))


@dataclass(frozen=True)
class Measured:
    """The channel of an index z ~ N(0, 1): z + noise e, quantized to so many bits (0: not quantized)."""

    noise: float
    bits: int = 0

    @property
    def edges(self) -> Array:
        """All edges of the cells, the outer ones finite."""
        return np.concatenate([[-FAR], quantizer(self.bits).edges * math.hypot(1.0, self.noise), [FAR]])


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
def _(channel: Measured, levels: Array) -> Array:
    """Return log I(q), I = E sum over the cells of (dP/dw)^2 / P, w ~ N(0, q), P at variance 1 - q."""
    q, S = expit(levels), np.sqrt(expit(-levels) + channel.noise**2)
    if channel.bits == 0:
        return -2.0 * np.log(S)
    edges, information = channel.edges, np.empty(len(levels))
    inner = edges[1:-1]
    spacing = inner[1] - inner[0] if len(inner) > 1 else FAR
    for k, (sd, width) in enumerate(zip(np.sqrt(q), S, strict=True)):
        # With so small a step the trapezoidal rule is exact to eight digits.
        step = min(sd / 4.0, width / 2.0)
        # Narrow noise leaves information near the edges only, in windows of seven widths on either side.
        near = 7.0 * width
        apart = 2.0 * near < min(spacing, sd)
        count = round(near / step) if apart else math.ceil(8.5 * sd / step)
        w = np.add.outer(inner if apart else [0.0], step * np.arange(-count, count + 1)).ravel()
        # Cells farther away than nine widths have no probability.
        reach = min(math.ceil(9.0 * width / spacing) + 1, len(edges))
        columns = np.searchsorted(edges, w)[:, None] + np.arange(-reach, reach + 1)
        t = (edges[np.clip(columns, 0, len(edges) - 1)] - w[:, None]) / width
        P, slope = np.diff(ndtr(t), axis=1), np.diff(normal_density(t), axis=1) / width
        fisher = np.where(P > 1e-13, slope**2 / np.maximum(P, 1e-13), 0.0).sum(axis=1)
        information[k] = step * float(fisher @ normal_density(w / sd)) / sd
    return np.log(np.maximum(information, 1e-300))


def channel_of(spec: Any) -> Measured | None:
    """Return the channel of a spec with sparse Gaussian entries; None for others, whose limits are unknown."""
    known = spec.entries == "gaussian" and spec.sparsity < spec.p
    return Measured(spec.index_noise, spec.bits) if known else None


def bayes_limits(spec: Any) -> dict[str, float]:
    """Return the limits of all methods and of polynomial-time methods for a spec, if they are known."""
    channel = channel_of(spec)
    if channel is None:
        return {}
    known = overlaps(channel, spec.n / spec.p, spec.sparsity / spec.p).by_name
    # The posterior mean has the squared length q.
    errors = {name: errors_of(q) if spec.bits == 1 else math.sqrt(1.0 - q) for name, q in known.items()}
    return known | {name.replace("overlap", "error"): float(error) for name, error in errors.items()}


def soft_threshold_limits(spec: Any, threshold: float = 0.0, strength: float = 0.0) -> dict[str, float]:
    """Return the limits of the LASSO of a strength > 0, or of AMP with a threshold (0: the minimax one), for a spec."""
    if spec.sparsity == spec.p:
        return {}
    known = spec.n / spec.p, spec.sparsity / spec.p, spec.entries, spec.effective_noise
    a = threshold or minimax_threshold(known[0], spec.entries == "nonnegative")
    at = lasso_limit(*known, strength) if strength else soft_threshold_limit(*known, a)
    error = float(errors_of(at.overlap)) if spec.bits == 1 else at.error
    return {"limit_error": error, "limit_overlap": at.overlap}

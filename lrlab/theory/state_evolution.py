r"""What can be recovered at all in a single-index model: state evolution of Bayes-optimal inference.

For x ~ N(0, I_p), n = alpha p answers and a truth with independent entries of variance 1/p, the squared overlap q of
the posterior mean follows one scalar recursion in the limit of large p,

    q_hat = alpha I(q),   I(q) = E_w sum_y P g^2,   w ~ N(0, q), index variance V = 1 - q (`theory.channels`),
    q = E[E[b | b + e / sqrt(q_hat)]^2] (`theory.priors`),

whose fixed points are the stationary points of the free entropy. From q ~ 0 it ends where the best known fast methods
end; the fixed point of the largest free entropy is the best possible overlap. Along q_hat = alpha I(q) the free
entropy has the slope (1/2) (q_next - q) dq_hat/dq, so that two fixed points are compared by an area.

References: Rangan (2011), "Generalized approximate message passing for estimation with random linear mixing"; Barbier,
Krzakala, Macris, Miolane, Zdeborova (2019), "Optimal errors and phase transitions in high-dimensional generalized
linear models", eqs. 4-8.
"""

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from lrlab.arrays import Array
from lrlab.theory import priors
from lrlab.theory.channels import TINY, answer
from lrlab.theory.links import Link, LogisticLink, Moments, SignLink, ThresholdLink
from lrlab.theory.smoothing import breaks

# log(q / (1 - q)) of overlaps from 1e-8 to within 1e-13 of 1.
NODES = np.linspace(-18.0, 30.0, 193)
SMALLEST = -60.0
SPREAD = 8.5
ORDER = 40


class Overlaps(NamedTuple):
    """Limits of the squared overlap at one n/p.

    fast: fixed point from an uninformed start, what the best known fast methods reach. informed: fixed point from the
    truth. best: what no method can exceed, one of the two.
    """

    fast: float
    informed: float
    best: float

    def region(self, level: float = 0.0) -> str:
        """Return "possible", "hard" or "impossible" for reaching an overlap above `level`."""
        if self.fast > level:
            return "possible"
        return "hard" if self.best > level else "impossible"


def overlaps(link: Link, ratio: float, rate: float = 1.0) -> Overlaps:
    """Return the limits at n/p = `ratio` > 0 for a truth whose entries are non-zero at the rate `rate` in (0, 1]."""
    return _overlaps(link, float(ratio), float(rate))


def weak_recovery(moments: Moments) -> float:
    """Return the n/p above which a fast method does better than a guess: (1 - mu_0^2) / (mu_2 - mu_0)^2; 0 if mu_1.

    Where mu_1 = 0 the fixed point q = 0 loses its stability there (Mondelli & Montanari 2018, "Fundamental limits of
    weak recovery with applications to phase retrieval", Theorem 2), whatever the prior.
    """
    if abs(moments.mu1) > 1e-12:
        return 0.0
    change = (moments.mu2 - moments.mu0) ** 2
    return (1.0 - moments.mu0**2) / change if change > 1e-24 else math.inf


def evolution(link: Link, ratio: float, rate: float = 1.0, start: float = 0.0) -> Iterator[float]:
    """Yield q after 1, 2, ... steps of the recursion from q = `start`, endlessly."""
    # An overlap of 0 is one too small to be felt.
    level = max(float(logit(start)), SMALLEST)
    while True:
        level = max(_next(link, ratio, rate, level), SMALLEST)
        yield float(expit(level))


@lru_cache(maxsize=65536)
def _overlaps(link: Link, ratio: float, rate: float) -> Overlaps:
    log_hat = math.log(ratio) + _table(link)
    following = priors.level(log_hat, rate)
    ahead = following - NODES
    # Upward steps before, downward after: where the recursion comes to rest.
    stable = np.flatnonzero((ahead[:-1] > 0) & (ahead[1:] <= 0))
    roots = [_root(link, ratio, rate, int(i)) for i in stable]
    levels = ([-math.inf] if not ahead[0] > 0 else []) + roots
    fast, informed = float(expit(levels[0])), float(expit(levels[-1]))
    if len(levels) == 1:
        return Overlaps(fast, informed, informed)
    # In steps of log q_hat: the free entropy of each node, up to a constant.
    slope = np.nan_to_num((expit(following) - expit(NODES)) * np.exp(log_hat))
    steps = np.diff(np.where(np.isfinite(log_hat), log_hat, -800.0))
    entropy = np.concatenate([[0.0], np.cumsum((slope[1:] + slope[:-1]) / 2.0 * steps)])
    # The information about the sign of -q: at the left end q is 0 to rounding.
    values = np.interp(levels, NODES, entropy)
    return Overlaps(fast, informed, float(expit(levels[int(np.argmax(values))])))


def _root(link: Link, ratio: float, rate: float, index: int) -> float:
    # Imported here: it is not needed to start the lab.
    from scipy.optimize import brentq

    def ahead(level: float) -> float:
        return _next(link, ratio, rate, level) - level

    low, high = float(NODES[index]), float(NODES[index + 1])
    if ahead(high) >= 0:
        return high
    return float(brentq(ahead, low, high, xtol=1e-10)) if ahead(low) > 0 else low


def _next(link: Link, ratio: float, rate: float, level: float) -> float:
    log_hat = math.log(ratio) + log_information(link, np.array([level]))
    return float(priors.level(log_hat, rate)[0])


# Neither n/p nor the prior enters: a map or a sweep needs one table for each link.
@lru_cache(maxsize=1024)
def _table(link: Link) -> Array:
    table = log_information(link, NODES)
    table.setflags(write=False)
    return table


def log_information(link: Link, levels: Array, order: int = ORDER) -> Array:
    """Return log I(q) at q = expit(levels) (k,); -inf where an answer says nothing.

    Gauss-Legendre on either side of each place where the link is steep, in x with w = place + scale sinh(x), so that
    nodes crowd where an index of variance V can tell answers apart.
    """
    q, V = expit(levels), expit(-levels)
    S = np.sqrt(V + link.noise**2)
    places, narrowest, reach = _steep(link)
    scale = np.maximum(S, narrowest)
    spread = SPREAD * np.sqrt(q)
    x, weights = _legendre(order)
    middles = np.concatenate([[-np.inf], (places[1:] + places[:-1]) / 2.0, [np.inf]])
    total = np.zeros_like(q)
    for k, place in enumerate(places):
        for low, high in ((middles[k], place), (place, middles[k + 1])):
            begin = np.clip(np.maximum(low, place - reach * S), -spread, spread)
            end = np.clip(np.minimum(high, place + reach * S), -spread, spread)
            lower, upper = np.arcsinh((begin - place) / scale), np.arcsinh((end - place) / scale)
            half = np.maximum(upper - lower, 0.0) / 2.0
            t = (upper + lower)[:, None] / 2.0 + half[:, None] * x
            w = place + scale[:, None] * np.sinh(t)
            weight = half[:, None] * weights * scale[:, None] * np.cosh(t)
            total += (weight * _density(w, q) * _fisher(link, w, V[:, None])).sum(axis=1)
    with np.errstate(divide="ignore"):
        return np.log(total)


@lru_cache(maxsize=8)
def _legendre(order: int) -> tuple[Array, Array]:
    return np.polynomial.legendre.leggauss(order)


def _density(w: Array, q: Array) -> Array:
    return np.exp(-np.square(w) / (2.0 * q[:, None])) / np.sqrt(2.0 * math.pi * q[:, None])


def _fisher(link: Link, w: Array, V: Array) -> Array:
    # sum_y P g^2 = P g^2 / (1 - P) for either answer; taken for the less likely one, whose 1 - P does not cancel.
    at = answer(link, w, V, np.where(link.base(w) > 0, -1.0, 1.0))
    return np.exp(at.log_chance) * at.score**2 / np.maximum(-np.expm1(at.log_chance), TINY)


def _steep(link: Link) -> tuple[Array, float, float]:
    """Return where the base link is steep, over what width at least, and after how many deviations it is flat."""
    if isinstance(link, SignLink):
        return np.zeros(1), 0.0, 9.0
    if isinstance(link, ThresholdLink):
        return np.unique([-link.threshold, link.threshold]), 0.0, 9.0
    if isinstance(link, LogisticLink):
        return np.array([-link.intercept]), 1.0, math.inf
    places = np.unique([b.place for b in breaks(link)])
    return (places, 0.0, math.inf) if len(places) else (np.zeros(1), 0.5, math.inf)

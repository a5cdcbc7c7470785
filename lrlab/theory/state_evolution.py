r"""Limits of recovery from n = alpha p responses: state evolution of Bayes-optimal inference.

For x ~ N(0, I_p) and a truth with independent entries of variance 1/p, the squared overlap q of the posterior mean
follows one scalar recursion in the limit of large p,

    q_hat = alpha I(q)                                 (`theory.information`, `magnitudes`, `sparse_limits`)
    q = E[E[b | b + e / sqrt(q_hat)]^2]                (`theory.priors`)

whose fixed points are the stationary points of the free entropy. From q ~ 0 it ends at the limit of polynomial-time
methods; the fixed point with the largest free entropy is the best possible overlap.

Let q_hat(q) solve the second line. Then q is a fixed point at one alpha = q_hat(q) / I(q), known without iteration, and
the free entropy at alpha is alpha F(q) - G(q), F' = I / 2, G' = q_hat / 2. So fast methods exceed an overlap q if
n/p exceeds the alpha of every smaller one, and the best possible overlap exceeds it if n/p exceeds the slope at q
of the lower convex hull of G over F.

References: Rangan (2011), "Generalized approximate message passing for estimation with random linear mixing"; Barbier,
Krzakala, Macris, Miolane, Zdeborova (2019), "Optimal errors and phase transitions in high-dimensional generalized
linear models", eqs. 4-8.
"""

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit

from lrlab.arrays import Array
from lrlab.theory import priors
from lrlab.theory.information import LEVELS, log_information

SMALLEST = -60.0
FINE = np.linspace(LEVELS[0], LEVELS[-1], 1537)
"""Levels log(q / (1 - q)) in the search for fixed points."""
NEVER = 700.0
"""log n/p for a response without information."""


class Overlaps(NamedTuple):
    """Limits of the squared overlap at one n/p.

    fast: fixed point from an uninformed initialization, the limit of polynomial-time methods. informed: fixed point
    from the truth. best: the limit of all methods, one of the two.
    """

    fast: float
    informed: float
    best: float

    @property
    def by_name(self) -> dict[str, float]:
        """The overlap of all methods, and of polynomial-time methods if it is smaller."""
        fast = {"limit_best_fast_overlap": self.fast} if self.fast < self.best else {}
        return {"limit_best_overlap": self.best} | fast


class Ratios(NamedTuple):
    """The n/p above which polynomial-time methods, and the best of all, exceed an overlap."""

    fast: float
    best: float


@lru_cache(maxsize=65536)
def overlaps(link: Any, ratio: float, rate: float = 1.0) -> Overlaps:
    """Return the limits at n/p = `ratio` > 0 for a truth whose entries are non-zero at the rate `rate` in (0, 1]."""
    curve, log_ratio = fixed_points(link, rate), math.log(ratio)
    ahead = log_ratio - curve.log_ratios
    # The recursion stops between upward and downward steps.
    stable = np.flatnonzero((ahead[:-1] > 0) & (ahead[1:] <= 0))
    levels = [_polished(link, log_ratio, rate, float(FINE[k] + FINE[k + 1]) / 2.0) for k in stable]
    levels = [-math.inf] * bool(ahead[0] <= 0) + levels + [math.inf] * bool(ahead[-1] > 0)
    entropy = ratio * curve.F - curve.G
    # The free entropy of an exact solution has no bound.
    best = math.inf if ahead[-1] > 0 else levels[int(np.argmax(np.interp(levels, FINE, entropy)))]
    return Overlaps(*(float(expit(level)) for level in (levels[0], levels[-1], best)))


@lru_cache(maxsize=65536)
def ratios(link: Any, level: float, rate: float = 1.0) -> Ratios:
    """Return the n/p above which the limits exceed an overlap `level` in [0, 1); inf if none is large enough."""
    curve = fixed_points(link, rate)
    at = float(np.clip(logit(level), FINE[0], FINE[-1]))
    own = curve.log_ratio(link, rate, at)
    fast = max(own, float(curve.log_ratios[at >= FINE].max(initial=-math.inf)))
    # Off the curve the hull is a chord; on the curve its slope is the curve's own.
    cell = min(int(np.searchsorted(FINE, at, side="right")) - 1, len(FINE) - 2)
    best = min(float(curve.hull[cell]) if curve.bridged[cell] else own, float(curve.log_ratios[-1]))
    return Ratios(*(math.exp(value) if value < NEVER else math.inf for value in (fast, min(best, fast))))


def evolution(link: Any, ratio: float, rate: float = 1.0, start: float = 0.0) -> Iterator[float]:
    """Yield q after 1, 2, ... steps of the recursion from q = `start`, endlessly."""
    # An overlap of 0 is one too small to be felt.
    level = max(float(logit(start)), SMALLEST)
    while True:
        log_hat = math.log(ratio) + log_information(link, np.array([level]))
        level = max(float(priors.level(log_hat, rate)[0]), SMALLEST)
        yield float(expit(level))


def _polished(link: Any, log_ratio: float, rate: float, level: float) -> float:
    """Return the exact fixed point near one of the splines, by Newton's method."""
    curve = fixed_points(link, rate)
    for _ in range(3):
        slope = float(curve.spline(level, 1))
        if slope <= 0:
            break
        step = (log_ratio - curve.log_ratio(link, rate, level)) / slope
        level += min(max(step, -0.2), 0.2)
    return level


class Curve(NamedTuple):
    """The fixed points of one link and prior: log n/p of each of the levels FINE, by a spline through exact ones.

    F, G: of the free entropy. hull: logarithm of the slope of the hull of each cell, bridged: whether it is a chord.
    """

    spline: Any
    log_ratios: Array
    F: Array
    G: Array
    hull: Array
    bridged: Array

    def log_ratio(self, link: Any, rate: float, level: float) -> float:
        """Return log n/p of a level without the error of the spline over the link."""
        at = np.array([level])
        return float(np.nan_to_num(priors.log_precision(at, rate) - log_information(link, at), posinf=NEVER)[0])


@lru_cache(maxsize=1024)
def fixed_points(link: Any, rate: float) -> Curve:
    """Return the fixed points of one link and prior."""
    # Imported here: they are not needed to start the lab.
    from scipy.interpolate import CubicSpline
    from scipy.optimize import isotonic_regression

    log_hat = priors.log_precision(LEVELS, rate)
    spline = CubicSpline(LEVELS, np.nan_to_num(log_hat - _table(link), posinf=NEVER))
    log_ratios, log_hat = spline(FINE), priors.log_precision(FINE, rate)
    # dq = q (1 - q) dlevel.
    G_slope = np.exp(log_hat) * expit(FINE) * expit(-FINE) / 2.0
    slopes = np.stack([G_slope * np.exp(-np.maximum(log_ratios, -NEVER)), G_slope])
    dF, dG = (slopes[:, 1:] + slopes[:, :-1]) / 2.0 * (FINE[1] - FINE[0])
    F, G = (np.concatenate([[0.0], np.cumsum(cells)]) for cells in (dF, dG))
    dF = np.maximum(dF, np.finfo(float).tiny)
    slopes = np.log(np.maximum(dG / dF, np.finfo(float).tiny))
    if np.all(np.diff(log_ratios) >= 0):
        return Curve(spline, log_ratios, F, G, slopes, np.zeros(len(slopes), dtype=bool))
    pooled = isotonic_regression(dG / dF, weights=dF)
    chords = np.diff(pooled.blocks) > 1
    return Curve(spline, log_ratios, F, G, np.log(pooled.x), np.repeat(chords, np.diff(pooled.blocks)))


# Neither n/p nor the prior enters: a map or a sweep needs one table for each link.
@lru_cache(maxsize=1024)
def _table(link: Any) -> Array:
    table = log_information(link, LEVELS)
    table.setflags(write=False)
    return table

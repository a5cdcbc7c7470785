"""Statistics of repeated trials: mean, spread, quartiles, success rate, and the midpoint, with a rate of 50%."""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, log_expit, ndtri

from lrlab.arrays import Array

QUARTILES = ("lower_quartile", "median", "upper_quartile")
POINTS, SLOPES = 241, 160
"""Midpoints and slopes of the grid for the maximization of a likelihood."""
CHI_SQUARED_95 = chdtri(1, 1.0 - 0.95)
"""A chi-squared number with one degree of freedom is below this with probability 95%."""
FLATTEST = 1.0
"""Smallest slope, with the axis scaled to 0..1: the share then goes from 0.38 to 0.62 over the whole of it."""


def wilson_bounds(successes: ArrayLike, trials: ArrayLike) -> tuple[Array, Array]:
    """Return the lower and upper ends of the 95% Wilson score intervals of success rates; 0..1 without trials.

    successes, trials: numbers, or arrays of one shape. Reference: Wilson (1927).
    """
    z, tried = float(ndtri((1.0 + 0.95) / 2.0)), np.asarray(trials, dtype=float)
    n = np.maximum(tried, 1.0)
    share, shrink = np.asarray(successes, dtype=float) / n, 1.0 + z * z / n
    center = (share + z * z / (2.0 * n)) / shrink
    half = z * np.sqrt(share * (1.0 - share) / n + z * z / (4.0 * n**2)) / shrink
    low, high = np.maximum(0.0, center - half), np.minimum(1.0, center + half)
    return np.where(tried > 0, low, 0.0), np.where(tried > 0, high, 1.0)


def quartiles(values: Array) -> Array:
    """Return first quartile, median and third quartile along the last axis, in a new last axis; nan is missing.

    They equal numpy's quantiles. The value between two infinite ones is nan.
    """
    ordered = np.sort(values, axis=-1)
    last = np.maximum((~np.isnan(values)).sum(axis=-1, keepdims=True) - 1, 0)
    at = last * np.array([0.25, 0.5, 0.75])
    low = at.astype(np.int64)
    a, b = (np.take_along_axis(ordered, k, axis=-1) for k in (low, np.minimum(low + 1, last)))
    part = at - low
    with np.errstate(invalid="ignore"):
        found: Array = np.where(part < 0.5, a + (b - a) * part, b - (b - a) * (1.0 - part))
    return found


def describe(values: Array) -> dict[str, Array]:
    """Return mean, spread (standard deviation), error (standard error) and quartiles along the last axis.

    nan is missing. Infinite values, which stand for failures, have no spread.
    """
    known = ~np.isnan(values)
    n = known.sum(axis=-1).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(known, values, 0.0).sum(axis=-1) / n
        squares = np.where(known, values - mean[..., None], 0.0) ** 2
        spread = np.sqrt(squares.sum(axis=-1) / np.where(n > 1, n - 1.0, np.nan))
        columns = {"mean": mean, "spread": spread, "error": spread / np.sqrt(n)}
    return columns | dict(zip(QUARTILES, np.moveaxis(quartiles(values), -1, 0), strict=True))


@lru_cache(maxsize=10_000)
def midpoint(
    places: tuple[float, ...], successes: tuple[int, ...], trials: tuple[int, ...], spacing: str = "linear"
) -> tuple[float, float, float] | None:
    """Return the midpoint of a logistic curve through counts of successes and its interval, if they determine it.

    An end of the interval off the axis is infinite. None if the midpoint lies beyond the positions, or may lie beyond
    either end of them.

    Maximizes the binomial likelihood of P(success at t) = 1 / (1 + exp(-s (t - mu))) over a grid of mu and s, rising
    or falling. t is the position, or its logarithm if spacing is "log". The 95% interval contains all mu whose profile
    likelihood over s is within the chi-squared quantile of the largest. It is finite even if failures and successes do
    not overlap, when the maximum likelihood slope is infinite. |s| is at least FLATTEST, and at most so steep that the
    rise takes a quarter of the smallest step.

    places: rising, at least two. successes, trials: one each per place; places without trials do not count.
    Reference: Venzon & Moolgavkar (1988), A method for computing profile-likelihood-based confidence intervals.
    """
    t = np.log(places) if spacing == "log" else np.array(places, dtype=float)
    start, width = t[0], t[-1] - t[0]
    t, grid = (t - start) / width, np.linspace(0.0, 1.0, POINTS)
    good, tried = np.array(successes), np.array(trials)
    heights = np.full(POINTS, -np.inf)
    for slope in np.geomspace(FLATTEST, 4.0 * 4.4 / np.diff(t).min(), SLOPES):
        z = slope * (t - grid[:, None])
        # log(1 - expit(z)) = log(expit(z)) - z; a falling curve exchanges successes and failures.
        heights = np.maximum(heights, log_expit(z) @ tried - np.minimum(z @ good, z @ (tried - good)))
    # On a plateau (nothing was tried between failures and successes) the first of equal positions would win.
    level = np.flatnonzero(heights >= heights.max() - 1e-9)
    best = int(level[len(level) // 2])
    if level[0] == 0 or level[-1] == POINTS - 1:
        return None
    # The vertex of the parabola through three points, but on a plateau.
    before, here, after = heights[best - 1 : best + 2]
    bent = min(before - 2.0 * here + after, 0.0)
    mu = grid[best] + (0.5 * (before - after) / bent / (POINTS - 1) if bent < -1e-9 else 0.0)
    floor = here - CHI_SQUARED_95 / 2.0

    def end(step: int) -> float:
        outside = best + step * int(np.argmax(heights[best::step] < floor))
        pair = [outside, outside - step]
        return step * np.inf if outside == best else float(np.interp(floor, heights[pair], grid[pair]))

    ends = end(-1), end(1)
    if np.isinf(ends).all():
        return None
    back = start + width * np.array([mu, *ends])
    value, low, high = (np.exp(back) if spacing == "log" else back).tolist()
    return value, low, high

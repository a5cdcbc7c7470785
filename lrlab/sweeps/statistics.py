"""Statistics of repeated trials: mean, spread, quartiles, success rate, and the midpoint at which the rate is 50%.

Functions import pandas themselves: a sweep in the shell only counts successes.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, log_expit, ndtri

from lrlab.arrays import Array
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.definition_parts import spacing

if TYPE_CHECKING:
    import pandas as pd

QUARTILES = ("lower_quartile", "median", "upper_quartile")
POINTS, SLOPES = 241, 160
"""Midpoints and slopes of the grid for the maximization of a likelihood."""
CHI_SQUARED_95 = chdtri(1, 1.0 - 0.95)
"""A chi-squared number with one degree of freedom is below this with probability 95%."""
FLATTEST = 1.0
"""Smallest slope, with the axis scaled to 0..1: the share then goes from 0.38 to 0.62 over the whole of it."""


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


def wilson(successes: int, trials: int) -> Interval:
    """Return the 95% Wilson score interval of a share of successes (Wilson 1927); 0..1 without trials."""
    return Interval(*map(float, wilson_bounds(successes, trials)))


def wilson_bounds(successes: ArrayLike, trials: ArrayLike) -> tuple[Array, Array]:
    """Return the lower and the upper ends of the 95% Wilson score intervals of many shares, arrays of one shape."""
    z, tried = float(ndtri((1.0 + 0.95) / 2.0)), np.asarray(trials, dtype=float)
    n = np.maximum(tried, 1.0)
    share, shrink = np.asarray(successes, dtype=float) / n, 1.0 + z * z / n
    center = (share + z * z / (2.0 * n)) / shrink
    half = z * np.sqrt(share * (1.0 - share) / n + z * z / (4.0 * n**2)) / shrink
    low, high = np.maximum(0.0, center - half), np.minimum(1.0, center + half)
    return np.where(tried > 0, low, 0.0), np.where(tried > 0, high, 1.0)


def share(successes: int, trials: int) -> dict[str, float]:
    """Return successes, their share of at least one trial, and its 95% Wilson interval low, high."""
    return {"successes": successes, "share": successes / trials, **wilson(successes, trials)._asdict()}


def quartiles(values: Array) -> list[float]:
    """Return first quartile, median and third quartile of the finite values; nan if there are none."""
    ordered = np.sort(values[~np.isnan(values)]).tolist()
    if not ordered:
        return [math.nan] * 3
    return [_between(ordered, share * (len(ordered) - 1)) for share in (0.25, 0.5, 0.75)]


def _between(ordered: Sequence[float], place: float) -> float:
    """Return what lies at a place between numbers, to the last digit as numpy's quantile, which takes 50 times longer.

    The value between two infinite ones is nan.
    """
    low = int(place)
    a, b, share = ordered[low], ordered[min(low + 1, len(ordered) - 1)], place - low
    return a + (b - a) * share if share < 0.5 else b - (b - a) * (1.0 - share)


def describe(values: Array) -> dict[str, float]:
    """Return mean, spread (standard deviation), error (standard error) and quartiles of at least one number."""
    # Infinite values, which stand for failures, have no spread.
    with np.errstate(invalid="ignore"):
        spread = float(values.std(ddof=1)) if len(values) > 1 else math.nan
    center = {"mean": float(values.mean()), "spread": spread, "error": spread / math.sqrt(len(values))}
    return {**center, **dict(zip(QUARTILES, quartiles(values), strict=True))}


def summarize(
    table: "pd.DataFrame", by: Sequence[str], measure: str, below: float | None = None, above: float | None = None
) -> "pd.DataFrame":
    """Return one row per cell: what `describe` says of a measure, and the number of trials.

    With a level (`below` or `above`), also successes, share, and its 95% Wilson interval (low, high). Rows without a
    number for the measure (refused cells, runs that ended before their first iterate) are not counted as trials.
    """
    import pandas as pd

    rows: list[dict[Any, Any]] = []
    for cell, group in table.dropna(subset=[measure]).groupby(list(by), sort=True):
        values = group[measure].to_numpy(dtype=float)
        rows.append({**dict(zip(by, cell, strict=True)), **describe(values), "trials": len(values)})
        if below is not None or above is not None:
            good = values < below if below is not None else values > above
            rows[-1] |= share(int(good.sum()), len(values))
    return pd.DataFrame(rows)


class Midpoint(NamedTuple):
    """The position of 50% success; an end of the interval off the axis is infinite."""

    value: float
    low: float
    high: float


@lru_cache(maxsize=10_000)
def midpoint(
    places: tuple[float, ...], successes: tuple[int, ...], trials: tuple[int, ...], spacing: str = "linear"
) -> Midpoint | None:
    """Return the position at which a logistic curve through counts of successes passes 1/2, if they determine it.

    None if it lies beyond the positions, or may lie beyond either end of them.

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
    back = (start + width * np.array([mu, *ends])).tolist()
    return Midpoint(*(np.exp(back).tolist() if spacing == "log" else back))


def midpoints(sweep: Sweep, table: "pd.DataFrame") -> "pd.DataFrame":
    """Return the midpoints of 50% success along the last axis, as rows for each solver.

    table: of `SweepResults.table`. Columns: the first of two axes, solver, half, low, high (95% interval). There is no
    row if the rate does not cross 50% between the values.
    """
    import pandas as pd

    *across, along = sweep.grid
    rows: list[dict[str, Any]] = []
    scale = spacing(dict(sweep.axes)[along])
    measured = table[table["trials"] > 0]
    for group, column in measured.groupby([*across, "solver"], sort=False):
        column = column.sort_values(along)
        successes, trials = (tuple(column[name].astype(int).tolist()) for name in ("successes", "trials"))
        half = midpoint(tuple(column[along].tolist()), successes, trials, scale) if len(column) > 1 else None
        if half:
            named = dict(zip([*across, "solver"], group, strict=True))
            rows.append({**named, "half": half.value, "low": half.low, "high": half.high})
    return pd.DataFrame(rows, columns=[*across, "solver", "half", "low", "high"])


def midpoint_words(sweep: Sweep, points: "pd.DataFrame") -> list[str]:
    """Return `midpoints` as sentences: the position of 50% success, with its 95% interval."""
    *across, along = sweep.grid
    words = []
    for row in points.to_dict("records"):
        low, high = ("beyond the axis" if math.isinf(row[end]) else f"{row[end]:.4g}" for end in ("low", "high"))
        where = "".join(f" at {axis} = {row[axis]:.6g}" for axis in across)
        interval = f"95% interval {low} to {high}"
        words.append(f"{sweep.titles[row['solver']]}: half succeed{where} at {along} = {row['half']:.4g} ({interval}).")
    return words

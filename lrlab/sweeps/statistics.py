"""Statistics of repeated trials: centre, spread, quartiles, and the share of successes with its interval."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import ndtri

from lrlab.arrays import Array

QUARTILES = ("lower_quartile", "median", "upper_quartile")


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
    centre = (share + z * z / (2.0 * n)) / shrink
    half = z * np.sqrt(share * (1.0 - share) / n + z * z / (4.0 * n**2)) / shrink
    low, high = np.maximum(0.0, centre - half), np.minimum(1.0, centre + half)
    return np.where(tried > 0, low, 0.0), np.where(tried > 0, high, 1.0)


def share(successes: int, trials: int) -> dict[str, float]:
    """Return successes, their share of at least one trial, and its 95% Wilson interval low, high."""
    return {"successes": successes, "share": successes / trials, **wilson(successes, trials)._asdict()}


def quartiles(values: Array) -> list[float]:
    """Return first quartile, median and third quartile of what is a number; nan where nothing is."""
    numbers = values[~np.isnan(values)]
    if not len(numbers):
        return [math.nan] * 3
    # Between two infinite values there is no number.
    with np.errstate(invalid="ignore"):
        return [float(value) for value in np.quantile(numbers, (0.25, 0.5, 0.75))]


def describe(values: Array) -> dict[str, float]:
    """Return mean, spread (standard deviation), error (standard error) and quartiles of at least one number."""
    spread = float(values.std(ddof=1)) if len(values) > 1 else math.nan
    centre = {"mean": float(values.mean()), "spread": spread, "error": spread / math.sqrt(len(values))}
    return {**centre, **dict(zip(QUARTILES, quartiles(values), strict=True))}


def summarise(
    table: pd.DataFrame, by: Sequence[str], measure: str, below: float | None = None, above: float | None = None
) -> pd.DataFrame:
    """Return one row per cell: what `describe` says of a measure, and the number of trials.

    With a level (`below` or `above`), also successes, share, and its 95% Wilson interval (low, high). Rows without a
    number for the measure (refused cells, runs that ended before their first iterate) are not counted as trials.
    """
    rows: list[dict[Any, Any]] = []
    for cell, group in table.dropna(subset=[measure]).groupby(list(by), sort=True):
        values = group[measure].to_numpy(dtype=float)
        rows.append({**dict(zip(by, cell, strict=True)), **describe(values), "trials": len(values)})
        if below is not None or above is not None:
            good = values < below if below is not None else values > above
            rows[-1] |= share(int(good.sum()), len(values))
    return pd.DataFrame(rows)

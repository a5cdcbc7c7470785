"""What repeated trials say: centre, spread, standard error, and the share of successes with its interval."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import ndtri

from lrlab.arrays import Array


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


def wilson(successes: int, trials: int, confidence: float = 0.95) -> Interval:
    """Return the Wilson score interval of a share of successes (Wilson 1927); 0..1 where nothing was tried."""
    return Interval(*map(float, wilson_bounds(successes, trials, confidence)))


def wilson_bounds(successes: ArrayLike, trials: ArrayLike, confidence: float = 0.95) -> tuple[Array, Array]:
    """Return the lower and the upper ends of the Wilson score intervals of many shares, arrays of one shape."""
    z, tried = float(ndtri((1.0 + confidence) / 2.0)), np.asarray(trials, dtype=float)
    n = np.maximum(tried, 1.0)
    share, shrink = np.asarray(successes, dtype=float) / n, 1.0 + z * z / n
    centre = (share + z * z / (2.0 * n)) / shrink
    half = z * np.sqrt(share * (1.0 - share) / n + z * z / (4.0 * n**2)) / shrink
    low, high = np.maximum(0.0, centre - half), np.minimum(1.0, centre + half)
    return np.where(tried > 0, low, 0.0), np.where(tried > 0, high, 1.0)


def summarise(
    table: pd.DataFrame, by: Sequence[str], measure: str, below: float | None = None, above: float | None = None
) -> pd.DataFrame:
    """Return one row a cell: mean, spread (standard deviation), error (standard error), quartiles, median, trials.

    With a level (`below` or `above`), also successes, share, and its 95% Wilson interval (low, high). Rows without a
    number for the measure (refused cells, runs that ended before their first iterate) are not counted as trials.
    """
    rows = []
    for cell, group in table.dropna(subset=[measure]).groupby(list(by), sort=True):
        values = group[measure].to_numpy(dtype=float)
        spread = float(values.std(ddof=1)) if len(values) > 1 else math.nan
        quartiles = np.quantile(values, (0.25, 0.5, 0.75))
        row = {
            **dict(zip(by, cell, strict=True)),
            "mean": float(values.mean()),
            "spread": spread,
            "error": spread / math.sqrt(len(values)),
            "lower_quartile": quartiles[0],
            "median": quartiles[1],
            "upper_quartile": quartiles[2],
            "trials": len(values),
        }
        if below is not None or above is not None:
            good = values < below if below is not None else values > above
            interval = wilson(int(good.sum()), len(values))
            row |= {"successes": int(good.sum()), "share": float(good.mean()), **interval._asdict()}
        rows.append(row)
    return pd.DataFrame(rows)

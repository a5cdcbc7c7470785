"""What repeated trials say: centre, spread, standard error, and the share of successes with its interval."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


def wilson(successes: int, trials: int, confidence: float = 0.95) -> Interval:
    """Return the Wilson score interval of a share of successes (Wilson 1927); 0..1 where nothing was tried."""
    if trials == 0:
        return Interval(0.0, 1.0)
    z = float(ndtri((1.0 + confidence) / 2.0))
    share = successes / trials
    shrink = 1.0 + z * z / trials
    centre = (share + z * z / (2.0 * trials)) / shrink
    half = z * math.sqrt(share * (1.0 - share) / trials + z * z / (4.0 * trials**2)) / shrink
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


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

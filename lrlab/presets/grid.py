"""Settings that are searched on a grid: a series' table `grid`, one setting with the values that are tried.

Which value is shown is decided with the truth, as a paper does that tunes a rival by hand: the one with the smallest
median of a measure at the end of the runs, at each point for itself. All trials are in the table of trials.
"""

from collections.abc import Sequence

import pandas as pd

from lrlab.parameters import InputError
from lrlab.presets.definition import Toml


def variants(series: Toml) -> list[dict[str, float]]:
    """Return the settings that a series tries, one table each; one without any where it has no grid."""
    grid = series.get("grid", {})
    if len(grid) > 1:
        raise InputError("grid", "one setting with its values", ", ".join(grid), "keep one of them")
    for name, values in grid.items():
        if not isinstance(values, list) or not values:
            raise InputError(name, "a list of values", values, "write for example [0.01, 0.001]")
        return [{name: value} for value in values]
    return [{}]


def chosen(rows: pd.DataFrame, by: Sequence[str], measure: str) -> pd.DataFrame:
    """Return the rows without those of other values of a grid than the best, for each combination of columns `by`.

    The best has the smallest median, over the trials, of a measure in the last row of each.
    """
    if "grid" not in rows or rows.empty:
        return rows
    parts = []
    for _, group in rows.groupby(list(by), sort=False):
        if group["grid"].notna().any():
            last = group.groupby(["grid", "trial"]).tail(1).fillna({measure: float("inf")})
            group = group[group["grid"] == last.groupby("grid")[measure].median().idxmin()]
        parts.append(group)
    return pd.concat(parts)


def words(rows: pd.DataFrame) -> str:
    """Return a sentence on the values that were chosen, nothing where there is no grid."""
    if "grid" not in rows or not rows["grid"].notna().any():
        return ""
    best = [
        f"{name}: {', '.join(f'{value:g}' for value in sorted(set(group['grid'])))}"
        for name, group in rows.dropna(subset=["grid"]).groupby("series", sort=False)
    ]
    return f" Best of a grid, by the error with the truth at hand: {'; '.join(best)}."

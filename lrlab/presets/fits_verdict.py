"""The verdict on a table: whether our numbers are as good as those that the paper prints."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from lrlab.presets.verdict import Verdict

TOLERANCES = {"precision": 3.0, "hamming": 0.005, "auc": 0.02, "label_auc": 0.02}
"""How far apart two numbers may be that agree: percent for precision, else shares."""
MOST_NAMED = 3
NOT_JUDGED = {"verdict": "no verdict", "measured": "synthetic rows of the same shape", "predicted": "", "remark": ""}
"""Columns of the table where synthetic rows stand in for a set."""


def fit_name(row: Any) -> str:
    """Return what a row of a table of fits is of."""
    return f"{row.data}, {row.series}, rank {row.share:g} L, {row.observed:g} observed"


def compare(
    measure: str, rows: pd.DataFrame, scale: float = 1.0, name_of: Callable[[Any], str] = fit_name
) -> Verdict | None:
    """Return whether our numbers are as good as those printed, within TOLERANCES times scale; None without any."""
    both = rows.dropna(subset=["paper", "difference"])
    if both.empty:
        return None
    room = scale * TOLERANCES[measure.partition("@")[0]]
    ahead = both["difference"] * (-1.0 if measure == "hamming" else 1.0)
    worse, better = both[ahead < -room], both[ahead > room]
    remark = f"Better than printed by more than {room:g}: {_names(better, name_of)}." if len(better) else ""
    remark = (
        f"Worse than printed by more than {room:g}: {_names(worse, name_of)}. {remark}".strip()
        if len(worse)
        else remark
    )
    measured = f"{len(both) - len(worse) - len(better)} of {len(both)} numbers within {room:g} of those printed"
    return Verdict("the numbers of the table", measured, "", not len(worse), remark)


def _names(rows: pd.DataFrame, name_of: Callable[[Any], str]) -> str:
    """Return the first rows as text."""
    words = [name_of(row) for row in rows.itertuples()]
    return "; ".join(words[:MOST_NAMED]) + (f"; and {len(words) - MOST_NAMED} more" if len(words) > MOST_NAMED else "")

"""The verdict on a table of fits: whether our numbers are as good as those that the paper prints."""

import pandas as pd

from lrlab.presets.verdict import Verdict

TOLERANCES = {"precision": 3.0, "hamming": 0.005, "auc": 0.02}
"""How far apart two numbers may be that agree: percent for precision, else shares."""
MOST_NAMED = 3


def compare(measure: str, rows: pd.DataFrame) -> Verdict | None:
    """Return whether our numbers are as good as those printed, within TOLERANCES; None where there are none."""
    both = rows.dropna(subset=["paper", "difference"])
    if both.empty:
        return None
    room = TOLERANCES[measure.partition("@")[0]]
    ahead = both["difference"] * (-1.0 if measure == "hamming" else 1.0)
    worse, better = both[ahead < -room], both[ahead > room]
    remark = f"Better than printed by more than {room:g}: {_names(better)}." if len(better) else ""
    remark = f"Worse than printed by more than {room:g}: {_names(worse)}. {remark}".strip() if len(worse) else remark
    measured = f"{len(both) - len(worse) - len(better)} of {len(both)} numbers within {room:g} of those printed"
    return Verdict("the numbers of the table", measured, "", not len(worse), remark)


def _names(rows: pd.DataFrame) -> str:
    """Return the first points as text."""
    words = [f"{row.data}, {row.series}, rank {row.share:g} L, {row.observed:g} observed" for row in rows.itertuples()]
    return "; ".join(words[:MOST_NAMED]) + (f"; and {len(words) - MOST_NAMED} more" if len(words) > MOST_NAMED else "")

"""What an experiment comes to, a line for each claim: the paper's words, our numbers, the verdict, why they differ."""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from lrlab.presets.verdict import FAILED, REMARK, REPRODUCED, UNDECIDED

WORDS = (REPRODUCED, REMARK, UNDECIDED, FAILED)


class Line(NamedTuple):
    """A claim in a panel: the paper's words, what was measured, the verdict, and the remark, "" where there is none."""

    panel: str
    claim: str
    ours: str
    verdict: str
    why: str


def lines(table: pd.DataFrame) -> list[Line]:
    """Return the lines of a table of points and summaries, as a preset makes it."""
    if "verdict" not in table:
        return []
    rows = table[table["verdict"].isin(WORDS)].astype(object)
    rows = rows.where(rows.notna(), "").to_dict("records")
    # Beside printed numbers, the column `paper` has these.
    return [
        Line(row.get("panel", ""), row.get("claim") or row["paper"], row["measured"], row["verdict"], row["remark"])
        for row in rows
    ]


def counts(shown: Sequence[Line]) -> dict[str, int]:
    """Return how many lines have each verdict, without those that none has."""
    numbers = {word: sum(line.verdict == word for line in shown) for word in WORDS}
    return {word: number for word, number in numbers.items() if number}

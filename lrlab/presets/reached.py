"""When series reach a level of their measure, with intervals, and which of them do so sooner."""

from typing import NamedTuple

import pandas as pd

from lrlab.presets.definition import Toml
from lrlab.presets.verdict import Judged


class Reached(NamedTuple):
    """When the trials of a series reach a level: median and quartiles; infinity where they do not, as far as seen.

    bound: the lower quartile, or the end of what was seen, which a series that does not reach the level exceeds.
    """

    low: float
    middle: float
    high: float
    bound: float

    @property
    def words(self) -> str:
        """The times as text."""
        if self.middle == float("inf"):
            return f"more than {self.bound:.3g}"
        last = "beyond" if self.high == float("inf") else f"{self.high:.3g}"
        return f"{self.middle:.3g} ({self.low:.3g} to {last})"


def reached(points: pd.DataFrame, level: float) -> Reached:
    """Return when a series reaches a level; points: y, x with quartiles low, high, x_low, x_high, in the order of x."""
    low, middle, high = (
        min(points[points[y] <= level][x].to_list(), default=float("inf"))
        for y, x in (("low", "x_low"), ("y", "x"), ("high", "x_high"))
    )
    return Reached(low, middle, high, min(low, float(points["x_low"].iloc[-1])))


def sooner(rule: Toml, points: pd.DataFrame) -> Judged:
    """Judge whether all series `lower` reach a level before all series `higher`: not decided where intervals overlap.

    What is not decided may be so with more iterations; what is decided stays so, as no iterate depends on their limit.
    """
    named = {label: points[points["series"] == label] for key in ("lower", "higher") for label in rule[key]}
    if any(own.empty for own in named.values()):
        return Judged(False, "series without a number")
    times = {label: reached(own, rule["level"]) for label, own in named.items()}
    low, high = ([times[label] for label in rule[key]] for key in ("lower", "higher"))
    halves = (", ".join(f"{label}: {times[label].words}" for label in rule[key]) for key in ("lower", "higher"))
    words = f"until {rule['level']:g}, {'; '.join(halves)}"
    if min(own["trials"].max() for own in named.values()) < 2:
        return Judged(None, f"{words}; one trial has no interval")
    before = max(time.high for time in low) <= min(time.bound for time in high)
    after = max(time.bound for time in low) > min(time.high for time in high)
    return Judged(before if before or after else None, words)

"""Claims of a paper in preset files, and the verdicts on them: tables [[claims]], also beside printed numbers.

A claim has the paper's words (`paper`), a panel, and a `rule` that compares numbers of the series there:

- `order`: the largest number of the series `lower`, times `by`, is at most the smallest of the series `higher`;
- `similar`: the values of two or more `series` differ by a factor of at most `within`, wherever all of them have one;
- `rising`: the values of each of the `series` rise from the first to the last point;
- `each`: at every point that all have, the largest value of the series `lower` is at most the smallest of `higher`;
- `sooner`: all series `lower` are at most at `level` before any series `higher` is, with the quartiles of the trials;
  where these overlap, or limits of iterations hide it, the claim is not decided;
- `below`, `above`: the numbers of the `series` are at most, or at least, `level`.

`quantity` says which number of a series: `half` (where the share of successes rises through one half), `last` (the
value at the last point), `largest`, or `end` (the last place, as the time of the last iteration); `at` takes the value
at a place instead. A `remark` has a text and a rule of its own, and stands where that rule holds.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lrlab.parameters import InputError, require_known
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.result import Judged, Verdict


def rise(x: np.ndarray, share: np.ndarray) -> float:
    """Return where a share last rises through one half, between points; nan where it never does."""
    before = np.flatnonzero((share[:-1] < 0.5) & (share[1:] >= 0.5))
    if not len(before):
        return float("nan")
    k = before[-1]
    return float(x[k] + (0.5 - share[k]) / (share[k + 1] - share[k]) * (x[k + 1] - x[k]))


def half(x: np.ndarray, share: np.ndarray) -> float:
    """Return where a share last rises through one half, x[0] where it is above at once, infinity where it never is."""
    place = rise(x, share)
    return place if place == place else float(x[0]) if share[0] >= 0.5 else float("inf")


QUANTITIES: Mapping[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "half": half,
    "last": lambda x, y: float(y[-1]),
    "largest": lambda x, y: float(y.max()),
    "end": lambda x, y: float(x[-1]),
}


def verdicts(preset: Preset, panel: str, points: pd.DataFrame) -> list[Verdict]:
    """Return the verdicts on the claims that belong to a panel; points: columns series, x, y in the order of x."""
    own = [claim for claim in preset.content.get("claims", ()) if _panel(preset, claim) == panel]
    # A person may leave out series: a claim on one that is not there is not judged.
    present = {*_labels(preset)}
    return [_verdict(claim, points) for claim in own if {*_named(claim), *_named(claim.get("remark", {}))} <= present]


def check(preset: Preset) -> None:
    """Raise InputError, with the line, for a claim that names what is not there."""
    panels, labels = tuple(panel["title"] for panel in preset.panels), _labels(preset)
    for number, claim in enumerate(preset.content.get("claims", ())):
        path = ("claims", number)
        with preset.source.locate(path):
            require_known(_panel(preset, claim), panels, what="panel")
            for rule in (claim, *([claim["remark"]] if "remark" in claim else [])):
                require_known(rule["rule"], RULES, what="rule")
                require_known(rule.get("quantity", "last"), QUANTITIES, what="quantity")
                for key in RULES[rule["rule"]].needs:
                    if key not in rule:
                        raise InputError(key, "given", "nothing", f"add it to the claim of rule {rule['rule']}")
                for label in _named(rule):
                    require_known(label, labels, what="series")


def caption(judged: Sequence[Verdict]) -> str:
    """Return the sentences of verdicts, to stand behind a caption."""
    return "".join(f" {verdict.sentence}" for verdict in judged)


def rows(judged: Sequence[Verdict]) -> list[dict[str, Any]]:
    """Return the verdicts as rows of a table."""
    return [{"level": "claim", **verdict.columns} for verdict in judged]


def _labels(preset: Preset) -> tuple[str, ...]:
    """Return the labels of the series, and those of panels that show a ratio."""
    compared = (" over ".join(panel["ratio"]) for panel in preset.panels if "ratio" in panel)
    return (*(series["label"] for series in preset.series), *compared)


def _named(rule: Toml) -> list[str]:
    return [label for key in ("series", "lower", "higher") for label in rule.get(key, ())]


def _panel(preset: Preset, claim: Toml) -> str:
    return str(claim.get("panel", preset.panels[0]["title"]))


def _verdict(claim: Toml, points: pd.DataFrame) -> Verdict:
    holds, measured = RULES[claim["rule"]].judge(claim, points)
    added = ""
    if remark := claim.get("remark"):
        more = RULES[remark["rule"]].judge(remark, points)
        added = f"{remark['text']} ({more.measured})." if more.holds else ""
    return Verdict(claim["paper"], measured, "", holds, added)


def _numbers(rule: Toml, labels: Sequence[str], points: pd.DataFrame) -> dict[str, float]:
    """Return the quantity of each series; infinity where it has no points, as where all of its trials failed."""
    numbers = {}
    for label in labels:
        own = points[points["series"] == label].dropna(subset=["y"])
        if "at" in rule:
            own = own[own["x"] == rule["at"]]
        x, y = own["x"].to_numpy(float), own["y"].to_numpy(float)
        numbers[label] = QUANTITIES[rule.get("quantity", "last")](x, y) if len(own) else float("inf")
    return numbers


def _words(numbers: Mapping[str, float]) -> str:
    values = {name: f"{value:.3g}" if np.isfinite(value) else "nowhere" for name, value in numbers.items()}
    return ", ".join(f"{name}: {value}" for name, value in values.items())


def _order(rule: Toml, points: pd.DataFrame) -> Judged:
    low, high = (_numbers(rule, rule[key], points) for key in ("lower", "higher"))
    holds = max(low.values()) < float("inf") and max(low.values()) * rule.get("by", 1.0) <= min(high.values())
    return Judged(holds, f"{_words(low)}; {_words(high)}")


def _similar(rule: Toml, points: pd.DataFrame) -> Judged:
    table = points[points["series"].isin(rule["series"])].pivot(index="x", columns="series", values="y").dropna()
    ratio = table.max(axis=1) / table.min(axis=1)
    if ratio.empty:
        return Judged(False, "no common point")
    worst = float(ratio.max())
    within = f"within a factor of {rule['within']:g} at {(ratio <= rule['within']).sum()} of {len(ratio)} points"
    return Judged(worst <= rule["within"], f"{within}; largest ratio {worst:.3g}, at {ratio.idxmax():g}")


def _rising(rule: Toml, points: pd.DataFrame) -> Judged:
    ends = {}
    for label in rule["series"]:
        y = points[points["series"] == label]["y"].to_numpy(float)
        ends[label] = (float(y[0]), float(y[-1])) if len(y) else (float("nan"), float("nan"))
    words = ", ".join(f"{label}: from {first:.3g} to {last:.3g}" for label, (first, last) in ends.items())
    return Judged(all(first < last for first, last in ends.values()), words)


def _each(rule: Toml, points: pd.DataFrame) -> Judged:
    named = [*rule["lower"], *rule["higher"]]
    own = points[points["series"].isin(named)]
    table = own.pivot_table(index="x", columns="series", values="y", sort=False).reindex(columns=named).dropna()
    if table.empty:
        return Judged(False, "no common point")
    gap = table[rule["higher"]].min(axis=1) - table[rule["lower"]].max(axis=1)
    place, smallest = gap.idxmin(), float(gap.min())
    at = place if isinstance(place, str) else f"{place:g}"
    words = f"at {(gap >= 0).sum()} of {len(gap)} points; smallest difference {smallest:.3g}, at {at}"
    return Judged(smallest >= 0, words)


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


def _sooner(rule: Toml, points: pd.DataFrame) -> Judged:
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


def _below(rule: Toml, points: pd.DataFrame) -> Judged:
    numbers = _numbers(rule, rule["series"], points)
    return Judged(max(numbers.values()) <= rule["level"], _words(numbers))


def _above(rule: Toml, points: pd.DataFrame) -> Judged:
    numbers = _numbers(rule, rule["series"], points)
    return Judged(rule["level"] <= min(numbers.values()) < float("inf"), _words(numbers))


class Rule(NamedTuple):
    """How a claim is judged, and the keys that it needs."""

    judge: Callable[[Toml, pd.DataFrame], Judged]
    needs: tuple[str, ...]


RULES: Mapping[str, Rule] = {
    "order": Rule(_order, ("lower", "higher")),
    "similar": Rule(_similar, ("series", "within")),
    "rising": Rule(_rising, ("series",)),
    "sooner": Rule(_sooner, ("lower", "higher", "level")),
    "each": Rule(_each, ("lower", "higher")),
    "below": Rule(_below, ("series", "level")),
    "above": Rule(_above, ("series", "level")),
}

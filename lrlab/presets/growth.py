"""Presets of kind `growth`: time or memory of runs against a size of the problem, and exponents beside claimed ones.

A panel has one axis. Its `quantity` is `iteration`, the seconds of one, or `accuracy`, those until figure.measure first
falls below figure.level: of the same runs, as a solver's trace has them. Without it a panel shows processor time of the
solver, its data drawn before, for a fixed number of iterations (`settings`: tol = 0, max_iter), and has the exponents
of memory, too: the peak of what is allocated while the data is drawn and the solver runs. A series has the exponents
that are claimed by axis: `claimed` of times, `memory`; the rule `exponent` of `rules_growth` judges them. Along the
axes of `logarithms` the formula has the logarithm of the size as a factor, too.
"""

import math
import tracemalloc
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lrlab.figures.series import series as draw
from lrlab.models.axes import axes
from lrlab.parameters import InputError, require_known
from lrlab.presets import claims
from lrlab.presets.cases import axis_of, panel_by_panel, plan_cases
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.evidence import Samples, samples_of
from lrlab.presets.result import FAILED, REPRODUCED, Panel, Plan, Verdict, panel_table
from lrlab.presets.rules import exponent
from lrlab.protocol import Iterate
from lrlab.runs.run import Newest, run_job
from lrlab.runs.trial import Trial, run_traced, run_trial


class Quantity(NamedTuple):
    """What a panel shows: the column of a trial's rows, its words, the key of the exponents, and whose they are."""

    column: str
    words: str
    key: str = "claimed"
    source: str = "claimed"


TRACED = {
    "iteration": Quantity("time", "seconds per iteration"),
    "accuracy": Quantity("time", "seconds until the accuracy is reached"),
}
QUANTITIES = (
    Quantity("processor", "processor seconds", source="formula"),
    Quantity("megabytes", "peak memory, MB", "memory", "formula"),
)


def plan(preset: Preset, trials: int | None = None) -> Plan:
    """Return the runs of all panels as one job; panels along one axis share them."""
    traced, look = ["quantity" in panel for panel in preset.panels], preset.content["figure"]
    for number, panel in enumerate(preset.panels):
        path = ("panels", number)
        with preset.source.locate(path):
            if any(traced):
                require_known(panel.get("quantity", "nothing"), TRACED, what="quantity")
            if len(axis_of(preset, path)[1]) < 3:
                raise InputError("axes", "at least three values, for an interval", panel["axes"], "add values")
        if any(traced):
            with preset.source.locate(("figure",)):
                for key in ("measure", "level"):
                    if key not in look:
                        raise InputError(key, "given", "nothing", "add it to [figure], for the accuracy")
            preset.require_measure(look["measure"], preset.spec(path).model, ("figure",))
    return plan_cases(preset, trials, panel_by_panel(_panel), run_traced if any(traced) else measured)


class Peak(Newest):
    """The newest iterate, and the most memory, in bytes, that was allocated until it was there, its score left out."""

    size: int = 0

    def hold(self, iteration: int, seconds: float, iterate: Iterate) -> None:
        """Take an iterate in the place of the one before."""
        super().hold(iteration, seconds, iterate)
        self.size = tracemalloc.get_traced_memory()[1]


def measured(trial: Trial) -> list[dict[str, float]]:
    """Return the processor seconds of the solver of a trial, and the peak memory of a second run in megabytes."""
    seconds, peak = run_trial(trial).seconds, Peak()
    tracemalloc.start()
    try:
        run_job(trial.seeded, newest=peak)
    finally:
        tracemalloc.stop()
    return [{"trial": trial.number, "processor": seconds, "megabytes": peak.size / 1e6}]


def _panel(preset: Preset, number: int, rows: pd.DataFrame) -> tuple[Panel, pd.DataFrame]:
    panel, path = preset.panels[number], ("panels", number)
    axis, spec = axis_of(preset, path)[0], preset.spec(path)
    quantities: Sequence[Quantity] = QUANTITIES
    if name := panel.get("quantity"):
        rows, quantities = seconds_of_runs(rows, axis, name, preset.content["figure"]), (TRACED[name],)
    labels = panel.get("only", [one["label"] for one in (*preset.series, *preset.content.get("left_out", ()))])
    parts, lines, sentences, judged = list[pd.DataFrame](), list[dict[str, Any]](), list[str](), list[Verdict]()
    for quantity in quantities:
        column, words, key, source = quantity
        several = {"quantity": words} if len(quantities) > 1 else {}
        own, said, verdicts = exponent_lines(
            preset, axis, samples_of(rows, axis, column), labels, key if panel.get("judged", True) else "", source
        )
        parts.append(points(rows, axis, column).assign(**several))
        lines += [{**line, **several} for line in own]
        sentences += [f"{words}: {one}" if several else one for one in said]
        judged += verdicts
    title, joint = axes(type(spec))[axis], ", " if len(quantities) > 1 else ": "
    figure = draw(parts[0], axis_title=title, value_title=quantities[0].words, log_x=True, log_y=True)
    caption = f"Medians of the trials, with quartiles. Exponents of {axis}{joint}{'; '.join(sentences)}."
    return Panel(panel["title"], figure, caption, judged), panel_table(
        panel["title"], spec.model, pd.concat(parts), lines
    )


def exponent_lines(
    preset: Preset, axis: str, samples: Samples, labels: Collection[str], key: str, source: str
) -> tuple[list[dict[str, Any]], list[str], list[Verdict]]:
    """Return the exponents of series as lines of a table and in words, with verdicts; those not run have one, too.

    key: where a series has the exponents by axis, "" if none is judged; source: what they are of.
    """
    lines, sentences, judged = [], [], []
    for one in (*preset.series, *preset.content.get("left_out", ())):
        label, bound = one["label"], one.get(key, {}).get(axis)
        slope, (low, high) = exponent(samples, label)
        line: dict[str, Any] = {"level": "series", "series": label, "exponent": slope, "low_95": low, "high_95": high}
        words = f"{label} {slope:.2f} ({low:.2f} to {high:.2f})" if slope == slope else f"{label} unknown"
        if label not in labels:
            continue
        if bound is not None:
            formula, said = f"{axis}^{bound:g}", one.get("paper", label)
            if key == "memory":
                # The text of a series is on its time.
                said = f"memory of the data and of what the method holds: at most {formula}"
            if axis in one.get("logarithms", ()):
                formula, bound = f"{formula} log({axis})", bound + of_logarithm(samples, label)
            claim = {"paper": said, "rule": "exponent", "series": [label], "claimed": bound}
            verdict = claims.verdict({**claim, "axis": axis}, samples, formula)
            below = "It grows more slowly than the formula, which bounds it from above." if high < bound else ""
            remarks = {REPRODUCED: below, FAILED: one.get("why", "")}
            verdict = verdict._replace(remark=remarks.get(verdict.word, ""))
            judged.append(verdict)
            line |= {"claimed": bound, **verdict.columns}
            words += f", {source} {bound:.3g}: {verdict.word}"
        lines.append(line)
        sentences += [words] if label in samples.values else []
    return lines, sentences, judged


def of_logarithm(samples: Samples, series: str) -> float:
    """Return what a factor log(size) adds to an exponent over the sizes of a series: .19 from 100 to 500."""
    logarithms = {place: np.array([math.log(float(place))]) for place in samples.values.get(series, ())}
    slope, _ = exponent(Samples({series: logarithms}), series)
    return slope if slope == slope else 0.0


def points(rows: pd.DataFrame, axis: str, column: str) -> pd.DataFrame:
    """Return for each series and value x of an axis: y the median of a column, low, high (quartiles), trials.

    Trials that never reach the accuracy take infinitely long.
    """
    parts = []
    for (name, x), group in rows.groupby(["series", axis], sort=False):
        # Between two infinite values there is no number.
        with np.errstate(invalid="ignore"):
            low, middle, high = np.quantile(group[column], (0.25, 0.5, 0.75))
        parts.append({"series": name, "x": x, axis: x, "y": middle, "low": low, "high": high, "trials": len(group)})
    return pd.DataFrame(parts).replace([np.inf, -np.inf], np.nan).dropna(subset=["y"])


def seconds_of_runs(rows: pd.DataFrame, axis: str, quantity: str, look: Toml) -> pd.DataFrame:
    """Return the time of every trial: columns series, the axis, trial and time; without those that have none."""
    times_of = [
        {"series": name, axis: x, "trial": trial, "time": _seconds(run.sort_values("iteration"), quantity, look)}
        for (name, x, trial), run in rows.groupby(["series", axis, "trial"], sort=False)
    ]
    return pd.DataFrame(times_of).dropna(subset=["time"])


def _seconds(run: pd.DataFrame, quantity: str, look: Toml) -> float:
    seconds = run["seconds"].to_numpy(float)
    if quantity == "iteration":
        # The first includes the start.
        return float(np.median(np.diff(seconds))) if len(seconds) > 1 else float("nan")
    reached = run[look["measure"]].to_numpy(float) < look["level"]
    return float(seconds[reached.argmax()]) if reached.any() else float("inf")

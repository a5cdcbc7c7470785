"""Presets of kind `scaling`: solver time against a size of the problem, and its exponent beside a claimed one.

Every panel shows a time of the same runs: of an iteration, or until figure.measure first falls below figure.level
(`quantity` of the panel: iteration or accuracy). A series has the exponents that the paper claims, by axis; they are
judged by the rule `exponent` of `rules_growth`.
"""

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

from lrlab.figures.series import series as draw
from lrlab.models.axes import axes
from lrlab.parameters import InputError, require_known
from lrlab.presets import claims
from lrlab.presets.cases import axis_of, panel_by_panel, plan_cases
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.evidence import Samples, samples_of
from lrlab.presets.result import Panel, Plan, Verdict, panel_table
from lrlab.presets.rules_growth import exponent
from lrlab.runs.trial import run_traced

QUANTITIES = {"iteration": "seconds per iteration", "accuracy": "seconds until the accuracy is reached"}


def plan(preset: Preset, trials: int | None = None) -> Plan:
    """Return the runs of all panels as one job; panels along one axis share them."""
    for number, panel in enumerate(preset.panels):
        with preset.source.locate(("panels", number)):
            require_known(panel["quantity"], QUANTITIES, what="quantity")
            if len(axis_of(preset, ("panels", number))[1]) < 3:
                raise InputError("axes", "at least three values, for an interval", panel["axes"], "add values")
        preset.require_measure(preset.content["figure"]["measure"], preset.spec(("panels", number)).model, ("figure",))
    return plan_cases(preset, trials, panel_by_panel(_panel), run_traced)


def _panel(preset: Preset, number: int, rows: pd.DataFrame) -> tuple[Panel, pd.DataFrame]:
    panel, look, path = preset.panels[number], preset.content["figure"], ("panels", number)
    axis, spec = axis_of(preset, path)[0], preset.spec(path)
    points, title = times(rows, axis, panel["quantity"], look), axes(type(spec))[axis]
    figure = draw(points, axis_title=title, value_title=QUANTITIES[panel["quantity"]], log_x=True, log_y=True)
    labels = [one["label"] for one in (*preset.series, *preset.content.get("left_out", ()))]
    samples = samples_of(seconds_of_runs(rows, axis, panel["quantity"], look), axis, "time")
    lines, sentences, judged = exponent_lines(preset, axis, samples, labels, "claimed", "claimed")
    caption = f"Medians of the trials, with quartiles. Exponents of {axis}: {'; '.join(sentences)}."
    return Panel(panel["title"], figure, caption, judged), panel_table(panel["title"], spec.model, points, lines)


def exponent_lines(
    preset: Preset, axis: str, samples: Samples, labels: Collection[str], key: str, source: str
) -> tuple[list[dict[str, Any]], list[str], list[Verdict]]:
    """Return the exponents of series as lines of a table and in words, with verdicts; those not run have one, too.

    key: where a series has the exponents by axis; source: what they are of.
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
            claim = {"paper": one.get("paper", label), "rule": "exponent", "series": [label], "claimed": bound}
            verdict = claims.verdict({**claim, "axis": axis}, samples, f"{axis}^{bound:g}")
            below = "It grows more slowly than the formula, which bounds it from above." if high < bound else ""
            verdict = verdict._replace(remark={True: below, False: one.get("why", ""), None: ""}[verdict.holds])
            judged.append(verdict)
            line |= {"claimed": bound, **verdict.columns}
            words += f", {source} {bound:g}: {verdict.word}"
        lines.append(line)
        sentences += [words] if label in samples.values else []
    return lines, sentences, judged


def times(rows: pd.DataFrame, axis: str, quantity: str, look: Toml) -> pd.DataFrame:
    """Return for each series and value x of an axis: y the median time of the trials, low, high (quartiles), trials.

    rows: one per iterate, with `seconds` since the start. Trials that never reach the accuracy take infinitely long.
    """
    parts = []
    for (name, x), group in seconds_of_runs(rows, axis, quantity, look).groupby(["series", axis], sort=False):
        # Between two infinite values there is no number.
        with np.errstate(invalid="ignore"):
            low, middle, high = np.quantile(group["time"], (0.25, 0.5, 0.75))
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

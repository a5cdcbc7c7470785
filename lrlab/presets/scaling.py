"""Presets of kind `scaling`: solver time against a size of the problem, and its exponent beside a claimed one.

Every panel shows a time of the same runs: of an iteration, or until figure.measure first falls below figure.level
(`quantity` of the panel: iteration or accuracy). The exponent of a series is the slope of the logarithm of the median
time over the logarithm of the size, with the 95% interval of least squares: medians that bend show as a wide interval.
A series has the exponents that the paper claims, by axis. A claim bounds the time from above: it holds unless the
interval lies above it.
"""

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from lrlab.figures.series import series as draw
from lrlab.models.axes import axes
from lrlab.parameters import InputError, require_known
from lrlab.presets.cases import axis_of, panel_by_panel, plan_cases
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.result import Panel, Plan, Verdict, panel_table
from lrlab.runs.trial import run_traced

QUANTITIES = {"iteration": "seconds per iteration", "accuracy": "seconds until the accuracy is reached"}
WIDE = 1.0
"""Width of an interval from which on it says little."""
ROOM = 0.25
"""An exponent is called smaller than a claimed one where its interval ends so far below it."""


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
    lines, sentences = [], []
    for one in preset.series:
        of_series = points[points["series"] == one["label"]]
        line, words = exponent_line(one, axis, of_series, one.get("claimed", {}).get(axis), "claimed")
        lines.append(line)
        sentences.append(f"{one['label']} {words or 'unknown'}")
    caption = f"Medians of the trials, with quartiles. Exponents of {axis}: {'; '.join(sentences)}."
    return Panel(panel["title"], figure, caption), panel_table(panel["title"], spec.model, points, lines)


def exponent_line(
    one: Toml, axis: str, points: pd.DataFrame, bound: float | None, source: str
) -> tuple[dict[str, Any], str]:
    """Return the exponent of a series as a line of a table and in words, judged by its bound; `source` names that.

    No words where it is unknown.
    """
    slope, low, high = exponent(points)
    line = {"level": "series", "series": one["label"], "exponent": slope, "low_95": low, "high_95": high}
    if slope != slope:
        return line, ""
    words = f"{slope:.2f} ({low:.2f} to {high:.2f})"
    if bound is not None:
        verdict = judged(one, axis, (slope, low, high), bound)
        line |= {"claimed": bound, **verdict.columns}
        words += f", {source} {bound:g}: {verdict.word}"
    return line, words


def times(rows: pd.DataFrame, axis: str, quantity: str, look: Toml) -> pd.DataFrame:
    """Return for each series and value x of an axis: y the median time of the trials, low, high (quartiles), trials.

    rows: one per iterate, with `seconds` since the start. Trials that never reach the accuracy take infinitely long.
    """
    parts = []
    for (name, x), group in rows.groupby(["series", axis], sort=False):
        runs = [run.sort_values("iteration") for _, run in group.groupby("trial")]
        seconds = np.array([value for run in runs if not np.isnan(value := _seconds(run, quantity, look))] or [np.inf])
        # Between two infinite values there is no number.
        with np.errstate(invalid="ignore"):
            low, middle, high = np.quantile(seconds, (0.25, 0.5, 0.75))
        parts.append({"series": name, "x": x, axis: x, "y": middle, "low": low, "high": high, "trials": len(seconds)})
    return pd.DataFrame(parts).replace([np.inf, -np.inf], np.nan).dropna(subset=["y"])


def _seconds(run: pd.DataFrame, quantity: str, look: Toml) -> float:
    seconds = run["seconds"].to_numpy(float)
    if quantity == "iteration":
        # The first includes the start.
        return float(np.median(np.diff(seconds))) if len(seconds) > 1 else float("nan")
    reached = run[look["measure"]].to_numpy(float) < look["level"]
    return float(seconds[reached.argmax()]) if reached.any() else float("inf")


def exponent(points: pd.DataFrame) -> tuple[float, float, float]:
    """Return the slope of log y over log x and its 95% interval; nan for fewer than three points."""
    if len(points) < 3:
        return float("nan"), float("nan"), float("nan")
    x, y = np.log(points["x"].to_numpy(float)), np.log(points["y"].to_numpy(float))
    x, y = x - x.mean(), y - y.mean()
    slope = float(x @ y / (x @ x))
    freedom = len(points) - 2
    half = float(stdtrit(freedom, 0.975) * np.linalg.norm(y - slope * x) / np.sqrt(freedom * (x @ x)))
    return slope, slope - half, slope + half


def judged(series: Toml, axis: str, fitted: tuple[float, float, float], claimed: float) -> Verdict:
    """Return the verdict on a claimed exponent: an upper bound, which may be far from sharp at these sizes."""
    slope, low, high = fitted
    remark = ""
    if low > claimed:
        remark = series.get("why", "")
    elif high - low > WIDE:
        remark = "The interval is wide: more sizes and trials would say more."
    elif high < claimed - ROOM:
        remark = "The time grows more slowly at these sizes: other terms, or memory traffic, still dominate."
    measured = f"{series['label']}: {axis}^{slope:.2f} (95% interval {low:.2f} to {high:.2f})"
    return Verdict(series.get("paper", ""), measured, f"{axis}^{claimed:g}", low <= claimed, remark)

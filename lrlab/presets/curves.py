"""Presets of kind `curves`: a measure of finished runs along an axis.

With `success` a dot is the share of successful trials with its 95% Wilson interval; a trial that ended without an
estimate, or at a local minimum, is a failure. Otherwise it is the median of figure.measure over the trials, and its bar
spans the quartiles.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from lrlab.figures.series import series as draw
from lrlab.models.axes import axes
from lrlab.models.low_rank import LowRankSpec
from lrlab.parameters import InputError
from lrlab.presets import claims
from lrlab.presets.cases import CHOSEN_BY, axis_of, best_of_grid, grid_words, panel_by_panel, plan_cases
from lrlab.presets.definition import Preset
from lrlab.presets.evidence import Samples, samples_of
from lrlab.presets.result import Panel, Plan, panel_table
from lrlab.protocol import Stop
from lrlab.sweeps.definition_parts import Success
from lrlab.sweeps.statistics import summarise
from lrlab.sweeps.toml import make_success


def plan(preset: Preset, trials: int | None = None) -> Plan:
    """Return the trials of all panels as one job."""
    rule, figure = preset.content.get("success"), preset.content["figure"]
    if (rule is None) == ("measure" not in figure):
        got = "neither" if rule is None else "both"
        error = InputError("measure", "given in [figure], or success above all tables", got, "keep or add one of them")
        raise preset.source.located(error, ("figure", "measure"))
    with preset.source.locate(("success",)):
        success = make_success(rule) if rule else None
    for number, _ in enumerate(preset.panels):
        model = preset.spec(("panels", number)).model
        measure = success.metric if success else figure["measure"]
        preset.require_measure(measure, model, ("success",) if success else ("figure", "measure"))
    return plan_cases(preset, trials, panel_by_panel(_panel))


def _panel(preset: Preset, number: int, rows: pd.DataFrame) -> tuple[Panel, pd.DataFrame]:
    panel, path, look = preset.panels[number], ("panels", number), preset.content["figure"]
    rule = preset.content.get("success")
    success = make_success(rule) if rule else None
    axis, spec = axis_of(preset, path)[0], preset.spec(path)
    ran = rows.copy()
    measure = success.metric if success else look["measure"]
    without_estimate = int(ran[measure].isna().sum())
    if success:
        # A trial without an estimate has failed; left out, it would flatter. So has one that the truth fits better.
        failed = ran[measure].isna() | (ran["stop"] == Stop.LOCAL_MINIMUM.name)
        ran.loc[failed, measure] = np.inf if success.above is None else -np.inf
    ran = best_of_grid(ran, ["series", axis], success.metric if success else CHOSEN_BY)
    points = _points([series["label"] for series in preset.series], axis, ran, measure, success)
    if "ratio" in panel:
        points = ratios(panel["ratio"], axis, ran, measure)
    freedom = {}
    if axis == "m" and isinstance(spec, LowRankSpec):
        freedom = {"degrees of freedom": float(spec.degrees_of_freedom)}
    title = " over ".join(panel.get("ratio", [look["measure_title"]]))
    figure = draw(
        points,
        axis_title=axes(type(spec))[axis],
        value_title=title,
        log_x=look.get("log_x", False),
        log_y=look.get("log_y", False),
        marks=freedom,
    )
    if "published" in panel:
        figure.add_hline(y=panel["published"], line={"dash": "dot"}, annotation_text=f"paper: {panel['published']:g}")
    halves = half_points(points) if success else {}
    summaries = [{"level": "series", "series": name, "half": value} for name, value in halves.items()]
    judged = claims.verdicts(preset, panel["title"], _samples(axis, ran, measure, success))
    points = points.drop(columns="y").rename(columns={"x": axis}).assign(**freedom)
    table = panel_table(panel["title"], spec.model, points, summaries + claims.rows(judged))
    words = _caption(halves, without_estimate) + grid_words(ran) + claims.caption(judged)
    return Panel(panel["title"], figure, words, judged), table


def _samples(axis: str, ran: pd.DataFrame, measure: str, success: Success | None) -> Samples:
    """Return the measure of each trial; with a rule of success 1 for a successful one and 0 for another."""
    if success is None:
        return samples_of(ran, axis, measure)
    reached = ran[measure] < success.below if success.below is not None else ran[measure] > success.above
    return samples_of(ran.assign(success=reached.astype(float)), axis, "success")


def _points(labels: Sequence[str], axis: str, ran: pd.DataFrame, measure: str, success: Success | None) -> pd.DataFrame:
    """Return a row per series and value x: the statistics of its trials, y and the ends of its bar."""
    levels = {"below": success.below, "above": success.above} if success else {}
    points = summarise(ran, ["series", axis], measure, **levels).rename(columns={axis: "x"})
    parts = ("share", "low", "high") if success else ("median", "lower_quartile", "upper_quartile")
    points = points.assign(**{name: points[part] for name, part in zip(("y", "low", "high"), parts, strict=True)})
    return points.sort_values(["series", "x"], key=lambda c: c.map(labels.index) if c.name == "series" else c)


def ratios(labels: Sequence[str], axis: str, ran: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the ratio of a measure of two series in the same trial at each value x: median and quartiles."""
    parts = []
    for x, rows in ran.groupby(axis):
        over, under = (rows[rows["series"] == label].set_index("trial")[measure] for label in labels)
        both = (over / under).dropna()
        if len(both):
            low, middle, high = np.quantile(both, (0.25, 0.5, 0.75))
            parts.append({"x": x, "y": middle, "median": middle, "low": low, "high": high, "trials": len(both)})
    table = pd.DataFrame(parts, columns=["x", "y", "median", "low", "high", "trials"])
    return table.assign(series=" over ".join(labels))


def half_points(points: pd.DataFrame) -> dict[str, float]:
    """Return for each series where the share last rises through one half, between points; nan where it never does."""
    return {
        str(name): rise(rows["x"].to_numpy(float), rows["share"].to_numpy(float))
        for name, rows in points.groupby("series", sort=False)
    }


def rise(x: np.ndarray, share: np.ndarray) -> float:
    """Return where a share last rises through one half, between points; nan where it never does."""
    before = np.flatnonzero((share[:-1] < 0.5) & (share[1:] >= 0.5))
    if not len(before):
        return float("nan")
    k = before[-1]
    return float(x[k] + (0.5 - share[k]) / (share[k + 1] - share[k]) * (x[k + 1] - x[k]))


def _caption(halves: Mapping[str, float], without_estimate: int) -> str:
    places = ", ".join(f"{name} at {x:.0f}" if x == x else f"{name} nowhere here" for name, x in halves.items())
    succeed = f"Half of the trials succeed: {places}. Bars: 95% Wilson intervals."
    words = succeed if halves else "Dots: medians of the trials, bars: quartiles."
    return words + (f" {without_estimate} trials ended without a finite estimate." if without_estimate else "")

"""Presets of kind `theorem`: what a theorem is about, along an axis, beside lines of what it says.

A series is a measure of finished runs (`solver`), with `below` the share of runs where it is below that, or a number of
what is drawn, which no solver computes (`quantity` and its `part`, see `quantities`). Dots are medians over the trials,
bands their quartiles; of shares the mean with its 95% Wilson interval. A line is a `bound` of `bounds` or a `slope`
through the last dot of its series; `if` is the assumption under which it holds. With `against` the places on the axis
are values of a bound at each spec, so that models with different parameters share an axis.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from lrlab.figures.series import series as draw
from lrlab.models.axes import axes, place
from lrlab.parameters import InputError, declared, require_known
from lrlab.presets import claims
from lrlab.presets.bounds import BOUNDS
from lrlab.presets.cases import axes_path, axis_of, plan_cases, shown_in
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.evidence import samples_of
from lrlab.presets.quantities import QUANTITIES
from lrlab.presets.result import Panel, Plan, Result, assembled, panel_table
from lrlab.protocol import Spec
from lrlab.runs.trial import Trial, TrialResult, run_trial, trial_spec
from lrlab.sweeps.statistics import summarise

CURVE_POINTS = 61


@dataclass(frozen=True)
class Drawing:
    """A drawn problem of which a quantity is computed; the spec carries the seed of all its drawings."""

    spec: Spec
    quantity: str
    number: int


def plan(preset: Preset, trials: int | None = None) -> Plan:
    """Return the runs and drawings of all panels as one job."""
    _check(preset)
    runs = plan_cases(preset, trials, lambda _preset, _cases, rows: Result([], rows, rows))
    labels = [
        ({"panel": panel["title"], "series": series["label"], axis: value}, Drawing(spec, series["quantity"], number))
        for panel, series, axis, at in _placed(preset)
        if "quantity" in series
        for value, spec in at.items()
        for number in range(trials or preset.content["trials"])
    ]
    drawn = dict.fromkeys(drawing for _, drawing in labels)
    items = sorted([*runs.items, *drawn], key=lambda item: item.number)

    def finish(results: Sequence[Any]) -> Result:
        known = dict(zip(items, results, strict=True))
        rows = runs.finish([known[item] for item in runs.items]).trials
        more = [{**names, **known[drawing], "refused": ""} for names, drawing in labels if known[drawing]]
        return _figures(preset, pd.concat([rows, pd.DataFrame(more)], ignore_index=True))

    return Plan(measured, items, finish)


def measured(item: Trial | Drawing) -> TrialResult | dict[str, Any]:
    """Return the result of a run, or the parts of a quantity."""
    if isinstance(item, Trial):
        return run_trial(item)
    spec = trial_spec(item.spec, item.number)
    return {"trial": item.number, "seed": spec.seed, **QUANTITIES[item.quantity](spec)}


def _check(preset: Preset) -> None:
    """Raise InputError, with the line, for quantities, bounds and measures that there are not."""
    labels, figure = tuple(one["label"] for one in preset.series), preset.content["figure"]
    for number, series in enumerate(preset.series):
        with preset.source.locate(("series", number)):
            if "quantity" in series:
                require_known(series["quantity"], QUANTITIES, what="quantity")
                if "part" not in series:
                    raise InputError("part", "given", "nothing", "name the part of the quantity")
    for number, line in enumerate(preset.content["lines"]):
        with preset.source.locate(("lines", number)):
            if "bound" in line:
                require_known(line["bound"], BOUNDS, what="bound")
            elif "slope" not in line:
                raise InputError("bound", "a bound or a slope", "neither", "add one of them to the line")
            require_known(line["series"], labels, what="series")
    if "against" in figure:
        with preset.source.locate(("figure", "against")):
            require_known(figure["against"], BOUNDS, what="bound")
    for panel, series, _, at in _placed(preset):
        if "solver" in series:
            measure = {**figure, **panel}.get("measure", "")
            preset.require_measure(measure, next(iter(at.values())).model, ("figure", "measure"))


def _placed(preset: Preset) -> list[tuple[Toml, Toml, str, dict[float, Spec]]]:
    """Return every series in every panel that shows it, with its axis and the spec at each value."""
    found = []
    for i, panel in enumerate(preset.panels):
        for j, series in enumerate(preset.series):
            if shown_in(panel, series):
                where = ("series", j) if "axes" in series else ("panels", i)
                axis, values = axis_of(preset, where)
                spec = preset.spec(("panels", i), ("series", j))
                with preset.source.locate(axes_path(preset, where)):
                    found.append((panel, series, axis, {value: place(spec, axis, value) for value in values}))
    return found


def _figures(preset: Preset, rows: pd.DataFrame) -> Result:
    parts = []
    for panel in preset.panels:
        placed = [one for one in _placed(preset) if one[0]["title"] == panel["title"]]
        own = rows[(rows["panel"] == panel["title"]) & (rows["refused"].fillna("") == "")]
        if len(own):
            parts.append(_panel(preset, panel, placed, own))
    return assembled(parts, rows)


def _panel(
    preset: Preset, panel: Toml, placed: Sequence[tuple[Toml, Toml, str, Mapping[float, Spec]]], rows: pd.DataFrame
) -> tuple[Panel, pd.DataFrame]:
    look = {**preset.content["figure"], **panel}
    against = BOUNDS[look["against"]] if "against" in look else None
    values, points = list[pd.DataFrame](), list[pd.DataFrame]()
    for _, series, axis, at in placed:
        own = rows[rows["series"] == series["label"]]
        if own.empty:
            continue
        x = own[axis] if against is None else own[axis].map({value: against(spec) for value, spec in at.items()})
        number = own[series["part"] if "quantity" in series else look["measure"]]
        table = pd.DataFrame({"series": series["label"], "trial": own["trial"], "x": x, "value": number})
        points.append(_points(table, series.get("below")))
        values.append(table if "below" not in series else table.assign(value=(number < series["below"]).astype(float)))
    shown = pd.concat(points, ignore_index=True)
    lines = _lines(preset, panel, placed, shown)
    _, _, axis, at = placed[0]
    title = look.get("against_title") or axes(type(next(iter(at.values()))))[axis]
    figure = draw(
        shown, axis_title=title, value_title=look["measure_title"], bands=True, limits=lines,
        log_x=look.get("log_x", True), log_y=look.get("log_y", True),
    )  # fmt: skip
    judged = claims.verdicts(preset, panel["title"], samples_of(pd.concat(values), "x", "value"))
    words = "Dots: medians of the trials; bands: quartiles." + _assumptions(preset, panel)
    table = pd.concat([shown.rename(columns={"x": axis}), lines.rename(columns={"x": axis, "name": "line"})])
    return Panel(panel["title"], figure, words + claims.caption(judged), judged), panel_table(
        panel["title"], next(iter(at.values())).model, table, claims.rows(judged)
    )


def _points(table: pd.DataFrame, below: float | None) -> pd.DataFrame:
    """Return a row per value x: y, low and high, trials."""
    if below is not None:
        # A run without an estimate has failed.
        table = table.fillna({"value": np.inf})
    own = summarise(table, ["series", "x"], "value", below=below)
    parts = ("median", "lower_quartile", "upper_quartile") if below is None else ("share", "low", "high")
    own = own.assign(**{name: own[part] for name, part in zip(("y", "low", "high"), parts, strict=True)})
    return own[["series", "x", "y", "low", "high", "trials"]]


def _lines(preset: Preset, panel: Toml, placed: Sequence[Any], points: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of a panel: name, x, y."""
    against = preset.content["figure"].get("against")
    parts = [pd.DataFrame({"name": [], "x": [], "y": []})]
    for line in _of_panel(preset, panel):
        dots = points[points["series"] == line["series"]]
        if dots.empty:
            continue
        x = np.geomspace(dots["x"].min(), dots["x"].max(), CURVE_POINTS)
        if "bound" in line:
            _, _, axis, at = next(one for one in placed if one[1]["label"] == line["series"])
            spec = next(iter(at.values()))
            specs = [*at.values()] if against else [place(spec, axis, _rounded(spec, axis, value)) for value in x]
            x = [BOUNDS[against](one) for one in specs] if against else x
            y: Any = [BOUNDS[line["bound"]](one) for one in specs]
        else:
            last = dots.iloc[-1]
            y = last["y"] * (x / last["x"]) ** line["slope"]
        parts.append(pd.DataFrame({"name": line["label"], "x": x, "y": y}).sort_values("x"))
    return pd.concat(parts, ignore_index=True)


def _rounded(spec: Spec, axis: str, value: float) -> float:
    parameter = declared(type(spec)).get(axis)
    return round(value) if parameter and parameter.kind is int else value


def _of_panel(preset: Preset, panel: Toml) -> list[Toml]:
    return [line for line in preset.content["lines"] if line.get("panel", panel["title"]) == panel["title"]]


def _assumptions(preset: Preset, panel: Toml) -> str:
    """Return under what assumptions the lines hold, in words."""
    return "".join(f" {line['label']}: {line['if']}." for line in _of_panel(preset, panel) if "if" in line)

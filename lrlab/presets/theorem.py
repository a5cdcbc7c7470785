"""Presets of kind `theorem`: what a theorem is about, along an axis, beside lines of what it says.

A series is a measure of finished runs (`solver`), with `below` the share of runs where it is below that and with
`fewest` the fewest measurements from which it is (`theorem_items.Search`), or a number of what is drawn, which no
solver computes (`quantity` and its `part`, see `quantities`); some have an axis of their own, of PLACES. Dots are
medians over the trials, bands their quartiles; of shares the mean with its 95% Wilson interval. A line is a `bound` of
`bounds`, a `slope` that ends at the last dot of its series, or a `mark`, upright at the value of a parameter; `if` is
the assumption under which it holds; one that is `exact` for its series has the colour of that. With `steps` the axis is
the iteration. With `against` places on the axis are values of a bound at each spec: models with different parameters
share an axis.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lrlab.figures.series import series as draw
from lrlab.models.axes import axes
from lrlab.parameters import InputError, require_known
from lrlab.presets import claims
from lrlab.presets.bounds import BOUNDS
from lrlab.presets.cases import plan_cases
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.evidence import samples_of
from lrlab.presets.label_quantities import PLACES
from lrlab.presets.quantities import QUANTITIES
from lrlab.presets.result import Panel, Plan, Result, assembled, panel_table
from lrlab.presets.theorem_items import MEASUREMENTS, item_of, measured
from lrlab.presets.theorem_lines import STEPS, Placed, assumptions, bounds_at, bounds_for, lines_of, marks_of, placed_in
from lrlab.runs.trial import Trial, run_traced
from lrlab.sweeps.statistics import summarise

STATISTICS = {
    False: "Dots: medians of the trials; bands: quartiles.",
    True: "Shares: of all trials; bands: 95% Wilson intervals.",
}
"""What is drawn of numbers, and of shares."""


def plan(preset: Preset, trials: int | None = None) -> Plan:
    """Return the runs and drawings of all panels as one job."""
    _check(preset)
    steps = preset.content["figure"].get("steps", False)
    function: Callable[[Any], Any] = run_traced if steps else measured
    runs = plan_cases(preset, trials, lambda _preset, _cases, rows: Result([], rows, rows), function)
    labels = [
        ({"panel": one.panel["title"], "series": one.series["label"], one.axis: value}, item)
        for one in placed_in(preset)
        for value in one.specs
        for number in range(trials or preset.content["trials"])
        if (item := item_of(preset, one, value, number)) is not None
    ]
    drawn = dict.fromkeys(item for _, item in labels)
    items = sorted([*runs.items, *drawn], key=lambda item: item.number if isinstance(item, Trial) else item.trial)

    def finish(results: Sequence[Any]) -> Result:
        known = dict(zip(items, results, strict=True))
        rows = runs.finish([known[item] for item in runs.items]).trials
        more = [{**names, **known[item], "refused": ""} for names, item in labels if known[item]]
        return _figures(preset, pd.concat([rows, pd.DataFrame(more)], ignore_index=True))

    return Plan(function, items, finish)


def _check(preset: Preset) -> None:
    """Raise InputError, with the path, for quantities, bounds and measures that there are not."""
    labels, figure = tuple(one["label"] for one in preset.series), preset.content["figure"]
    _check_series(preset)
    for number, line in enumerate(preset.content["lines"]):
        with preset.source.locate(("lines", number)):
            if "bound" in line:
                require_known(line["bound"], bounds_for(preset, line), what="bound")
            elif "slope" not in line and "mark" not in line:
                raise InputError("bound", "a bound, a slope or a mark", "nothing", "add one of them to the line")
            if "series" in line or "slope" in line:
                require_known(line.get("series", "nothing"), labels, what="series")
    if "against" in figure:
        with preset.source.locate(("figure", "against")):
            require_known(figure["against"], BOUNDS, what="bound")
    for one in placed_in(preset):
        if "solver" in one.series:
            measure = {**figure, **one.panel}.get("measure", "")
            preset.require_measure(measure, one.spec.model, ("figure", "measure"))


def _check_series(preset: Preset) -> None:
    """Raise InputError, with the path, for series of what there is not, or along an axis that is not theirs."""
    for number, series in enumerate(preset.series):
        with preset.source.locate(("series", number)):
            if "quantity" in series:
                require_known(series["quantity"], QUANTITIES, what="quantity")
                require_known(series.get("part", "nothing"), QUANTITIES[series["quantity"]].parts, what="part")
            if "fewest" in series and "below" not in series:
                raise InputError(
                    "below", "a level", "nothing", "add below: a run recovers where the measure is below it"
                )
    for one in placed_in(preset):
        own = QUANTITIES[one.series["quantity"]].along if "quantity" in one.series else ""
        with preset.source.locate(("axes",)):
            if (own or one.axis in PLACES) and own != one.axis:
                raise InputError("axes", own or "a parameter", one.axis, f"draw {one.series['label']} along that")


def _figures(preset: Preset, rows: pd.DataFrame) -> Result:
    parts = []
    for panel in preset.panels:
        placed = [one for one in placed_in(preset) if one.panel["title"] == panel["title"]]
        ran = rows[rows["refused"].fillna("") == ""] if "refused" in rows else rows
        own = ran[ran["panel"] == panel["title"]]
        if len(own):
            parts.append(_panel(preset, panel, placed, own))
    return assembled(parts, rows)


def _panel(preset: Preset, panel: Toml, placed: Sequence[Placed], rows: pd.DataFrame) -> tuple[Panel, pd.DataFrame]:
    look = {**preset.content["figure"], **panel}
    tables = [_values(one, rows[rows["series"] == one.series["label"]], look) for one in placed]
    # While trials arrive some series have none.
    drawn = [(one, table) for one, table in zip(placed, tables, strict=True) if len(table)]
    points = pd.concat(
        [_points(table, one.series["below"] if is_share(one) else None) for one, table in drawn], ignore_index=True
    )
    lines = lines_of(preset, panel, placed, points)
    axis, spec = placed[0].axis, placed[0].spec
    log = {scale: look.get(scale, True) for scale in ("log_x", "log_y")}
    axis_title = look.get("against_title") or (axis if axis == STEPS else PLACES.get(axis) or axes(type(spec))[axis])
    exact = lines.dropna().assign(kind="predicted", low=np.nan, high=np.nan)
    marks = marks_of(preset, panel, spec)
    figure = draw(
        points,
        axis_title=axis_title,
        value_title=look["measure_title"],
        **log,
        bands=True,
        marks=marks,
        limits=lines[lines["series"].isna()],
        theory=exact,
    )
    values = [
        table.assign(value=(table["value"] < one.series["below"]) * 1.0) if is_share(one) else table
        for one, table in drawn
    ]
    values += bounds_at(preset, panel, values, lines)
    judged = claims.verdicts(preset, panel["title"], samples_of(pd.concat(values), "x", "value"))
    words = " ".join(STATISTICS[shares] for shares in dict.fromkeys(is_share(one) for one, _ in drawn))
    words += assumptions(preset, panel)
    table = pd.concat([points, lines.rename(columns={"name": "line"})]).rename(columns={"x": look.get("against", axis)})
    return Panel(panel["title"], figure, words + claims.caption(judged), judged), panel_table(
        panel["title"], spec.model, table, claims.rows(judged)
    )


def is_share(one: Placed) -> bool:
    """Tell whether a series is a share of runs."""
    return "below" in one.series and "fewest" not in one.series


def _values(one: Placed, rows: pd.DataFrame, look: Toml) -> pd.DataFrame:
    """Return series, trial, x and value of each trial of a series."""
    x = rows[one.axis] if one.axis in rows else pd.Series(dtype=float)
    if "against" in look:
        x = x.map({value: BOUNDS[look["against"]](spec) for value, spec in one.specs.items()})
    column = one.series["part"] if "quantity" in one.series else look.get("measure")
    column = MEASUREMENTS if "fewest" in one.series else column
    value = rows[column] if column in rows else float("nan")
    table = pd.DataFrame({"series": one.series["label"], "trial": rows["trial"], "x": x, "value": value})
    if one.axis != STEPS or table.empty:
        return table
    # A run that has ended keeps its last value.
    filled = table.pivot(index="trial", columns="x", values="value").ffill(axis=1).stack().rename("value")
    return filled.reset_index().assign(series=one.series["label"])


def _points(table: pd.DataFrame, below: float | None) -> pd.DataFrame:
    """Return a row per value x: y, low and high, trials."""
    if below is not None:
        # A run without an estimate has failed.
        table = table.fillna({"value": np.inf})
    own = summarise(table, ["series", "x"], "value", below=below)
    parts = ("median", "lower_quartile", "upper_quartile") if below is None else ("share", "low", "high")
    own = own.assign(**{name: own[part] for name, part in zip(("y", "low", "high"), parts, strict=True)})
    return own[["series", "x", "y", "low", "high", "trials"]]

"""Where the series of a theorem's panel are placed, and the lines of what it says; see `theorem`."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from lrlab.arrays import Array
from lrlab.models.axes import place
from lrlab.parameters import declared
from lrlab.presets.bounds import BOUNDS, STEP_BOUNDS
from lrlab.presets.cases import axes_path, axis_of, shown_in
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.label_quantities import PLACES
from lrlab.protocol import Spec

CURVE_POINTS = 61
STEPS = "iteration"
"""The axis of figures whose runs are shown iterate by iterate."""


class Placed(NamedTuple):
    """A series in a panel: both as in the file, its axis, and the spec at each value; one of iterations has one."""

    panel: Toml
    series: Toml
    axis: str
    specs: Mapping[float, Spec]

    @property
    def spec(self) -> Spec:
        """The first spec."""
        return next(iter(self.specs.values()))


def placed_in(preset: Preset) -> list[Placed]:
    """Return every series in every panel that shows it."""
    placed = []
    for i, panel in enumerate(preset.panels):
        for j, series in enumerate(preset.series):
            if shown_in(panel, series):
                where = ("series", j) if "axes" in series else ("panels", i)
                spec = preset.spec(("panels", i), ("series", j))
                if preset.content["figure"].get("steps"):
                    placed.append(Placed(panel, series, STEPS, {0.0: spec}))
                    continue
                axis, values = axis_of(preset, where)
                with preset.source.locate(axes_path(preset, where)):
                    specs = {value: spec if axis in PLACES else place(spec, axis, value) for value in values}
                placed.append(Placed(panel, series, axis, specs))
    return placed


def bounds_for(preset: Preset, line: Toml) -> Mapping[str, object]:
    """Return the bounds that a line can have: those of a spec, or of a spec and a place that is no parameter."""
    own = [
        one.axis
        for one in placed_in(preset)
        if line.get("panel", one.panel["title"]) == one.panel["title"]
        and line.get("series", one.series["label"]) == one.series["label"]
    ]
    return STEP_BOUNDS if own and all(axis == STEPS or axis in PLACES for axis in own) else BOUNDS


def lines_of(preset: Preset, panel: Toml, placed: Sequence[Placed], points: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of a panel: name, x, y, and the series that a line is exact for, or nan."""
    against = preset.content["figure"].get("against")
    parts = [pd.DataFrame({"name": [], "x": [], "y": [], "series": []})]
    for line in (line for line in _of_panel(preset, panel) if "mark" not in line):
        own = [one for one in placed if one.series["label"] == line.get("series", one.series["label"])]
        dots = points[points["series"].isin([one.series["label"] for one in own])]
        if dots.empty:
            continue
        x = np.geomspace(dots["x"].min(), dots["x"].max(), CURVE_POINTS)
        if "bound" in line:
            x, y = _bound(line["bound"], own, x, dots["x"].to_numpy(float), against)
        else:
            last = dots.iloc[-1]
            y = last["y"] * (x / last["x"]) ** line["slope"]
        exact = line["series"] if line.get("exact") else np.nan
        table = pd.DataFrame({"name": line["label"], "x": x, "y": y, "series": exact})
        # A bound of 0 says nothing, and has no position on a logarithmic axis.
        parts.append(table[table["y"] > 0].sort_values("x").drop_duplicates())
    return pd.concat(parts, ignore_index=True)


def _bound(name: str, own: Sequence[Placed], x: Array, dots: Array, against: str | None) -> tuple[Array, Array]:
    """Return the places and values of a bound, between the dots where the spec can be placed there."""
    axis, spec = own[0].axis, own[0].spec
    if axis == STEPS or axis in PLACES:
        x = dots if axis == STEPS else x
        return x, np.array([STEP_BOUNDS[name](spec, value) for value in x])
    specs = [spec for one in own for spec in one.specs.values()] if against else _along(own[0], x)
    places = [BOUNDS[against](spec) if against else spec.values()[axis] for spec in specs]
    return np.array(places, float), np.array([BOUNDS[name](spec) for spec in specs])


def bounds_at(preset: Preset, panel: Toml, values: Sequence[pd.DataFrame], lines: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the bounds of single series as tables of their trials, for rules that compare both."""
    tables = []
    for line in (line for line in _of_panel(preset, panel) if "bound" in line and "series" in line):
        for table in (table for table in values if (table["series"] == line["series"]).all()):
            own = lines[lines["name"] == line["label"]]
            bound = np.exp(np.interp(np.log(table["x"].astype(float)), np.log(own["x"]), np.log(own["y"])))
            tables.append(table.assign(series=line["label"], value=bound))
    return tables


def marks_of(preset: Preset, panel: Toml, spec: Spec) -> dict[str, float]:
    """Return the places of upright lines by their labels: the values of parameters of the spec."""
    return {line["label"]: float(spec.values()[line["mark"]]) for line in _of_panel(preset, panel) if "mark" in line}


def _along(one: Placed, values: Array) -> list[Spec]:
    """Return the specs at values between those of a series."""
    return [rounded(one.spec, one.axis, value) for value in values]


def rounded(spec: Spec, axis: str, value: float) -> Spec:
    """Return the spec moved to a value on an axis, rounded where that is a whole number."""
    parameter = declared(type(spec)).get(axis)
    whole = parameter is not None and parameter.kind is int
    return place(spec, axis, round(value) if whole else value)


def _of_panel(preset: Preset, panel: Toml) -> list[Toml]:
    return [line for line in preset.content["lines"] if line.get("panel", panel["title"]) == panel["title"]]


def assumptions(preset: Preset, panel: Toml) -> str:
    """Return what the lines are, and under what assumptions they hold, in words."""
    return "".join(
        f" {'Theory of ' + line['series'] + ': ' if line.get('exact') else ''}{line['label']}: {line['if']}."
        for line in _of_panel(preset, panel)
    )

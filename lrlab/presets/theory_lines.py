"""Lines of theory in a panel: bounds, slopes and marks.

A line is a `bound` of `bounds`, a `slope` through the last point of its series, a fit through the `origin` to all
points up to `to`, or a `mark`: a vertical line at a number of the spec. The line holds under the assumption `if`. A
line that is `exact` for its series has the color of the series.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from lrlab.arrays import Array
from lrlab.presets.bounds import BOUNDS, STEP_BOUNDS
from lrlab.presets.definition import Toml
from lrlab.presets.placed import STEPS, Placed
from lrlab.presets.quantities import PLACES

CURVE_POINTS = 61


def lines_of(theory: Sequence[Toml], placed: Sequence[Placed], points: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of a panel: name, x, y, and the series if a line is exact for it, or nan."""
    parts = [pd.DataFrame({"name": [], "x": [], "y": [], "series": []})]
    for line in (line for line in theory if "mark" not in line):
        own = [one for one in placed if one.series["label"] == line.get("series", one.series["label"])]
        dots = points[points["series"].isin([one.series["label"] for one in own])]
        if dots.empty:
            continue
        ends = dots["x"].min(), min(dots["x"].max(), line.get("to", np.inf))
        x = np.geomspace(*ends, CURVE_POINTS) if ends[0] > 0.0 else np.linspace(*ends, CURVE_POINTS)
        if "bound" in line:
            x, y = _bound(line["bound"], own, x, dots["x"].to_numpy(float))
        elif "slope" in line:
            last = dots.iloc[-1]
            y = last["y"] * (x / last["x"]) ** line["slope"]
        else:
            used = dots[dots["x"] <= ends[1]]
            y = float(used["x"] @ used["y"]) / float(used["x"] @ used["x"]) * x
        exact = line["series"] if line.get("exact") else np.nan
        table = pd.DataFrame({"name": line["label"], "x": x, "y": y, "series": exact})
        # A bound of 0 is empty, and has no position on a logarithmic axis.
        parts.append(table[table["y"] > 0].sort_values("x").drop_duplicates())
    return pd.concat(parts, ignore_index=True)


def _bound(name: str, own: Sequence[Placed], x: Array, dots: Array) -> tuple[Array, Array]:
    """Return x and y of a bound, also between the dots if the axis is a parameter of the spec."""
    axis, spec, against = own[0].axis, own[0].spec, BOUNDS.get(own[0].panel.get("against", ""))
    if axis == STEPS or axis in PLACES:
        x = dots if axis == STEPS else x
        return x, np.array([STEP_BOUNDS[name](spec, value) for value in x])
    if against:
        specs = [one.at(value) for one in own for value in one.values]
        x = np.array([against(spec) for spec in specs], float)
    else:
        specs = [own[0].at(value) for value in x]
        x = np.array([spec.values().get(axis, value) for spec, value in zip(specs, x, strict=True)], float)
    return x, np.array([BOUNDS[name](spec) for spec in specs])


def bounds_at(theory: Sequence[Toml], values: pd.DataFrame, lines: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the bounds of single series as tables of trials, for rules that compare series with bounds."""
    tables = []
    for line in (line for line in theory if "bound" in line and "series" in line):
        table, own = values[values["series"] == line["series"]], lines[lines["name"] == line["label"]]
        if len(table) and len(own):
            at, x = table["x"].to_numpy(float), own["x"].to_numpy(float)
            scale = np.log if min(at.min(), x.min()) > 0.0 else np.asarray
            bound = np.exp(np.interp(scale(at), scale(x), np.log(own["y"])))
            tables.append(table.assign(series=line["label"], value=bound))
    return tables

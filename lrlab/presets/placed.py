"""The runs of a preset: each series in each panel or column, at each value of its axis, with its settings.

The table `grid` of a series lists values of one setting. A figure shows, at each point, the value with the smallest
median of a metric at the end of the runs. This choice uses the ground truth, as a paper does that tunes a baseline by
hand. The table of trials has all of them.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import pandas as pd

from lrlab.models.axes import place
from lrlab.parameters import declared
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.label_quantities import PLACES
from lrlab.protocol import Spec
from lrlab.runs.job import make_job
from lrlab.runs.trial import Trial
from lrlab.sweeps.definition import COUNT, Cell, Span, Sweep
from lrlab.sweeps.toml import make_axis

CHOSEN_BY = "error"
"""Metric that chooses a value of a grid if the file defines no success."""
STEPS = "iteration"
"""Axis of figures that show every iterate."""


class Placed(NamedTuple):
    """A series in a panel: both as in the file, the axis with its values, and the spec without the axis."""

    panel: Toml
    series: Toml
    axis: str
    values: Sequence[Any]
    spec: Spec

    def at(self, value: Any) -> Spec:
        """Return the spec at a value of the axis, rounded for a parameter of whole numbers."""
        return self.spec if self.axis == STEPS or self.axis in PLACES else rounded(self.spec, self.axis, value)


def placed_in(preset: Preset, by_iteration: bool) -> list[Placed]:
    """Return all pairs of a panel and a series in it."""
    placed = []
    for panel, series in product(preset.panels, preset.series):
        if not shown_in(panel, series):
            continue
        spec = preset.spec(panel, series)
        if by_iteration:
            placed.append(Placed(panel, series, STEPS, [0.0], spec))
            continue
        axis, given = axis_of(preset, series if "axes" in series else panel)
        placed.append(Placed(panel, series, axis, given.values(axis) if isinstance(given, Span) else given, spec))
    return placed


def runs_of(preset: Preset, one: Placed, trials: int | None) -> Iterator[tuple[dict[str, Any], Trial | str]]:
    """Yield the trials of a series with the labels of their rows, or why a solver rejects a value."""
    own = {"panel": one.panel["title"], "series": one.series["label"]}
    for extra in _variants(one.series):
        settings = settings_of(preset, one.panel, one.series) | extra
        tried = {"grid": next(iter(extra.values()))} if extra else {}
        if one.axis == STEPS:
            cells: Sequence[Cell] = [Cell({}, "", make_job(one.spec, one.series["solver"], **settings))]
        else:
            axes, solver = ((one.axis, tuple(one.values)),), (one.series["solver"],)
            cells = Sweep(spec=one.spec, axes=axes, solvers=solver, settings=tuple(settings.items())).cells
        for cell, count in zip(cells, counts(preset, one.panel, len(cells), trials), strict=True):
            labels = own | tried | dict(cell.axes)
            if cell.job is None:
                yield {**labels, "solver": cell.solver}, cell.refused
                continue
            for number in range(count):
                yield labels, Trial(cell.job, number)


def settings_of(preset: Preset, panel: Toml, series: Toml) -> dict[str, Any]:
    """Return the settings of a series in a panel or column."""
    special = panel.get("settings", {}).get(series["label"], {})
    return {**preset.content.get("settings", {}), **series.get("settings", {}), **special}


def shown_in(panel: Toml, series: Toml) -> bool:
    """Return whether a panel shows a series."""
    return series["label"] in panel.get("only", panel.get("ratio", [series["label"]]))


def _variants(series: Toml) -> list[dict[str, float]]:
    """Return the settings of each value of a series' grid; one empty table without a grid."""
    return [{name: value} for name, values in series.get("grid", {}).items() for value in values] or [{}]


def best_of_grid(rows: pd.DataFrame, by: Sequence[str], metric: str) -> pd.DataFrame:
    """Return the rows of the best value of a grid, for each combination of the columns `by`.

    The best value has the smallest median, over the trials, of a metric in the last row.
    """
    if "grid" not in rows or rows.empty:
        return rows
    parts = []
    for _, group in rows.groupby(list(by), sort=False):
        if group["grid"].notna().any():
            last = group.groupby(["grid", "trial"]).tail(1).fillna({metric: float("inf")})
            group = group[group["grid"] == last.groupby("grid")[metric].median().idxmin()]
        parts.append(group)
    return pd.concat(parts)


def grid_words(rows: pd.DataFrame) -> str:
    """Return a sentence on the chosen values, "" without a grid."""
    if "grid" not in rows or not rows["grid"].notna().any():
        return ""
    best = [
        f"{name}: {', '.join(f'{value:g}' for value in sorted(set(group['grid'])))}"
        for name, group in rows.dropna(subset=["grid"]).groupby("series", sort=False)
    ]
    return f" Best of a grid, by the error with the ground truth: {'; '.join(best)}."


def axis_of(preset: Preset, panel: Toml) -> tuple[str, Any]:
    """Return the axis of a panel, or else of the file, with its values."""
    ((axis, values),) = panel.get("axes", preset.content.get("axes", {})).items()
    return axis, make_axis(axis, values)


def counts(preset: Preset, panel: Toml, count: int, trials: int | None) -> list[int]:
    """Return the number of trials per value in a panel or column."""
    given = panel.get("trials", preset.content["trials"])
    numbers = given if isinstance(given, list) else [given] * count
    return [int(COUNT.check(trials or number)) for number in numbers]


def rounded(spec: Spec, axis: str, value: float) -> Spec:
    """Return the spec at a value of an axis, rounded for a parameter of whole numbers."""
    parameter = declared(type(spec)).get(axis)
    return place(spec, axis, round(value) if parameter is not None and parameter.kind is int else value)

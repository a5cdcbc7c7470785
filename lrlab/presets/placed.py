"""The runs of a preset: each series in each panel or column, at each value of its axis, with its settings.

The table `grid` of a series lists values of one setting. A figure shows, at each point, the value with the smallest
median of a metric at the end of the runs. This choice uses the ground truth, as a paper does that tunes a baseline by
hand. The table of trials has all of them.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pandas as pd

from lrlab.models.axes import place
from lrlab.parameters import InputError, declared
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.label_quantities import PLACES
from lrlab.protocol import Spec
from lrlab.runs.job import make_job
from lrlab.runs.trial import Trial
from lrlab.sweeps.definition import COUNT, Cell, Sweep
from lrlab.sweeps.definition_parts import Span
from lrlab.sweeps.toml import make_axis, require_settings
from lrlab.sweeps.toml_source import Path

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
    for i, panel in enumerate(preset.panels):
        for j, series in enumerate(preset.series):
            if not shown_in(panel, series):
                continue
            spec = preset.spec(("panels", i), ("series", j))
            if by_iteration:
                placed.append(Placed(panel, series, STEPS, [0.0], spec))
                continue
            path = ("series", j) if "axes" in series else ("panels", i)
            axis, values = axis_of(preset, path)
            with preset.source.locate(axes_path(preset, path)):
                given = make_axis(axis, values)
                placed.append(
                    Placed(panel, series, axis, given.values(axis) if isinstance(given, Span) else given, spec)
                )
    return placed


def runs_of(preset: Preset, one: Placed, trials: int | None) -> Iterator[tuple[dict[str, Any], Trial | str]]:
    """Yield the trials of a series with the labels of their rows, or why a solver rejects a value."""
    i, j = preset.panels.index(one.panel), preset.series.index(one.series)
    own = {"panel": one.panel["title"], "series": one.series["label"]}
    with preset.source.locate(("series", j)):
        variants = list(_variants(one.series))
    for extra in variants:
        settings = settings_of(preset, ("panels", i), ("series", j), one.spec.model) | extra
        tried = {"grid": next(iter(extra.values()))} if extra else {}
        path = ("series", j) if "axes" in one.series else ("panels", i)
        with preset.source.locate(("series", j), ("settings",), ("solvers",)):
            if one.axis == STEPS:
                cells: Sequence[Cell] = [Cell({}, "", make_job(one.spec, one.series["solver"], **settings))]
            else:
                with preset.source.locate(axes_path(preset, path), ("series", j), ("settings",), ("solvers",)):
                    axes, solver = ((one.axis, tuple(one.values)),), (one.series["solver"],)
                    cells = Sweep(spec=one.spec, axes=axes, solvers=solver, settings=tuple(settings.items())).cells
        for cell, count in zip(cells, counts(preset, ("panels", i), len(cells), trials), strict=True):
            labels = own | tried | dict(cell.axes)
            if cell.job is None:
                yield {**labels, "solver": cell.solver}, cell.refused
                continue
            for number in range(count):
                yield labels, Trial(cell.job, number)


def settings_of(preset: Preset, panel: Path, series: Path, model: str) -> dict[str, Any]:
    """Return the settings of a series in a panel or column; InputError, with the path, for an unknown one."""
    one = preset.table(series)
    special = preset.table(panel).get("settings", {}).get(one["label"], {})
    settings = {**preset.content.get("settings", {}), **one.get("settings", {}), **special}
    with preset.source.locate(series, (*panel, "settings", one["label"]), ("settings",), ("solvers",)):
        if "solver" not in one:
            raise InputError("solver", "given", "nothing", "add it to the series, or solvers with one name above all")
        require_settings(settings, [one["solver"]], model)
    return settings


def shown_in(panel: Toml, series: Toml) -> bool:
    """Return whether a panel shows a series."""
    return series["label"] in panel.get("only", panel.get("ratio", [series["label"]]))


def _variants(series: Toml) -> Iterator[dict[str, float]]:
    """Yield the settings of each value of a series' grid; an empty table without a grid."""
    grid = series.get("grid", {})
    if len(grid) > 1:
        raise InputError("grid", "one setting with its values", ", ".join(grid), "keep one of them")
    for name, values in grid.items():
        if not isinstance(values, list) or not values:
            raise InputError(name, "a list of values", values, "write for example [0.01, 0.001]")
        yield from ({name: value} for value in values)
    if not grid:
        yield {}


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


def axis_of(preset: Preset, panel: Path) -> tuple[str, Any]:
    """Return the axis of a panel, or else of the file, with its values as in the file."""
    axes = preset.table(panel).get("axes", preset.content.get("axes", {}))
    if len(axes) != 1:
        error = InputError("axes", "one axis", ", ".join(axes) or "nothing", "write for example [axes] m = [1, 2]")
        raise preset.source.located(error, axes_path(preset, panel))
    return next(iter(axes.items()))


def axes_path(preset: Preset, panel: Path) -> Path:
    """Return the path of the axes of a panel, or else of the file."""
    return ("axes",) if "axes" in preset.content and "axes" not in preset.table(panel) else (*panel, "axes")


def counts(preset: Preset, panel: Path, count: int, trials: int | None) -> list[int]:
    """Return the number of trials per value in a panel or column."""
    path = (*panel, "trials") if "trials" in preset.table(panel) else ("trials",)
    given = preset.table(panel).get("trials", preset.content["trials"])
    numbers = given if isinstance(given, list) else [given] * count
    with preset.source.locate(path):
        if len(numbers) != count:
            raise InputError("trials", f"a number for each of the {count} values", len(numbers), "give one number each")
        return [int(COUNT.check(trials or number)) for number in numbers]


def rounded(spec: Spec, axis: str, value: float) -> Spec:
    """Return the spec at a value of an axis, rounded for a parameter of whole numbers."""
    parameter = declared(type(spec)).get(axis)
    return place(spec, axis, round(value) if parameter is not None and parameter.kind is int else value)

"""Where the series of a preset are computed: in each panel or column, at each value of its axis, with which settings.

A series' table `grid` is one setting with the values that are tried. The one shown is chosen with the ground truth, as
a paper does that tunes a baseline by hand: the one with the smallest median of a metric at the end of the runs, at each
point for itself. All trials are in the table of trials.
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
"""The metric by which a value of a grid is chosen if no success is defined."""
STEPS = "iteration"
"""The axis of figures whose runs are shown iterate by iterate."""


class Placed(NamedTuple):
    """A series in a panel: both as in the file, its axis with the values, and the spec before that."""

    panel: Toml
    series: Toml
    axis: str
    values: Sequence[Any]
    spec: Spec

    def at(self, value: Any) -> Spec:
        """Return the spec at a value of the axis, rounded if that is a whole number."""
        return self.spec if self.axis == STEPS or self.axis in PLACES else rounded(self.spec, self.axis, value)


def placed_in(preset: Preset, by_iteration: bool) -> list[Placed]:
    """Return every series in every panel that shows it."""
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
    """Yield the trials of a placed series with the labels of their rows, or why a solver refuses a value."""
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
    """Return the settings of a series in a panel or column; InputError, with the path, for one that is none."""
    one = preset.table(series)
    special = preset.table(panel).get("settings", {}).get(one["label"], {})
    settings = {**preset.content.get("settings", {}), **one.get("settings", {}), **special}
    with preset.source.locate(series, (*panel, "settings", one["label"]), ("settings",), ("solvers",)):
        if "solver" not in one:
            raise InputError("solver", "given", "nothing", "add it to the series, or solvers with one name above all")
        require_settings(settings, [one["solver"]], model)
    return settings


def shown_in(panel: Toml, series: Toml) -> bool:
    """Tell whether a panel shows a series."""
    return series["label"] in panel.get("only", panel.get("ratio", [series["label"]]))


def _variants(series: Toml) -> Iterator[dict[str, float]]:
    """Yield the settings that a series tries, one table each; an empty one without a grid."""
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
    """Return the rows without those of other values of a grid than the best, for each combination of columns `by`.

    The best has the smallest median, over the trials, of a metric in the last row of each.
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
    """Return a sentence on the values that were chosen, nothing without a grid."""
    if "grid" not in rows or not rows["grid"].notna().any():
        return ""
    best = [
        f"{name}: {', '.join(f'{value:g}' for value in sorted(set(group['grid'])))}"
        for name, group in rows.dropna(subset=["grid"]).groupby("series", sort=False)
    ]
    return f" Best of a grid, by the error with the ground truth: {'; '.join(best)}."


def axis_of(preset: Preset, panel: Path) -> tuple[str, Any]:
    """Return the axis of a panel, its own or that of the file, with its values as they are in the file."""
    axes = preset.table(panel).get("axes", preset.content.get("axes", {}))
    if len(axes) != 1:
        error = InputError("axes", "one axis", ", ".join(axes) or "nothing", "write for example [axes] m = [1, 2]")
        raise preset.source.located(error, axes_path(preset, panel))
    return next(iter(axes.items()))


def axes_path(preset: Preset, panel: Path) -> Path:
    """Return the path of the axes of a panel: its own, or those of the file."""
    return ("axes",) if "axes" in preset.content and "axes" not in preset.table(panel) else (*panel, "axes")


def counts(preset: Preset, panel: Path, count: int, trials: int | None) -> list[int]:
    """Return the number of trials at each value in a panel or column."""
    path = (*panel, "trials") if "trials" in preset.table(panel) else ("trials",)
    given = preset.table(panel).get("trials", preset.content["trials"])
    numbers = given if isinstance(given, list) else [given] * count
    with preset.source.locate(path):
        if len(numbers) != count:
            raise InputError("trials", f"a number for each of the {count} values", len(numbers), "give one number each")
        return [int(COUNT.check(trials or number)) for number in numbers]


def rounded(spec: Spec, axis: str, value: float) -> Spec:
    """Return the spec moved to a value on an axis, rounded if that is a whole number."""
    parameter = declared(type(spec)).get(axis)
    return place(spec, axis, round(value) if parameter is not None and parameter.kind is int else value)

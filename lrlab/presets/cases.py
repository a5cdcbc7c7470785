"""The trials of a preset: for each panel (or column) and series, the cells that its sweep has there.

A series' table `grid` is one setting with the values that are tried. Which of them is shown is decided with the truth,
as a paper does that tunes a rival by hand: the one with the smallest median of a measure at the end of the runs, at
each point for itself. All trials are in the table of trials.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from lrlab.parameters import InputError
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.result import Panel, Plan, Result, assembled
from lrlab.protocol import Spec
from lrlab.runs.job import make_job
from lrlab.runs.trial import Trial, run_trial
from lrlab.sweeps.definition import COUNT, Cell, Sweep
from lrlab.sweeps.toml import make_axis, require_settings
from lrlab.sweeps.toml_source import Path

CHOSEN_BY = "error"
"""The measure by which a value of a grid is chosen where no success is defined."""


@dataclass(frozen=True)
class Case:
    """A series in a panel or column: its labels (`grid`: the value tried), the spec before the axis, and the cells."""

    labels: Mapping[str, Any]
    spec: Spec
    cells: Sequence[Cell]
    trials: Sequence[int]


Draw = Callable[[Preset, Sequence[Case], pd.DataFrame], Result]
"""draw(preset, cases, rows): the figures from the rows of all trials, with the labels of their cases as columns."""


def plan_cases(preset: Preset, trials: int | None, draw: Draw, function: Callable[[Trial], Any] = run_trial) -> Plan:
    """Return the trials of all cases, each once where panels share them; `trials` overrides the numbers in the file.

    The first trial of every cell comes before any second one: a growing figure has all of its lines at once.
    """
    chosen = all_cases(preset, trials)
    items: dict[Trial, None] = {}
    places, refused = [], []
    for case in chosen:
        for cell, number in zip(case.cells, case.trials, strict=True):
            labels = {**case.labels, **cell.axes}
            if cell.job is None:
                refused.append({**labels, "solver": cell.solver, "trial": 0, "refused": cell.refused})
                continue
            for trial in (Trial(cell.job, k) for k in range(number)):
                items[trial] = None
                places.append((labels, trial))
    in_order = sorted(items, key=lambda trial: trial.number)

    def finish(results: Sequence[Any]) -> Result:
        known = dict(zip(in_order, results, strict=True))
        rows = list[dict[str, Any]]()
        for labels, trial in places:
            # A traced trial has a row per iterate.
            result = known[trial] or []
            rows += [{**labels, **row} for row in (result if isinstance(result, list) else [result.row(trial)])]
        return draw(preset, chosen, pd.DataFrame(rows + refused))

    return Plan(function, in_order, finish)


def panel_by_panel(draw: Callable[[Preset, int, pd.DataFrame], tuple[Panel, pd.DataFrame]]) -> Draw:
    """Return what draws each panel that has rows from these alone: draw(preset, number, rows) with its table."""

    def figures(preset: Preset, cases: Sequence[Case], rows: pd.DataFrame) -> Result:
        ran = rows[rows["refused"].fillna("") == ""] if "refused" in rows else rows
        owned = [(number, ran[ran["panel"] == panel["title"]]) for number, panel in enumerate(preset.panels)]
        return assembled([draw(preset, number, own) for number, own in owned if len(own)], rows)

    return figures


def all_cases(preset: Preset, trials: int | None) -> list[Case]:
    """Return the cases of all panels, or columns, and series; InputError with the path where one cannot be run."""
    key, name = ("columns", "column") if preset.kind == "comparison" else ("panels", "panel")
    places = preset.content.get(key, ()) if key == "columns" else preset.panels
    if not places or not preset.series:
        missing = key if not places else "series"
        error = InputError(missing, "given", "nothing", f"add at least one table [[{missing}]]")
        raise preset.source.located(error, ())
    cases = []
    for i, place in enumerate(places):
        for j, series in enumerate(preset.series):
            # What no solver computes is drawn by the kind `theorem`.
            if not {"quantity", "fewest"}.isdisjoint(series) or not shown_in(place, series):
                continue
            with preset.source.locate(("series", j)):
                tried = _variants(series)
            for extra in tried:
                labels = {name: place["title" if key == "panels" else "label"], "series": series["label"]}
                spec, own = _cells(preset, (key, i), ("series", j), extra)
                numbers = _numbers(preset, (key, i), len(own), trials)
                tried_value = {"grid": next(iter(extra.values()))} if extra else {}
                cases.append(Case({**labels, **tried_value}, spec, own, numbers))
    return cases


def shown_in(panel: Toml, series: Toml) -> bool:
    """Tell whether a panel shows a series."""
    return series["label"] in panel.get("only", panel.get("ratio", [series["label"]]))


def _variants(series: Toml) -> list[dict[str, float]]:
    """Return the settings that a series tries, one table each; one without any where it has no grid."""
    grid = series.get("grid", {})
    if len(grid) > 1:
        raise InputError("grid", "one setting with its values", ", ".join(grid), "keep one of them")
    for name, values in grid.items():
        if not isinstance(values, list) or not values:
            raise InputError(name, "a list of values", values, "write for example [0.01, 0.001]")
        return [{name: value} for value in values]
    return [{}]


def best_of_grid(rows: pd.DataFrame, by: Sequence[str], measure: str) -> pd.DataFrame:
    """Return the rows without those of other values of a grid than the best, for each combination of columns `by`.

    The best has the smallest median, over the trials, of a measure in the last row of each.
    """
    if "grid" not in rows or rows.empty:
        return rows
    parts = []
    for _, group in rows.groupby(list(by), sort=False):
        if group["grid"].notna().any():
            last = group.groupby(["grid", "trial"]).tail(1).fillna({measure: float("inf")})
            group = group[group["grid"] == last.groupby("grid")[measure].median().idxmin()]
        parts.append(group)
    return pd.concat(parts)


def grid_words(rows: pd.DataFrame) -> str:
    """Return a sentence on the values that were chosen, nothing where there is no grid."""
    if "grid" not in rows or not rows["grid"].notna().any():
        return ""
    best = [
        f"{name}: {', '.join(f'{value:g}' for value in sorted(set(group['grid'])))}"
        for name, group in rows.dropna(subset=["grid"]).groupby("series", sort=False)
    ]
    return f" Best of a grid, by the error with the truth at hand: {'; '.join(best)}."


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


def _cells(preset: Preset, place: Path, series: Path, extra: Toml) -> tuple[Spec, Sequence[Cell]]:
    spec, one = preset.spec(place, series), preset.table(series)
    special = preset.table(place).get("settings", {}).get(one["label"], {})
    settings = {**preset.content.get("settings", {}), **one.get("settings", {}), **special, **extra}
    with preset.source.locate(series, (*place, "settings", one["label"]), ("settings",), ("solvers",)):
        if "solver" not in one:
            raise InputError("solver", "given", "nothing", "add it to the series, or solvers with one name above all")
        require_settings(settings, [one["solver"]], spec.model)
        if preset.kind in ("traces", "comparison") or preset.content["figure"].get("steps"):
            return spec, [Cell({}, one["solver"], make_job(spec, one["solver"], **settings))]
    axis, values = axis_of(preset, series if "axes" in one else place)
    with preset.source.locate(axes_path(preset, place), series, ("settings",), ("solvers",)):
        axes = ((axis, make_axis(axis, values)),)
        sweep = Sweep(spec=spec, axes=axes, solvers=(one["solver"],), settings=tuple(settings.items()))
        return spec, sweep.cells


def _numbers(preset: Preset, place: Path, count: int, trials: int | None) -> list[int]:
    """Return the number of trials of each cell of a panel or column."""
    path = (*place, "trials") if "trials" in preset.table(place) else ("trials",)
    given = preset.table(place).get("trials", preset.content["trials"])
    numbers = given if isinstance(given, list) else [given] * count
    with preset.source.locate(path):
        if len(numbers) != count:
            raise InputError("trials", f"a number for each of the {count} values", len(numbers), "give one number each")
        return [int(COUNT.check(trials or number)) for number in numbers]

"""The runs of a preset: each series in each panel or column, at each value of its axis, with its settings.

The table `grid` of a series lists values of one setting. A figure shows, at each point, the value with the smallest
median of a metric at the end of the runs. This choice uses the ground truth, as a paper does that tunes a baseline by
hand. The table of trials has all of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import pandas as pd

from lrlab.figures.convergence import TIMES
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.items import Drawing, Item, Search, rounded
from lrlab.presets.quantities import PLACES
from lrlab.protocol import Spec
from lrlab.runs.job import make_job
from lrlab.runs.run import Trial
from lrlab.sweeps.definition import COUNT, Cell, Span, Success, Sweep
from lrlab.sweeps.toml import make_axis, make_success

CHOSEN_BY = "error"
"""Metric that chooses a value of a grid if the file defines no success."""
STEPS = "iteration"
"""Axis of figures that show every iterate."""
CLOSE, QUICK_CLOSE = 1.05, 1.3
"""Ratio of the ends of a finished search for the fewest measurements, in a full and in a reduced run."""


class Placed(NamedTuple):
    """A series in a panel, both as in the file; the panel has also the keys of the figure.

    axis, values: the axis with its values. spec: without the axis. settings: of the solver. success: the rule of
    success, None if the series shows a metric.
    """

    panel: Toml
    series: Toml
    axis: str
    values: Sequence[Any]
    spec: Spec
    settings: Mapping[str, Any]
    success: Success | None

    def at(self, value: Any) -> Spec:
        """Return the spec at a value of the axis, rounded for a parameter of whole numbers."""
        return self.spec if self.axis == STEPS or self.axis in PLACES else rounded(self.spec, self.axis, value)


def iterates(preset: Preset) -> bool:
    """Return whether the figure shows every iterate."""
    figure = preset.content["figure"]
    return bool(figure.get("steps")) or figure.get("against") in TIMES


def placed_in(preset: Preset) -> list[Placed]:
    """Return all pairs of a panel and a series in it."""
    placed = []
    for panel, series in product(preset.panels, preset.series):
        if series["label"] not in panel.get("only", panel.get("ratio", [series["label"]])):
            continue
        look, spec = {**preset.content["figure"], **panel}, preset.spec(panel, series)
        axis, values = (STEPS, [0.0]) if iterates(preset) else axis_of(preset, series if "axes" in series else panel)
        success = make_success(preset.content["success"]) if "success" in preset.content else None
        if "below" in series:
            success = Success(look["measure"], below=series["below"])
        if "fewest" in series or "quantity" in series:
            success = None
        placed.append(Placed(look, series, axis, values, spec, settings_of(preset, panel, series), success))
    return placed


def items_of(preset: Preset, one: Placed, trials: int | None) -> Iterator[tuple[dict[str, Any], Item | str]]:
    """Yield the items of a series with the labels of their rows, or why a solver rejects a value."""
    own, series = {"panel": one.panel["title"], "series": one.series["label"]}, one.series
    if "quantity" in series or "fewest" in series:
        for value, count in zip(one.values, counts(preset, one.panel, len(one.values), trials), strict=True):
            yield from (({**own, one.axis: value}, _drawing(preset, one, value, number)) for number in range(count))
        return
    for extra in [{name: value} for name, values in series.get("grid", {}).items() for value in values] or [{}]:
        settings, tried = {**one.settings, **extra}, {"grid": next(iter(extra.values()))} if extra else {}
        if one.axis == STEPS:
            cells: Sequence[Cell] = [Cell({}, "", make_job(one.spec, series["solver"], **settings))]
        else:
            axes, solver = ((one.axis, tuple(one.values)),), (series["solver"],)
            cells = Sweep(spec=one.spec, axes=axes, solvers=solver, settings=tuple(settings.items())).cells
        for cell, count in zip(cells, counts(preset, one.panel, len(cells), trials), strict=True):
            labels = own | tried | dict(cell.axes)
            if cell.job is None:
                yield {**labels, "solver": cell.solver}, cell.refused
                continue
            yield from ((labels, Trial(cell.job, number)) for number in range(count))


def _drawing(preset: Preset, one: Placed, value: float, number: int) -> Drawing | Search:
    """Return the quantity or the search of a series at a value of its axis."""
    series, spec = one.series, one.at(value)
    if "quantity" in series:
        return Drawing(spec, series["quantity"], number, value if one.axis in PLACES else None)
    along, first, last = (series["fewest"][key] for key in ("along", "from", "to"))
    settings = tuple(one.settings.items())
    close = QUICK_CLOSE if preset.quick else CLOSE
    metric, below = one.panel["measure"], series["below"]
    return Search(spec, series["solver"], settings, metric, below, along, first, last, number, close)


def settings_of(preset: Preset, panel: Toml, series: Toml) -> dict[str, Any]:
    """Return the settings of a series in a panel or column."""
    special = panel.get("settings", {}).get(series["label"], {})
    return {**preset.content.get("settings", {}), **series.get("settings", {}), **special}


def axis_of(preset: Preset, panel: Toml) -> tuple[str, Sequence[Any]]:
    """Return the axis of a panel, or else of the file, with its values."""
    ((axis, values),) = panel.get("axes", preset.content.get("axes", {})).items()
    given = make_axis(axis, values)
    return axis, given.values(axis) if isinstance(given, Span) else given


def counts(preset: Preset, panel: Toml, count: int, trials: int | None) -> list[int]:
    """Return the number of trials per value in a panel or column."""
    given = panel.get("trials", preset.content["trials"])
    numbers = given if isinstance(given, list) else [given] * count
    return [int(COUNT.check(trials or number)) for number in numbers]


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
    best = rows.dropna(subset=["grid"]).groupby("series", sort=False)["grid"].unique()
    words = [f"{name}: {', '.join(f'{value:g}' for value in sorted(values))}" for name, values in best.items()]
    return f" Best of a grid, by the error with the ground truth: {'; '.join(words)}."

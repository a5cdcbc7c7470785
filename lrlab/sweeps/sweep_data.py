"""What figures of a sweep are made of, computed again only where it has changed: by pages and in notebooks."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from lrlab.catalog import family
from lrlab.figures.map_layers import Region, Scale
from lrlab.model_entry import Measure
from lrlab.models import axes
from lrlab.parameters import display_name
from lrlab.runs import theory as bounds_of
from lrlab.sweeps import theory
from lrlab.sweeps.adaptive import infer
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.definition_parts import spacing
from lrlab.sweeps.results import SweepResults
from lrlab.sweeps.theory import Limit

SHARE = "share"
"""What is shown of a sweep: this share of successes, or a metric."""
EFFORT = {
    "iterations": Measure("iterations", "iterations until the run ended"),
    "seconds": Measure("solver time (s)", "processor time of the solver"),
}
"""The metrics of trials that no problem scores."""

T = TypeVar("T")


class SweepData:
    """Tables, lines and inferred cells of the results of a sweep."""

    def __init__(self, results: SweepResults) -> None:
        self.results, self.sweep = results, results.sweep
        self._memory: dict[str, Any] = {}

    def latest(self, name: str, make: Callable[[], T]) -> T:
        """Return `make()`, called again where trials have come since."""
        return self._once(name, self.results.changes, make)

    def of_theory(self, name: str, make: Callable[[], T]) -> T:
        """Return `make()`, called again where more is known of theory since."""
        return self._once(name, bounds_of.remembered_items(), make)

    def _once(self, name: str, source: object, make: Callable[[], T]) -> T:
        if self._memory.get(name, (None,))[0] != source:
            self._memory[name] = (source, make())
        made: T = self._memory[name][1]
        return made

    def metric(self, show: str) -> str:
        """Return the score behind what is shown."""
        return self.sweep.contour.metric if show == SHARE else show

    def table(self, show: str) -> pd.DataFrame:
        """Return a row per cell, see `SweepResults.table`."""
        metric = self.metric(show)
        share = metrics(self.sweep)[metric].quotient[0] if show != SHARE else ""
        unknown = len(bounds_of.missing_bounds(job.spec for job in self.sweep.jobs)) if share else 0
        return self.latest(f"{metric} {unknown}", lambda: self.results.table(metric))

    def cells(self, show: str) -> pd.DataFrame:
        """Return the cells in the columns of maps; inferred ones where an adaptive sweep has no trials."""
        x, y = self.sweep.grid
        value = "share" if show == SHARE else "mean"
        cells = self.table(show).rename(columns={x: "x", y: "y", value: "value"}).assign(inferred=False)
        if show != SHARE:
            cells["successes"] = np.nan
        if not self.sweep.adaptive or show != first_shown(self.sweep):
            return cells
        picture = self.latest("picture", lambda: infer(self.results, self.table(show)))
        merged = cells[["x", "y", "solver"]].merge(picture, on=["x", "y", "solver"], how="left")
        inferred = merged["inferred"].fillna(False).to_numpy(dtype=bool)
        cells.loc[inferred, "value"] = merged["mean"].to_numpy()[inferred]
        return cells.assign(inferred=inferred)

    @cached_property
    def scales(self) -> list[Scale]:
        """The axes as they are drawn."""
        model, grid = type(self.sweep.spec), self.sweep.grid
        titles, names = axes.axes(model), axes.short_names(model)
        return [
            Scale(titles[name], sorted(map(float, grid[name])), spacing(given), names[name])
            for name, given in self.sweep.axes
        ]

    def theory(self, show: str) -> tuple[pd.DataFrame, Sequence[Region]]:
        """Return the lines and the regions of theory over the plane of two axes; show: what the map does."""
        lines, regions = self._asymptotic
        if show not in (SHARE, self.sweep.contour.metric):
            return lines, regions
        half = show == SHARE
        name = f"contours of {'medians' if half else 'means'}"
        contours = self.of_theory(name, lambda: theory.contours(self.sweep, half=half))
        return pd.concat([contours, lines]) if len(contours) else lines, regions

    @cached_property
    def _asymptotic(self) -> tuple[pd.DataFrame, Sequence[Region]]:
        limits = theory.regions(self.sweep)
        points = [(name, *point) for name, several in limits.lines.items() for point in several]
        lines = pd.concat([theory.lines(self.sweep), pd.DataFrame(points, columns=["line", "x", "y"])])
        return lines, limits.regions

    @cached_property
    def limits(self) -> list[Limit]:
        """The limits of all methods, and of known fast ones, for large sizes along a single axis."""
        return theory.limits(self.sweep)


def metrics(sweep: Sweep) -> Mapping[str, Measure]:
    """Return the metrics of a sweep's trials, by name."""
    return {**family(sweep.spec.model).measures, **EFFORT}


def first_shown(sweep: Sweep) -> str:
    """Return what is shown of a sweep at first: the share of successes where it counts them, or else a score."""
    return SHARE if sweep.success else sweep.contour.metric


def title(sweep: Sweep, show: str) -> str:
    """Return what a figure shows, in words."""
    if show != SHARE:
        return f"mean {display_name(show)}"
    rule = sweep.contour
    return f"success rate ({display_name(rule.metric)} {'>' if rule.below is None else '<'} {rule.level:g})"

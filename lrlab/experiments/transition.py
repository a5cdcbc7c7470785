"""Phase transitions: a score over a plane of two parameters, first roughly and then in full, and the predicted line."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from lrlab import catalog
from lrlab.catalog.entry import SolverEntry
from lrlab.catalog.families import Goal, family, possible
from lrlab.experiments import sweep
from lrlab.experiments.summary import wilson
from lrlab.parameters import InputError, Value, declared, settle
from lrlab.protocol import Spec

COLUMNS, SCAN, BISECTIONS = 48, 24, 16


@dataclass(frozen=True)
class Plane:
    """A grid over two axes (parameters, or derived quantities such as "ratio"), one solver, and how many trials."""

    spec: Spec
    x: str
    x_values: tuple[float, ...]
    y: str
    y_values: tuple[float, ...]
    solver: str
    trials: int = 5
    settings: tuple[tuple[str, Value], ...] = ()

    def __post_init__(self) -> None:
        """Refuse a plane with one axis."""
        if self.x == self.y:
            raise InputError("y", f"another axis than x = {self.x}", self.y, "choose two different axes")

    @property
    def axes(self) -> Mapping[str, Sequence[float]]:
        """The values of both axes, by name."""
        return {self.x: self.x_values, self.y: self.y_values}

    def plan(self) -> tuple[list[sweep.Trial], list[sweep.Row]]:
        """Return all trials, the first one of every cell before any second one, far apart cells first; and refusals."""
        planned, refused = sweep.plan(self.spec, self.axes, [self.solver], self.trials, dict(self.settings))
        order = {
            (x, y): rank
            for rank, (i, j) in enumerate(coarse_to_fine(len(self.x_values), len(self.y_values)))
            for x, y in [(self.x_values[i], self.y_values[j])]
        }
        return sorted(planned, key=lambda t: (t.trial, order[(t.cell[0][1], t.cell[1][1])])), refused

    def cells(self, rows: Iterable[Mapping[str, Any]], goal: Goal | None = None) -> pd.DataFrame:
        """Return one row a measured cell: x, y, mean, spread, trials, low, high, and `seed` of its first trial.

        mean and spread (standard deviation) are of the goal's measure; of successes, 0 or 1, where it has a level: mean
        is then their share, and low..high its 95% Wilson interval. The goal is that of the model if none is given. A
        run that ended without an estimate (not finite) is no success.
        """
        goal, table = goal or self.goal, pd.DataFrame(rows)
        if table.empty or goal.measure not in table:
            return pd.DataFrame(columns=["x", "y", "mean", "spread", "trials", "low", "high", "seed"])
        if goal.below is None:
            table = table.dropna(subset=[goal.measure])
            table["goal"] = table[goal.measure]
        else:
            table = table[table["refused"] == ""]
            table["goal"] = (table[goal.measure] < goal.below).astype(float)
        groups = table.sort_values("trial").groupby([self.x, self.y])
        cells = groups.agg(
            mean=("goal", "mean"), spread=("goal", "std"), trials=("goal", "count"), seed=("seed", "first")
        )
        cells = cells.reset_index().rename(columns={self.x: "x", self.y: "y"})
        if goal.below is not None:
            intervals = [wilson(round(c.mean * c.trials), c.trials) for c in cells.itertuples()]
            cells = cells.assign(low=[i.low for i in intervals], high=[i.high for i in intervals])
        return cells

    @property
    def goal(self) -> Goal:
        """What is shown of this model."""
        return family(self.spec.model).goal

    def at(self, x: float, y: float) -> Spec:
        """Return the spec of a cell."""
        return sweep.at(self.spec, ((self.x, x), (self.y, y)))

    def lines(self, spacing: tuple[str, str] = ("linear", "linear")) -> pd.DataFrame:
        """Return points x, y of the lines that theory draws, named in `line`; pieces are parted by a row of nan.

        See `catalog.families.possible` for what they mean; empty where there are none. Each column of the plane is
        scanned, and every change from one side to the other is bisected.
        """
        xs = spaced(min(self.x_values), max(self.x_values), COLUMNS, spacing[0])
        if self._whole(self.x):
            xs = sorted({float(round(x)) for x in xs})
        ys = spaced(min(self.y_values), max(self.y_values), SCAN, spacing[1])
        sides = [[self._possible(x, y) for y in ys] for x in xs]
        names = list(dict.fromkeys(name for column in sides for side in column for name in side))
        points: list[tuple[str, float, float]] = []
        for name in names:
            columns = [
                [
                    self._bisect(name, x, ys[k], ys[k + 1])
                    for k in range(len(ys) - 1)
                    if column[k].get(name, False) != column[k + 1].get(name, False)
                ]
                for x, column in zip(xs, sides, strict=True)
            ]
            for k in range(max(map(len, columns), default=0)):
                for x, crossings in zip(xs, columns, strict=True):
                    points.append((name, x, crossings[k]) if k < len(crossings) else (name, math.nan, math.nan))
                points.append((name, math.nan, math.nan))
        return pd.DataFrame(points, columns=["line", "x", "y"])

    @property
    def _entry(self) -> SolverEntry:
        return catalog.solver(self.solver, self.spec.model)

    @cached_property
    def _options(self) -> Mapping[str, Value]:
        entry = self._entry
        return settle(entry.run, {k: v for k, v in self.settings if k in entry.options})

    def _whole(self, axis: str) -> bool:
        parameter = declared(type(self.spec)).get(axis)
        return parameter is not None and parameter.kind is int

    def _bisect(self, name: str, x: float, a: float, b: float) -> float:
        low = self._possible(x, a).get(name, False)
        for _ in range(BISECTIONS):
            middle = (a + b) / 2
            a, b = (middle, b) if self._possible(x, middle).get(name, False) == low else (a, middle)
        return (a + b) / 2

    def _possible(self, x: float, y: float) -> dict[str, bool]:
        try:
            there = self.at(x, round(y) if self._whole(self.y) else y)
            return possible(there, self._entry, self._options)
        except InputError:
            return {}


def spaced(low: float, high: float, count: int, spacing: str) -> list[float]:
    """Return evenly spaced values, on a linear or a log scale."""
    return (np.geomspace if spacing == "log" and low > 0 else np.linspace)(low, high, count).tolist()


def coarse_to_fine(columns: int, rows: int) -> list[tuple[int, int]]:
    """Return all cells of a grid so that every beginning of the list is spread over the whole of it.

    Each axis is visited at every 2^k-th place before those in between; cells are ordered by the finer of the two.
    """

    def level(i: int) -> int:
        return 64 if i == 0 else (i & -i).bit_length()

    cells = [(i, j) for i in range(columns) for j in range(rows)]
    return sorted(cells, key=lambda c: -min(level(c[0]), level(c[1])))

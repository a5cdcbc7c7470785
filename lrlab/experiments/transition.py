"""Phase transitions: a score over a plane of two parameters, first roughly and then in full, and the predicted line."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from lrlab import catalog
from lrlab.experiments import sweep
from lrlab.parameters import InputError, Value, settle
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

    def cells(self, rows: Iterable[Mapping[str, Any]], measure: str = "overlap") -> pd.DataFrame:
        """Return one row a measured cell: x, y, mean, spread (standard deviation), trials, and `seed` of its first."""
        table = pd.DataFrame(rows)
        if table.empty or measure not in table:
            return pd.DataFrame(columns=["x", "y", "mean", "spread", "trials", "seed"])
        groups = table.dropna(subset=[measure]).sort_values("trial").groupby([self.x, self.y])
        cells = groups.agg(
            mean=(measure, "mean"), spread=(measure, "std"), trials=(measure, "count"), seed=("seed", "first")
        )
        return cells.reset_index().rename(columns={self.x: "x", self.y: "y"})

    def at(self, x: float, y: float) -> Spec:
        """Return the spec of a cell."""
        return sweep.at(self.spec, ((self.x, x), (self.y, y)))

    def threshold(self, spacing: tuple[str, str] = ("linear", "linear")) -> pd.DataFrame:
        """Return points x, y of the line where the predicted overlap leaves zero; lines are parted by a row of nan.

        Empty where the solver has no exact prediction. Each column of the plane is scanned, and every change between
        zero and more is bisected.
        """
        xs = spaced(min(self.x_values), max(self.x_values), COLUMNS, spacing[0])
        ys = spaced(min(self.y_values), max(self.y_values), SCAN, spacing[1])
        steps = list(zip(ys, ys[1:], strict=False))
        columns = [[self._bisect(x, a, b) for a, b in steps if self._visible(x, a) != self._visible(x, b)] for x in xs]
        points: list[tuple[float, float]] = []
        for k in range(max(map(len, columns), default=0)):
            for x, crossings in zip(xs, columns, strict=True):
                points.append((x, crossings[k]) if k < len(crossings) else (math.nan, math.nan))
            points.append((math.nan, math.nan))
        return pd.DataFrame(points, columns=["x", "y"])

    @cached_property
    def _options(self) -> Mapping[str, Value]:
        entry = catalog.solver(self.solver)
        return settle(entry.run, {k: v for k, v in self.settings if k in entry.options})

    def _bisect(self, x: float, a: float, b: float) -> float:
        low = self._visible(x, a)
        for _ in range(BISECTIONS):
            middle = (a + b) / 2
            a, b = (middle, b) if self._visible(x, middle) == low else (a, middle)
        return (a + b) / 2

    def _visible(self, x: float, y: float) -> bool:
        entry = catalog.solver(self.solver)
        try:
            predicted = entry.predict(self.at(x, y), self._options).get("predicted_overlap")
        except InputError:
            return False
        return predicted is not None and predicted > 0


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

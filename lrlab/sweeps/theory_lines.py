"""Where theory draws lines through the plane of a sweep with two axes."""

import math

import numpy as np
import pandas as pd

from lrlab import catalog
from lrlab.parameters import InputError, declared
from lrlab.sweeps.cells import spec_at
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.definition_parts import spacing

COLUMNS, SCAN, BISECTIONS = 48, 24, 16
Point = tuple[float, float]


def lines(sweep: Sweep) -> pd.DataFrame:
    """Return points x, y of the lines that theory draws, named in `line`; pieces are parted by a row of nan.

    See `Family.lines` for what they mean; empty where there are none, or not two axes. Each column of the
    plane is scanned, and every change from one side to the other is bisected. A line that is not the same for all
    solvers has the title of its solver, too.
    """
    pieces: dict[str, dict[str, list[Point]]] = {}
    if len(sweep.grid) == 2:
        for solver in sweep.solvers:
            for name, points in _Lines(sweep, solver).lines().items():
                pieces.setdefault(name, {})[solver] = points
    rows = []
    for name, by_solver in pieces.items():
        # By their text, in which nan is nan.
        alike = len({repr(points) for points in by_solver.values()}) == 1
        # A prediction of some solvers is not to be taken for one of all.
        alike &= len(by_solver) == len(sweep.solvers) or not name.startswith("predicted")
        for solver, points in list(by_solver.items())[: 1 if alike else None]:
            title = catalog.solver(solver, sweep.spec.model).title
            rows += [(name if alike else f"{name}, {title}", *point) for point in points]
    return pd.DataFrame(rows, columns=["line", "x", "y"])


class _Lines:
    """Traces the lines through the plane of a sweep for one of its solvers."""

    def __init__(self, sweep: Sweep, solver: str) -> None:
        self._sweep, self._entry = sweep, catalog.solver(solver, sweep.spec.model)
        self._options = dict(self._entry.settle(sweep.settings_of(solver)).options)
        self._x, self._y = sweep.grid

    def lines(self) -> dict[str, list[Point]]:
        xs, ys = self._values(self._x, COLUMNS), self._values(self._y, SCAN)
        sides = [[self._possible(x, y) for y in ys] for x in xs]
        return {
            name: self._line(name, xs, ys, [[side.get(name, False) for side in column] for column in sides])
            for name in dict.fromkeys(name for column in sides for side in column for name in side)
        }

    def _line(self, name: str, xs: list[float], ys: list[float], sides: list[list[bool]]) -> list[Point]:
        columns = [
            [self._bisect(name, x, *ys[k : k + 2]) for k in range(len(ys) - 1) if column[k] != column[k + 1]]
            for x, column in zip(xs, sides, strict=True)
        ]
        points: list[Point] = []
        for k in range(max(map(len, columns), default=0)):
            for x, crossings in zip(xs, columns, strict=True):
                points.append((x, crossings[k]) if k < len(crossings) else (math.nan, math.nan))
            points.append((math.nan, math.nan))
        return points

    def _values(self, axis: str, count: int) -> list[float]:
        ends = min(self._sweep.grid[axis]), max(self._sweep.grid[axis])
        values = spaced(*ends, count, spacing(dict(self._sweep.axes)[axis]))
        # On the upward axis places between whole numbers are wanted, for it is bisected.
        return sorted({float(round(v)) for v in values}) if axis == self._x and self._whole(axis) else values

    def _whole(self, axis: str) -> bool:
        parameter = declared(type(self._sweep.spec)).get(axis)
        return parameter is not None and parameter.kind is int

    def _bisect(self, name: str, x: float, a: float, b: float) -> float:
        low = self._possible(x, a).get(name, False)
        for _ in range(BISECTIONS):
            middle = (a + b) / 2
            a, b = (middle, b) if self._possible(x, middle).get(name, False) == low else (a, middle)
        return (a + b) / 2

    def _possible(self, x: float, y: float) -> dict[str, bool]:
        try:
            there = spec_at(self._sweep.spec, ((self._x, x), (self._y, round(y) if self._whole(self._y) else y)))
            return catalog.family(there.model).lines(there, self._entry, self._options, self._sweep.contour.at)
        except InputError:
            return {}


def spaced(low: float, high: float, count: int, spacing: str) -> list[float]:
    """Return evenly spaced values, on a linear or a log scale."""
    values = (np.geomspace if spacing == "log" and low > 0 else np.linspace)(low, high, count)
    return [float(value) for value in values]

"""Lines of theory: through the plane of a sweep with two axes, and the limits of all methods along a single one."""

import math
from typing import NamedTuple

import pandas as pd

from lrlab import catalog
from lrlab.solver_entry import nothing_known
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.theory_regions import grid_nodes, kind_at, spec_near

COLUMNS, SCAN, BISECTIONS = 48, 24, 16
Point = tuple[float, float]
NODES = 41
"""Points of a curve where all have one link and prior; else it has those of the sweep, as each costs more."""
BEST, FAST = "limit_best_", "limit_best_fast_"
APART = 0.005
"""Least difference of overlaps at which the limit of fast methods is a curve of its own."""


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
        # What holds of some solvers is not to be taken for something of all.
        alike &= len(by_solver) == len(sweep.solvers) or not name.startswith("asymptotic")
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
            name: self._line(name, xs, ys, [[side.get(name) for side in column] for column in sides])
            for name in dict.fromkeys(name for column in sides for side in column for name in side)
        }

    def _line(self, name: str, xs: list[float], ys: list[float], sides: list[list[bool | None]]) -> list[Point]:
        # Where theory says nothing on one side there is no line.
        columns = [
            [self._bisect(name, x, *ys[k : k + 2]) for k in range(len(ys) - 1) if {*column[k : k + 2]} == {True, False}]
            for x, column in zip(xs, sides, strict=True)
        ]
        points: list[Point] = []
        for k in range(max(map(len, columns), default=0)):
            for x, crossings in zip(xs, columns, strict=True):
                points.append((x, crossings[k]) if k < len(crossings) else (math.nan, math.nan))
            points.append((math.nan, math.nan))
        return points

    def _values(self, axis: str, count: int) -> list[float]:
        # On the upward axis places between whole numbers are wanted, for it is bisected.
        return [float(value) for value in grid_nodes(self._sweep, axis, count, rounded=axis == self._x)]

    def _bisect(self, name: str, x: float, a: float, b: float) -> float:
        low = self._possible(x, a).get(name, False)
        for _ in range(BISECTIONS):
            middle = (a + b) / 2
            a, b = (middle, b) if self._possible(x, middle).get(name, False) == low else (a, middle)
        return (a + b) / 2

    def _possible(self, x: float, y: float) -> dict[str, bool]:
        there = spec_near(self._sweep, (x, y))
        if there is None:
            return {}
        return catalog.family(there.model).lines(there, self._entry, self._options, self._sweep.contour.at)


class Limit(NamedTuple):
    """A limit at a place: "limit_best" or "limit_best_fast", the place, and the values of scores by name."""

    limit: str
    x: float
    scores: dict[str, float]


def limits(sweep: Sweep) -> list[Limit]:
    """Return the limits along the axis of a sweep; those of fast methods where they differ anywhere, or nothing."""
    family = catalog.family(sweep.spec.model)
    if len(sweep.grid) != 1 or family.asymptotics is nothing_known:
        return []
    [(axis, values)] = sweep.grid.items()
    alike = kind_at(sweep, (min(values),)) == kind_at(sweep, (max(values),))
    best, fast = list[Limit](), list[Limit]()
    for x in sorted({*values, *(map(float, grid_nodes(sweep, axis, NODES)) if alike else ())}):
        there = spec_near(sweep, (x,))
        known = {} if there is None else family.asymptotics(there)
        own = {name.removeprefix(FAST): value for name, value in known.items() if name.startswith(FAST)}
        scores = {name.removeprefix(BEST): v for name, v in known.items() if not name.startswith(FAST)}
        best += [Limit("limit_best", x, scores)] * bool(scores)
        # Where fast methods reach the best there is no number of their own.
        fast += [Limit("limit_best_fast", x, scores | own)] * bool(scores)
    apart = (b.scores[name] - f.scores[name] for b, f in zip(best, fast, strict=True) for name in b.scores)
    return [*best, *fast] if max(apart, default=0.0) > APART else best

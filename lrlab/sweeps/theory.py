"""Theory over the axes of a sweep: lines and regions of a map, and the limits along one axis."""

import math
from collections.abc import Sequence
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.ndimage import distance_transform_edt
from scipy.optimize import bisect

from lrlab import catalog
from lrlab.arrays import Array, Mask
from lrlab.model_entry import HARD, IMPOSSIBLE, POSSIBLE
from lrlab.models.axes import is_whole
from lrlab.parameters import InputError
from lrlab.solver_entry import nothing_known
from lrlab.sweeps.definition import Sweep, spacing, spec_at

COLUMNS, SCAN, PRECISION = 48, 24, 2.0**-16
"""Columns and rows of the plane in the search for lines, and the precision of a line between two rows."""
NODES = 41
"""Points of a limit along an axis. If the link or prior changes along it, only the sweep's points: each takes long."""
APART = 0.005
"""Smallest difference of overlaps that gives the limit of polynomial-time methods a separate curve."""
ROWS, FEW_ROWS, FEW_COLUMNS = 25, 11, 21
"""Rows of margins; rows, and columns, if the link or prior changes along the axis."""
NARROWEST = 0.02
"""Difference of margins, in log n/p, below which two limits are one."""
FARTHEST = 60.0
"""Largest absolute value of a margin, and its value if theory gives none."""
BEST, FAST = "limit_best_", "limit_best_fast_"
GAP = (math.nan, math.nan)
"""Between the parts of a line or an outline, whose points are arrays (points, 2)."""


def lines(sweep: Sweep) -> pd.DataFrame:
    """Return points x, y of the lines that theory draws over two axes, named in `line`, with GAP between parts.

    `Family.lines` explains their meaning. Each column of the plane is scanned, and every change of sides is bisected. A
    line that differs between solvers carries the title of its solver.
    """
    by_name: dict[str, dict[str, Array]] = {}
    for solver in sweep.solvers if len(sweep.grid) == 2 else ():
        for name, points in _solver_lines(sweep, solver).items():
            by_name.setdefault(name, {})[solver] = points
    rows = []
    for name, by_solver in by_name.items():
        # A fact about some solvers must not look like a fact about all.
        same = len({points.tobytes() for points in by_solver.values()}) == 1
        same &= len(by_solver) == len(sweep.solvers) or not name.startswith("asymptotic")
        for solver, points in list(by_solver.items())[: 1 if same else None]:
            rows += [(name if same else f"{name}, {sweep.titles[solver]}", *point) for point in points]
    return pd.DataFrame(rows, columns=["line", "x", "y"])


def _solver_lines(sweep: Sweep, solver: str) -> dict[str, Array]:
    entry = catalog.solver(solver, sweep.spec.model)
    options, (across, upwards) = dict(entry.settle(sweep.settings_of(solver)).options), sweep.grid

    def sides(x: float, y: float) -> dict[str, bool]:
        spec = spec_near(sweep, (x, y))
        return {} if spec is None else catalog.family(spec.model).lines(spec, entry, options, sweep.contour)

    def side(y: float, x: float, name: str) -> float:
        return 1.0 if sides(x, y).get(name) else -1.0

    xs, ys = (nodes.tolist() for nodes in (grid_nodes(sweep, across, COLUMNS), grid_nodes(sweep, upwards, SCAN)))
    columns = [[sides(x, y) for y in ys] for x in xs]
    drawn: dict[str, Array] = {}
    for name in dict.fromkeys(name for column in columns for known in column for name in known):
        crossed = [
            [
                bisect(side, low, high, args=(x, name), xtol=(high - low) * PRECISION)
                for (low, below), (high, above) in pairwise(zip(ys, column, strict=True))
                # If theory does not know one side, there is nothing to draw.
                if {below.get(name), above.get(name)} == {True, False}
            ]
            for x, column in zip(xs, columns, strict=True)
        ]
        branches = zip_longest(*crossed, fillvalue=math.nan)
        points = [point for branch in branches for point in [*zip(xs, branch, strict=True), GAP]]
        drawn[name] = np.reshape(points, (-1, 2))
    return drawn


def limits(sweep: Sweep) -> pd.DataFrame:
    """Return the limits of all methods along a single axis: a row per position, a column per limit.

    With them the limits of polynomial-time methods, if they differ anywhere. See `Family.asymptotics`.
    """
    family = catalog.family(sweep.spec.model)
    if len(sweep.grid) != 1 or family.asymptotics is nothing_known:
        return pd.DataFrame()
    [(axis, values)] = sweep.grid.items()
    positions = sorted({*values, *(grid_nodes(sweep, axis, NODES).tolist() if _link_stays(sweep, axis) else ())})
    specs = {x: spec_near(sweep, (x,)) for x in positions}
    known = {x: numbers for x, spec in specs.items() if spec is not None and (numbers := family.asymptotics(spec))}
    table = pd.DataFrame.from_dict(known, orient="index")
    best = table[[name for name in table if not name.startswith(FAST)]]
    # If polynomial-time methods reach the best, they have no separate numbers.
    reached = best.rename(columns=lambda name: name.replace(BEST, FAST))
    fast = table.reindex(columns=reached.columns).fillna(reached)
    return best.join(fast) if (reached - fast).gt(APART).any(axis=None) else best


class Region(NamedTuple):
    """A region: closed outlines x, y, separated by nan, holes winding the other way; the position of its name."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    label: tuple[float, float]


def regions(sweep: Sweep) -> tuple[tuple[Region, ...], dict[str, Array]]:
    """Return the regions of a plane, and further lines by name.

    In a region no method, or no known polynomial-time method, reaches the contour's level; the possible region has no
    outline: it is the rest. The margins to the limits (`Family.margins`) are evaluated on a grid, and contourpy traces
    the outlines of their signs. Nothing if theory says nothing about the contour.
    """
    if len(sweep.grid) != 2 or catalog.family(sweep.spec.model).margins is nothing_known:
        return (), {}
    x, y, margins = _margins(sweep)
    if not margins:
        return (), {}
    several = [_region(np.empty((0, 2)), margins[POSSIBLE] >= 0, POSSIBLE, x, y)]
    # For compressed sensing only the limit of polynomial-time methods is known.
    if IMPOSSIBLE in margins:
        best, fast = margins[IMPOSSIBLE], margins[HARD]
        outside = traced(-best, x, y, filled=True)
        if (best - fast).max() > NARROWEST:
            # A hard region may be narrower than the grid, so its two sides are traced apart; reversed, outlines are
            # holes.
            around = np.concatenate([traced(-fast, x, y, filled=True), outside[::-1]])
            several.insert(0, _region(around, (fast < 0) & (best >= 0), HARD, x, y))
        several.insert(0, _region(outside, best < 0, IMPOSSIBLE, x, y))
    own = {name: traced(margin, x, y) for name, margin in margins.items() if name not in (POSSIBLE, HARD, IMPOSSIBLE)}
    for solver in sweep.solvers:
        entry = catalog.solver(solver, sweep.spec.model)
        if entry.attains:
            apart = f", {entry.title}" if len(sweep.solvers) > 1 else ""
            own[f"asymptotic {sweep.contour.words}{apart}"] = traced(margins[POSSIBLE], x, y)
    return tuple(filter(None, several)), {name: points for name, points in own.items() if len(points)}


def _region(loops: Array, nodes: Mask, name: str, x: Array, y: Array) -> Region | None:
    """Return the region of closed outlines and nodes (columns, rows) inside; None if there are neither."""
    if not len(loops) and not nodes.any():
        return None
    # The name stands at the widest part of the region; a region between two nodes has none.
    label = GAP
    if nodes.any():
        depth = distance_transform_edt(np.pad(nodes, 1))[1:-1, 1:-1]
        widest = np.argwhere(depth == depth.max())
        i, j = widest[np.argmin(np.square(widest - widest.mean(axis=0)).sum(axis=1))]
        label = float(x[i]), float(y[j])
    return Region(name, loops[:, 0].tolist(), loops[:, 1].tolist(), label)


def _margins(sweep: Sweep) -> tuple[Array, Array, dict[str, Array]]:
    """Return the nodes of a grid, and the margins (columns, rows) at them; none if theory does not know the limits."""
    (across, upwards), fields = sweep.grid, dict[str, Array]()
    x = grid_nodes(sweep, across, NODES if _link_stays(sweep, across) else FEW_COLUMNS)
    y = grid_nodes(sweep, upwards, ROWS if _link_stays(sweep, upwards) else FEW_ROWS)
    for i, j in np.ndindex(len(x), len(y)):
        spec = spec_near(sweep, (float(x[i]), float(y[j])))
        known = {} if spec is None else catalog.family(spec.model).margins(spec, sweep.contour)
        for name, margin in known.items():
            fields.setdefault(name, np.full((len(x), len(y)), FARTHEST))[i, j] = np.clip(margin, -FARTHEST, FARTHEST)
    return x, y, fields


def traced(field: Array, x: ArrayLike, y: ArrayLike, *, filled: bool = False) -> Array:
    """Return the lines along which a field (columns, rows) is zero; nan is unknown.

    filled: return closed loops around its positive part; holes run clockwise. Evenly spaced quotients count by their
    logarithms.
    """
    if min(field.shape) < 2:
        return np.empty((0, 2))
    from contourpy import FillType, LineType, contour_generator

    axes = [np.asarray(nodes, dtype=float) for nodes in (x, y)]
    logs = [spacing(tuple(nodes)) == "log" for nodes in axes]
    across, up = (np.log(nodes) if log else nodes for nodes, log in zip(axes, logs, strict=True))
    kinds: dict[str, Any] = {"line_type": LineType.Separate, "fill_type": FillType.OuterOffset}
    generator = contour_generator(x=across, y=up, z=np.ma.masked_invalid(field.T), **kinds)
    parts: Any = generator.lines(0.0)
    if filled:
        polygons = zip(*generator.filled(0.0, 2.0 * FARTHEST), strict=True)
        parts = [points[first:last] for points, offsets in polygons for first, last in pairwise(offsets)]
    points = np.concatenate([np.empty((0, 2)), *(one for part in parts for one in (part, [GAP]))])
    points[:, logs] = np.exp(points[:, logs])
    return points


def spec_near(sweep: Sweep, point: Sequence[float]) -> Any:
    """Return the spec at a point of the plane; None if there is none."""
    try:
        return spec_at(sweep.spec, zip(sweep.grid, map(float, point), strict=True))
    except InputError:
        return None


def _link_stays(sweep: Sweep, axis: str) -> bool:
    """Return whether the quantities besides n/p that a limit depends on are the same at both ends of an axis."""
    low, kinds = {name: min(values) for name, values in sweep.grid.items()}, list[object]()
    for end in (min, max):
        spec = spec_near(sweep, [*(low | {axis: end(sweep.grid[axis])}).values()])
        kinds.append(spec and (getattr(spec, "link_function", None), *map(spec.values().get, ("sparsity", "p"))))
    return kinds[0] == kinds[1]


def grid_nodes(sweep: Sweep, axis: str, count: int) -> Array:
    """Return positions along an axis, spaced as its values are, and whole on an axis of whole numbers."""
    low, high = min(sweep.grid[axis]), max(sweep.grid[axis])
    log = spacing(dict(sweep.axes)[axis]) == "log" and low > 0
    values = (np.geomspace if log else np.linspace)(low, high, count)
    return np.unique(np.round(values) if is_whole(type(sweep.spec), axis) else values)

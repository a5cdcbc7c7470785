"""Regions of the plane of a sweep in which no method, or no known fast one, reaches the contour's level.

The margins to the limits (`Family.margins`) change smoothly over the plane, but for kinks: they are evaluated on a
grid, and outlines of their signs traced by marching squares.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.ndimage import binary_erosion

from lrlab import catalog
from lrlab.arrays import Array, Mask
from lrlab.figures.map_layers import Region
from lrlab.model_entry import HARD, IMPOSSIBLE, POSSIBLE
from lrlab.parameters import InputError, declared
from lrlab.solver_entry import nothing_known
from lrlab.sweeps.definition import Sweep, spec_at
from lrlab.sweeps.definition_parts import spacing

ROWS, FEW = 25, 11
"""Rows; columns at first, and rows where each of a column has a link or a prior of its own."""
REFINEMENTS, CURVED = 2, 0.04
"""Rounds in which columns are added, and how far, in log n/p, a margin may be from linear between two columns."""
NARROWEST = 0.02
"""Margins apart, in log n/p, below which two limits are one."""
FARTHEST = 60.0
"""Size of a field beyond its grid, and most of it there."""

Points = list[tuple[float, float]]
Edge = tuple[tuple[int, int], tuple[int, int]]


class Regions(NamedTuple):
    """The regions of a plane, and further lines by name, apart by a point of nan.

    What is possible has no outline: it is the rest.
    """

    regions: tuple[Region, ...]
    lines: dict[str, Points]


def regions(sweep: Sweep) -> Regions:
    """Return the regions of the plane of a sweep with two axes; none where theory says nothing of its contour."""
    if len(sweep.grid) != 2 or catalog.family(sweep.spec.model).margins is nothing_known:
        return Regions((), {})
    x, y, margins = _margins(sweep)
    if not margins:
        return Regions((), {})
    fast, hard_below, best = (outlines(-margins[name], x, y) for name in (POSSIBLE, HARD, IMPOSSIBLE))
    several = [_region(IMPOSSIBLE, best, [], margins[IMPOSSIBLE] < 0, x, y)]
    if (margins[IMPOSSIBLE] - margins[HARD]).max() > NARROWEST:
        hard = (margins[HARD] < 0) & (margins[IMPOSSIBLE] >= 0)
        several.append(_region(HARD, hard_below, [loop[::-1] for loop in best], hard, x, y))
    several.append(_region(POSSIBLE, [], [], margins[POSSIBLE] >= 0, x, y))
    others = {name: margin for name, margin in margins.items() if name not in (POSSIBLE, HARD, IMPOSSIBLE)}
    lines = {name: inside(outlines(-margin, x, y), x, y) for name, margin in others.items()}
    for solver in sweep.solvers:
        entry = catalog.solver(solver, sweep.spec.model)
        if entry.attains:
            apart = f", {entry.title}" if len(sweep.solvers) > 1 else ""
            lines[f"asymptotic {sweep.contour.at.words}{apart}"] = inside(fast, x, y)
    return Regions(tuple(filter(None, several)), {name: points for name, points in lines.items() if points})


def _region(name: str, loops: list[Points], holes: list[Points], nodes: Mask, x: Array, y: Array) -> Region | None:
    if not loops and not nodes.any():
        return None
    points = [point for loop in [*loops, *holes] for point in [*loop, loop[0], (math.nan, math.nan)]]
    # The name stands where the region is widest; a region between two nodes has none.
    while (fewer := binary_erosion(nodes)).any():
        nodes = fewer
    label = math.nan, math.nan
    if nodes.any():
        places = np.argwhere(nodes)
        i, j = places[np.argmin(np.square(places - places.mean(axis=0)).sum(axis=1))]
        label = float(x[i]), float(y[j])
    return Region(name, [p[0] for p in points], [p[1] for p in points], label)


def _margins(sweep: Sweep) -> tuple[Array, Array, dict[str, Array]]:
    """Return the nodes of the grid, and the margins (columns, rows) at them where theory knows the limits.

    Columns are added where a margin is not linear between those that are there.
    """
    across, upwards = sweep.grid
    ends = [kind_at(sweep, (min(sweep.grid[across]), end(sweep.grid[upwards]))) for end in (min, max)]
    y = grid_nodes(sweep, upwards, ROWS if ends[0] == ends[1] else FEW)
    first = grid_nodes(sweep, across, FEW)
    columns = {x: _column(sweep, x, y) for x in first}
    names = dict.fromkeys(name for column in columns.values() for name in column)
    if not names:
        return first, y, {}

    def fields(x: Array) -> dict[str, Array]:
        unknown = np.full(len(y), FARTHEST)
        return {name: np.array([columns[at].get(name, unknown) for at in x]) for name in names}

    for _ in range(REFINEMENTS):
        x = np.array(sorted(columns))
        wide = _curved(x, np.array(list(fields(x).values())))
        middles = (x[1:] + x[:-1])[wide] / 2.0
        middles = np.unique(np.round(middles)) if _whole(sweep, across) else middles
        columns |= {at: _column(sweep, at, y) for at in middles if at not in columns}
    x = np.array(sorted(columns))
    return x, y, fields(x)


def _curved(x: Array, fields: Array) -> Mask:
    """Return between which columns (columns - 1,) fields (fields, columns, rows) are not linear."""
    left = ((x[2:] - x[1:-1]) / (x[2:] - x[:-2]))[:, None]
    bent = np.abs(left * fields[:, :-2] + (1.0 - left) * fields[:, 2:] - fields[:, 1:-1])
    return np.convolve(bent.max(axis=(0, 2)) > CURVED, [True, True]) > 0


def _column(sweep: Sweep, x: float, y: Array) -> dict[str, Array]:
    column: dict[str, Array] = {}
    for k, at in enumerate(y):
        there = spec_near(sweep, (x, at))
        known = {} if there is None else catalog.family(there.model).margins(there, sweep.contour.at)
        for name, margin in known.items():
            column.setdefault(name, np.full(len(y), FARTHEST))[k] = np.clip(margin, -FARTHEST, FARTHEST)
    return column


def kind_at(sweep: Sweep, point: Sequence[float]) -> object:
    """Return what a limit depends on at a point beside n/p, where theory knows it."""
    spec = spec_near(sweep, point)
    return None if spec is None else (spec.law, *map(spec.values().get, ("sparsity", "p")))


def spec_near(sweep: Sweep, point: Sequence[float]) -> Any:
    """Return the spec at a point of the plane, with whole numbers rounded; None where there is none."""
    try:
        pairs = zip(sweep.grid, point, strict=True)
        return spec_at(sweep.spec, [(axis, round(v) if _whole(sweep, axis) else float(v)) for axis, v in pairs])
    except InputError:
        return None


def _whole(sweep: Sweep, axis: str) -> bool:
    parameter = declared(type(sweep.spec)).get(axis)
    return parameter is not None and parameter.kind is int


def grid_nodes(sweep: Sweep, axis: str, count: int, rounded: bool = True) -> Array:
    """Return places along an axis, spaced as its values are; `rounded` where it has whole numbers."""
    low, high = min(sweep.grid[axis]), max(sweep.grid[axis])
    log = spacing(dict(sweep.axes)[axis]) == "log" and low > 0
    values = (np.geomspace if log else np.linspace)(low, high, count)
    return np.unique(np.round(values)) if rounded and _whole(sweep, axis) else np.unique(values)


def outlines(field: Array, x: Array, y: Array) -> list[Points]:
    """Return closed loops around where a field (columns, rows) is positive, anticlockwise, by marching squares.

    On an edge the field is interpolated linearly, over the logarithm where nodes are spaced by it.
    """
    # A ring of nodes outside, at the places of the outermost ones, closes the loops along the border of the plane.
    field = np.pad(field, 1, constant_values=-FARTHEST)
    logs = [_is_geometric(nodes) for nodes in (x, y)]
    scales = [np.pad(np.log(n) if log else n, 1, mode="edge") for n, log in zip((x, y), logs, strict=True)]
    after: dict[Edge, Edge] = {}
    squares = sliding_window_view(field > 0, (2, 2))
    for i, j in zip(*np.nonzero(squares.any(axis=(2, 3)) & ~squares.all(axis=(2, 3))), strict=True):
        corners = ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))
        edges = [(corners[k], corners[(k + 1) % 4]) for k in range(4)]
        positive = [bool(field[corner] > 0) for corner in corners]
        # Anticlockwise around the square: from where the walk leaves the field the outline goes to where it enters.
        enters = [k for k in range(4) if positive[(k + 1) % 4] and not positive[k]]
        for k in range(4):
            if positive[k] and not positive[(k + 1) % 4]:
                entered = edges[min(enters, key=lambda e: (e - k) % 4)]  # noqa: B023
                # The next square passes this edge in the other direction.
                after[edges[k]] = entered[::-1]
    loops = []
    while after:
        edge, following = after.popitem()
        loop = [edge]
        while following in after:
            loop.append(following)
            following = after.pop(following)
        loops.append([_crossing(field, scales, logs, edge) for edge in loop])
    return loops


def _crossing(field: Array, scales: list[Array], logs: list[bool], edge: Edge) -> tuple[float, float]:
    a, b = edge
    share = field[a] / (field[a] - field[b])
    u, v = (scale[a[k]] + share * (scale[b[k]] - scale[a[k]]) for k, scale in enumerate(scales))
    return tuple(float(np.exp(w) if log else w) for w, log in zip((u, v), logs, strict=True))  # type: ignore[return-value]


def _is_geometric(nodes: Array) -> bool:
    if nodes[0] <= 0 or len(nodes) < 3:
        return False
    return bool(np.ptp(np.diff(np.log(nodes))) < np.ptp(np.diff(nodes)))


def inside(loops: list[Points], x: Array, y: Array) -> Points:
    """Return the parts of loops that are not along the border of the plane, apart by a point of nan."""

    def on_border(point: tuple[float, float]) -> bool:
        return any(math.isclose(p, end) for p, nodes in zip(point, (x, y), strict=True) for end in nodes[[0, -1]])

    points: Points = []
    for loop in loops:
        for a, b in zip(loop, [*loop[1:], loop[0]], strict=True):
            if on_border(a) and on_border(b):
                points += [(math.nan, math.nan)] * bool(points and not math.isnan(points[-1][0]))
            else:
                points += [b] if points and points[-1] == a else [a, b]
        points += [(math.nan, math.nan)] * bool(points and not math.isnan(points[-1][0]))
    return points

"""Regions of the plane of a sweep in which no method, or no known fast one, reaches the contour's level.

The margins to the limits (`Family.margins`) change smoothly over the plane, but for kinks: they are evaluated on a
grid, and their signs traced.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lrlab import catalog
from lrlab.arrays import Array, Mask
from lrlab.figures.map_layers import Region
from lrlab.model_entry import HARD, IMPOSSIBLE, POSSIBLE
from lrlab.parameters import InputError, declared
from lrlab.solver_entry import nothing_known
from lrlab.sweeps.definition import Sweep, spec_at
from lrlab.sweeps.definition_parts import spacing
from lrlab.sweeps.outlines import FARTHEST, Points, inside, outlines

ROWS, FEW = 25, 11
"""Rows; columns at first, and rows where each of a column has a link or a prior of its own."""
REFINEMENTS, CURVED = 2, 0.04
"""Rounds in which columns are added, and how far, in log n/p, a margin may be from linear between two columns."""
NARROWEST = 0.02
"""Margins apart, in log n/p, below which two limits are one."""


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
    fast, best = (outlines(-margins[name], x, y) for name in (HARD, IMPOSSIBLE))
    several = [_region(IMPOSSIBLE, best, [], margins[IMPOSSIBLE] < 0, x, y)]
    if (margins[IMPOSSIBLE] - margins[HARD]).max() > NARROWEST:
        hard = (margins[HARD] < 0) & (margins[IMPOSSIBLE] >= 0)
        several.append(_region(HARD, fast, [loop[::-1] for loop in best], hard, x, y))
    several.append(_region(POSSIBLE, [], [], margins[HARD] >= 0, x, y))
    others = {name: margin for name, margin in margins.items() if name not in (HARD, IMPOSSIBLE)}
    lines = {name: inside(outlines(-margin, x, y), x, y) for name, margin in others.items()}
    for solver in sweep.solvers:
        entry = catalog.solver(solver, sweep.spec.model)
        if entry.attains:
            apart = f", {entry.title}" if len(sweep.solvers) > 1 else ""
            lines[f"predicted {sweep.contour.at.words}{apart}"] = inside(fast, x, y)
    return Regions(tuple(filter(None, several)), {name: points for name, points in lines.items() if points})


def _region(name: str, loops: list[Points], holes: list[Points], nodes: Mask, x: Array, y: Array) -> Region | None:
    if not loops and not nodes.any():
        return None
    points = [point for loop in [*loops, *holes] for point in [*loop, loop[0], (math.nan, math.nan)]]
    # The name stands where the region is widest; a region between two nodes has none.
    while (fewer := _eroded(nodes)).any():
        nodes = fewer
    label = math.nan, math.nan
    if nodes.any():
        places = np.argwhere(nodes)
        i, j = places[np.argmin(np.square(places - places.mean(axis=0)).sum(axis=1))]
        label = float(x[i]), float(y[j])
    return Region(name, [p[0] for p in points], [p[1] for p in points], label)


def _eroded(mask: Mask) -> Mask:
    padded = np.pad(mask, 1)
    return mask & padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]


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
    return None if spec is None else (getattr(spec, "link_function", None), *map(spec.values().get, ("sparsity", "p")))


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

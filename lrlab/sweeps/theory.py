"""Theory over the axes of a sweep: lines, regions and predicted contours of a map, and the limits along one axis."""

import math
from collections.abc import Sequence
from itertools import pairwise, product, zip_longest
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.ndimage import binary_erosion

from lrlab import catalog
from lrlab.arrays import Array, Mask
from lrlab.model_entry import HARD, IMPOSSIBLE, POSSIBLE
from lrlab.parameters import InputError, declared
from lrlab.runs import theory
from lrlab.solver_entry import nothing_known
from lrlab.sweeps.definition import Sweep, spacing, spec_at

COLUMNS, SCAN, BISECTIONS = 48, 24, 16
"""Columns and rows of the plane in the search for lines, and bisections that locate each line."""
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

Points = list[tuple[float, float]]
"""Points of lines or outlines, whose parts are separated by GAP."""


def lines(sweep: Sweep) -> pd.DataFrame:
    """Return points x, y of the lines that theory draws over two axes, named in `line`, with GAP between parts.

    `Family.lines` explains their meaning. Each column of the plane is scanned, and every change of sides is bisected. A
    line that differs between solvers carries the title of its solver.
    """
    by_name: dict[str, dict[str, Points]] = {}
    for solver in sweep.solvers if len(sweep.grid) == 2 else ():
        for name, points in _solver_lines(sweep, solver).items():
            by_name.setdefault(name, {})[solver] = points
    rows = []
    for name, by_solver in by_name.items():
        # Compared as text, so that nan equals nan. A fact about some solvers must not look like a fact about all.
        same = len({repr(points) for points in by_solver.values()}) == 1
        same &= len(by_solver) == len(sweep.solvers) or not name.startswith("asymptotic")
        for solver, points in list(by_solver.items())[: 1 if same else None]:
            rows += [(name if same else f"{name}, {sweep.titles[solver]}", *point) for point in points]
    return pd.DataFrame(rows, columns=["line", "x", "y"])


def _solver_lines(sweep: Sweep, solver: str) -> dict[str, Points]:
    entry, level = catalog.solver(solver, sweep.spec.model), sweep.contour.at
    options, (across, upwards) = dict(entry.settle(sweep.settings_of(solver)).options), sweep.grid

    def sides(x: float, y: float) -> dict[str, bool]:
        spec = spec_near(sweep, (x, y))
        return {} if spec is None else catalog.family(spec.model).lines(spec, entry, options, level)

    def crossing(name: str, x: float, a: float, b: float) -> float:
        low = sides(x, a).get(name, False)
        for _ in range(BISECTIONS):
            middle = (a + b) / 2
            a, b = (middle, b) if sides(x, middle).get(name, False) == low else (a, middle)
        return (a + b) / 2

    xs, ys = grid_nodes(sweep, across, COLUMNS), grid_nodes(sweep, upwards, SCAN, rounded=False)
    columns = [[sides(float(x), float(y)) for y in ys] for x in xs]
    drawn: dict[str, Points] = {}
    for name in dict.fromkeys(name for column in columns for side in column for name in side):
        # If theory does not know one side, there is nothing to draw.
        crossed = [
            [
                crossing(name, float(x), *ends)
                for ends, two in zip(pairwise(ys.tolist()), pairwise(column), strict=True)
                if {side.get(name) for side in two} == {True, False}
            ]
            for x, column in zip(xs, columns, strict=True)
        ]
        branches = zip_longest(*crossed, fillvalue=math.nan)
        drawn[name] = [point for branch in branches for point in [*zip(xs.tolist(), branch, strict=True), GAP]]
    return drawn


class Limit(NamedTuple):
    """A limit at a position x of an axis: "limit_best" or "limit_best_fast", and the values of scores by name."""

    limit: str
    x: float
    scores: dict[str, float]


def limits(sweep: Sweep) -> list[Limit]:
    """Return the information-theoretic limits along a single axis, and polynomial-time limits if they differ."""
    family = catalog.family(sweep.spec.model)
    if len(sweep.grid) != 1 or family.asymptotics is nothing_known:
        return []
    [(axis, values)] = sweep.grid.items()
    same_kind = _kind_at(sweep, (min(values),)) == _kind_at(sweep, (max(values),))
    best, fast = list[Limit](), list[Limit]()
    for x in sorted({*values, *(map(float, grid_nodes(sweep, axis, NODES)) if same_kind else ())}):
        spec = spec_near(sweep, (x,))
        known = {} if spec is None else family.asymptotics(spec)
        scores = {name.removeprefix(BEST): value for name, value in known.items() if not name.startswith(FAST)}
        # If polynomial-time methods reach the best, they have no separate numbers.
        own = {name.removeprefix(FAST): value for name, value in known.items() if name.startswith(FAST)}
        best += [Limit("limit_best", x, scores)] * bool(scores)
        fast += [Limit("limit_best_fast", x, scores | own)] * bool(scores)
    apart = (b.scores[name] - f.scores[name] for b, f in zip(best, fast, strict=True) for name in b.scores)
    return [*best, *fast] if max(apart, default=0.0) > APART else best


class Region(NamedTuple):
    """A region: closed outlines x, y, separated by nan, holes winding the other way; the position of its name."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    label: tuple[float, float]


class Regions(NamedTuple):
    """The regions of a plane, and further lines by name. The possible region has no outline: it is the rest."""

    regions: tuple[Region, ...]
    lines: dict[str, Points]


def regions(sweep: Sweep) -> Regions:
    """Return the regions of a plane: no method, or no known polynomial-time method, reaches the contour's level there.

    The margins to the limits (`Family.margins`) are evaluated on a grid, and contourpy traces the outlines of their
    signs. None if theory says nothing about the contour.
    """
    if len(sweep.grid) != 2 or catalog.family(sweep.spec.model).margins is nothing_known:
        return Regions((), {})
    x, y, margins = _margins(sweep)
    if not margins:
        return Regions((), {})
    several: list[Region | None] = []
    # For compressed sensing only the limit of polynomial-time methods is known.
    if IMPOSSIBLE in margins:
        best = margins[IMPOSSIBLE]
        several.append(_region(IMPOSSIBLE, outlines(-best, x, y), best < 0, x, y))
        if (best - margins[HARD]).max() > NARROWEST:
            # Reversed, the outlines of the impossible region are holes.
            loops = outlines(-margins[HARD], x, y) + outlines(-best, x, y)[::-1]
            several.append(_region(HARD, loops, (margins[HARD] < 0) & (best >= 0), x, y))
    several.append(_region(POSSIBLE, [], margins[POSSIBLE] >= 0, x, y))
    own = {name: zeros(margin, x, y) for name, margin in margins.items() if name not in (POSSIBLE, HARD, IMPOSSIBLE)}
    for solver in sweep.solvers:
        entry = catalog.solver(solver, sweep.spec.model)
        if entry.attains:
            apart = f", {entry.title}" if len(sweep.solvers) > 1 else ""
            own[f"asymptotic {sweep.contour.at.words}{apart}"] = zeros(margins[POSSIBLE], x, y)
    return Regions(tuple(filter(None, several)), {name: points for name, points in own.items() if points})


def _region(name: str, loops: Points, nodes: Mask, x: Array, y: Array) -> Region | None:
    if not loops and not nodes.any():
        return None
    # The name stands at the widest part of the region; a region between two nodes has none.
    while (fewer := binary_erosion(nodes)).any():
        nodes = fewer
    label = GAP
    if nodes.any():
        places = np.argwhere(nodes)
        i, j = places[np.argmin(np.square(places - places.mean(axis=0)).sum(axis=1))]
        label = float(x[i]), float(y[j])
    return Region(name, [p[0] for p in loops], [p[1] for p in loops], label)


def _margins(sweep: Sweep) -> tuple[Array, Array, dict[str, Array]]:
    """Return the nodes of a grid, and the margins (columns, rows) at them; none if theory does not know the limits."""
    names, fields = [*sweep.grid], dict[str, Array]()
    corners = [[*ends] for ends in product(*((min(values), max(values)) for values in sweep.grid.values()))]
    kinds = [_kind_at(sweep, corner) for corner in corners]
    x = grid_nodes(sweep, names[0], NODES if kinds[0] == kinds[2] else FEW_COLUMNS)
    y = grid_nodes(sweep, names[1], ROWS if kinds[0] == kinds[1] else FEW_ROWS)
    for i, j in np.ndindex(len(x), len(y)):
        spec = spec_near(sweep, (float(x[i]), float(y[j])))
        known = {} if spec is None else catalog.family(spec.model).margins(spec, sweep.contour.at)
        for name, margin in known.items():
            fields.setdefault(name, np.full((len(x), len(y)), FARTHEST))[i, j] = np.clip(margin, -FARTHEST, FARTHEST)
    return x, y, fields


def contours(sweep: Sweep, *, half: bool = False) -> pd.DataFrame:
    """Return points x, y at which each solver's finite-size prediction crosses the contour's level, named in `line`.

    half: of predicted medians instead of means, for the contour of a success rate of 50%. Nothing is computed here:
    lines end at grid points whose prediction is not cached (`theory.missing_draws`).
    """
    rule, rows = sweep.contour, list[tuple[str, float, float]]()
    score = f"predicted_{rule.metric}{'_median' if half else ''}"
    for solver in sweep.solvers if len(sweep.grid) == 2 else ():
        x, y = (np.array(sorted(map(float, values))) for values in sweep.grid.values())
        field = np.full((len(x), len(y)), math.nan)
        for cell in sweep.cells:
            if cell.solver == solver and cell.job is not None:
                i, j = (int(np.argmin(np.abs(v - at))) for v, at in zip((x, y), cell.axes.values(), strict=True))
                field[i, j] = (theory.cached(cell.job) or {}).get(score, math.nan)
        apart = f", {sweep.titles[solver]}" if len(sweep.solvers) > 1 else ""
        name = f"{'half of trials predicted' if half else 'predicted'}: {rule.at.words}{apart}"
        rows += [(name, *point) for point in zeros(field - rule.level, x, y)]
    return pd.DataFrame(rows, columns=["line", "x", "y"])


def zeros(field: Array, x: Array, y: Array) -> Points:
    """Return the lines along which a field (columns, rows) is zero; nan is unknown."""
    if min(field.shape) < 2:
        return []
    generator, back = _traced(field, x, y)
    return [point for line in generator.lines(0.0) for point in [*back(line), GAP]]


def outlines(field: Array, x: Array, y: Array) -> Points:
    """Return closed loops around the positive part of a field (columns, rows); holes run clockwise."""
    if min(field.shape) < 2:
        return []
    generator, back = _traced(field, x, y)
    points = list[tuple[float, float]]()
    for polygon, offsets in zip(*generator.filled(0.0, 2.0 * FARTHEST), strict=True):
        for k in range(len(offsets) - 1):
            points += [*back(polygon[offsets[k] : offsets[k + 1]]), GAP]
    return points


def _traced(field: Array, x: Array, y: Array) -> tuple[Any, Any]:
    """Return contourpy's generator over the nodes, on logarithms of evenly spaced quotients, and the way back."""
    from contourpy import FillType, LineType, contour_generator

    logs = [_is_geometric(nodes) for nodes in (x, y)]
    scales = [np.log(nodes) if log else nodes for nodes, log in zip((x, y), logs, strict=True)]

    def back(line: Array) -> Points:
        columns = [np.exp(line[:, k]) if log else line[:, k] for k, log in enumerate(logs)]
        return list(zip(*(column.tolist() for column in columns), strict=True))

    known = np.ma.masked_invalid(field.T)
    kinds: dict[str, Any] = {"line_type": LineType.Separate, "fill_type": FillType.OuterOffset}
    return contour_generator(x=scales[0], y=scales[1], z=known, **kinds), back


def _is_geometric(nodes: Array) -> bool:
    if nodes[0] <= 0 or len(nodes) < 3:
        return False
    return bool(np.ptp(np.diff(np.log(nodes))) < np.ptp(np.diff(nodes)))


def spec_near(sweep: Sweep, point: Sequence[float]) -> Any:
    """Return the spec at a point of the plane, with whole numbers rounded; None if there is none."""
    try:
        pairs = zip(sweep.grid, point, strict=True)
        return spec_at(sweep.spec, [(axis, round(v) if _whole(sweep, axis) else float(v)) for axis, v in pairs])
    except InputError:
        return None


def _kind_at(sweep: Sweep, point: Sequence[float]) -> object:
    """Return the quantities besides n/p that a limit depends on at a point, if theory knows them."""
    spec = spec_near(sweep, point)
    return None if spec is None else (getattr(spec, "link_function", None), *map(spec.values().get, ("sparsity", "p")))


def _whole(sweep: Sweep, axis: str) -> bool:
    parameter = declared(type(sweep.spec)).get(axis)
    return parameter is not None and parameter.kind is int


def grid_nodes(sweep: Sweep, axis: str, count: int, rounded: bool = True) -> Array:
    """Return positions along an axis, spaced as its values are; `rounded` for an axis of whole numbers."""
    low, high = min(sweep.grid[axis]), max(sweep.grid[axis])
    log = spacing(dict(sweep.axes)[axis]) == "log" and low > 0
    values = (np.geomspace if log else np.linspace)(low, high, count)
    return np.unique(np.round(values)) if rounded and _whole(sweep, axis) else np.unique(values)

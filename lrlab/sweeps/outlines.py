"""Outlines of where a field over a grid is positive, by marching squares."""

import math

import numpy as np

from lrlab.arrays import Array, Mask

FARTHEST = 60.0
"""Size of a field beyond its grid, and most of it there."""

Points = list[tuple[float, float]]
Edge = tuple[tuple[int, int], tuple[int, int]]


def outlines(field: Array, x: Array, y: Array) -> list[Points]:
    """Return closed loops around where a field (columns, rows) is positive, anticlockwise, by marching squares.

    On an edge the field is interpolated linearly, over the logarithm where nodes are spaced by it.
    """
    # A ring of nodes outside, at the places of the outermost ones, closes the loops along the border of the plane.
    field = np.pad(field, 1, constant_values=-FARTHEST)
    logs = [_is_geometric(nodes) for nodes in (x, y)]
    scales = [np.pad(np.log(n) if log else n, 1, mode="edge") for n, log in zip((x, y), logs, strict=True)]
    after: dict[Edge, Edge] = {}
    for i, j in zip(*np.nonzero(_mixed(field > 0)), strict=True):
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


def _mixed(positive: Mask) -> Mask:
    parts = [positive[i : i - 1 or None, j : j - 1 or None] for i in (0, 1) for j in (0, 1)]
    mixed: Mask = np.any(parts, axis=0) & ~np.all(parts, axis=0)
    return mixed


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

"""Puts a dot at the end of each curve, with the curve's name beside it where nothing else is drawn."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from lrlab.arrays import Array, Indices
from lrlab.figures.build import Figure, Node, merged, trace

COLUMN, ALONE, AROUND = 280.0, 800.0, 190.0
"""Width of the area of a figure in a column, of one alone, and the most above and below it, in pixels."""
CHARACTER, LINE, DOT = 6.6, 16.0, 7.0
"""Width of a letter, height of a name, and size of a dot, in pixels."""
AWAY = DOT / 1.6 + 1.0
"""Of a name from the middle of its dot, as plotly.js draws it."""
BESIDE = ("middle right", "top right", "bottom right", "top left", "bottom left", "top center", "bottom center")
PLACES = [*((place, 0) for place in BESIDE), *((place, 1) for place in BESIDE[1:5]), ("top left", 2)]
"""Of a name at its dot, and lines between them, the best first; where none is free the legend alone has it."""


class _Box(NamedTuple):
    """What a name takes, in pixels from the lower left corner."""

    left: float
    right: float
    low: float
    high: float

    def is_clear_of(self, line: "_Line") -> bool:
        """Return whether a line stays outside."""
        if self.is_apart_from(line.box):
            return True
        x, y = line.points.T
        at_sides = np.interp([max(self.left, x[0]), min(self.right, x[-1])], x, y)
        inside = np.append(y[(x > self.left) & (x < self.right)], at_sides)
        return bool(inside.max() < self.low or inside.min() > self.high)

    def is_apart_from(self, other: "_Box") -> bool:
        beside = self.right <= other.left or other.right <= self.left
        return beside or self.high <= other.low or other.high <= self.low


class _Line(NamedTuple):
    """A line, points (n, 2) along increasing x, and what it takes."""

    points: Array
    box: _Box


def _line(points: Array) -> _Line:
    x, y = points.T
    return _Line(points, _Box(float(x[0]), float(x[-1]), float(y.min()), float(y.max())))


class _Area:
    """From values to pixels in the area of a figure; an axis without a range ends where its data do."""

    def __init__(self, figure: Figure, width: float) -> None:
        self.sizes = np.array([width, float(figure.layout.height or 400) - AROUND])
        drawn = [one for one in figure.data if one.get("x") is not None and one.get("y") is not None]
        points = np.stack([_scaled(figure, side, drawn) for side in ("x", "y")], axis=1) * self.sizes
        points[~np.isfinite(points).all(axis=1)] = np.nan
        ends = np.cumsum([0, *(len(one["x"]) for one in drawn)])
        self._points = {id(one): points[ends[k] : ends[k + 1]] for k, one in enumerate(drawn)}
        self._drawn = drawn

    def points(self, one: Node) -> Array:
        """Return the points of a trace, (n, 2), nan for one that is not drawn, as a zero on a logarithmic axis."""
        return self._points[id(one)]

    def lines(self) -> Iterator[_Line]:
        """Return all that is drawn, along increasing x; on a band a name can be read."""
        for one in self._drawn:
            if one.type != "scatter" or one.fill:
                continue
            points = self.points(one)
            points = points[np.isfinite(points[:, 0])]
            if len(points) and "lines" in (one.mode or "lines"):
                yield _line(points[np.argsort(points[:, 0], kind="stable")])
            else:
                yield from map(_line, points[:, np.newaxis])

    def place(self, name: str, end: Array, lines: Sequence[_Line], taken: list[_Box]) -> tuple[str, str]:
        """Return the first place of a name at a dot that is free, which is taken by that, and the text; "" for none."""
        for place, between in PLACES:
            box = _box(place, between, name, end)
            within = min(box.left, box.low) >= 0 and box.right <= self.sizes[0] and box.high <= self.sizes[1]
            if within and all(map(box.is_clear_of, lines)) and all(map(box.is_apart_from, taken)):
                taken.append(box)
                return place, name + "<br> " * between if "top" in place else "<br>" * between + name
        return BESIDE[0], ""


def _scaled(figure: Figure, side: str, drawn: Sequence[Node]) -> Array:
    """Return a coordinate of all traces as shares of its axis, which ends where they do unless it has a range."""
    axis = figure.layout[f"{side}axis"]
    values = np.concatenate([np.empty(0), *(np.asarray(one[side], dtype=float) for one in drawn)])
    if axis.type == "log":
        with np.errstate(all="ignore"):
            values = np.log10(values)
    if known := axis.range:
        low, high = known[0], known[1]
    else:
        finite = values[np.isfinite(values)]
        low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
    return (values - low) / ((high - low) or 1.0)


def _box(place: str, between: int, name: str, end: Array) -> _Box:
    (upright, across), away = place.split(), AWAY - 2.0 + between * LINE
    wide = CHARACTER * len(name)
    left = end[0] + {"right": AWAY, "left": -AWAY - wide, "center": -wide / 2.0}[across]
    low = end[1] + {"top": away, "middle": -LINE / 2.0, "bottom": -away - LINE}[upright]
    return _Box(left, left + wide, low, low + LINE)


def name_ends(figure: Figure, names: Sequence[str], width: float = COLUMN) -> Figure:
    """Add an end to the first curve of each of these names, in place, and return the figure, whose axes are final.

    width: of its area, at least; where a page is narrow, ends placed for more have no names (assets/files/plot.js).

    The legend stays, for it hides a curve with its end. There is a trace for each end from the beginning, so that one
    that moves is a change of a few numbers.
    """
    area, taken = _Area(figure, width), list[_Box]()
    curves = {one.name: one for one in reversed(figure.data) if one.name in names}
    lines, ends = list(area.lines()), list[Node]()
    for curve in (curves[name] for name in names if name in curves):
        points = area.points(curve)
        last = np.flatnonzero(np.isfinite(points[:, 0]))[-1:]
        place, text = area.place(curve.name, points[last[0]], lines, taken) if len(last) else (BESIDE[0], "")
        ends.append(merged(_end(curve, last, place, text), {"meta": "wide end"} if width > COLUMN else {}))
    for one in ends:
        figure.add_trace(one)
    return figure


def _end(curve: Node, last: Indices, place: str, text: str) -> Node:
    colour = curve.line.color
    look: dict[str, Any] = {"legendgroup": curve.legendgroup, "showlegend": False, "hoverinfo": "skip", "meta": "end"}
    return trace(
        "scatter",
        x=np.asarray(curve.x)[last].tolist(),
        y=np.asarray(curve.y)[last].tolist(),
        mode="markers+text",
        text=[text],
        textposition=place,
        textfont={"color": colour},
        marker={"color": colour, "size": DOT, "symbol": curve.marker.symbol},
        **look,
    )

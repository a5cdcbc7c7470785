"""The layers of a map over two axes: cells (measured, inferred or neither), contours, midpoints, lines of theory."""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lrlab.arrays import Array, Indices, Mask
from lrlab.figures import theme
from lrlab.figures.build import Figure, Node, merged, trace
from lrlab.sweeps.theory import Region

Place = Mapping[str, int]
"""Row and column of a map in its figure, from 1."""
FIRST: Place = MappingProxyType({"row": 1, "col": 1})

REGIONS = {
    "impossible": {"shape": "/", "size": 9, "solidity": 0.22},
    "hard": {"shape": ".", "size": 7, "solidity": 0.25},
}
"""Hatches of the regions of theory: colors of cells stay readable below them."""
LARGE = "in large problems"
"""Scope of the regions: at the sizes of the cells some trials do better."""
LABEL: dict[str, Any] = {
    "bgcolor": "rgba(255, 255, 255, 0.85)",
    "font": {"size": 12, "color": "#31333f"},
    "borderpad": 2,
}
LINE_DASHES = (*theme.DASHES[1:], "dot", "dash")
INFERRED = "inferred from other grid points"
PALE = 0.55
"""Opacity of inferred cells."""
HATCH = {
    "shape": "\\",
    "size": 6,
    "solidity": 0.2,
    "fgcolor": "rgba(255, 255, 255, 0.9)",
    "bgcolor": "rgba(0, 0, 0, 0)",
}
"""Of inferred cells: it leans to the other side than the hatch of theory."""


class Scale(NamedTuple):
    """An axis of the map: its title, the values of its cells in rising order, "linear" or "log", its name on hover."""

    title: str
    values: Sequence[float]
    spacing: str = "linear"
    name: str = ""

    @property
    def edges(self) -> Array:
        """Borders of grid points: halfway between values, on the axis' own scale, (len(values) + 1,)."""
        v = np.log(self.values) if self.spacing == "log" else np.asarray(self.values, dtype=float)
        if len(v) == 1:
            inner = np.array([v[0] - 0.5, v[0] + 0.5])
        else:
            middle = (v[1:] + v[:-1]) / 2.0
            inner = np.concatenate([[2 * v[0] - middle[0]], middle, [2 * v[-1] - middle[-1]]])
        return np.exp(inner) if self.spacing == "log" else inner


class Layers:
    """Adds layers of maps with the same two axes to a figure."""

    def __init__(self, figure: Figure, x: Scale, y: Scale) -> None:
        self._figure, self._x, self._y = figure, x, y
        self._column, self._row = ({value: k for k, value in enumerate(axis.values)} for axis in (x, y))
        self._named: set[str] = set()

    def cells(self, solver: str, cells: pd.DataFrame, texts: Sequence[str], place: Place) -> None:
        """Color the cells of a solver; inferred ones are paler and hatched, and ones without a value have a cross.

        cells: one row each: x, y, value, trials, inferred. texts: the text of each on hover.
        """
        shape = (len(self._y.values), len(self._x.values))
        info, text = np.full((*shape, 3), solver, dtype=object), np.full(shape, "not measured", dtype=object)
        info[..., 0], info[..., 1] = np.meshgrid(self._x.values, self._y.values)
        at = self._places(cells)
        text[at] = texts
        z = np.full((2, *shape), np.nan)
        z[cells["inferred"].to_numpy(dtype=np.intp), *at] = cells["value"]
        look: dict[str, Any] = {"x": self._x.edges, "y": self._y.edges, "coloraxis": "coloraxis", "xgap": 1, "ygap": 1}
        names = (f"{axis.name or axis.title} = %{{customdata[{k}]:,.6~g}}" for k, axis in enumerate((self._x, self._y)))
        hover = f"{', '.join(names)}<br>%{{text}}<extra></extra>"
        # It answers the pointer on all cells.
        measured = trace("heatmap", z=z[0], name="measured", customdata=info, text=text, hovertemplate=hover, **look)
        self._add(measured, place)
        self._add(trace("heatmap", z=z[1], name="inferred", opacity=PALE, hoverinfo="skip", **look), place)
        known = np.isfinite(z)
        self._hatch(known[1], place)
        self._marks(~known.any(axis=0), place, "not measured", symbol="x-thin", size=5, color=theme.INK)

    def _hatch(self, inferred: Mask, place: Place) -> None:
        """Hatch inferred cells; the outlines of all others are nan, so that a message has only the changes."""
        rows, columns = np.indices(inferred.shape).reshape(2, -1, 1)
        x, y = self._x.edges[columns + [0, 1, 1, 0, 0, 0]], self._y.edges[rows + [0, 0, 1, 1, 0, 0]]
        y[~inferred.ravel()], y[:, -1] = np.nan, np.nan
        outlines = trace(
            "scatter",
            x=x.ravel(),
            y=y.ravel(),
            mode="lines",
            line={"width": 0},
            fill="toself",
            fillcolor="rgba(0, 0, 0, 0)",
            fillpattern=HATCH,
            name=INFERRED,
            hoverinfo="skip",
            showlegend=bool(inferred.any()),
        )
        self._add(outlines, place)

    def _places(self, cells: pd.DataFrame) -> tuple[Indices, Indices]:
        """Return the rows and the columns of cells."""
        rows = [self._row[y] for y in cells["y"].tolist()]
        return np.array(rows, np.intp), np.array([self._column[x] for x in cells["x"].tolist()], np.intp)

    def contour(
        self, cells: pd.DataFrame, level: float, name: str, color: str, place: Place, dash: str = "solid"
    ) -> None:
        """Draw the contour of a level."""
        z = np.full((len(self._y.values), len(self._x.values)), np.nan)
        z[self._places(cells)] = cells["value"]
        look = {
            "x": list(self._x.values),
            "y": list(self._y.values),
            "z": z,
            "hoverinfo": "skip",
            "contours": {"start": level, "end": level, "size": 1, "coloring": "none"},
            "showscale": False,
        }
        if np.isfinite(z).sum() > 3 and np.nanmin(z) < level < np.nanmax(z):
            white, line = ({"color": c, "width": width, "smoothing": 0} for c, width in (("#ffffff", 6), (color, 3)))
            self._add(trace("contour", **look, line=white, showlegend=False), place)
            self._add(trace("contour", **look, line={**line, "dash": dash}, name=name), place)

    def midpoints(self, points: pd.DataFrame, solver: str, color: str, place: Place) -> None:
        """Draw the points of 50% success: x, half, and low..high as a bar, cut at the ends of the axis."""
        low, high = (points[end].clip(*self._y.edges[[0, -1]]) for end in ("low", "high"))
        bars = {"array": high - points["half"], "arrayminus": points["half"] - low}
        for shade, width, size in (("#ffffff", 4, 11), (color, 1.8, 7)):
            self._add(
                trace(
                    "scatter",
                    x=points["x"],
                    y=points["half"],
                    mode="markers",
                    customdata=points[["low", "high"]],
                    marker={"symbol": "diamond", "size": size, "color": shade},
                    error_y={"type": "data", "symmetric": False, "thickness": width, "width": 3, **bars},
                    name=f"fitted half, {solver}",
                    showlegend=shade == color,
                    hovertemplate=f"50% success contour of {solver} at %{{y:.4g}}<br>"
                    "95% interval %{customdata[0]:.4g} to %{customdata[1]:.4g}<extra></extra>",
                ),
                place,
            )

    def theory(self, lines: pd.DataFrame, place: Place) -> None:
        """Draw named lines: points line, x, y, each line's in order, apart by a row of nan."""
        for k, (name, points) in enumerate(lines.groupby("line", sort=False)):
            look = {"x": points["x"], "y": points["y"], "mode": "lines", "name": str(name)}
            dash = LINE_DASHES[k % len(LINE_DASHES)]
            white = trace("scatter", **look, line={"color": "#ffffff", "width": 5}, showlegend=False, hoverinfo="skip")
            self._add(white, place)
            ink = {"color": theme.INK, "width": 2.5, "dash": dash}
            hover = f"{name} at %{{x:.4g}}, %{{y:.4g}}<extra></extra>"
            self._add(trace("scatter", **look, line=ink, hovertemplate=hover), place)

    def regions(self, regions: Sequence[Region], place: Place) -> None:
        """Hatch regions up to the edges of the map, each with its name at its widest point."""
        for region in regions:
            axes = (self._x, self._y)
            if region.name in REGIONS:
                x, y = (self._to_edges(axis, values) for axis, values in zip(axes, region[1:3], strict=True))
                hatch = {**REGIONS[region.name], "fgcolor": theme.INK, "bgcolor": "rgba(0, 0, 0, 0)"}
                look = {"fill": "toself", "fillpattern": hatch, "line": {"color": theme.INK, "width": 1.2}}
                self._add(
                    trace("scatter", x=x, y=y, name=f"{region.name} {LARGE}", mode="lines", hoverinfo="skip", **look),
                    place,
                )
            if all(map(math.isfinite, region.label)):
                logs = (axis.spacing == "log" for axis in axes)
                at = [math.log10(v) if log else v for v, log in zip(region.label, logs, strict=True)]
                self._figure.add_annotation(
                    **LABEL, **place, x=at[0], y=at[1], text=f"{region.name}<br>{LARGE}", showarrow=False
                )

    @staticmethod
    def _to_edges(axis: Scale, values: Sequence[float]) -> list[float]:
        # Theory is evaluated between the first and the last value; half a cell further nothing is measured.
        low, high = min(axis.values), max(axis.values)
        ends = [(low, float(axis.edges[0])), (high, float(axis.edges[-1]))]
        return [next((edge for end, edge in ends if math.isclose(value, end)), value) for value in values]

    def axes(self, place: Place, below: bool, left: bool) -> None:
        """Give the axes of a map their ranges, and their titles unless another map is `below` or to the `left`."""
        for axis, update, titled in (
            (self._x, self._figure.update_xaxes, not below),
            (self._y, self._figure.update_yaxes, not left),
        ):
            ends = np.log10(axis.edges[[0, -1]]) if axis.spacing == "log" else axis.edges[[0, -1]]
            update(**place, type=axis.spacing, range=list(ends), showgrid=False, title_text=axis.title * titled)
        if place != FIRST:
            # Zoomed together.
            self._figure.update_xaxes(**place, matches="x")
            self._figure.update_yaxes(**place, matches="y")

    def _marks(self, marked: Mask, place: Place, name: str, **look: Any) -> None:
        # All grid points, with nan for those that have no mark: a running sweep then sends only changes.
        x, y = np.meshgrid(self._x.values, self._y.values)
        marks = trace(
            "scatter",
            x=x.ravel(),
            y=np.where(marked, y, np.nan).ravel(),
            mode="markers",
            name=name,
            hoverinfo="skip",
            showlegend=bool(marked.any()),
            marker={**look, "line": {"width": 1, "color": theme.INK}},
        )
        self._add(marks, place)

    def _add(self, one: Node, place: Place) -> None:
        # One entry of the legend for all maps of a figure: it shows and hides the layer on all of them.
        name = one.name or ""
        in_legend = one.showlegend is not False and one.type != "heatmap" and name not in self._named
        if in_legend:
            self._named.add(name)
        self._figure.add_trace(merged(one, {"legendgroup": name, "showlegend": in_legend}), **place)

"""Maps of phase transitions: contours of several solvers on one map, or one map per solver."""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lrlab.arrays import Array, Mask
from lrlab.figures import theme
from lrlab.figures.build import Figure, grid, trace
from lrlab.figures.recovery import Recovery
from lrlab.sweeps.theory import Region

Maps = Mapping[str, pd.DataFrame]

REGIONS = {
    "impossible": {"shape": "/", "size": 9, "solidity": 0.22},
    "hard": {"shape": ".", "size": 7, "solidity": 0.25},
}
"""Hatches of the regions of theory: colors of cells stay readable below them."""
LARGE = "in large problems"
"""Scope of the regions: at the sizes of the cells some trials do better."""
LABEL = {"bgcolor": "rgba(255, 255, 255, 0.85)", "font": {"size": 12, "color": "#31333f"}, "borderpad": 2}
LINE_DASHES = (*theme.DASHES[1:], "dot", "dash")
INFERRED = "inferred from other grid points"
PALE = 0.55
"""Opacity of inferred cells."""
WHITE, CLEAR = "#ffffff", "rgba(0, 0, 0, 0)"
HATCH = {"shape": "\\", "size": 6, "solidity": 0.2, "fgcolor": "rgba(255, 255, 255, 0.9)", "bgcolor": CLEAR}
"""Hatch of inferred cells: it leans to the other side than the hatch of theory."""


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
        middle = (v[1:] + v[:-1]) / 2.0 if len(v) > 1 else v + 0.5
        inner = np.concatenate([[2 * v[0] - middle[0]], middle, [2 * v[-1] - middle[-1]] if len(v) > 1 else []])
        return np.exp(inner) if self.spacing == "log" else inner


class Score(NamedTuple):
    """The score of a map: name, ends of the colors (None: the data's), level and name of the contour, colors."""

    name: str
    low: float | None = 0.0
    high: float | None = 1.0
    level: float | None = 0.5
    contour: str = "half succeed"
    colors: Any = theme.SEQUENTIAL


def transition(
    maps: Maps,
    x: Scale,
    y: Scale,
    score: Score,
    *,
    columns: int = 0,
    lines: pd.DataFrame | None = None,
    regions: Sequence[Region] = (),
    looks: Mapping[str, Recovery] = MappingProxyType({}),
) -> Figure:
    """Return the map of the first solver in colors with the contours of all, or `columns` maps per row, one per solver.

    maps: by solver, one row per point: x, y, value (nan if unknown), trials, inferred (predicted from other points);
    and for the text on hover successes, low and high (nan without a success rule) and spread. lines: named points line,
    x, y of theory, each line's points in order, apart by a row of nan; with `columns` a line named "..., solver"
    appears only on that solver's map. regions: of theory. looks: the solvers' styles, if fixed. A point's customdata
    begins with x, y and the solver.
    """
    apart, columns = columns > 0, min(columns, len(maps)) or 1
    rows = math.ceil(len(maps) / columns) if apart else 1
    figure = grid(rows, columns if apart else 1, list(maps) if apart else (), 0.06, 0.22 / rows)
    colors = dict.fromkeys(maps, theme.PALETTE[1]) if apart else theme.colors(list(maps))
    colors |= {solver: look.color for solver, look in looks.items()}
    for k, (solver, cells) in enumerate(list(maps.items())[: None if apart else 1]):
        layers = Layers(figure, x, y, k // columns + 1, k % columns + 1)
        shown = [solver] if apart else list(maps)
        texts = [_texts(maps[one], score.name, "" if apart else f"{one}: ") for one in shown]
        layers.cells(solver, cells, ["<br>".join(each) for each in zip(*texts, strict=True)])
        layers.regions(regions)
        for one in shown if score.level is not None else ():
            name = score.contour if apart else f"{score.contour}, {one}"
            dash = looks[one].dash if one in looks and not apart else "solid"
            layers.contour(maps[one], score.level or 0.0, name, colors[one], dash)
        if lines is not None:
            others = [name for name in lines["line"] if apart and ", " in name and not name.endswith(f", {solver}")]
            layers.theory(lines[~lines["line"].isin(others)])
        layers.axes(below=apart and k + columns < len(maps))
    _one_entry_each(figure)
    bar = {"title": {"text": score.name, "side": "right", "font": {"size": 13}}, "thickness": 12, "outlinewidth": 0}
    look = {"colorscale": score.colors, "cmin": score.low, "cmax": score.high, "colorbar": bar}
    height = 140 + 310 * rows if apart else 540
    return theme.style(figure.update_layout(coloraxis=look), height=height, revision=f"{x.title} {y.title}")


def _one_entry_each(figure: Figure) -> None:
    """Leave one entry in the legend for all traces of a name: it shows and hides them on all maps."""
    named = set[str]()
    for one in figure.data:
        name = one.name or ""
        shown = one.showlegend is not False and one.type != "heatmap" and name not in named
        one |= {"legendgroup": name, "showlegend": shown}
        named |= {name} if shown else set()


def _texts(cells: pd.DataFrame, score: str, of: str) -> list[str]:
    """Return the text of each cell: its successes with their interval, or its mean with its spread."""
    columns = (cells[name].tolist() for name in ("trials", "value", "successes", "low", "high", "spread"))
    return [of + _text(score, *cell) for cell in zip(*columns, strict=True)]


def _text(score: str, trials: int, value: float, successes: float, low: float, high: float, spread: float) -> str:
    if not trials:
        return f"{score} {value:.3g}, {INFERRED}" if math.isfinite(value) else "not measured"
    if math.isfinite(successes):
        return f"{successes:.0f} of {trials} succeed, 95% interval {low:.2f} to {high:.2f}"
    return f"{score} {value:.4g}{f' ± {spread:.2g}' if math.isfinite(spread) else ''}, {trials} trials"


class Layers(NamedTuple):
    """Adds layers to the map in a row and a column of a figure, from 1, over two axes."""

    figure: Figure
    x: Scale
    y: Scale
    row: int
    col: int

    def add(self, kind: str, **values: Any) -> None:
        """Add a trace."""
        self.figure.add_trace(trace(kind, **values), self.row, self.col)

    def table(self, cells: pd.DataFrame, column: str) -> Any:
        """Return the values of cells in the rows and columns of the map."""
        wide = cells.pivot(index="y", columns="x", values=column)
        return wide.reindex(index=list(self.y.values), columns=list(self.x.values)).to_numpy()

    def cells(self, solver: str, cells: pd.DataFrame, texts: Sequence[str]) -> None:
        """Color the cells of a solver; inferred ones are paler and hatched, ones without a value have a cross.

        cells: one row each: x, y, value, trials, inferred. texts: the text of each on hover.
        """
        value = self.table(cells, "value").astype(float)
        inferred = self.table(cells, "inferred") == True  # noqa: E712  (None if there is no cell)
        text = pd.DataFrame(self.table(cells.assign(text=texts), "text")).fillna("not measured").to_numpy()
        x, y = np.meshgrid(self.x.values, self.y.values)
        info = np.stack([x.astype(object), y, np.full(x.shape, solver)], axis=-1)
        look: dict[str, Any] = {"x": self.x.edges, "y": self.y.edges, "coloraxis": "coloraxis"}
        names = (f"{axis.name or axis.title} = %{{customdata[{k}]:,.6~g}}" for k, axis in enumerate((self.x, self.y)))
        hover = f"{', '.join(names)}<br>%{{text}}<extra></extra>"
        # It answers the pointer on all cells.
        known, look = {"customdata": info, "text": text, "hovertemplate": hover}, look | {"hoverongaps": True}
        self.add("heatmap", name="measured", z=np.where(inferred, np.nan, value), xgap=1, ygap=1, **known, **look)
        pale = {"xgap": 1, "ygap": 1, "opacity": PALE, "hoverinfo": "skip"}
        self.add("heatmap", name="inferred", z=np.where(inferred, value, np.nan), **pale, **look)
        self._hatch(inferred)
        missing = np.isnan(value)
        look = {"x": x[missing], "y": y[missing], "showlegend": bool(missing.any()), "hoverinfo": "skip"}
        cross = {"symbol": "x-thin", "size": 5, "color": theme.INK, "line": {"width": 1, "color": theme.INK}}
        self.add("scatter", name="not measured", mode="markers", marker=cross, **look)

    def _hatch(self, inferred: Mask) -> None:
        """Hatch inferred cells; the outlines of all others are nan, so that a message has only the changes."""
        rows, columns = np.indices(inferred.shape).reshape(2, -1, 1)
        x, y = self.x.edges[columns + [0, 1, 1, 0, 0, 0]], self.y.edges[rows + [0, 0, 1, 1, 0, 0]]
        y[~inferred.ravel()], y[:, -1] = np.nan, np.nan
        look: dict[str, Any] = {"fill": "toself", "fillcolor": CLEAR, "fillpattern": HATCH, "line": {"width": 0}}
        self.add("scatter", x=x.ravel(), y=y.ravel(), mode="lines", hoverinfo="skip", showlegend=False, **look)
        # White lines are not seen in a legend.
        square = {"symbol": "square", "size": 10, "color": theme.INK, "opacity": PALE / 2.0}
        named = {"name": INFERRED, "showlegend": bool(inferred.any()), "hoverinfo": "skip"}
        self.add("scatter", x=[None], y=[None], mode="markers", marker=square, **named)

    def contour(self, cells: pd.DataFrame, level: float, name: str, color: str, dash: str) -> None:
        """Draw the contour of a level."""
        z = self.table(cells, "value").astype(float)
        if not (np.isfinite(z).sum() > 3 and np.nanmin(z) < level < np.nanmax(z)):
            return
        contours = {"start": level, "end": level, "size": 1, "coloring": "none"}
        look: dict[str, Any] = {"x": list(self.x.values), "y": list(self.y.values), "z": z, "contours": contours}
        look |= {"hoverinfo": "skip", "showscale": False}
        white = {"color": WHITE, "width": 6, "smoothing": 0}
        self.add("contour", **look, line=white, showlegend=False)
        self.add("contour", **look, line={**white, "color": color, "width": 3, "dash": dash}, name=name)

    def theory(self, lines: pd.DataFrame) -> None:
        """Draw named lines: points line, x, y, each line's in order, apart by a row of nan."""
        for k, (name, points) in enumerate(lines.groupby("line", sort=False)):
            place: dict[str, Any] = {"row": self.row, "col": self.col, "name": str(name)}
            hover, dash = f"{name} at %{{x:.4g}}, %{{y:.4g}}", LINE_DASHES[k % len(LINE_DASHES)]
            theme.line(self.figure, points["x"], points["y"], WHITE, width=5, showlegend=False, **place)
            theme.line(self.figure, points["x"], points["y"], width=2.5, dash=dash, hover=hover, **place)

    def regions(self, regions: Sequence[Region]) -> None:
        """Hatch regions up to the edges of the map, each with its name at its widest point."""
        axes = (self.x, self.y)
        for region in regions:
            if region.name in REGIONS:
                x, y = (_to_edges(axis, values) for axis, values in zip(axes, region[1:3], strict=True))
                hatch = {**REGIONS[region.name], "fgcolor": theme.INK, "bgcolor": CLEAR}
                look: dict[str, Any] = {"name": f"{region.name} {LARGE}", "row": self.row, "col": self.col}
                theme.line(self.figure, x, y, width=1.2, fill="toself", fillpattern=hatch, **look)
            if all(map(math.isfinite, region.label)):
                logs = (axis.spacing == "log" for axis in axes)
                at = [math.log10(v) if log else v for v, log in zip(region.label, logs, strict=True)]
                text = f"{region.name}<br>{LARGE}"
                self.figure.add_annotation(self.row, self.col, x=at[0], y=at[1], text=text, **LABEL)

    def axes(self, below: bool) -> None:
        """Give the axes of a map their ranges, and their titles unless another map is `below` or to the left."""
        ends = {
            "x": (self.x, self.figure.update_xaxes, not below),
            "y": (self.y, self.figure.update_yaxes, self.col == 1),
        }
        for name, (axis, update, titled) in ends.items():
            shown = np.log10(axis.edges[[0, -1]]) if axis.spacing == "log" else axis.edges[[0, -1]]
            look: dict[str, Any] = {"type": axis.spacing, "range": list(shown), "title_text": axis.title * titled}
            # Maps are zoomed together.
            matches = None if self.row == self.col == 1 else name
            update(self.row, self.col, showgrid=False, matches=matches, **look)


def _to_edges(axis: Scale, values: Sequence[float]) -> Array:
    """Return values with the ends of the axis moved to the edges of its cells, as theory ends half a cell earlier."""
    moved = np.array(values, dtype=float)
    for end, edge in ((min(axis.values), axis.edges[0]), (max(axis.values), axis.edges[-1])):
        moved[np.isclose(values, end, rtol=1e-9, atol=0.0)] = edge
    return moved

"""Maps of phase transitions: contours of several solvers on one map, one map per solver, or who wins where."""

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lrlab.arrays import Array, Mask
from lrlab.figures import theme
from lrlab.figures.build import Figure, grid
from lrlab.figures.recovery import Recovery
from lrlab.parameters import counted
from lrlab.sweeps.theory import Region
from lrlab.sweeps.winners import Outcome

REGIONS = {
    "impossible": {"shape": "/", "size": 9, "solidity": 0.22},
    "hard": {"shape": ".", "size": 7, "solidity": 0.25},
}
"""Hatches of the regions of theory: colors of grid points stay readable below them."""
SCOPE = "asymptotically"
"""Scope of the regions: at the sizes of the grid points some trials do better."""
LABEL = {"bgcolor": "rgba(255, 255, 255, 0.85)", "font": {"size": 12, "color": "#31333f"}, "borderpad": 2}
LINE_DASHES = ("12px,5px", "10px,4px,3px,4px", "3px,4px", "7px,5px")
"""Dashes of lines of theory, in pixels, so that their wider white ground has the same."""
INFERRED, NOT_MEASURED = "inferred from other grid points", "not measured"
PALE = 0.55
"""Opacity of inferred grid points."""
WHITE, CLEAR = "#ffffff", "rgba(0, 0, 0, 0)"
HATCH = {"shape": "\\", "size": 6, "solidity": 0.2, "fgcolor": "rgba(255, 255, 255, 0.9)", "bgcolor": CLEAR}
"""Hatch of inferred cells: it leans to the other side than the hatch of theory."""
MOST_STRIPES = 3
"""Ties of more solvers are gray."""
NOT_COMPARED = "no compared solver"
MANY, NOBODY = f"more than {MOST_STRIPES} tied", "nobody succeeds"
GAP = 0.03
"""Margin of a grid point on each side, as a fraction of it."""
CROSSED = {"shape": "x", "size": 7, "solidity": 0.3}
"""Pattern of a solver whose color another one has."""


class Scale(NamedTuple):
    """An axis of the map: its title, its values in rising order, "linear" or "log", its name on hover."""

    title: str
    values: Sequence[float]
    spacing: str = "linear"
    name: str = ""

    def at(self, places: Array) -> Array:
        """Return positions by their places: grid point k reaches from k to k + 1, halfway to the next values."""
        v = np.log(self.values) if self.spacing == "log" else np.asarray(self.values, dtype=float)
        half = np.diff(v) / 2.0 if len(v) > 1 else np.array([0.5])
        edges = np.concatenate([v[:1] - half[:1], v[:-1] + half, v[-1:] + half[-1:]])
        at: Array = np.interp(places, np.arange(len(edges)), edges)
        return np.exp(at) if self.spacing == "log" else at

    @property
    def edges(self) -> Array:
        """Borders of grid points (len(values) + 1,)."""
        return self.at(np.arange(len(self.values) + 1.0))

    @property
    def range(self) -> list[float]:
        """The range of a plotly axis from the first edge to the last."""
        ends = self.edges[[0, -1]]
        return list(np.log10(ends) if self.spacing == "log" else ends)


class MapMetric(NamedTuple):
    """The metric of a map: name, ends of the colors (None: the data's), level and name of the contour, colors."""

    name: str
    low: float | None = 0.0
    high: float | None = 1.0
    level: float | None = 0.5
    contour: str = "half succeed"
    colors: Any = theme.SEQUENTIAL


def transition(
    maps: Sequence[tuple[Recovery, pd.DataFrame]],
    x: Scale,
    y: Scale,
    metric: MapMetric,
    *,
    columns: int = 0,
    lines: pd.DataFrame | None = None,
    regions: Sequence[Region] = (),
) -> Figure:
    """Return the map of the first solver in colors with the contours of all, or `columns` maps per row, one per solver.

    maps: the style of each solver, and one row per point: x, y, value (nan if unknown), trials, inferred (predicted
    from other points); and for the text on hover successes, low and high (nan without a success rule) and spread.
    lines: named points line, x, y of theory, each line's points in order, apart by a row of nan; with `columns` a line
    named "..., solver" appears only on that solver's map. regions: of theory. A point's customdata begins with x, y and
    the solver.
    """
    apart, titles = columns > 0, [look.title for look, _ in maps]
    groups = [[one] for one in maps] if apart else [list(maps)]
    columns = min(columns, len(maps)) or 1
    rows = math.ceil(len(groups) / columns)
    figure = grid(rows, columns, titles if apart else (), 0.06, 0.22 / rows)
    for k, group in enumerate(groups):
        layers = Layers(figure, x, y, k)
        layers.cells(group, metric.name)
        layers.regions(regions)
        for look, cells in group if metric.level is not None else ():
            name = metric.contour if apart else f"{metric.contour}, {look.title}"
            layers.contour(cells, metric.level or 0.0, name, look.color, "solid" if apart else look.dash)
        if lines is not None:
            ends = tuple(f", {title}" for title in titles[:k] + titles[k + 1 :]) if apart else ()
            layers.theory(lines[~lines["line"].str.endswith(ends)])
        layers.axes(lowest=k + columns >= len(groups), leftmost=k % columns == 0)
    # One entry in the legend for all traces of a name: it shows and hides them on all maps.
    named = set[str | None]()
    for one in figure.data:
        shown = one.showlegend is not False and one.type != "heatmap" and one.name not in named
        one |= {"legendgroup": one.name or "", "showlegend": shown}
        named |= {one.name} if shown else set()
    # The caption below has the rule of success.
    title = {"text": metric.name.partition(" (")[0], "side": "right", "font": {"size": 13}}
    bar = {"title": title, "thickness": 12, "outlinewidth": 0}
    scale = {"colorscale": metric.colors, "cmin": metric.low, "cmax": metric.high, "colorbar": bar}
    height = 140 + 310 * rows if apart else 540
    return theme.style(figure.update_layout(coloraxis=scale), height=height, revision=f"{x.title} {y.title}")


def _text(metric: str, cell: Any) -> str:
    """Return the text of a cell: its successes with their interval, or its mean with its spread."""
    if not cell.trials:
        return f"{metric} {cell.value:.3g}, {INFERRED}" if math.isfinite(cell.value) else NOT_MEASURED
    if math.isfinite(cell.successes):
        interval = f"95% interval {cell.low:.2f} to {cell.high:.2f}"
        return f"{cell.successes:.0f} of {cell.trials} succeed, {interval}"
    spread = f" ± {cell.spread:.2g}" if math.isfinite(cell.spread) else ""
    return f"{metric} {cell.value:.4g}{spread}, {counted(cell.trials, 'trial')}"


class Layers(NamedTuple):
    """Adds layers to the map in a subplot of a figure, over two axes."""

    figure: Figure
    x: Scale
    y: Scale
    subplot: int = 0

    def add(self, kind: str, **values: Any) -> None:
        """Add a trace."""
        self.figure.add(kind, self.subplot, **values)

    def table(self, cells: pd.DataFrame, column: str, missing: Any = np.nan) -> Any:
        """Return the values of grid points in the rows and columns of the map."""
        wide = cells.pivot(index="y", columns="x", values=column)
        wide = wide.reindex(index=list(self.y.values), columns=list(self.x.values))
        return wide.astype(object).fillna(missing).to_numpy()

    def outlines(self, boxes: Array) -> dict[str, Array]:
        """Return x and y of the corners of boxes (left, right, low, high), in places; a gap follows each."""
        x, y = (np.insert(boxes[:, order], 5, np.nan, axis=1) for order in ([0, 1, 1, 0, 0], [2, 2, 3, 3, 2]))
        return {"x": self.x.at(x.ravel()), "y": self.y.at(y.ravel())}

    def heat(self, z: Array, text: Array, solvers: Array, heading: str = "", **look: Any) -> None:
        """Add a heat map that shows a heading and a text under the pointer; customdata is x, y and the solver."""
        x, y = np.meshgrid(self.x.values, self.y.values)
        names = (f"{axis.name or axis.title} = %{{customdata[{k}]:,.6~g}}" for k, axis in enumerate((self.x, self.y)))
        known: dict[str, Any] = {
            "x": self.x.edges.tolist(),
            "y": self.y.edges.tolist(),
            "customdata": np.stack([x.astype(object), y, solvers], axis=-1),
            "hovertemplate": f"{', '.join(names)}<br>{heading}%{{text}}<extra></extra>",
        }
        self.add("heatmap", z=z, text=text, **known, **look)

    def cells(self, group: Sequence[tuple[Recovery, pd.DataFrame]], metric: str) -> None:
        """Color the grid points of the first solver: inferred ones paler and hatched, ones without a value crossed.

        group: solvers with a row per grid point, see `transition`. Hover shows the texts of all.
        """
        (first, cells), several = group[0], len(group) > 1
        texts = [
            [f"{look.title}: " * several + _text(metric, cell) for cell in table.itertuples()] for look, table in group
        ]
        value = self.table(cells, "value").astype(float)
        inferred = self.table(cells, "inferred") == True  # noqa: E712  (None without a row)
        joined = cells.assign(text=["<br>".join(each) for each in zip(*texts, strict=True)])
        text = self.table(joined, "text", NOT_MEASURED)
        look: dict[str, Any] = {"coloraxis": "coloraxis", "xgap": 1, "ygap": 1}
        # It answers the pointer on all grid points.
        measured = np.where(inferred, np.nan, value)
        self.heat(measured, text, np.full(value.shape, first.title), name="measured", hoverongaps=True, **look)
        look |= {"x": self.x.edges, "y": self.y.edges, "opacity": PALE, "hoverinfo": "skip"}
        self.add("heatmap", name="inferred", z=np.where(inferred, value, np.nan), **look)
        self._hatch(inferred)
        (x, y), missing = np.meshgrid(self.x.values, self.y.values), np.isnan(value)
        at = {"x": x[missing], "y": y[missing], "showlegend": bool(missing.any()), "hoverinfo": "skip"}
        cross = {"symbol": "x-thin", "size": 5, "color": theme.INK, "line": {"width": 1, "color": theme.INK}}
        self.add("scatter", name=NOT_MEASURED, mode="markers", marker=cross, **at)

    def _hatch(self, inferred: Mask) -> None:
        """Hatch inferred grid points; the outlines of all others are nan, so that a message has only the changes."""
        rows, columns = np.indices(inferred.shape).reshape(2, -1)
        boxes = np.stack([columns, columns + 1, rows, rows + 1], axis=1)
        outlines = self.outlines(np.where(inferred.reshape(-1, 1), boxes, np.nan))
        look: dict[str, Any] = {"fill": "toself", "fillcolor": CLEAR, "fillpattern": HATCH, "line": {"width": 0}}
        self.add("scatter", mode="lines", hoverinfo="skip", showlegend=False, **look, **outlines)
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
            place: dict[str, Any] = {"subplot": self.subplot, "name": str(name)}
            hover, dash = f"{name} at %{{x:.4g}}, %{{y:.4g}}", LINE_DASHES[k % len(LINE_DASHES)]
            theme.line(self.figure, points["x"], points["y"], WHITE, width=5, dash=dash, showlegend=False, **place)
            theme.line(self.figure, points["x"], points["y"], width=2.5, dash=dash, hover=hover, **place)

    def regions(self, regions: Sequence[Region]) -> None:
        """Hatch regions up to the edges of the map, each with its name at its widest point."""
        axes = (self.x, self.y)
        for region in regions:
            if region.name in REGIONS:
                x, y = (_to_edges(axis, values) for axis, values in zip(axes, region[1:3], strict=True))
                hatch = {**REGIONS[region.name], "fgcolor": theme.INK, "bgcolor": CLEAR}
                look: dict[str, Any] = {"name": f"{region.name} {SCOPE}", "subplot": self.subplot}
                theme.line(self.figure, x, y, width=1.2, fill="toself", fillpattern=hatch, **look)
            if all(map(math.isfinite, region.label)):
                logs = (axis.spacing == "log" for axis in axes)
                at = [math.log10(v) if log else v for v, log in zip(region.label, logs, strict=True)]
                text = f"{region.name}<br>{SCOPE}"
                self.figure.add_annotation(self.subplot, x=at[0], y=at[1], text=text, **LABEL)

    def axes(self, lowest: bool = True, leftmost: bool = True) -> None:
        """Give the axes of a map their ranges, and their titles at the lowest and the leftmost map."""
        sides = (
            ("x", self.x, self.figure.update_xaxes, lowest),
            ("y", self.y, self.figure.update_yaxes, leftmost),
        )
        for name, axis, update, titled in sides:
            look: dict[str, Any] = {"type": axis.spacing, "range": axis.range, "title_text": axis.title * titled}
            # Maps are zoomed together.
            update(self.subplot, showgrid=False, matches=name if self.subplot else None, **look)


def _to_edges(axis: Scale, values: Sequence[float]) -> Array:
    """Return values with the ends of the axis moved to its edges: theory ends half a grid step earlier."""
    moved = np.array(values, dtype=float)
    for end, edge in ((min(axis.values), axis.edges[0]), (max(axis.values), axis.edges[-1])):
        moved[np.isclose(values, end, rtol=1e-9, atol=0.0)] = edge
    return moved


def winners_map(
    outcomes: Sequence[Outcome],
    looks: Mapping[str, Recovery],
    titles: Mapping[str, str],
    x: Scale,
    y: Scale,
    excluded: Collection[tuple[float, ...]] = (),
) -> Figure:
    """Return the map of outcomes (`sweeps.winners`) over two axes.

    looks: the style of each solver that is among the best somewhere, in the order of the legend. titles: of all
    solvers. excluded: points at which no solver is compared.

    A point's customdata is x, y and the title of a solver that ran there.
    """
    layers, boxes = Layers(Figure(), x, y), dict[str, list[tuple[float, ...]]]()
    for one in outcomes:
        stripes = one.best if len(one.best) <= MOST_STRIPES else (MANY,)
        column, row = (list(axis.values).index(value) for axis, value in zip((x, y), one.point, strict=True))
        ends = column + np.linspace(GAP, 1.0 - GAP, max(len(stripes), 1) + 1)
        for name, part in zip(stripes or (NOBODY,), pairwise(ends), strict=True):
            boxes.setdefault(name, []).append((*part, row + GAP, row + 1.0 - GAP))
    for name in (name for name in (*looks, MANY, NOBODY) if name in boxes):
        look: dict[str, Any] = {"fill": "toself", "line": {"width": 0}, "mode": "lines", "hoverinfo": "skip"}
        if name in looks:
            crossed = CROSSED if looks[name].dash != "solid" else None
            look |= {"name": looks[name].title, "fillcolor": looks[name].color, "fillpattern": crossed}
        else:
            hatch = {**HATCH, "fgcolor": theme.INK} if name == NOBODY else None
            look |= {"name": name, "fillcolor": CLEAR if hatch else theme.faint(theme.INK, 0.35), "fillpattern": hatch}
        layers.add("scatter", showlegend=True, **look, **layers.outlines(np.array(boxes[name])))
    # An invisible heat map answers the pointer.
    rows = [(*point, NOT_COMPARED, None) for point in excluded]
    for one in outcomes:
        ran = [f"<b>{words}</b>" if name in one.best else words for name, words in one.words.items()]
        rows.append((*one.point, "<br>".join(ran), titles[next(iter(one.words))]))
    cells = pd.DataFrame(rows, columns=["x", "y", "text", "solver"])
    text = layers.table(cells, "text", NOT_MEASURED)
    solvers = layers.table(cells, "solver", next(iter(titles.values())))
    clear: dict[str, Any] = {"colorscale": [[0, CLEAR], [1, CLEAR]], "showscale": False}
    layers.heat(np.zeros(text.shape), text, solvers, "error, time, successes:<br>", **clear)
    layers.axes()
    return theme.style(layers.figure, height=540, revision=f"winners {x.title} {y.title}")

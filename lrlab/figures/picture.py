"""Figures of heat maps: a true image next to each solver's estimate, and the first measurements of a model."""

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrlab.arrays import Array
from lrlab.figures import theme
from lrlab.figures.build import Figure, Node, grid, merged, trace
from lrlab.figures.recovery import Recovery
from lrlab.model_entry import Panel
from lrlab.model_hooks import View

GRAYS = [[0.0, "#000000"], [1.0, "#ffffff"]]
TILE = 215
HEAD = 24
"""Pixels above a picture for its title."""
KINDS = len(theme.PALETTE)
SCALES: dict[str, dict[str, Any]] = {
    "signed": {"colorscale": "RdBu_r"},
    "bits": {"colorscale": [[0.0, theme.PALETTE[1]], [1.0, theme.PALETTE[0]]], "zmin": -1, "zmax": 1},
    "labels": {"colorscale": [[0.0, "#c3c8d1"], [1.0, theme.PALETTE[0]]], "zmin": 0, "zmax": 1},
    "sizes": {"colorscale": theme.SEQUENTIAL},
    "gray": {"colorscale": GRAYS, "zmin": 0, "zmax": 1},
    "kinds": {
        "colorscale": [[(k + end) / KINDS, theme.PALETTE[k]] for k in range(KINDS) for end in (0, 1)],
        "zmin": -0.5,
        "zmax": KINDS - 0.5,
    },
}


def pictures(truth: Array, runs: Sequence[Recovery], *, columns: int = 4, height: int = 0) -> Figure:
    """Return the true picture and each run's newest one, all in the same gray levels.

    truth: unit vector of side * side gray levels. Estimates are unit vectors too, so that the scale of the truth,
    black at 0 and white at its brightest pixel, is theirs; what lies outside is shown as black or white.
    """
    titles = ["truth", *(caption(run, run.rows[-1] if run.rows else {}) for run in runs)]
    columns = max(1, min(columns, len(titles)))
    look = {"zmin": 0, "zmax": 255, "colorscale": GRAYS, "hovertemplate": "row %{y}, column %{x}<br>gray %{z} of 255"}
    named = [("truth", truth), *((run.title, run.estimate) for run in runs)]
    maps = [trace("heatmap", z=gray(estimate, truth), name=name, **look) for name, estimate in named]
    return tiles(maps, titles, columns, height=height or math.ceil(len(maps) / columns) * TILE + 20, head=56)


def views(view: Callable[[Any], Any], runs: Sequence[Recovery], *, height: int) -> Figure:
    """Return the view of the ground truth, view(None), and of each run's newest estimate, on the same scale."""
    true: View = view(None)
    look, hover = dict(SCALES[true.scale]), "row %{y}, column %{x}: %{z:.3g}<extra></extra>"
    if true.scale == "signed":
        reach = float(np.nanmax(np.abs(true.values)))
        look |= {"zmin": -reach, "zmax": reach}
    shown = [true.values, *(_viewed(view, true, run.estimate) for run in runs)]
    names = ["truth", *(run.title for run in runs)]
    maps = [
        trace("heatmap", z=z.astype(np.float32), name=name, hoverongaps=False, hovertemplate=hover, **look)
        for name, z in zip(names, shown, strict=True)
    ]
    titles = ["truth", *(caption(run, run.rows[-1] if run.rows else {}) for run in runs)]
    columns = min(2, len(maps))
    figure = tiles(maps, titles, columns, height=height, head=56)
    ticks: dict[str, Any] = {"visible": True, "showgrid": False, "ticks": "", "tickmode": "array", "tickfont_size": 9}
    for k in range(len(maps)) if true.columns else ():
        place: dict[str, Any] = {"row": k // columns + 1, "col": k % columns + 1}
        # Names do not fit between tiles.
        if place["col"] == 1:
            figure.update_yaxes(**ticks, tickvals=[*range(len(true.rows))], ticktext=list(true.rows), **place)
        if k + columns >= len(maps):
            figure.update_xaxes(**ticks, tickangle=-60, **place)
            figure.update_xaxes(tickvals=[*range(len(true.columns))], ticktext=list(true.columns), **place)
    return figure


def _viewed(view: Callable[[Any], Any], true: View, estimate: Any) -> Array:
    return np.full(true.values.shape, np.nan) if estimate is None else np.asarray(view(estimate).values)


def tiles(maps: Sequence[Node], titles: Sequence[str], columns: int, *, height: int, head: int) -> Figure:
    """Return heat maps of square cells in rows of `columns`, each below its title of `head` pixels."""
    rows = math.ceil(len(maps) / columns)
    gaps = {"horizontal_spacing": 0.02, "vertical_spacing": head / height if rows > 1 else 0}
    figure = grid(rows, columns, titles=titles, **gaps)
    for k, one in enumerate(maps):
        place = {"row": k // columns + 1, "col": k % columns + 1}
        figure.add_trace(merged(one, {"showscale": False}), **place)
        high, wide = one.z.shape
        # Explicit ranges: by itself, plotly reverses some axes when estimates replace empty maps.
        common: dict[str, Any] = {"visible": False, "constrain": "domain", **place}
        figure.update_xaxes(range=[-0.5, wide - 0.5], **common)
        anchor: dict[str, Any] = {"scaleanchor": f"x{k + 1}" if k else "x", "constraintoward": "top"}
        figure.update_yaxes(range=[high - 0.5, -0.5], **anchor, **common)
    figure.update_annotations(font_size=12)
    return theme.style(figure, height=height).update_layout(margin={"l": 4, "r": 4, "t": head, "b": 4})


def gray(estimate: Array | None, truth: Array) -> NDArray[np.uint8]:
    """Return an estimate as (side, side) gray levels 0..255 on the truth's scale; mid-gray without an estimate."""
    side = math.isqrt(len(truth))
    if estimate is None:
        return np.full((side, side), 128, dtype=np.uint8)
    levels = np.asarray(estimate, dtype=float) / truth.max()
    return (255.0 * np.clip(levels, 0.0, 1.0)).round().astype(np.uint8).reshape(side, side)


def caption(run: Recovery, row: Mapping[str, float]) -> str:
    """Return the title of a picture: the solver, and its error if it is known."""
    name = "<br>".join(textwrap.wrap(run.title.partition(" (")[0], 24)[:2])
    return f"{name}<br>error {row['error']:.3g}" if "error" in row else f"{name}<br>{'' if row else 'waiting'}"


def measured(panels: Sequence[Panel], height: int) -> Figure:
    """Return the panels below one another; vectors stand to the left of the first matrix and above it."""
    main = [panel for panel in panels if panel.place == "main"]
    titles = [panel.title for panel in main]
    shown = [panel.values for panel in main]
    vectors = {panel.place: panel for panel in panels if panel.place != "main"}
    if vectors:
        shown[0] = framed(shown[0], vectors["left"].values, vectors["top"].values)
        titles[0] += f"<br>beside: {vectors['left'].title}, above: {vectors['top'].title}"
    maps = []
    for panel, values in zip(main, shown, strict=True):
        look = dict(SCALES[panel.scale])
        if panel.scale == "signed":
            reach = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
            look |= {"zmin": -reach, "zmax": reach}
        hover = "row %{y}, column %{x}: %{z:.3g}<extra></extra>"
        maps.append(trace("heatmap", z=values.astype(np.float32), hoverongaps=False, hovertemplate=hover, **look))
    figure = tiles(maps, titles, 1, height=height, head=2 * HEAD if vectors else HEAD)
    return figure.update_layout(plot_bgcolor=theme.faint(theme.INK, 0.08))


def framed(matrix: Array, left: Array, top: Array) -> Array:
    """Return a matrix with one vector to its left and one above it, as thick lines, each scaled to at most 1."""
    high, wide = matrix.shape
    thick = max(2, max(high, wide) // 14)
    whole = np.full((high + 2 * thick, wide + 2 * thick), np.nan)

    def scaled(values: Array) -> Array:
        return values / (np.abs(values).max() or 1.0)

    whole[2 * thick :, 2 * thick :] = scaled(matrix)
    whole[2 * thick :, :thick] = scaled(left)
    whole[:thick, 2 * thick :] = scaled(top)
    return whole

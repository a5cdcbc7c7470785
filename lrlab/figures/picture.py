"""Figures of heat maps: the ground truth next to each solver's estimate, and the first measurements of a model."""

import math
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lrlab.arrays import Array
from lrlab.figures import theme
from lrlab.figures.build import Figure, Node, grid, trace
from lrlab.figures.recovery import Recovery
from lrlab.lowrank import LowRank
from lrlab.model_entry import Panel
from lrlab.protocol import View

LINE = 16
"""Height of a line of a title, in pixels."""
FOOT = 34
"""Height of the color bar below heat maps, in pixels."""
SIDE = 48
"""Most rows and columns of a matrix; a larger one shows an evenly spaced subset."""
KINDS = len(theme.PALETTE)
SCALES: dict[str, dict[str, Any]] = {
    "signed": {"colorscale": "RdBu_r"},
    "bits": {"colorscale": [[0.0, theme.PALETTE[1]], [1.0, theme.PALETTE[0]]], "zmin": -1, "zmax": 1},
    "labels": {"colorscale": [[0.0, "#c3c8d1"], [1.0, theme.PALETTE[0]]], "zmin": 0, "zmax": 1},
    "sizes": {"colorscale": theme.SEQUENTIAL},
    "gray": {"colorscale": [[0.0, "#000000"], [1.0, "#ffffff"]], "zmin": 0, "zmax": 1},
    "bytes": {"colorscale": [[0.0, "#000000"], [1.0, "#ffffff"]], "zmin": 0, "zmax": 255},
    "kinds": {
        "colorscale": [[(k + end) / KINDS, theme.PALETTE[k]] for k in range(KINDS) for end in (0, 1)],
        "zmin": -0.5,
        "zmax": KINDS - 0.5,
    },
}


def heat(values: Any, scale: str, reach: float = 0.0, name: str | None = None) -> Node:
    """Return a heat map; reach: the end of the colors of signed numbers, by default their largest size."""
    look = dict(SCALES[scale])
    if scale == "signed":
        reach = reach or float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
        look |= {"zmin": -reach, "zmax": reach}
    z = values if values.dtype == np.uint8 else values.astype(np.float32)
    hover = "row %{y}, column %{x}: %{z:.3g}<extra></extra>"
    return trace("heatmap", z=z, name=name, showscale=False, hoverongaps=False, hovertemplate=hover, **look)


def views(view: Callable[[Any], Any], runs: Sequence[Recovery], *, height: int, columns: int = 2) -> Figure:
    """Return the view of the ground truth, view(None), and of each run's newest estimate, on the same scale."""
    true: View = view(None)
    missing = np.full(true.values.shape, np.nan)
    shown = [true.values, *(missing if run.estimate is None else view(run.estimate).values for run in runs)]
    reach = float(np.nanmax(np.abs(true.values)))
    named = zip(["ground truth", *(run.title for run in runs)], shown, strict=True)
    maps = [heat(np.asarray(values), true.scale, reach, name) for name, values in named]
    columns = max(1, min(columns, len(maps)))
    figure = tiles(maps, ["ground truth", *map(caption, runs)], columns, height=height, foot=FOOT)
    ticks: dict[str, Any] = {"visible": True, "showgrid": False, "ticks": "", "tickmode": "array", "tickfont_size": 9}
    for k in range(len(maps)) if true.columns else ():
        # Names do not fit between tiles.
        if k % columns == 0:
            figure.update_yaxes(k, **ticks, tickvals=[*range(len(true.rows))], ticktext=list(true.rows))
        if k + columns >= len(maps):
            names: dict[str, Any] = {"tickvals": [*range(len(true.columns))], "ticktext": list(true.columns)}
            figure.update_xaxes(k, **ticks, tickangle=-60, **names)
    return figure


def pictures(truth: Array, runs: Sequence[Recovery], *, columns: int = 4, height: int = 400) -> Figure:
    """Return the true image and each run's newest one, all in the gray levels of the ground truth.

    truth: unit vector of side * side gray levels. Estimates are unit vectors, too, and share its scale: black at 0 and
    white at its brightest pixel. Values outside of it appear black or white.
    """
    return views(lambda b: View(gray(truth if b is None else b, truth), "bytes"), runs, height=height, columns=columns)


def matrices(truth: LowRank, runs: Sequence[Recovery], *, height: int = 430) -> Figure:
    """Return heat maps of the ground truth and of each run's estimate, in two columns, with one color bar below."""
    figure = views(lambda W: View(part(W or truth), "signed"), runs, height=height)
    scale = figure.data[0].zmax
    for one in figure.data:
        one |= {"coloraxis": "coloraxis"}
    bar = {"orientation": "h", "thickness": 9, "len": 0.8, "y": 0, "yref": "container", "yanchor": "bottom"}
    look = {"colorscale": "RdBu_r", "cmin": -scale, "cmax": scale, "colorbar": {**bar, "nticks": 5, "ticklen": 3}}
    return figure.update_layout(coloraxis=look)


def part(W: LowRank) -> Array:
    """Return the drawn rows and columns of a matrix."""
    rows, columns = (np.linspace(0, n - 1, min(n, SIDE)).round().astype(int) for n in W.shape)
    return W.left[rows] @ W.V[columns].T


def tiles(maps: Sequence[Node], titles: Sequence[str], columns: int, *, height: int, foot: int = 4) -> Figure:
    """Return heat maps of square pixels in rows of `columns`, each below its title; foot: pixels below them."""
    rows, head = math.ceil(len(maps) / columns), 8 + LINE * max(1 + title.count("<br>") for title in titles)
    figure = grid(rows, columns, titles, 0.02, head / (height - head - foot) if rows > 1 else 0)
    for k, one in enumerate(maps):
        figure.add_trace(one, k)
        high, wide = one.z.shape
        # Explicit ranges: by itself, plotly reverses some axes when estimates replace empty maps.
        common: dict[str, Any] = {"visible": False, "constrain": "domain"}
        figure.update_xaxes(k, range=[-0.5, wide - 0.5], **common)
        anchor: dict[str, Any] = {"scaleanchor": f"x{k + 1}" if k else "x", "constraintoward": "top"}
        figure.update_yaxes(k, range=[high - 0.5, -0.5], **anchor, **common)
    for note in figure.layout.get("annotations", ()):
        note["font"] = {"size": 12}
    return theme.style(figure, height=height).update_layout(margin={"l": 4, "r": 4, "t": head, "b": foot})


def gray(estimate: Array, truth: Array) -> Any:
    """Return an estimate as (side, side) gray levels 0..255, in bytes, on the truth's scale."""
    side = math.isqrt(len(truth))
    levels = np.asarray(estimate, dtype=float) / truth.max()
    return (255.0 * np.clip(levels, 0.0, 1.0)).round().astype(np.uint8).reshape(side, side)


def caption(run: Recovery) -> str:
    """Return the title of a picture: the solver without its abbreviation, and its error if it is known."""
    last = run.rows[-1] if run.rows else {}
    words = f"error {last['error']:.3g}" if "error" in last else "" if last else "waiting"
    return "<br>".join([*textwrap.wrap(run.title.partition(" (")[0], 24), words])


def measured(panels: Sequence[Panel], height: int) -> Figure:
    """Return panels in one column."""
    maps = [heat(panel.values, panel.scale) for panel in panels]
    drawn = tiles(maps, [panel.title for panel in panels], 1, height=height)
    return drawn.update_layout(plot_bgcolor=theme.faint(theme.INK, 0.08))

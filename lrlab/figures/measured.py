"""Figures of measurements: heat maps of the first ones, as a model declares them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lrlab.arrays import Array
from lrlab.figures import theme
from lrlab.figures.build import Figure, trace
from lrlab.figures.picture import tiles
from lrlab.model_entry import Panel

HEAD = 24
"""Pixels above a picture for its title."""
SCALES: dict[str, dict[str, Any]] = {
    "signed": {"colorscale": "RdBu_r"},
    "bits": {"colorscale": [[0.0, theme.PALETTE[1]], [1.0, theme.PALETTE[0]]], "zmin": -1, "zmax": 1},
    "labels": {"colorscale": [[0.0, "#c3c8d1"], [1.0, theme.PALETTE[0]]], "zmin": 0, "zmax": 1},
    "sizes": {"colorscale": theme.SEQUENTIAL},
}


def measured(panels: Sequence[Panel], height: int) -> Figure:
    """Return the panels below one another; vectors stand beside and above the first matrix, each on its own scale."""
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
    """Return a matrix with a vector beside and one above it, as thick lines; each is divided by its largest size."""
    high, wide = matrix.shape
    thick = max(2, max(high, wide) // 14)
    whole = np.full((high + 2 * thick, wide + 2 * thick), np.nan)

    def scaled(values: Array) -> Array:
        return values / (np.abs(values).max() or 1.0)

    whole[2 * thick :, 2 * thick :] = scaled(matrix)
    whole[2 * thick :, :thick] = scaled(left)
    whole[:thick, 2 * thick :] = scaled(top)
    return whole

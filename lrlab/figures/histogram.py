"""The histogram of all eigenvalues of a moment, with the density of the bulk, its edge, and the spike."""

import numpy as np

from lrlab.arrays import Array
from lrlab.figures import theme
from lrlab.figures.build import Figure

BINS = 40


def histogram(
    values: Array,
    x: Array,
    density: Array,
    *,
    edge: float,
    spike: float | None,
    extent: tuple[float, float],
    title: str,
    height: int = 400,
    top: float | None = None,
) -> Figure:
    """Return all eigenvalues as a histogram (a density, area 1), the largest as a marker, and lines of theory.

    x, density: of the bulk. edge: where it ends. spike: the predicted outlier, None where there is none. extent: of the
    axis, the same for all that are to be compared. top: of the upright axis.
    """
    width = (extent[1] - extent[0]) / BINS
    counts, ends = np.histogram(values, bins=BINS, range=extent)
    figure = Figure()
    figure.add_bar(
        x=(ends[:-1] + ends[1:]) / 2, y=counts / (len(values) * width), width=width,
        name=f"all {len(values)} eigenvalues",
        marker={"color": theme.faint(theme.PALETTE[0], 0.45), "line": {"width": 0}},
        hovertemplate="%{x:.3g}: density %{y:.3g}<extra></extra>",
    )  # fmt: skip
    theme.dashed(figure, x, density, theme.PALETTE[0], name="bulk, predicted")
    high = top if top is not None else 1.1 * float(max(density.max(), counts.max() / (len(values) * width)))
    for place, colour, name in ((edge, theme.INK, "edge, predicted"), (spike, theme.PALETTE[1], "spike, predicted")):
        if place is not None:
            hover = f"{name}: {place:.4g}"
            theme.dashed(figure, [place, place], [0, high], colour, name=name, hover=hover)
    largest = float(values.max())
    figure.add_scatter(
        x=[largest], y=[0.05 * high], mode="markers", name="largest eigenvalue",
        marker={"symbol": "triangle-down", "size": 14, "color": theme.PALETTE[1]},
        hovertemplate=f"largest: {largest:.4g}<extra></extra>",
    )  # fmt: skip
    figure.update_xaxes(range=list(extent))
    figure.update_yaxes(range=[0, high])
    return theme.style(figure.update_layout(bargap=0), title, "density", height=height)

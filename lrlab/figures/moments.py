"""Figures of the moment of a spectral start: signal values, the bulk, the gap, the overlap."""

import pandas as pd

from lrlab.figures import theme
from lrlab.figures.build import Figure

SERIES = (
    ("largest", "largest", theme.PALETTE[0], "circle", "largest"),
    ("smallest", "k-th: the last signal value", theme.PALETTE[2], "diamond", "smallest"),
    ("next", "next: the bulk", theme.PALETTE[1], "square", "edge"),
)
COLUMNS = ("at", "trials") + tuple(
    f"{kind}_{name}" for kind in ("mean", "sd") for name in ("largest", "smallest", "next", "gap", "overlap")
)


def values(points: pd.DataFrame, curve: pd.DataFrame, *, axis_title: str) -> Figure:
    """Return the largest values of the moment: dots with bars for trials, dashed lines for theory.

    points: rows of `spectra.moments.compare`; curve: rows of `predictions` on a fine grid. Dotted: the truth's.
    """
    figure = Figure()
    for k, name in enumerate(("true_largest", "true_smallest")):
        figure.add_scatter(
            x=curve["at"], y=curve[name], mode="lines", line=theme.POPULATION, legendgroup="truth", showlegend=not k,
            name="infinite data: the largest and the k-th", hovertemplate="truth: %{y:.4g}<extra></extra>",
        )  # fmt: skip
    one = bool(
        (curve["largest"] == curve["smallest"]).all() and (points["mean_largest"] == points["mean_smallest"]).all()
    )
    for name, words, colour, symbol, limit in SERIES[1:] if one else SERIES:
        theme.dashed(figure, curve["at"], curve[limit], colour, hover=f"{words}, theory: %{{y:.4g}}")
        theme.dots(figure, points, name, words, colour, symbol)
    if "mean_clipped_largest" in points:
        for name, words, colour, symbol, _ in SERIES[1:] if one else SERIES:
            theme.dots(figure, points, f"clipped_{name}", f"clipped answers, {words}", colour, f"{symbol}-open")
    theme.dashed(figure, [None], [None], name="theory")
    return theme.style(figure, axis_title, "singular value of the moment", height=480)


def overlaps(points: pd.DataFrame, curve: pd.DataFrame, *, axis_title: str) -> Figure:
    """Return the gap over the k-th value, and the mean squared overlap of the k leading vectors with the truth."""
    figure, colour = Figure(), theme.PALETTE[0]
    theme.dashed(figure, curve["at"], curve["overlap"], colour, hover="theory: %{y:.3f}")
    theme.dots(figure, points, "overlap", "overlap of the start with the truth", colour, "circle")
    if "mean_clipped_overlap" in points:
        theme.dots(figure, points, "clipped_overlap", "the same with clipped answers", colour, "circle-open")
    if (curve["edge"] > 0).all():
        # Where the bulk ends below zero, as for weights of either sign, a share of the k-th value has no meaning.
        mean, sd = (points[f"{kind}_gap"] / points["mean_smallest"] for kind in ("mean", "sd"))
        gap = points.assign(mean_share=mean, sd_share=sd)
        theme.dots(figure, gap, "share", "gap over the k-th value", theme.PALETTE[1], "square")
    figure.update_yaxes(range=[-0.02, 1.02])
    return theme.style(figure, axis_title, "share", height=480)

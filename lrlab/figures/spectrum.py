"""Figures of spectra along an axis and of one draw: the pairwise moment and those of other starts, beside theory."""

from typing import Any

import numpy as np
import pandas as pd

from lrlab.arrays import Array
from lrlab.figures import theme
from lrlab.figures.build import Figure

SERIES = (
    ("top", "largest", "population_top", theme.PALETTE[0], "circle"),
    ("second", "second", "population_rest", theme.PALETTE[1], "square"),
)
COLUMNS = ("at", "trials", "mean_top", "sd_top", "mean_second", "sd_second", "mean_overlap")
MOMENT_SERIES = (
    ("largest", "largest", theme.PALETTE[0], "circle", "largest"),
    ("smallest", "k-th: the last signal value", theme.PALETTE[2], "diamond", "smallest"),
    ("next", "next: the bulk", theme.PALETTE[1], "square", "edge"),
)
MOMENT_VALUES = ("largest", "smallest", "next", "gap", "overlap")
MOMENT_COLUMNS = ("at", "trials", *(f"{kind}_{name}" for kind in ("mean", "sd") for name in MOMENT_VALUES))
BINS = 40
"""Of a histogram."""


def dots(
    figure: Figure, points: pd.DataFrame, name: str, words: str, color: str, symbol: str, *, legend: str = ""
) -> None:
    """Add the means of trials, from the columns at, trials, `mean_<name>`, with bars if there is an `sd_<name>`."""
    mean, spread = f"mean_{name}", f"sd_{name}" if f"sd_{name}" in points else None
    extent = "%{y:.4g} ± %{customdata[1]:.2g}" if spread else "%{y:.3f}"
    figure.add_scatter(
        x=points["at"],
        y=points[mean],
        mode="markers",
        marker={"color": color, "symbol": symbol},
        error_y={**theme.BARS, "array": points[spread]} if spread else None,
        name=legend or words,
        customdata=points[["trials", spread or mean]],
        hovertemplate=f"{words}: {extent}, %{{customdata[0]}} trials<extra></extra>",
    )


def eigenvalues(
    points: pd.DataFrame, curve: pd.DataFrame, bands: pd.DataFrame | None = None, *, axis_title: str
) -> Figure:
    """Return the two largest eigenvalues: dots with bars for the trials, dashed predictions, dotted population curves.

    points: rows of `spectra.pairwise.compare`; curve: rows of `predictions` on a fine grid; bands: rows of `bands`; one
    moment a value.
    """
    figure, at = Figure(), curve["at"]
    for name, words, _, color, _ in SERIES:
        _band(figure, bands, name, f"{words}, 90% of samples at this n and p", color)
    for name, words, population, color, symbol in SERIES:
        # There is none for other designs than Gaussian.
        if curve[population].notna().any():
            look: dict[str, Any] = {
                "name": "infinite data, E[M]/4",
                "showlegend": name == "top",
                "legendgroup": "population",
            }
            hover = f"{words} of E[M]/4: %{{y:.4g}}"
            theme.line(figure, at, curve[population], hover=hover, dash="dot", width=1.6, **look)
            predicted, hover = f"{words}, theory at this n/p", f"{words}, theory: %{{y:.4g}}"
            theme.dashed(figure, at, curve[name], color, name=predicted, hover=hover)
        words = f"{words}, simulated"
        dots(figure, points, name, words, color, symbol, legend=f"{words} ({_counted('mean ± sd', points)})")
    _shade_recoverable(figure, curve)
    # With both moments, each covers its informative range.
    moments = set(curve["moment"])
    title = "eigenvalue of M/4,<br>of M'/4 where φ < 0" if len(moments) > 1 else f"eigenvalue of {min(moments)}/4"
    return theme.style(figure, axis_title, title, height=480)


def _counted(what: str, points: pd.DataFrame) -> str:
    """Return the words with the number of trials behind the dots; before a run there are none."""
    return "not run yet" if points.empty else f"{what} of {points['trials'].max()} trials"


def overlaps(
    points: pd.DataFrame, curve: pd.DataFrame, bands: pd.DataFrame | None = None, *, axis_title: str
) -> Figure:
    """Return the squared overlap of the leading eigenvector with the truth: dots, and its prediction."""
    figure, (color, symbol) = Figure(), SERIES[0][3:]
    _band(figure, bands, "overlap", "90% of samples at this n and p", color)
    if curve["overlap"].notna().any():
        hover = "asymptotic limit: %{y:.3f}"
        theme.dashed(figure, curve["at"], curve["overlap"], color, name="theory at this n/p", hover=hover)
    legend = f"simulated ({_counted('mean', points)})"
    dots(figure, points, "overlap", "simulated", color, symbol, legend=legend)
    _shade_recoverable(figure, curve)
    figure.update_yaxes(range=[-0.02, 1.02])
    return theme.style(figure, axis_title, "squared overlap  ⟨b̂, b⟩²", height=480)


def _band(figure: Figure, bands: pd.DataFrame | None, name: str, words: str, color: str) -> None:
    if bands is not None and len(bands):
        theme.band(figure, bands["at"], bands[f"low_{name}"], bands[f"high_{name}"], color, words)


def _shade_recoverable(figure: Figure, curve: pd.DataFrame) -> None:
    intervals = recoverable(curve)
    for start, end in intervals:
        figure.add_vrect(x0=start, x1=end, fillcolor=theme.faint(theme.PALETTE[2], 0.10), line_width=0, layer="below")
    if intervals:
        # An entry of the legend, since a note inside the plot would lie on the dots of a narrow one.
        band = {"color": theme.faint(theme.PALETTE[2], 0.35), "symbol": "square", "size": 12}
        name = "n/p above the threshold: recovery possible"
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=band, name=name)


def recoverable(curve: pd.DataFrame) -> list[tuple[float, float]]:
    """Return the intervals of the axis with n/p above the threshold, from neighboring points of the curve."""
    at, above = curve["at"].to_numpy(dtype=float), (curve["ratio"] > curve["threshold"]).to_numpy(dtype=int)
    between = np.concatenate([at[:1], (at[:-1] + at[1:]) / 2.0, at[-1:]])
    ends = between[np.flatnonzero(np.diff(above, prepend=0, append=0))]
    return [(float(start), float(end)) for start, end in ends.reshape(-1, 2)]


def moment_values(points: pd.DataFrame, curve: pd.DataFrame, *, axis_title: str) -> Figure:
    """Return the largest values of the moment: dots with bars for trials, dashed lines for theory.

    points: rows of `spectra.moments.compare`; curve: rows of `predictions` on a fine grid. Dotted: the truth's.
    """
    figure, at = Figure(), curve["at"]
    for name in ("true_largest", "true_smallest"):
        look: dict[str, Any] = {"name": "infinite data: the largest and the k-th", "showlegend": name == "true_largest"}
        hover = "truth: %{y:.4g}"
        theme.line(figure, at, curve[name], hover=hover, dash="dot", width=1.6, legendgroup="truth", **look)
    known = curve[curve["largest"].notna()]
    one = (known["largest"] == known["smallest"]).all() and (points["mean_largest"] == points["mean_smallest"]).all()
    series = MOMENT_SERIES[1:] if one else MOMENT_SERIES
    for name, words, color, symbol, limit in series:
        theme.dashed(figure, at, curve[limit], color, hover=f"{words}, theory: %{{y:.4g}}")
        dots(figure, points, name, words, color, symbol)
    for name, words, color, symbol, _ in series if "mean_clipped_largest" in points else ():
        dots(figure, points, f"clipped_{name}", f"clipped answers, {words}", color, f"{symbol}-open")
    theme.dashed(figure, [None], [None], name="theory")
    return theme.style(figure, axis_title, "singular value of the moment", height=480)


def moment_overlaps(points: pd.DataFrame, curve: pd.DataFrame, *, axis_title: str) -> Figure:
    """Return the gap over the k-th value, and the mean squared overlap of the k leading vectors with the truth."""
    figure, color = Figure(), theme.PALETTE[0]
    theme.dashed(figure, curve["at"], curve["overlap"], color, hover="theory: %{y:.3f}")
    dots(figure, points, "overlap", "overlap of the initialization with the ground truth", color, "circle")
    if "mean_clipped_overlap" in points:
        dots(figure, points, "clipped_overlap", "the same with truncated responses", color, "circle-open")
    if not (curve["edge"] <= 0).any():
        # If the bulk ends below zero, as for weights of either sign, a fraction of the k-th value has no meaning.
        mean, sd = (points[f"{kind}_gap"] / points["mean_smallest"] for kind in ("mean", "sd"))
        gap = points.assign(mean_gap=mean, sd_gap=sd)
        dots(figure, gap, "gap", "gap over the k-th value", theme.PALETTE[1], "square")
    figure.update_yaxes(range=[-0.02, 1.02])
    return theme.style(figure, axis_title, "fraction", height=480)


def histogram(
    values: Array,
    x: Array,
    density: Array,
    *,
    edge: float,
    spike: float | None,
    extent: tuple[float, float],
    title: str,
) -> Figure:
    """Return all eigenvalues as a histogram (a density, area 1), the largest as a marker, and lines of theory.

    x, density: of the bulk. edge: its end. spike: the predicted outlier, or None. extent: of the axis, the same for all
    that are to be compared.
    """
    figure, largest = Figure(), float(values.max())
    counts, ends = np.histogram(values, bins=BINS, range=extent)
    heights = counts / (len(values) * np.diff(ends))
    figure.add_bar(
        x=(ends[:-1] + ends[1:]) / 2,
        y=heights,
        width=ends[1] - ends[0],
        name=f"all {len(values)} eigenvalues",
        marker={"color": theme.faint(theme.PALETTE[0], 0.45), "line": {"width": 0}},
        hovertemplate="%{x:.3g}: density %{y:.3g}<extra></extra>",
    )
    theme.dashed(figure, x, density, theme.PALETTE[0], name="bulk, predicted")
    high = 1.1 * float(max(density.max(), heights.max()))
    for place, color, name in ((edge, theme.INK, "edge, predicted"), (spike, theme.PALETTE[1], "spike, predicted")):
        if place is not None:
            theme.dashed(figure, [place, place], [0, high], color, name=name, hover=f"{name}: {place:.4g}")
    look = {"symbol": "triangle-down", "size": 14, "color": theme.PALETTE[1]}
    hover, name = f"largest: {largest:.4g}<extra></extra>", "largest eigenvalue"
    figure.add_scatter(x=[largest], y=[0.05 * high], mode="markers", name=name, marker=look, hovertemplate=hover)
    figure.update_xaxes(range=list(extent)).update_yaxes(range=[0, high])
    return theme.style(figure.update_layout(bargap=0), title, "density")

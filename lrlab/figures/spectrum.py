"""Figures of spectra along an axis and of one sample: simulations beside theory."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lrlab.arrays import Array
from lrlab.figures import theme
from lrlab.figures.build import Figure


class Series(NamedTuple):
    """A value of a spectrum: its name in columns of trials, its words, its theory's and infinite data's columns."""

    name: str
    words: str
    theory: str
    endless: str
    color: str
    symbol: str


PAIRWISE: tuple[Series, ...] = (
    Series("top", "largest", "top", "population_top", theme.PALETTE[0], "circle"),
    Series("second", "second", "second", "population_rest", theme.PALETTE[1], "square"),
)
STARTS: tuple[Series, ...] = (
    Series("largest", "largest", "largest", "true_largest", theme.PALETTE[0], "circle"),
    Series("smallest", "k-th: the last signal value", "smallest", "true_smallest", theme.PALETTE[2], "diamond"),
    Series("next", "next: the bulk", "edge", "", theme.PALETTE[1], "square"),
)
OVERLAP = Series("overlap", "overlap", "overlap", "", theme.PALETTE[0], "circle")
GAP = Series("relative_gap", "gap over the k-th value", "", "", theme.PALETTE[1], "square")
"""Values of the pairwise moments of single-index models, and of the moments of spectral initializations; fractions."""
SPREAD = "%{y:.4g} ± %{customdata[1]:.2g}, trials: %{customdata[0]}"


def eigenvalues(
    points: pd.DataFrame, curve: pd.DataFrame, bands: pd.DataFrame | None = None, *, axis_title: str
) -> Figure:
    """Return the largest values of a moment: dots with bars for trials, dashed theory, dotted limits of infinite data.

    points: rows of `compare` of `spectra.pairwise`, one moment per value, or of `spectra.moments`; or no rows. curve:
    rows of `predictions` on a fine grid. bands: rows of `pairwise.bands`.
    """
    if "moment" in curve:
        # With both moments, each covers its informative range.
        own, several = PAIRWISE, curve["moment"].nunique() > 1
        title = "eigenvalue of M/4,<br>of M'/4 where φ < 0" if several else f"eigenvalue of {curve['moment'].min()}/4"
        endless = "infinite data, E[M]/4"
    else:
        # For k = 1 the largest value is the k-th, in theory and in trials.
        known = curve[curve["largest"].notna()]
        equal = points.empty or (points["mean_largest"] == points["mean_smallest"]).all()
        own = STARTS[1:] if equal and (known["largest"] == known["smallest"]).all() else STARTS
        title, endless = "singular value of the moment", "infinite data: the largest and the k-th"
    return theme.style(_drawn(own, points, curve, bands, endless), axis_title, title, height=480)


def overlaps(
    points: pd.DataFrame, curve: pd.DataFrame, bands: pd.DataFrame | None = None, *, axis_title: str
) -> Figure:
    """Return the squared overlap of the leading vectors with the ground truth, see `eigenvalues`.

    Of spectral initializations also the gap, as a fraction of the k-th value.
    """
    own = [OVERLAP]
    # If the bulk ends below zero, as for weights of either sign, a fraction of the k-th value has no meaning.
    if "mean_gap" in points and not (curve["edge"] <= 0).any():
        mean, sd = (points[f"{kind}_gap"] / points["mean_smallest"] for kind in ("mean", "sd"))
        own, points = [OVERLAP, GAP], points.assign(mean_relative_gap=mean, sd_relative_gap=sd)
    figure = _drawn(own, points, curve, bands).update_yaxes(range=[-0.02, 1.02])
    title = "squared overlap  ⟨b̂, b⟩²" if "moment" in curve else "fraction"
    return theme.style(figure, axis_title, title, height=480)


def _drawn(
    own: Sequence[Series], points: pd.DataFrame, curve: pd.DataFrame, bands: pd.DataFrame | None, endless: str = ""
) -> Figure:
    """Return bands, theory and trials of values; endless: the name of the lines of infinite data."""
    figure, at, pairs = Figure(), curve["at"], "moment" in curve
    if bands is not None and len(bands):
        for one in own:
            words = f"{one.words}, 90% of samples at this n and p"
            theme.band(figure, bands["at"], bands[f"low_{one.name}"], bands[f"high_{one.name}"], one.color, words)
    for k, one in enumerate(own):
        look: dict[str, Any] = {"showlegend": k == 0, "legendgroup": "infinite data"}
        # There is none for other designs than Gaussian.
        if one.endless and curve[one.endless].notna().any():
            hover = f"{one.words} for infinite data: %{{y:.4g}}"
            theme.line(figure, at, curve[one.endless], hover=hover, dash="dot", width=1.6, name=endless, **look)
        if one.theory and curve[one.theory].notna().any():
            look, hover = {**look, "legendgroup": "theory"}, f"{one.words}, theory: %{{y:.4g}}"
            name = "theory at this n/p" if pairs else "theory"
            theme.dashed(figure, at, curve[one.theory], one.color, name=name, hover=hover, **look)
        mean, sd = f"mean_{one.name}", f"sd_{one.name}"
        rows = points.reindex(columns=["at", "trials", mean, sd])
        trials = "not run yet" if points.empty else f"mean ± sd, trials: {rows['trials'].max():.0f}"
        figure.add_scatter(
            x=rows["at"],
            y=rows[mean],
            mode="markers",
            marker={"color": one.color, "symbol": one.symbol},
            error_y={**theme.BARS, "array": rows[sd]},
            name=f"{one.words}, simulated ({trials})" if pairs or one is OVERLAP else one.words,
            customdata=rows[["trials", sd]],
            hovertemplate=f"{one.words}: {SPREAD}<extra></extra>",
        )
    intervals = recoverable(curve) if "threshold" in curve else []
    for start, end in intervals:
        figure.add_vrect(x0=start, x1=end, fillcolor=theme.faint(theme.PALETTE[2], 0.10), line_width=0, layer="below")
    if intervals:
        # An entry of the legend, since a note inside the plot would lie on the dots of a narrow one.
        band = {"color": theme.faint(theme.PALETTE[2], 0.35), "symbol": "square", "size": 12}
        name = "n/p above the threshold: recovery possible"
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=band, name=name)
    return figure


def recoverable(curve: pd.DataFrame) -> list[tuple[float, float]]:
    """Return the intervals of the axis with n/p above the threshold, from neighboring points of the curve."""
    at, above = curve["at"].to_numpy(dtype=float), (curve["ratio"] > curve["threshold"]).to_numpy(dtype=int)
    between = np.concatenate([at[:1], (at[:-1] + at[1:]) / 2.0, at[-1:]])
    ends = between[np.flatnonzero(np.diff(above, prepend=0, append=0))]
    return [(float(start), float(end)) for start, end in ends.reshape(-1, 2)]


def histogram(
    values: Array, bulk: tuple[Array, Array], edge: float, spike: float | None, extent: tuple[float, float], title: str
) -> Figure:
    """Return all eigenvalues as a histogram (a density, area 1), the largest as a marker, and lines of theory.

    bulk: points and density of its law. edge: its end. spike: the predicted outlier, or None. extent: of the axis, the
    same for all that are to be compared.
    """
    figure, largest = Figure(), float(values.max())
    counts, ends = np.histogram(values, bins=40, range=extent)
    heights = counts / (len(values) * np.diff(ends))
    figure.add_bar(
        x=(ends[:-1] + ends[1:]) / 2,
        y=heights,
        width=ends[1] - ends[0],
        name=f"all {len(values)} eigenvalues",
        marker={"color": theme.faint(theme.PALETTE[0], 0.45), "line": {"width": 0}},
        hovertemplate="%{x:.3g}: density %{y:.3g}<extra></extra>",
    )
    theme.dashed(figure, *bulk, theme.PALETTE[0], name="bulk, predicted")
    high = 1.1 * float(max(bulk[1].max(), heights.max()))
    lines = (edge, theme.INK, "edge, predicted", "dot"), (spike, theme.PALETTE[1], "spike, predicted", "dashdot")
    for place, color, name, dash in lines:
        if place is not None:
            theme.dashed(figure, [place, place], [0, high], color, name=name, dash=dash, hover=f"{name}: {place:.4g}")
    look = {"symbol": "triangle-down", "size": 14, "color": theme.PALETTE[1]}
    hover, name = f"largest: {largest:.4g}<extra></extra>", "largest eigenvalue"
    figure.add_scatter(x=[largest], y=[0.05 * high], mode="markers", name=name, marker=look, hovertemplate=hover)
    figure.update_xaxes(range=list(extent)).update_yaxes(range=[0, high])
    return theme.style(figure.update_layout(bargap=0), title, "density")

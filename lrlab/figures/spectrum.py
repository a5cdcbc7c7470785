"""Figures of spectra: eigenvalues of the pairwise moment, their prediction at finite n/p, and the population curve."""

import numpy as np
import pandas as pd

from lrlab.figures import theme
from lrlab.figures.build import Figure

SERIES = (
    ("top", "largest", "population_top", theme.PALETTE[0], "circle"),
    ("second", "second", "population_rest", theme.PALETTE[1], "square"),
)
COLUMNS = ("at", "trials", "mean_top", "sd_top", "mean_second", "sd_second", "mean_overlap")


def eigenvalues(
    points: pd.DataFrame, curve: pd.DataFrame, bands: pd.DataFrame | None = None, *, axis_title: str
) -> Figure:
    """Return the two largest eigenvalues: dots with bars for the trials, dashed predictions, dotted population curves.

    points: rows of `spectra.pairwise.compare`; curve: rows of `predictions` on a fine grid; bands: rows of `bands`; one
    moment a value.
    """
    figure = Figure()
    for name, words, _, colour, _ in SERIES:
        _band(figure, bands, name, f"{words}, 90% of draws at this n and p", colour)
    trials = f"mean ± sd of {points['trials'].max()} trials"
    for name, words, population, colour, symbol in SERIES:
        figure.add_scatter(
            x=curve["at"], y=curve[population], mode="lines", line=theme.POPULATION, legendgroup="population",
            name="infinite data, E[M]/4", showlegend=name == "top",
            hovertemplate=f"{words} of E[M]/4: %{{y:.4g}}<extra></extra>",
        )  # fmt: skip
        predicted, hover = f"{words}, predicted at this n/p", f"{words}, predicted: %{{y:.4g}}"
        theme.dashed(figure, curve["at"], curve[name], colour, name=predicted, hover=hover)
        simulated = f"{words}, simulated"
        theme.dots(figure, points, name, simulated, colour, symbol, legend=f"{simulated} ({trials})")
    _shade_recoverable(figure, curve)
    return theme.style(figure, axis_title, "eigenvalue of M/4", height=480)


def overlaps(
    points: pd.DataFrame, curve: pd.DataFrame, bands: pd.DataFrame | None = None, *, axis_title: str
) -> Figure:
    """Return the squared overlap of the leading eigenvector with the truth: dots, and its prediction."""
    figure, (colour, symbol) = Figure(), SERIES[0][3:]
    _band(figure, bands, "overlap", "90% of draws at this n and p", colour)
    name, hover = "predicted at this n/p", "predicted: %{y:.3f}"
    theme.dashed(figure, curve["at"], curve["overlap"], colour, name=name, hover=hover)
    legend = f"simulated (mean of {points['trials'].max()} trials)"
    theme.dots(figure, points, "overlap", "simulated", colour, symbol, legend=legend)
    _shade_recoverable(figure, curve)
    figure.update_yaxes(range=[-0.02, 1.02])
    return theme.style(figure, axis_title, "squared overlap  ⟨b̂, b⟩²", height=480)


def _band(figure: Figure, bands: pd.DataFrame | None, name: str, words: str, colour: str) -> None:
    if bands is None or bands.empty:
        return
    around = {"x": [*bands["at"], *bands["at"][::-1]], "y": [*bands[f"low_{name}"], *bands[f"high_{name}"][::-1]]}
    figure.add_scatter(
        **around, mode="lines", line={"width": 0}, fill="toself", fillcolor=theme.faint(colour), name=words,
        hoverinfo="skip",
    )  # fmt: skip


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
    """Return the intervals of the axis on which n/p exceeds the threshold, from neighbouring points of the curve."""
    at, above = curve["at"].to_numpy(dtype=float), (curve["ratio"] > curve["threshold"]).to_numpy(dtype=int)
    between = np.concatenate([at[:1], (at[:-1] + at[1:]) / 2.0, at[-1:]])
    ends = between[np.flatnonzero(np.diff(above, prepend=0, append=0))]
    return [(float(start), float(end)) for start, end in ends.reshape(-1, 2)]

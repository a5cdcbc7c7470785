"""Figures of spectra: eigenvalues of the pairwise moment, their prediction at finite n/p, and the population curve."""

import math

import pandas as pd
import plotly.graph_objects as go

from lrlab.figures import theme

SERIES = (
    ("top", "largest", "population_top", theme.PALETTE[0], "circle"),
    ("second", "second", "population_rest", theme.PALETTE[1], "square"),
)


def eigenvalues(points: pd.DataFrame, curve: pd.DataFrame, *, axis_title: str, title: str = "") -> go.Figure:
    """Return the two largest eigenvalues: dots with bars for the trials, dashed predictions, dotted population curves.

    points: rows of `spectra.pairwise.compare`; curve: rows of `predictions` on a fine grid; one moment a value.
    """
    figure = go.Figure()
    for name, words, population, colour, symbol in SERIES:
        figure.add_scatter(
            x=curve["at"], y=curve[population], mode="lines", line=theme.POPULATION, legendgroup="population",
            name="infinite data, E[M]/4 (the paper's curve)", showlegend=name == "top",
            hovertemplate=f"{words} of E[M]/4: %{{y:.4g}}<extra></extra>",
        )  # fmt: skip
        figure.add_scatter(
            x=curve["at"], y=curve[name], mode="lines", line={**theme.THEORY, "color": colour},
            name=f"{words}, predicted at this n/p", hovertemplate=f"{words}, predicted: %{{y:.4g}}<extra></extra>",
        )  # fmt: skip
        _dots(figure, points, f"mean_{name}", f"sd_{name}", f"{words}, simulated", colour, symbol)
    _layout(figure, curve, axis_title, "eigenvalue of M/4", title)
    return figure


def overlaps(points: pd.DataFrame, curve: pd.DataFrame, *, axis_title: str, title: str = "") -> go.Figure:
    """Return the squared overlap of the leading eigenvector with the truth: dots, and its prediction."""
    colour, symbol = SERIES[0][3:]
    figure = go.Figure()
    figure.add_scatter(
        x=curve["at"], y=curve["overlap"], mode="lines", line={**theme.THEORY, "color": colour},
        name="predicted at this n/p", hovertemplate="predicted: %{y:.3f}<extra></extra>",
    )  # fmt: skip
    _dots(figure, points, "mean_overlap", None, "simulated", colour, symbol)
    _layout(figure, curve, axis_title, "squared overlap  ⟨b̂, b⟩²", title)
    figure.update_yaxes(range=[-0.02, 1.02])
    return figure


def _dots(
    figure: go.Figure, points: pd.DataFrame, mean: str, spread: str | None, name: str, colour: str, symbol: str
) -> None:
    bars = {"type": "data", "array": points[spread], "thickness": 1.2, "width": 3} if spread else None
    extent = "%{y:.4g} ± %{customdata[1]:.2g}" if spread else "%{y:.3f}"
    what = f"mean ± sd of {points['trials'].max()} trials" if spread else f"mean of {points['trials'].max()} trials"
    figure.add_scatter(
        x=points["at"], y=points[mean], error_y=bars, mode="markers", marker={"color": colour, "symbol": symbol},
        customdata=points[["trials", spread or mean]],
        name=f"{name} ({what})",
        hovertemplate=f"{name}: {extent}, %{{customdata[0]}} trials<extra></extra>",
    )  # fmt: skip


def _layout(figure: go.Figure, curve: pd.DataFrame, axis_title: str, value_title: str, title: str) -> None:
    for start, end in recoverable(curve):
        figure.add_vrect(x0=start, x1=end, fillcolor=theme.faint(theme.PALETTE[2], 0.10), line_width=0, layer="below")
    if recoverable(curve):
        # An entry of the legend, since a note inside the plot would lie on the dots of a narrow one.
        band = {"color": theme.faint(theme.PALETTE[2], 0.35), "symbol": "square", "size": 12}
        figure.add_scatter(
            x=[None], y=[None], mode="markers", marker=band, name="n/p above the threshold: recovery possible"
        )
    figure.update_xaxes(title_text=axis_title)
    figure.update_yaxes(title_text=value_title)
    figure.update_layout(title_text=title)
    theme.style(figure, height=480)


def recoverable(curve: pd.DataFrame) -> list[tuple[float, float]]:
    """Return the intervals of the axis on which n/p exceeds the threshold, from neighbouring points of the curve."""
    intervals: list[tuple[float, float]] = []
    start = math.nan
    at, above = list(curve["at"]), list(curve["ratio"] > curve["threshold"])
    for k, inside in enumerate(above):
        if inside and math.isnan(start):
            start = at[k] if k == 0 else (at[k - 1] + at[k]) / 2.0
        if not math.isnan(start) and (not inside or k == len(at) - 1):
            intervals.append((start, at[k] if inside else (at[k - 1] + at[k]) / 2.0))
            start = math.nan
    return intervals

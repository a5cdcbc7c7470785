"""Figures of the moment of a spectral start: signal values, the bulk, the gap, the overlap."""

import pandas as pd
import plotly.graph_objects as go

from lrlab.figures import theme

SERIES = (
    ("largest", "largest", theme.PALETTE[0], "circle", "largest"),
    ("smallest", "k-th: the last signal value", theme.PALETTE[2], "diamond", "smallest"),
    ("next", "next: the bulk", theme.PALETTE[1], "square", "edge"),
)
COLUMNS = ("at", "trials") + tuple(
    f"{kind}_{name}" for kind in ("mean", "sd") for name in ("largest", "smallest", "next", "gap", "overlap")
)


def no_points() -> pd.DataFrame:
    """Return an empty table of points."""
    return pd.DataFrame({column: [] for column in COLUMNS})


def values(points: pd.DataFrame, curve: pd.DataFrame, *, axis_title: str) -> go.Figure:
    """Return the largest values of the moment: dots with bars for trials, dashed lines for theory.

    points: rows of `spectra.moments.compare`; curve: rows of `predictions` on a fine grid. Dotted: the truth's.
    """
    figure = go.Figure()
    for k, name in enumerate(("true_largest", "true_smallest")):
        figure.add_scatter(
            x=curve["at"], y=curve[name], mode="lines", line=theme.POPULATION, legendgroup="truth", showlegend=not k,
            name="infinite data: the largest and the k-th", hovertemplate="truth: %{y:.4g}<extra></extra>",
        )  # fmt: skip
    one = bool(
        (curve["largest"] == curve["smallest"]).all() and (points["mean_largest"] == points["mean_smallest"]).all()
    )
    for name, words, colour, symbol, limit in SERIES[1:] if one else SERIES:
        figure.add_scatter(
            x=curve["at"], y=curve[limit], mode="lines", line={**theme.THEORY, "color": colour}, showlegend=False,
            hovertemplate=f"{words}, theory: %{{y:.4g}}<extra></extra>",
        )  # fmt: skip
        _dots(figure, points, name, words, colour, symbol)
    figure.add_scatter(x=[None], y=[None], mode="lines", line={**theme.THEORY, "color": theme.INK}, name="theory")
    return _laid_out(figure, axis_title, "singular value of the moment")


def overlaps(points: pd.DataFrame, curve: pd.DataFrame, *, axis_title: str) -> go.Figure:
    """Return the gap over the k-th value, and the mean squared overlap of the k leading vectors with the truth."""
    figure = go.Figure()
    colour = theme.PALETTE[0]
    figure.add_scatter(
        x=curve["at"], y=curve["overlap"], mode="lines", line={**theme.THEORY, "color": colour}, showlegend=False,
        hovertemplate="theory: %{y:.3f}<extra></extra>",
    )  # fmt: skip
    _dots(figure, points, "overlap", "overlap of the start with the truth", colour, "circle")
    if (curve["edge"] > 0).all():
        # Where the bulk ends below zero, as for weights of either sign, a share of the k-th value has no meaning.
        gap = points.assign(
            mean_share=points["mean_gap"] / points["mean_smallest"], sd_share=points["sd_gap"] / points["mean_smallest"]
        )
        _dots(figure, gap, "share", "gap over the k-th value", theme.PALETTE[1], "square")
    figure.update_yaxes(range=[-0.02, 1.02])
    return _laid_out(figure, axis_title, "share")


def _dots(figure: go.Figure, points: pd.DataFrame, name: str, words: str, colour: str, symbol: str) -> None:
    figure.add_scatter(
        x=points["at"], y=points[f"mean_{name}"], mode="markers", marker={"color": colour, "symbol": symbol},
        error_y={"type": "data", "array": points[f"sd_{name}"], "thickness": 1.2, "width": 3}, name=words,
        customdata=points[["trials", f"sd_{name}"]],
        hovertemplate=f"{words}: %{{y:.4g}} ± %{{customdata[1]:.2g}}, %{{customdata[0]}} trials<extra></extra>",
    )  # fmt: skip


def _laid_out(figure: go.Figure, axis_title: str, value_title: str) -> go.Figure:
    figure.update_xaxes(title_text=axis_title)
    figure.update_yaxes(title_text=value_title)
    return theme.style(figure, height=480)

"""Figures of several series over one axis: a statistic of the trials of every point, with its spread."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from lrlab.figures import theme


def series(
    points: pd.DataFrame,
    *,
    axis_title: str,
    value_title: str,
    log_x: bool = False,
    log_y: bool = False,
    lines: bool = True,
    bands: bool = False,
    marks: dict[str, float] | None = None,
    theory: pd.DataFrame | None = None,
) -> go.Figure:
    """Return one line per series.

    points: columns series, x, y, low, high (ends of the bars, or of `bands`), trials. marks: upright lines, by name.
    theory: series, x, y of dashed lines of exact predictions. A point's customdata is trials, low, high, series.
    """
    figure = go.Figure()
    theory_names = [] if theory is None else theory["series"]
    names = list(dict.fromkeys([*points["series"], *theory_names]))
    colours, symbols, dashes = theme.colours(names), theme.symbols(names), theme.dashes(names)
    for name in names:
        rows = points[points["series"] == name]
        many, banded = len(rows) > 40, bands or len(rows) > 40
        figure.add_scatter(
            x=rows["x"], y=rows["y"], name=name, mode="lines" if many else "lines+markers" if lines else "markers",
            line={"color": colours[name], "dash": dashes[name]},
            marker={"color": colours[name], "symbol": symbols[name], "size": 6},
            customdata=rows[["trials", "low", "high", "series"]],
            error_y=None if banded else _bars(rows),
            hovertemplate=f"{name}<br>%{{x:.5g}}: %{{y:.3g}}, %{{customdata[1]:.3g}} to %{{customdata[2]:.3g}}<br>"
            "%{customdata[0]} trials<extra></extra>",
        )  # fmt: skip
        if banded:
            _band(figure, rows, colours[name])
        if theory is not None:
            _add_theory(figure, theory[theory["series"] == name], name, colours[name])
    extent = [float(points["low"].min()), float(points["high"].max())] if len(points) else [0.0, 1.0]
    for name, x in (marks or {}).items():
        figure.add_scatter(
            x=[x, x], y=extent, mode="lines", line={**theme.THEORY, "color": theme.INK}, name=f"{name} ({x:.4g})",
            hovertemplate=f"{name}: %{{x:.4g}}<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(title_text=axis_title, type="log" if log_x else "linear")
    figure.update_yaxes(title_text=value_title, type="log" if log_y else "linear", exponentformat="power")
    return theme.style(figure, height=480)


def _add_theory(figure: go.Figure, points: pd.DataFrame, name: str, colour: str) -> None:
    figure.add_scatter(
        x=points["x"], y=points["y"], mode="lines", name=f"theory, {name}", line={**theme.THEORY, "color": colour},
        hovertemplate=f"theory, {name}<br>%{{x:.5g}}: %{{y:.3g}}<extra></extra>", showlegend=len(points) > 0,
    )  # fmt: skip


def _bars(rows: pd.DataFrame) -> dict:
    return {
        "type": "data", "symmetric": False, "array": rows["high"] - rows["y"], "arrayminus": rows["y"] - rows["low"],
        "thickness": 1.2, "width": 3,
    }  # fmt: skip


def _band(figure: go.Figure, rows: pd.DataFrame, colour: str) -> None:
    figure.add_scatter(
        x=np.concatenate([rows["x"], rows["x"][::-1]]), y=np.concatenate([rows["high"], rows["low"][::-1]]),
        fill="toself", fillcolor=theme.faint(colour), line={"width": 0}, mode="lines", showlegend=False,
        hoverinfo="skip",
    )  # fmt: skip

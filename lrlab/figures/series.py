"""Figures of several series over one axis: a statistic of the trials of every point, with its spread."""

import numpy as np
import pandas as pd

from lrlab.figures import theme
from lrlab.figures.build import Figure


def series(
    points: pd.DataFrame,
    *,
    axis_title: str,
    value_title: str,
    log_x: bool = False,
    log_y: bool = False,
    bands: bool = False,
    marks: dict[str, float] | None = None,
    theory: pd.DataFrame | None = None,
    limits: pd.DataFrame | None = None,
) -> Figure:
    """Return one line per series.

    points: columns series, x, y, low, high (ends of the bars, or of `bands`), trials. marks: upright lines, by name.
    theory: series, x, y of dashed lines of exact predictions. limits: name, x, y of lines of all methods.
    A point's customdata is trials, low, high, series.
    """
    figure = Figure()
    theory_names = [] if theory is None else theory["series"]
    names = list(dict.fromkeys([*points["series"], *theory_names]))
    colours, symbols, dashes = theme.colours(names), theme.symbols(names), theme.dashes(names)
    for name in names:
        rows = points[points["series"] == name]
        many, banded = len(rows) > 40, bands or len(rows) > 40
        ends = {"array": rows["high"] - rows["y"], "arrayminus": rows["y"] - rows["low"]}
        figure.add_scatter(
            x=rows["x"], y=rows["y"], name=name, mode="lines" if many else "lines+markers",
            line={"color": colours[name], "dash": dashes[name]},
            marker={"color": colours[name], "symbol": symbols[name], "size": 6},
            customdata=rows[["trials", "low", "high", "series"]],
            error_y=None if banded else {**theme.BARS, "symmetric": False, **ends},
            hovertemplate=f"{name}<br>%{{x:.5g}}: %{{y:.3g}}, %{{customdata[1]:.3g}} to %{{customdata[2]:.3g}}<br>"
            "%{customdata[0]} trials<extra></extra>",
        )  # fmt: skip
        if banded:
            _band(figure, rows, colours[name])
        if theory is not None:
            line, words = theory[theory["series"] == name], f"theory, {name}"
            hover = f"{words}<br>%{{x:.5g}}: %{{y:.3g}}"
            theme.dashed(figure, line["x"], line["y"], colours[name], name=words, hover=hover, showlegend=len(line) > 0)
    for k, (name, line) in enumerate(() if limits is None else limits.groupby("name", sort=False)):
        hover = f"{name}, for large n and p<br>%{{x:.5g}}: %{{y:.3g}}<extra></extra>"
        look = {**theme.POPULATION, "width": 2.5, "dash": ("dash", "dot")[k % 2]}
        figure.add_scatter(x=line["x"], y=line["y"], name=name, mode="lines", line=look, hovertemplate=hover)
    extent = [float(points["low"].min()), float(points["high"].max())] if len(points) else [0.0, 1.0]
    for name, x in (marks or {}).items():
        theme.dashed(figure, [x, x], extent, name=f"{name} ({x:.4g})", hover=f"{name}: %{{x:.4g}}")
    figure.update_xaxes(type="log" if log_x else "linear")
    figure.update_yaxes(type="log" if log_y else "linear")
    return theme.style(figure, axis_title, value_title, height=480)


def _band(figure: Figure, rows: pd.DataFrame, colour: str) -> None:
    figure.add_scatter(
        x=np.concatenate([rows["x"], rows["x"][::-1]]), y=np.concatenate([rows["high"], rows["low"][::-1]]),
        fill="toself", fillcolor=theme.faint(colour), line={"width": 0}, mode="lines", showlegend=False,
        hoverinfo="skip",
    )  # fmt: skip

"""Figures of several series over one axis: statistics of trials, numbers of a paper next to ours, rates."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd

from lrlab.figures import theme
from lrlab.figures.build import Figure
from lrlab.figures.recovery import Recovery

LEGEND_LINES, LEGEND_LINE = 8, 24
"""Most lines of the legend at the usual height, and the height of one in pixels."""


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
    looks: Mapping[str, Recovery] = MappingProxyType({}),
) -> Figure:
    """Return one line per series.

    points: columns series, x, y, low, high (ends of the bars, or of `bands`), trials. marks: upright lines, by name.
    theory: kind ("predicted" or "limit" for large sizes), series, x, y, low, high (the band of draws at the size of a
    point, or nan). limits: name, x, y of lines of all methods. looks: the styles of series that have a fixed one. A
    point's customdata is trials, low, high, series, x.
    """
    figure = Figure()
    theory_names = [] if theory is None else theory["series"]
    names = list(dict.fromkeys([*points["series"], *theory_names]))
    colors, symbols, dashes = theme.colors(names), theme.symbols(names), theme.dashes(names)
    for name, own in looks.items():
        colors[name], symbols[name], dashes[name] = own.color, own.symbol, own.dash
    for name in names:
        rows = points[points["series"] == name]
        many, banded = len(rows) > 40, bands or len(rows) > 40
        ends = {"array": rows["high"] - rows["y"], "arrayminus": rows["y"] - rows["low"]}
        figure.add_scatter(
            x=rows["x"],
            y=rows["y"],
            name=name,
            mode="lines" if many else "lines+markers",
            line={"color": colors[name], "dash": dashes[name]},
            marker={"color": colors[name], "symbol": symbols[name], "size": 6},
            customdata=rows[["trials", "low", "high", "series", "x"]],
            error_y=None if banded else {**theme.BARS, "symmetric": False, **ends},
            hovertemplate=f"{name}<br>%{{x:,.6~g}}: %{{y:.3g}}, %{{customdata[1]:.3g}} to %{{customdata[2]:.3g}}<br>"
            "%{customdata[0]} trials<extra></extra>",
        )
        if banded:
            theme.band(figure, rows["x"], rows["low"], rows["high"], colors[name])
        if theory is not None:
            _add_theory(figure, theory[theory["series"] == name], name, colors[name])
    for k, (name, line) in enumerate(() if limits is None else limits.groupby("name", sort=False)):
        hover = f"{name}<br>%{{x:.5g}}: %{{y:.3g}}<extra></extra>"
        look = {**theme.POPULATION, "width": 2.5, "dash": ("dash", "dot", "dashdot", "longdash")[k % 4]}
        figure.add_scatter(x=line["x"], y=line["y"], name=name, mode="lines", line=look, hovertemplate=hover)
    extent = [float(points["low"].min()), float(points["high"].max())] if len(points) else [0.0, 1.0]
    for name, x in (marks or {}).items():
        theme.dashed(figure, [x, x], extent, name=f"{name} ({x:.4g})", hover=f"{name}: %{{x:.4g}}")
    figure.update_xaxes(type="log" if log_x else "linear")
    figure.update_yaxes(type="log" if log_y else "linear")
    return theme.style(figure, axis_title, value_title, height=480)


def _add_theory(figure: Figure, theory: pd.DataFrame, name: str, color: str) -> None:
    """Add what theory says of a series: at the sizes of the points with its band, and the limit for large ones."""
    line, words = theory[theory["kind"] == "predicted"], f"theory, {name}"
    banded = line.dropna()
    # Draws of problems of this size have a band; a formula has none, and may be one for large sizes.
    hover = f"{words}{', finite-size prediction' if len(banded) else ''}<br>%{{x:.5g}}: %{{y:.3g}}"
    theme.dashed(figure, line["x"], line["y"], color, name=words, hover=hover, showlegend=len(line) > 0)
    if len(banded):
        theme.band(figure, banded["x"].to_numpy(), banded["low"].to_numpy(), banded["high"].to_numpy(), color)
    limit = theory[theory["kind"] == "limit"]
    if len(limit):
        theme.asymptote(figure, limit["x"], limit["y"], color, f"asymptotic limit of {name}", legend=False)


def beside(
    points: pd.DataFrame, *, axis_title: str, value_title: str, log_x: bool = False, categories: bool = False
) -> Figure:
    """Return a figure with one line per series, filled markers for ours and open ones for the paper's.

    points: columns series, x, ours, spread (standard deviation, nan of one trial), trials, paper (nan if it printed
    none). A series whose x is nan does not depend on it: a level line. categories: x are names, which no line joins.
    """
    figure = Figure()
    names = list(dict.fromkeys(points["series"]))
    colors, symbols = theme.colors(names), theme.symbols(names)
    known = points["x"].dropna()
    ends = [] if categories or known.empty else [known.min(), known.max()]
    for name in names:
        rows = points[points["series"] == name]
        if rows["x"].isna().all() and ends:
            rows = pd.concat([rows.iloc[:1].assign(x=end) for end in ends])
        for column, who in (("ours", "here"), ("paper", "paper")):
            # A line joins points in the order of the axis; a paper may repeat a number, as of a method without a rank.
            present = rows.dropna(subset=[column]).drop_duplicates(["x", column])
            present = present if categories else present.sort_values("x")
            if present.empty:
                continue
            ours = column == "ours"
            figure.add_scatter(
                x=present["x"],
                y=present[column],
                name=f"{name}, {who}",
                mode="markers" if categories else "lines+markers",
                line={"color": colors[name], "dash": "solid" if ours else "dot", "width": 2 if ours else 1.4},
                marker={"color": colors[name], "symbol": symbols[name] + ("" if ours else "-open"), "size": 9},
                error_y={**theme.BARS, "array": present["spread"]} if ours else None,
                customdata=present["trials"] if ours else None,
                hovertemplate=f"{name}, {who}<br>%{{x}}: %{{y:.4g}}"
                + ("<br>%{customdata} fits" if ours else "")
                + "<extra></extra>",
            )
    figure.update_xaxes(type="category" if categories else "log" if log_x else "linear")
    # The legend takes half of the height at most, beyond which it would scroll.
    more = max(0, len(figure.data) - LEGEND_LINES)
    return theme.style(figure, axis_title, value_title, height=480 + LEGEND_LINE * more)


def rates(
    points: pd.DataFrame,
    fits: Mapping[str, tuple[float, float]],
    *,
    axis_title: str,
    limit: float,
    exact: pd.DataFrame | None = None,
    exact_name: str = "exact limit for large p",
) -> Figure:
    """Return mean errors over a rate, one series per setting.

    points: columns series, rate, error, standard_error, trials, n, used (whether the fit uses it: filled markers).
    fits: (slope, R^2) by series, and for all of them together as "pooled". limit: the largest rate of the region.
    exact: rate, error of a prediction to compare with the dots, called `exact_name`.
    """
    figure = Figure()
    names = list(dict.fromkeys(points["series"]))
    colors, symbols = theme.colors(names), theme.symbols(names)
    slope, quality = fits["pooled"]
    if np.isfinite(slope):
        figure.add_scatter(
            x=[0.0, limit],
            y=[0.0, slope * limit],
            mode="lines",
            line={"color": theme.INK, "width": 2},
            hoverinfo="skip",
            name=f"error = {slope:.3g} × rate, fitted to all filled dots (R² = {quality:.3f})",
        )
    if exact is not None:
        hover = "exact limit: %{y:.3f}"
        theme.dashed(figure, exact["rate"], exact["error"], name=exact_name, hover=hover)
    for name in names:
        rows, symbol = points[points["series"] == name], symbols[name]
        marks = [symbol if used else f"{symbol}-open" for used in rows["used"]]
        figure.add_scatter(
            x=rows["rate"],
            y=rows["error"],
            mode="markers",
            marker={"color": colors[name], "symbol": marks},
            error_y={**theme.BARS, "array": rows["standard_error"]},
            customdata=rows[["n", "trials"]],
            name=f"{name} (R² = {fits[name][1]:.3f})",
            hovertemplate=f"{name}<br>n = %{{customdata[0]:,}}, rate %{{x:.4g}}<br>"
            "mean error %{y:.3f} of %{customdata[1]} trials<extra></extra>",
        )
    figure.add_vrect(x0=0.0, x1=limit, fillcolor=theme.faint(theme.PALETTE[2], 0.10), line_width=0, layer="below")
    figure.update_xaxes(range=[0.0, 1.04 * float(points["rate"].max())])
    figure.update_yaxes(range=[0.0, 1.45])
    return theme.style(figure, axis_title, "mean error  ‖b̂ − b‖", height=500)

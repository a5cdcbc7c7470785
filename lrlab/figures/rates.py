"""Figures of rates: mean error against a theoretical rate, with the line through the origin that fits it."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from lrlab.figures import theme
from lrlab.figures.build import Figure


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
    exact: rate, error of a prediction to lay beside the dots, called `exact_name`.
    """
    figure = Figure()
    names = list(dict.fromkeys(points["series"]))
    colours, symbols = theme.colours(names), theme.symbols(names)
    slope, quality = fits["pooled"]
    if np.isfinite(slope):
        figure.add_scatter(
            x=[0.0, limit], y=[0.0, slope * limit], mode="lines", line={"color": theme.INK, "width": 2},
            hoverinfo="skip", name=f"error = {slope:.3g} × rate, fitted to all filled dots (R² = {quality:.3f})",
        )  # fmt: skip
    if exact is not None:
        hover = "exact limit: %{y:.3f}"
        theme.dashed(figure, exact["rate"], exact["error"], name=exact_name, hover=hover)
    for name in names:
        _series(figure, points[points["series"] == name], name, fits[name][1], colours[name], symbols[name])
    figure.add_vrect(x0=0.0, x1=limit, fillcolor=theme.faint(theme.PALETTE[2], 0.10), line_width=0, layer="below")
    figure.update_xaxes(range=[0.0, 1.04 * float(points["rate"].max())])
    figure.update_yaxes(range=[0.0, 1.45])
    return theme.style(figure, axis_title, "mean error  ‖b̂ − b‖", height=500)


def _series(figure: Figure, rows: pd.DataFrame, name: str, quality: float, colour: str, symbol: str) -> None:
    marks = [symbol if used else f"{symbol}-open" for used in rows["used"]]
    figure.add_scatter(
        x=rows["rate"], y=rows["error"], mode="markers", marker={"color": colour, "symbol": marks},
        error_y={**theme.BARS, "array": rows["standard_error"]},
        customdata=rows[["n", "trials"]], name=f"{name} (R² = {quality:.3f})",
        hovertemplate=f"{name}<br>n = %{{customdata[0]:,}}, rate %{{x:.4g}}<br>"
        "mean error %{y:.3f} of %{customdata[1]} trials<extra></extra>",
    )  # fmt: skip

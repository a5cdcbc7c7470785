"""Figures of published numbers beside recomputed ones, by series."""

import pandas as pd

from lrlab.figures import theme
from lrlab.figures.build import Figure


def beside(
    points: pd.DataFrame, *, axis_title: str, value_title: str, log_x: bool = False, categories: bool = False
) -> Figure:
    """Return a figure with one line per series, filled markers for ours and open ones for the paper's.

    points: columns series, x, ours, spread (standard deviation, nan of one trial), trials, paper (nan where it printed
    none). A series whose x is nan does not depend on it: a level line. categories: x are names, which no line joins.
    """
    figure = Figure()
    names = list(dict.fromkeys(points["series"]))
    colours, symbols = theme.colours(names), theme.symbols(names)
    known = points["x"].dropna()
    ends = [] if categories or known.empty else [known.min(), known.max()]
    for name in names:
        rows = points[points["series"] == name]
        if rows["x"].isna().all() and ends:
            rows = pd.concat([rows.iloc[:1].assign(x=end) for end in ends])
        for column, who in (("ours", "here"), ("paper", "paper")):
            present = rows.dropna(subset=[column])
            if present.empty:
                continue
            ours = column == "ours"
            figure.add_scatter(
                x=present["x"], y=present[column], name=f"{name}, {who}",
                mode="markers" if categories else "lines+markers",
                line={"color": colours[name], "dash": "solid" if ours else "dot", "width": 2 if ours else 1.4},
                marker={"color": colours[name], "symbol": symbols[name] + ("" if ours else "-open"), "size": 9},
                error_y={**theme.BARS, "array": present["spread"]} if ours else None,
                customdata=present["trials"] if ours else None,
                hovertemplate=f"{name}, {who}<br>%{{x}}: %{{y:.4g}}"
                + ("<br>%{customdata} fits" if ours else "") + "<extra></extra>",
            )  # fmt: skip
    figure.update_xaxes(type="category" if categories else "log" if log_x else "linear")
    return theme.style(figure, axis_title, value_title, height=480)

"""Figures of several series over one axis: statistics of trials, and numbers of a paper next to ours."""

from collections.abc import Sequence

import pandas as pd

from lrlab.figures import theme
from lrlab.figures.build import Figure
from lrlab.figures.recovery import Recovery


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
    looks: Sequence[Recovery] = (),
) -> Figure:
    """Return one line per series.

    points: columns series, x, y, low, high (ends of the bars, or of `bands`), trials. marks: upright lines, by name.
    theory: kind ("predicted" or "limit" for large sizes), series, x, y, low, high (the band of draws at the size of a
    point, or nan). limits: name, x, y of lines of all methods. looks: styles that series of these titles have. A
    point's customdata is trials, low, high, series, x.
    """
    figure = Figure()
    theory_names = [] if theory is None else theory["series"]
    names = list(dict.fromkeys([*points["series"], *theory_names]))
    styled = theme.looks(names) | {one.title: theme.Look(one.color, one.dash, one.symbol) for one in looks}
    for name in names:
        color, dash, symbol = styled[name]
        rows = points[points["series"] == name]
        many, banded = len(rows) > 40, bands or len(rows) > 40
        ends = {"array": rows["high"] - rows["y"], "arrayminus": rows["y"] - rows["low"]}
        figure.add_scatter(
            x=rows["x"],
            y=rows["y"],
            name=name,
            mode="lines" if many else "lines+markers",
            line={"color": color, "dash": dash},
            marker={"color": color, "symbol": symbol, "size": 6},
            customdata=rows[["trials", "low", "high", "series", "x"]],
            error_y=None if banded else {**theme.BARS, "symmetric": False, **ends},
            hovertemplate=f"{name}<br>%{{x:,.6~g}}: %{{y:.3g}}, %{{customdata[1]:.3g}} to %{{customdata[2]:.3g}}<br>"
            "trials: %{customdata[0]}<extra></extra>",
        )
        if banded:
            theme.band(figure, rows["x"], rows["low"], rows["high"], color)
        if theory is not None:
            _add_theory(figure, theory[theory["series"] == name], name, color)
    for k, (name, limit) in enumerate(() if limits is None else limits.groupby("name", sort=False)):
        hover, dash = f"{name}<br>%{{x:.5g}}: %{{y:.3g}}", ("dash", "dot", "dashdot", "longdash")[k % 4]
        theme.line(figure, limit["x"], limit["y"], name=name, hover=hover, dash=dash, width=2.5)
    extent = [float(points["low"].min()), float(points["high"].max())] if len(points) else [0.0, 1.0]
    for name, x in (marks or {}).items():
        theme.dashed(figure, [x, x], extent, name=f"{name} ({x:.4g})", hover=f"{name}: %{{x:.4g}}")
    figure.update_xaxes(type="log" if log_x else "linear")
    figure.update_yaxes(type="log" if log_y else "linear")
    return theme.style(figure, axis_title, value_title, height=480)


def _add_theory(figure: Figure, theory: pd.DataFrame, name: str, color: str) -> None:
    """Add the predictions of a series at the n and p of its points, with their band, and its asymptotic limit."""
    line, words = theory[theory["kind"] == "predicted"], f"theory, {name}"
    banded = line.dropna()
    # Simulated predictions have a band; formulas have none, and may be asymptotic.
    hover = f"{words}{', finite-size prediction' if len(banded) else ''}<br>%{{x:.5g}}: %{{y:.3g}}"
    theme.dashed(figure, line["x"], line["y"], color, name=words, hover=hover, showlegend=len(line) > 0)
    if len(banded):
        theme.band(figure, banded["x"], banded["low"], banded["high"], color)
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
    looks = theme.looks(list(dict.fromkeys(points["series"])))
    known = points["x"].dropna()
    ends = [] if categories or known.empty else [known.min(), known.max()]
    for name, look in looks.items():
        rows = points[points["series"] == name]
        if rows["x"].isna().all() and ends:
            rows = pd.concat([rows.iloc[:1].assign(x=end) for end in ends])
        for column, who, dash, width in (("ours", "here", "solid", 2), ("paper", "paper", "dot", 1.4)):
            # Points follow the axis. A paper may repeat a number, for example for a method without a rank.
            present = rows.dropna(subset=[column]).drop_duplicates(["x", column])
            present = present if categories else present.sort_values("x")
            if present.empty:
                continue
            ours, words = column == "ours", f"{name}, {who}"
            figure.add_scatter(
                x=present["x"],
                y=present[column],
                name=words,
                mode="markers" if categories else "lines+markers",
                line={"color": look.color, "dash": dash, "width": width},
                marker={"color": look.color, "symbol": look.symbol + ("" if ours else "-open"), "size": 9},
                error_y={**theme.BARS, "array": present["spread"]} if ours else None,
                customdata=present["trials"] if ours else None,
                hovertemplate=f"{words}<br>%{{x}}: %{{y:.4g}}{'<br>%{customdata} fits' * ours}<extra></extra>",
            )
    figure.update_xaxes(type="category" if categories else "log" if log_x else "linear")
    # A legend of more than eight lines of 24 px would scroll, since it takes half of the height at most.
    more = max(0, len(figure.data) - 8)
    return theme.style(figure, axis_title, value_title, height=480 + 24 * more)

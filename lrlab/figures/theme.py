"""The style of all figures: colors, lines, names at their ends, margins; one template for all pages and for paper.

Backgrounds are transparent and text is a gray that reads on white and on near-black; a page replaces it by its own
text color.
"""

from collections.abc import Sequence
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from lrlab.arrays import Array
from lrlab.figures.build import Figure, Node

PALETTE = ("#0e75c3", "#d76506", "#007553", "#db7295", "#8f4b82", "#5d9d58", "#a9421b", "#1673f9")
"""Found by search: contrast at least 3:1 on white and on #12161d, pairwise CIELAB distance at least 20 in normal,
deuteranopic and protanopic sight (Machado et al. 2009). The last one is a second blue, for an eighth series."""
DARK_PALETTE = ("#63b6e3", "#ea9319", "#37a47a", "#ddaec1", "#ac63eb", "#d2d989", "#e16137", "#f2ffff")
"""The same for figures on a dark page, at least 4.5:1 on #12161d."""
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "triangle-down")
DASHES = ("solid", "longdash", "dashdot")
INK = "#7b7f88"
"""Text, axes and all that belongs to no series; at least 3.9:1 on white and on #12161d."""
GRID = "rgba(123, 127, 136, 0.22)"
FONT = "Source Sans, Source Sans 3, system-ui, -apple-system, Segoe UI, sans-serif"
SEQUENTIAL = "Viridis"
"""For success rates: perceptually even, and even in gray."""
PLASMA = ("#0d0887", "#46039f", "#7201a8", "#9c179e", "#bd3786", "#d8576b", "#ed7953", "#fb9f3a", "#fdca26", "#f0f921")
METRIC_COLORS = tuple((k / (len(PLASMA) - 1), color) for k, color in enumerate(PLASMA))
"""For maps of metrics, which never look like maps of successes: Plasma, as even (plotly.js lacks its name)."""
BARS = {"type": "data", "thickness": 1.2, "width": 3}
"""The bars of a spread."""
CHARACTER, LABEL, DOT, MARGINS = 6.6, 17.0, 7.0, 130.0
"""Width of a letter and height of a name at the end of a curve, diameter of a dot, and height of both margins, in
pixels."""
LONGEST = 20
"""Most characters per line of a name at the end of a curve."""


class Look(NamedTuple):
    """The look of a series: color, line pattern, and marker, so that series differ by more than color."""

    color: str
    dash: str
    symbol: str


def look(index: int) -> Look:
    """Return the look of a series by its index; colors repeat after eight, with another dash and marker."""
    again = index // len(PALETTE)
    color, dash = PALETTE[index % len(PALETTE)], DASHES[again % len(DASHES)]
    return Look(color, dash, SYMBOLS[(index + again) % len(SYMBOLS)])


def looks(names: Sequence[str]) -> dict[str, Look]:
    """Return a look for each name, by its index."""
    return {name: look(index) for index, name in enumerate(names)}


def faint(color: str, opacity: float = 0.18) -> str:
    """Return a "#rrggbb" color as a translucent one, for bands and areas."""
    red, green, blue = (int(color[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity})"


def pale(color: str) -> str:
    """Return a "#rrggbb" color halfway to the gray of text, for outdated values."""
    parts = [(int(color[k : k + 2], 16) + int(INK[k : k + 2], 16)) // 2 for k in (1, 3, 5)]
    return "#" + "".join(f"{part:02x}" for part in parts)


NUMBERS = {"exponentformat": "power", "minexponent": 5, "separatethousands": True}
"""Format of axes and color bars: 200,000 in full, and 5·10⁻¹⁴ as a power."""
LOG_TICKS, MOST_LOG_TICKS, POWERS = 3, 5, 0.7
"""Least and most ticks of logarithmic axes. Plotly labels 1, 2, 5 up to .7 decades per tick, powers of ten beyond."""
FULL = (-3, 5)
"""Exponents of ten of a logarithmic axis whose values are written in full."""
AXIS = {
    "automargin": True,
    **NUMBERS,
    "gridcolor": GRID,
    "linecolor": INK,
    "showline": True,
    "tickcolor": INK,
    "ticks": "outside",
    "ticklen": 4,
    "zeroline": False,
    "title": {"standoff": 8, "font": {"size": 14}},
}
LEGEND = {
    "orientation": "h",
    "yref": "container",
    "yanchor": "bottom",
    "y": 0.0,
    "bgcolor": "rgba(0, 0, 0, 0)",
}

TEMPLATE = Node(
    layout={
        "colorway": PALETTE,
        "meta": {"dark": DARK_PALETTE},
        "font": {"family": FONT, "size": 13, "color": INK},
        "paper_bgcolor": "rgba(0, 0, 0, 0)",
        "plot_bgcolor": "rgba(0, 0, 0, 0)",
        "title": {"font": {"size": 15}, "x": 0.0, "xref": "paper"},
        "xaxis": AXIS,
        "yaxis": AXIS,
        "coloraxis": {"colorbar": NUMBERS},
        "hoverlabel": {"font": {"family": FONT, "size": 13}, "align": "left"},
        "hovermode": "closest",
        "legend": LEGEND,
        "margin": {"l": 8, "r": 12, "t": 24, "b": 8},
    },
    data={
        "scatter": [{"type": "scatter", "line": {"width": 2}, "marker": {"size": 7}}],
        "heatmap": [{"type": "heatmap", "colorscale": SEQUENTIAL}],
    },
)


def line(
    figure: Figure,
    x: Any,
    y: Any,
    color: str = INK,
    *,
    name: str | None = None,
    hover: str | None = "",
    dash: str = "solid",
    width: float = 2.0,
    **look: Any,
) -> None:
    """Add a line, to the legend too if it has a name.

    hover: a hovertemplate; "" for a line that does not answer the pointer, None for plotly's own words.
    """
    answers = {
        "hovertemplate": f"{hover}<extra></extra>" if hover else None,
        "hoverinfo": "skip" if hover == "" else None,
    }
    known = {"mode": "lines", "showlegend": None if name else False, **answers, **look}
    figure.add_scatter(x=x, y=y, name=name, line={"color": color, "dash": dash, "width": width}, **known)


def dashed(figure: Figure, x: Any, y: Any, color: str = INK, **look: Any) -> None:
    """Add the line of an exact prediction, see `line`; by default plotly's own words answer the pointer."""
    line(figure, x, y, color, **{"dash": "dash", "width": 1.6, "hover": None, "showlegend": "name" in look, **look})


def asymptote(figure: Figure, x: Any, y: Any, color: str = INK, name: str = "", *, legend: bool) -> None:
    """Add the thin line of an asymptotic limit, and to the legend if asked."""
    look: dict[str, Any] = {"showlegend": legend, "legendgroup": "asymptote", "hover": f"{name}: %{{y:.4g}}"}
    line(figure, x, y, color, name=name, dash="dot", width=1, **look)


def band(figure: Figure, x: Any, low: Any, high: Any, color: str, name: str | None = None) -> None:
    """Add the area between two curves, to the legend too if it has a name."""
    x, low, high = (np.asarray(side) for side in (x, low, high))
    figure.add_scatter(
        x=np.concatenate([x, x[::-1]]),
        y=np.concatenate([high, low[::-1]]),
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=faint(color),
        name=name,
        showlegend=name is not None,
        hoverinfo="skip",
    )


def style(
    figure: Figure, x: str | None = None, y: str | None = None, *, height: int = 400, revision: str = "constant"
) -> Figure:
    """Apply the style to a figure, in place, and return it. x, y: titles of the axes; None leaves them.

    Zoom and hidden series stay over updates of the data for as long as `revision` is the same: change it when the
    axes mean something else. The legend lies below, and margins fit a telephone (390 px).
    """
    figure.layout["template"] = TEMPLATE
    tick_logs(figure.update_xaxes(title_text=x).update_yaxes(title_text=y))
    return figure.update_layout(height=height, uirevision=revision, autosize=True)


def tick_logs(figure: Figure) -> None:
    """Give logarithmic axes ticks that fit their range, or the data of one without a range."""
    for name, axis in figure.layout.items():
        if name[1:5] == "axis" and axis.get("type") == "log":
            if not (exponents := axis.get("range")):
                shown = [np.array(one[name[0]], dtype=float).ravel() for one in figure.data if name[0] in one]
                values = np.concatenate([[], *shown])
                exponents = np.log10(values[np.isfinite(values) & (values > 0)])
            low, high = np.min(exponents, initial=np.inf), np.max(exponents, initial=-np.inf)
            powers = "" if high - low > POWERS * LOG_TICKS else "~e"
            # As many as leave them at powers of ten: every one, up to four decades.
            ticks = int(np.clip(np.ceil((high - low) / POWERS) - 1, LOG_TICKS, MOST_LOG_TICKS))
            axis.update(nticks=ticks, tickformat=",~g" if FULL[0] <= low and high <= FULL[1] else powers)


def name_ends(figure: Figure, names: Sequence[str]) -> Figure:
    """Add an end to the first curve of each name, in place, and return the figure, whose axes have their final ranges.

    Names keep the order of the ends and are pushed apart; the legend leaves them out. If the figure is narrow, plot.js
    has them in the legend instead. A curve without points gets an empty end, so that figures that grow keep their
    number of traces.
    """
    curves = [one for name in names for one in [next((one for one in figure.data if one.name == name), None)] if one]
    logs = np.array([figure.layout[axis].type == "log" for axis in ("xaxis", "yaxis")])
    with np.errstate(all="ignore"):
        points = [np.array([one.x, one.y], dtype=float).reshape(2, -1).T for one in curves]
        points = [np.where(logs, np.log10(some), some) for some in points]
    finite = [some[np.isfinite(some).all(axis=1)] for some in points]
    known, last = np.concatenate(finite) if any(map(len, finite)) else np.eye(2), [some[-1:] for some in finite]
    (left, right), (low, high) = (
        figure.layout[axis].range or (side.min(), side.max())
        for axis, side in zip(("xaxis", "yaxis"), known.T, strict=True)
    )
    titles = [short_name(one.name) for one in curves]
    lines = [title.split("<br>") for title in titles]
    gap = LABEL * max(map(len, lines), default=1) / (float(figure.layout.height or 400) - MARGINS) * (high - low)
    labels = iter(apart(np.concatenate([np.empty((0, 2)), *last])[:, 1], gap, low, high))
    for curve, title, end in zip(curves, titles, last, strict=True):
        curve |= {"showlegend": not len(end), "meta": curve.meta or "named"}
        # Plotly leaves out a name that rounding puts behind the end of a logarithmic axis.
        edge = right - 1e-9 * (right - left)
        shown = np.concatenate([end, [[edge, next(labels)]]]) if len(end) else end
        x, y = np.where(logs, 10.0 ** np.where(logs, shown, 0.0), shown).T
        figure.add_scatter(
            x=x.tolist(),
            y=y.tolist(),
            mode="markers+text",
            text=["", title],
            textposition="middle right",
            marker={"color": curve.line.color, "size": DOT, "symbol": curve.marker.symbol},
            legendgroup=curve.legendgroup,
            showlegend=False,
            hoverinfo="skip",
            cliponaxis=False,
            meta="end",
        )
    return figure.update_layout(margin_r=round(CHARACTER * max(map(len, sum(lines, [])), default=0) + 2 * DOT))


def short_name(title: str) -> str:
    """Return a name that fits next to a figure, in lines: GAMP for "Approximate message passing (GAMP)"."""
    name, _, rest = title.partition(" (")
    abbreviation, _, more = rest.partition(")")
    if len(name) > LONGEST and abbreviation and " " not in abbreviation:
        name = abbreviation
    return "<br>".join(wrap(name + more, LONGEST))


def apart(heights: Array, gap: float, low: float, high: float) -> Array:
    """Return heights between low and high that are at least `gap` apart, in the same order, each moved by little."""
    order, steps = np.argsort(heights, kind="stable"), gap * np.arange(len(heights))
    moved = heights.copy()
    if len(heights):
        fitted = isotonic_regression(heights[order] - steps).x
        moved[order] = np.clip(fitted, low, max(low, high - steps[-1])) + steps
    return moved

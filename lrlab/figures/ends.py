"""Marks the end of each curve by a dot, and repeats the dot with the curve's name at the right edge of the figure."""

from collections.abc import Sequence
from textwrap import shorten

import numpy as np
from scipy.optimize import isotonic_regression

from lrlab.arrays import Array
from lrlab.figures.build import Figure

CHARACTER, LINE, DOT, MARGINS = 6.6, 17.0, 7.0, 130.0
"""Width of a letter, height of a line, diameter of a dot, and height of both margins, in pixels."""
LONGEST = 20
"""Most characters of a name; the legend shows names in full."""


def name_ends(figure: Figure, names: Sequence[str]) -> Figure:
    """Add an end to the first curve of each name, in place, and return the figure, whose axes have their final ranges.

    Names keep the order of the ends and are pushed apart. plot.js leaves them out if the figure is narrow. A curve
    without points gets an empty end, so that figures that grow keep their number of traces.
    """
    curves = [one for name in names for one in [next((one for one in figure.data if one.name == name), None)] if one]
    logs = np.array([figure.layout[axis].type == "log" for axis in ("xaxis", "yaxis")])
    with np.errstate(all="ignore"):
        points = [np.array([one.x, one.y], dtype=float).reshape(2, -1).T for one in curves]
        points = [np.where(logs, np.log10(some), some) for some in points]
    last = [some[np.isfinite(some).all(axis=1)][-1:] for some in points]
    ends = np.concatenate([np.empty((0, 2)), *last])
    (_, right), (low, high) = (
        figure.layout[axis].range or (side.min(initial=0.0), side.max(initial=1.0))
        for axis, side in zip(("xaxis", "yaxis"), ends.T, strict=True)
    )
    gap = LINE / (float(figure.layout.height or 400) - MARGINS) * (high - low)
    labels = iter(apart(ends[:, 1], gap, low, high))
    titles = [short_name(one.name) for one in curves]
    for curve, title, end in zip(curves, titles, last, strict=True):
        shown = np.concatenate([end, [[right, next(labels)]]]) if len(end) else end
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
    return figure.update_layout(margin_r=round(CHARACTER * max(map(len, titles), default=0) + 2 * DOT))


def short_name(title: str) -> str:
    """Return a name that fits next to a figure: GAMP for "Approximate message passing (GAMP)"."""
    name, _, abbreviation = title.rstrip(")").partition(" (")
    if len(name) > LONGEST and abbreviation and " " not in abbreviation:
        return abbreviation
    return shorten(name, LONGEST, placeholder=" …")


def apart(heights: Array, gap: float, low: float, high: float) -> Array:
    """Return heights between low and high that are at least `gap` apart, in the same order, each moved by little."""
    order, steps = np.argsort(heights, kind="stable"), gap * np.arange(len(heights))
    moved = heights.copy()
    if len(heights):
        fitted = isotonic_regression(heights[order] - steps).x
        moved[order] = np.clip(fitted, low, max(low, high - steps[-1])) + steps
    return moved

"""Draws a figure as a static picture: curves, bands, markers and heat maps on one pair of axes, without a browser.

What notebooks show of a run, a table or a fit. Contours, legends of symbols and text on hover need plotly.js.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape
from textwrap import shorten
from typing import Any

import numpy as np

from lrlab.arrays import Array
from lrlab.figures import theme
from lrlab.figures.build import Figure, Node

LEFT, RIGHT, TOP, BOTTOM, LINE = 56.0, 12.0, 8.0, 38.0, 16.0
"""Margins, and the height of a line of the legend, in pixels."""
DASHES = {"dash": "6 4", "dot": "2 3", "longdash": "10 4", "dashdot": "8 3 2 3"}
TITLE = 48
"""Most characters of the title of an axis."""
CHARACTER = 6.3
"""About the width of a character of the legend, in pixels."""


class _Axis:
    """One axis: from values to pixels."""

    def __init__(self, layout: Node, values: Array, start: float, end: float) -> None:
        self.log = layout.type == "log"
        known = self._scaled(values)
        known = known[np.isfinite(known)]
        low, high = layout.range or ((known.min(), known.max()) if known.size else (0.0, 1.0))
        margin = 0.0 if layout.range else 0.04 * (high - low) or 0.5
        self.low, self.high = low - margin, high + margin
        self._start, self._length = start, end - start

    def _scaled(self, values: Any) -> Array:
        numbers = np.asarray(values, dtype=float)
        with np.errstate(all="ignore"):
            return np.log10(numbers) if self.log else numbers

    def pixels(self, values: Any) -> Array:
        """Return the places of values."""
        return self._start + (self._scaled(values) - self.low) / (self.high - self.low) * self._length

    def ticks(self) -> list[tuple[float, str]]:
        """Return some three to six round values with their texts."""
        if self.log and self.high - self.low >= 1.5:
            step = math.ceil((self.high - self.low) / 5)
            powers = range(math.ceil(self.low), math.floor(self.high) + 1, step)
            return [(10.0**power, f"{10.0**power:g}") for power in powers]
        low, high = (10.0**end if self.log else end for end in (self.low, self.high))
        rough = (high - low) / 5
        unit = 10.0 ** math.floor(math.log10(rough))
        step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough)
        first = math.ceil(low / step - 1e-9)
        values = [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]
        return [(value, f"{value:g}") for value in values if not self.log or value > 0]


def svg(figure: Figure, width: float = 560, height: float = 300) -> str:
    """Return a figure as SVG, see above."""
    traces = [trace for trace in figure.data if trace.visible is not False and trace.type in DRAWN]
    named = [(trace.name, _colour(trace)) for trace in traces if trace.name and trace.showlegend is not False]
    legend, lines = _legend(list(dict.fromkeys(named)), width, height)
    right, bottom = width - RIGHT, height - BOTTOM - LINE * lines
    sides = [(figure.layout.xaxis, "x", LEFT, right), (figure.layout.yaxis, "y", bottom, TOP)]
    x, y = (_Axis(layout, _values(traces, name), start, end) for layout, name, start, end in sides)
    titles = [shorten((layout.title or Node()).text or "", width=TITLE, placeholder=" …") for layout, *_ in sides]
    inside = f"{LEFT} {TOP} {right - LEFT} {bottom - TOP}"
    parts = [part for trace in traces for part in DRAWN[trace.type](trace, x, y, figure.layout)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img" '
        f'font-family="{escape(theme.FONT)}" font-size="12" fill="{theme.INK}" style="max-width: 100%">'
        f'<svg x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}" viewBox="{inside}">'
        f"{''.join(parts)}</svg>{_frame(x, y, titles, right, bottom)}{legend}</svg>"
    )


def _values(traces: Sequence[Node], side: str) -> Array:
    """Return all numbers along an axis; of a heat map they are where its cells meet."""
    several = [np.asarray(trace[side], dtype=float).ravel() for trace in traces if trace.get(side) is not None]
    return np.concatenate([np.empty(0), *several])


def _colour(trace: Node) -> str:
    line, marker = trace.line or Node(), trace.marker or Node()
    colour = line.color or marker.color or trace.fillcolor or theme.INK
    return colour if isinstance(colour, str) else theme.INK


def _scatter(trace: Node, x: _Axis, y: _Axis, layout: Node) -> Iterator[str]:
    points = np.column_stack([x.pixels(trace.x), y.pixels(trace.y)]) if len(trace.x) else np.empty((0, 2))
    finite = np.isfinite(points).all(axis=1)
    line, mode = trace.line or Node(), trace.mode or "lines"
    if "lines" in mode or trace.fill:
        fill = f'fill="{trace.fillcolor}" stroke="none"' if trace.fill else 'fill="none"'
        dash = f' stroke-dasharray="{DASHES[line.dash]}"' if line.dash in DASHES else ""
        width = 2 if line.width is None else line.width
        for piece in np.split(points, np.flatnonzero(~finite)):
            places = " ".join(f"{a:.1f},{b:.1f}" for a, b in piece[np.isfinite(piece).all(axis=1)])
            look = fill if trace.fill else f'{fill} stroke="{_colour(trace)}" stroke-width="{width}"{dash}'
            yield f'<polyline points="{places}" {look}/>'
    if "markers" in mode:
        yield from (f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{_colour(trace)}"/>' for a, b in points[finite])


def _heatmap(trace: Node, x: _Axis, y: _Axis, layout: Node) -> Iterator[str]:
    from plotly.colors import sample_colorscale

    z, axis = np.asarray(trace.z, dtype=float), layout.coloraxis or Node()
    known = z[np.isfinite(z)]
    if not known.size:
        return
    low = known.min() if axis.cmin is None else axis.cmin
    high = known.max() if axis.cmax is None else axis.cmax
    shares = np.clip((z - low) / ((high - low) or 1.0), 0.0, 1.0)
    columns, rows = x.pixels(trace.x), y.pixels(trace.y)
    opacity = "" if trace.opacity is None else f' opacity="{trace.opacity}"'
    for i, j in np.argwhere(np.isfinite(z)):
        [colour] = sample_colorscale(theme.SEQUENTIAL, [float(shares[i, j])])
        left, top = min(columns[j : j + 2]), min(rows[i : i + 2])
        wide, high_ = abs(columns[j + 1] - columns[j]), abs(rows[i + 1] - rows[i])
        place = f'x="{left:.1f}" y="{top:.1f}" width="{wide + 0.4:.1f}" height="{high_ + 0.4:.1f}"'
        yield f'<rect {place} fill="{colour}"{opacity}/>'


DRAWN: dict[str, Callable[[Node, _Axis, _Axis, Node], Iterator[str]]] = {"scatter": _scatter, "heatmap": _heatmap}


def _frame(x: _Axis, y: _Axis, titles: Sequence[str], right: float, bottom: float) -> str:
    parts = [f'<path d="M{LEFT},{TOP}V{bottom}H{right}" fill="none" stroke="{theme.INK}"/>']
    for value, text in x.ticks():
        [at] = x.pixels([value])
        parts.append(f'<path d="M{at:.1f},{bottom}v4" stroke="{theme.INK}"/>')
        parts.append(f'<text x="{at:.1f}" y="{bottom + 16}" text-anchor="middle">{text}</text>')
    for value, text in y.ticks():
        [at] = y.pixels([value])
        parts.append(f'<path d="M{LEFT},{at:.1f}h-4" stroke="{theme.INK}"/>')
        parts.append(f'<text x="{LEFT - 7}" y="{at + 4:.1f}" text-anchor="end">{text}</text>')
    middle = (LEFT + right) / 2, (TOP + bottom) / 2
    parts.append(f'<text x="{middle[0]}" y="{bottom + 32}" text-anchor="middle">{escape(titles[0])}</text>')
    turned = f'transform="translate(12,{middle[1]}) rotate(-90)"'
    parts.append(f'<text {turned} text-anchor="middle">{escape(titles[1])}</text>')
    return "".join(parts)


def _legend(named: Sequence[tuple[str, str]], width: float, height: float) -> tuple[str, int]:
    """Return the names of traces with their colours, and in how many lines they stand."""
    parts, at, line = list[str](), LEFT, 0
    places = list[tuple[float, int, str, str]]()
    for name, colour in named:
        wide = 18 + CHARACTER * len(name) + 12
        if at + wide > width and at > LEFT:
            at, line = LEFT, line + 1
        places.append((at, line, name, colour))
        at += wide
    lines = line + 1 if named else 0
    for left, row, name, colour in places:
        top = height - LINE * (lines - row) + 10
        parts.append(f'<path d="M{left},{top - 4}h12" stroke="{colour}" stroke-width="3"/>')
        parts.append(f'<text x="{left + 18}" y="{top}">{escape(name)}</text>')
    return "".join(parts), lines

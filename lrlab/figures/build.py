"""Builds plotly figures as plain dictionaries: what plotly.py's classes check at every change, the tests check once.

A `Figure` has the few methods of plotly's own that are used here, with the same meaning; `title_text=...` stands for
`title={"text": ...}`. `to_json()` is what plotly.js reads; `plotly()` is plotly's figure, checked.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from functools import partialmethod
from typing import Any

import numpy as np

WHOLE_NAMES = ("paper_bgcolor", "plot_bgcolor", "error_x", "error_y")
"""Names with an underscore that are names, not paths."""
ARRAY_TYPES = {"f8", "f4", "u1"}
"""Types of numbers that go to plotly.js as bytes."""


class Node(dict[str, Any]):
    """Part of a figure, whose values can be read as attributes; None if it is missing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = self.get(name)
        if type(value) is dict:
            value = self[name] = Node(value)
        return value


def trace(kind: str, **values: Any) -> Node:
    """Return a trace of a kind: scatter, bar, heatmap, contour."""
    return merged(Node(type=kind), values)


def merged(into: Any, values: Mapping[str, Any]) -> Any:
    """Put values into nested dictionaries, in place, and return them; None leaves a value out."""
    for name, value in values.items():
        first, _, rest = (name, "", "") if name in WHOLE_NAMES else name.partition("_")
        if rest:
            value = {rest: value}
        if isinstance(value, dict):
            into[first] = merged(dict(into.get(first) or {}), value)
        elif value is not None:
            # Columns and tables of pandas are found by label, not by place.
            into[first] = value.to_numpy() if hasattr(value, "to_numpy") else value
    return into


class Figure:
    """A figure: traces in `data`, and `layout`. Subplots of a `grid` are numbered row by row, from 0."""

    def __init__(self, *traces: Node) -> None:
        self.data, self.layout = list(traces), Node(xaxis=Node(), yaxis=Node())

    def add_trace(self, one: Node, subplot: int = 0) -> "Figure":
        """Add a trace to a subplot."""
        if subplot:
            one |= {"xaxis": f"x{subplot + 1}", "yaxis": f"y{subplot + 1}"}
        self.data.append(one)
        return self

    def add(self, kind: str, /, subplot: int = 0, **values: Any) -> "Figure":
        """Add a trace of a kind to a subplot: points or lines, or bars."""
        return self.add_trace(trace(kind, **values), subplot)

    add_scatter, add_bar = partialmethod(add, "scatter"), partialmethod(add, "bar")

    def add_vrect(self, **values: Any) -> "Figure":
        """Add an area between x0 and x1, over the whole height."""
        area = merged(Node(type="rect", xref="x", yref="y domain", y0=0, y1=1), values)
        self.layout.setdefault("shapes", []).append(area)
        return self

    def add_annotation(self, subplot: int = 0, **values: Any) -> "Figure":
        """Add a text without an arrow to a subplot, at x and y of its axes."""
        suffix = _suffix(subplot)
        note = merged(Node(xref=f"x{suffix}", yref=f"y{suffix}", showarrow=False), values)
        self.layout.setdefault("annotations", []).append(note)
        return self

    def update_axes(self, kind: str, /, subplot: int | None = None, **values: Any) -> "Figure":
        """Change the axis of a kind, xaxis or yaxis, of a subplot, or of all."""
        for name in [name for name in self.layout if name.startswith(kind)]:
            if subplot is None or name == kind + _suffix(subplot):
                self.layout[name] = merged(self.layout[name], values)
        return self

    update_xaxes, update_yaxes = partialmethod(update_axes, "xaxis"), partialmethod(update_axes, "yaxis")

    def update_layout(self, **values: Any) -> "Figure":
        """Change the layout."""
        merged(self.layout, values)
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the figure as values of JSON."""
        read: dict[str, Any] = json.loads(self.to_json())
        return read

    def to_json(self, *, template: bool = True) -> str:
        """Return the figure as plotly.js reads it, with or without its template."""
        layout = {name: value for name, value in self.layout.items() if template or name != "template"}
        return encoded({"data": self.data, "layout": layout})

    def plotly(self) -> Any:
        """Return plotly's own figure; ValueError if plotly does not know a value."""
        import plotly.graph_objects as go

        return go.Figure(self.to_dict())

    def _repr_mimebundle_(self, *given: Any, **named: Any) -> Any:
        # A notebook shows plotly's own figure.
        return self.plotly()._repr_mimebundle_(*given, **named)


def grid(rows: int, columns: int, titles: Sequence[str], across: float, down: float) -> Figure:
    """Return a figure of subplots with titles above them; the gaps across and down are fractions of the whole."""
    figure = Figure()
    wide, high = (1.0 - across * (columns - 1)) / columns, (1.0 - down * (rows - 1)) / rows
    for k in range(rows * columns):
        left, top, suffix = (k % columns) * (wide + across), 1.0 - (k // columns) * (high + down), _suffix(k)
        figure.layout[f"xaxis{suffix}"] = Node(anchor=f"y{suffix}", domain=[left, min(1.0, left + wide)])
        figure.layout[f"yaxis{suffix}"] = Node(anchor=f"x{suffix}", domain=[max(0.0, top - high), top])
        if k < len(titles) and titles[k]:
            at: dict[str, Any] = {"x": left + wide / 2.0, "y": top, "xanchor": "center", "yanchor": "bottom"}
            figure.add_annotation(text=titles[k], xref="paper", yref="paper", font_size=16, **at)
    return figure


def encoded(value: Any) -> str:
    """Return a part of a figure as JSON."""
    text = json.dumps(value, default=_plain)
    if "NaN" not in text and "Infinity" not in text:
        return text
    # JSON has no such numbers.
    return json.dumps(json.loads(text, parse_constant=lambda name: None))


def _plain(value: Any) -> Any:
    """Return numbers of numpy as Python's, arrays of numbers as bytes, and other arrays as lists."""
    array = np.asarray(value)
    kind = f"{array.dtype.kind}{array.dtype.itemsize}"
    if kind not in ARRAY_TYPES or array.ndim not in (1, 2):
        return array.tolist()
    data = base64.b64encode(np.ascontiguousarray(array).data if array.size else b"").decode("ascii")
    shape = {"shape": ", ".join(map(str, array.shape))} if array.ndim > 1 else {}
    return {"dtype": kind, "bdata": data, **shape}


def _suffix(subplot: int) -> str:
    return str(subplot + 1) if subplot else ""

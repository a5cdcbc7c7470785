"""Number of ticks of logarithmic axes where plotly chooses them: in notebooks and in the documentation.

Pages choose ticks themselves (`ticks.js`). Plotly puts a label at each of 1, 2, ..., 9, 10 of a decade where it expects
room for many ticks, and full values there overlap.
"""

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

EVEN_TICKS = 4
"""Of an axis of less than a decade, which has evenly spaced numbers: the last ones are close together."""
PARTS_OF_DECADES = 2.5
"""Decades of an axis up to which labels of 1, 2, 5 fit into 300 pixels; longer ones have powers of ten."""
MOST_TICKS = 9


def number_of_ticks(span: float) -> int:
    """Return `nticks` of an axis of so many decades.

    From a decade on plotly labels 1, 2, ..., 9 where span / nticks is at most 0.3, 1, 2, 5 where it is at most 0.7, and
    powers of ten above that.
    """
    if span < 1.0:
        return EVEN_TICKS
    return min(MOST_TICKS, math.ceil(span / (0.3 if span <= PARTS_OF_DECADES else 0.7)) - 1)


def log_ticks(data: Sequence[Mapping[str, Any]], layout: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return settings of the ticks of all logarithmic axes of a figure, by the names of the axes."""
    # Without a format plotly writes "2" and "5" between powers of ten.
    axes = {name: axis for name, axis in layout.items() if name[1:5] == "axis" and axis.get("type") == "log"}
    return {
        name: {"tickformat": "~g", "nticks": number_of_ticks(_span(data, name, axis))} for name, axis in axes.items()
    }


def _span(data: Sequence[Mapping[str, Any]], name: str, axis: Mapping[str, Any]) -> float:
    """Return how many decades an axis shows: those of its range, or of the values along it."""
    if axis.get("range"):
        low, high = axis["range"]
        return abs(float(high) - float(low))
    side, own = name[0], name[0] + name[5:]
    several = [one[side] for one in data if one.get(side) is not None and one.get(f"{side}axis", side) == own]
    values = np.concatenate([np.empty(0), *(_numbers(some) for some in several)])
    positive = values[np.isfinite(values) & (values > 0)]
    return float(np.log10(positive.max() / positive.min())) if positive.size else 0.0


def _numbers(values: Any) -> Any:
    """Return the values of a trace along an axis in one row; those of a stored figure are bytes."""
    if isinstance(values, Mapping):
        values = np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
    return np.asarray(values, dtype=float).ravel()

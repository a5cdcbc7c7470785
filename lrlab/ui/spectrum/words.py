"""Describes the figures of a spectrum in words."""

import numpy as np
import pandas as pd

from lrlab.figures.numbers import rounded
from lrlab.ui.widgets.axis import Axis


def message(name: str, points: pd.DataFrame, along: Axis) -> str:
    """Return the message of a figure: the values measured at both ends of the axis."""
    title = "largest eigenvalue" if name == "values" else "squared overlap"
    if not (ends := _ends(name, points)):
        return f"{title} along {along.title}, as predicted: nothing is run yet"
    return f"{title} along {along.title}: {ends}; mean of {points['trials'].max()} trials"


def sentence(points: pd.DataFrame, curve: pd.DataFrame, along: Axis) -> str:
    """Return the range with an asymptotic overlap, if theory knows it, and the overlap measured at both ends."""
    ends = _ends("overlap", points)
    words = [_where(curve, along), f"Measured squared overlap: {ends}." if ends else "Press Run to measure."]
    return " ".join(filter(None, words))


def _ends(name: str, points: pd.DataFrame) -> str:
    column = next((one for one in points if one.startswith("mean_") and (name == "values" or "overlap" in one)), "")
    if points.empty or not column:
        return ""
    ends = points.sort_values("at").iloc[[0, -1]]
    return ", ".join(f"{value:.2g} at {at:.4g}" for at, value in zip(ends["at"], ends[column], strict=True))


def _where(curve: pd.DataFrame, along: Axis) -> str:
    if "overlap" not in curve or curve["overlap"].isna().any():
        return ""
    ordered = curve.sort_values("at")
    at, above = ordered["at"].to_numpy(), ordered["overlap"].to_numpy() > 0
    whose = "the leading eigenvector of a large problem points to the signal"
    if above.all() or not above.any():
        return f"{'Everywhere' if above.all() else 'Nowhere'} here {whose}."
    changes = np.flatnonzero(np.diff(above))
    if len(changes) > 1:
        return f"On parts of this axis {whose}."
    side = "from" if above[-1] else "up to"
    # The curve has points a few per cent apart.
    return f"{whose.capitalize()} {side} about {along.title} = {rounded(at[changes[0] + int(above[-1])])}."

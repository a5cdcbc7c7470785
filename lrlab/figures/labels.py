"""Figures of labels and of fits to them: frequencies, correlations, scores on test and training rows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lrlab.arrays import Array, Indices
from lrlab.figures import theme
from lrlab.figures.build import Figure, trace
from lrlab.figures.convergence import curves
from lrlab.figures.factors import DIVERGING
from lrlab.figures.recovery import Recovery
from lrlab.models.multilabel import FAMILY

MOST_NAMES = 32
"""Most labels with names on the axis."""
NAME_LENGTH = 16
"""Characters of a name on an axis; the full name appears on hover."""


def frequencies(names: Sequence[str], counts: Indices, rows: int) -> Figure:
    """Return how many of the rows have each label, the most frequent first; on a logarithmic axis where that helps."""
    order = np.argsort(-counts, kind="stable")
    ordered, place = counts[order], np.arange(1, len(counts) + 1)
    figure = Figure()
    figure.add_bar(
        x=place, y=ordered, marker={"color": theme.PALETTE[0], "line": {"width": 0}}, name="labels",
        customdata=[[names[j], 100 * counts[j] / max(rows, 1)] for j in order],
        hovertemplate="%{customdata[0]}: %{y} rows, %{customdata[1]:.2g}%<extra></extra>",
    )  # fmt: skip
    # From two powers of ten on: a shorter logarithmic axis would have hardly a label.
    wide = ordered[0] >= 100 * max(1, ordered[-1])
    figure.update_yaxes(type="log" if wide else "linear", dtick=1 if wide else None)
    figure.update_xaxes(range=[0.4, len(counts) + 0.6])
    named = len(counts) <= MOST_NAMES
    if named:
        figure.update_xaxes(tickvals=place, ticktext=[shorten(names[j]) for j in order], tickangle=-50)
    title = "label" if named else "label, most frequent first"
    return theme.style(figure.update_layout(bargap=0.15), title, "rows with it", height=420)


def correlations(names: Sequence[str], phi: Array) -> Figure:
    """Return the correlations of labels as a heat map: red where two go together, blue where one excludes the other."""
    off_diagonal = phi.copy()
    # A label's correlation with itself is 1 and would set the scale.
    np.fill_diagonal(off_diagonal, np.nan)
    largest = float(np.nanmax(np.abs(off_diagonal))) if np.isfinite(off_diagonal).any() else 1.0
    place = np.arange(len(names))
    pairs = [[[a, b] for b in names] for a in names]
    figure = Figure(
        trace(
            "heatmap",
            x=place, y=place, z=off_diagonal, zmin=-largest, zmax=largest, colorscale=DIVERGING, customdata=pairs,
            hoverongaps=False, colorbar={"title": {"text": "correlation", "side": "right"}, "thickness": 12},
            hovertemplate="%{customdata[0]} and %{customdata[1]}: %{z:.2f}<extra></extra>",
        )
    )  # fmt: skip
    ticks: dict[str, Any] = {
        "tickvals": place,
        "ticktext": [shorten(name) for name in names],
        "tickfont": {"size": 12},
        "showgrid": False,
    }
    figure.update_xaxes(**ticks, tickangle=-50)
    figure.update_yaxes(**ticks, autorange="reversed")
    return theme.style(figure, "label", "label", height=480)


def both_sides(runs: Sequence[Recovery], measure: str, time: str) -> Figure:
    """Return a measure of every run on test rows and, dotted in the same colour, on its training rows."""
    sides = [replace(run, rows=[_of_training(row, measure) for row in run.rows], dash="dot") for run in runs]
    figure = curves([*runs, *sides], measure, time, measures=FAMILY.measures)
    # After the runs' own lines come those of training rows, each of which is one line, or a marker with a line.
    in_legend = set[str]()
    for one in figure.data:
        if one.name in in_legend:
            one["showlegend"] = False
        in_legend.update([one.name] if one.showlegend else [])
    return figure


def _of_training(row: Mapping[str, float], measure: str) -> dict[str, float]:
    return {"iteration": row["iteration"], "seconds": row["seconds"], measure: row.get(f"train_{measure}", math.nan)}


def shorten(name: str) -> str:
    """Return a name for an axis, at most 16 characters."""
    return name if len(name) <= NAME_LENGTH else name[: NAME_LENGTH - 1] + "…"

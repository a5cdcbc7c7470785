"""Draws the pairwise moments of a single-index model along an axis: eigenvalues, overlaps, tables."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from lrlab.figures import spectrum as figures
from lrlab.spectra import pairwise
from lrlab.spectra.draws import Row
from lrlab.ui.shared import live
from lrlab.ui.spectrum.plan import SpectrumPlan
from lrlab.ui.widgets import plot, tables
from lrlab.ui.widgets.axis import Axis, fine

MOMENTS = {"auto": "the separating one", "M": "M", "M'": "M′"}


def draw(plan: SpectrumPlan, rows: list[Row], moment: str) -> None:
    """Draw the measured points and the curves, or the curves alone."""
    spec, along = plan.spec, plan.along
    place = (spec, along)
    curve = chosen(live.once("spectrum:curve", place, lambda: predicted(plan, fine(along))), moment)
    points = pd.DataFrame()
    if rows:
        exact = live.once("spectrum:exact", place, lambda: predicted(plan, along.values))
        points = chosen(pairwise.compare(pd.DataFrame(rows), exact), moment)
    values, overlaps = st.columns([1.25, 1], gap="medium")
    with values:
        show(figures.eigenvalues, points, curve, along, "values")
    with overlaps:
        show(figures.overlaps, points, curve, along, "overlap")
    st.caption(
        "Dots: mean of the trials, bars: their standard deviation. Dashed: the exact limit at this $n/p$. Dotted: the "
        "eigenvalues for infinite $n$. Shaded: recovery possible, since $n/p$ exceeds the threshold above which the "
        "squared overlap of the leading eigenvector with the signal (1 is exact) does not vanish as $n$ and $p$ grow."
    )
    if len(points):
        tables.show(
            lambda: points, key="spectrum-table", file=f"{spec.model}-spectrum",
            note="One row per value and moment: mean and sd of the trials, predictions, relative deviations.",
        )  # fmt: skip
        tables.show(
            lambda: pd.DataFrame(rows), key="spectrum-trials", file=f"{spec.model}-spectrum-trials", title="All trials",
            note="Every trial, with the seed that reproduces it. rank 1 is the largest eigenvalue.",
        )  # fmt: skip


def predicted(plan: SpectrumPlan, values: Sequence[float]) -> pd.DataFrame:
    """Return the predictions at the values of the axis."""
    return pairwise.predictions(plan.spec, plan.along.name, values)


def chosen(table: pd.DataFrame, moment: str) -> pd.DataFrame:
    """Return the rows of one moment; "auto" takes M where phi > 0 and M' elsewhere, value by value."""
    if moment == "auto":
        return pairwise.informative(table)
    return table[table["moment"] == moment].reset_index(drop=True)


def show(figure_of: Any, points: pd.DataFrame, curve: pd.DataFrame, along: Axis, name: str) -> None:
    """Draw one figure of the page, on the scale of the axis."""
    if points.empty:
        columns = ("at", "trials", "mean_top", "sd_top", "mean_second", "sd_second", "mean_overlap")
        points = pd.DataFrame({column: [] for column in columns})
    figure = figure_of(points, curve, axis_title=along.title)
    figure.update_xaxes(type=along.spacing)
    figure.update_layout(uirevision=f"{along.name} {along.spacing}")
    plot.show(figure, key=f"spectrum.{name}", label=f"{name} along {along.title}")

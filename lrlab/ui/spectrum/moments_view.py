"""Draws the moment of a spectral start along an axis, for low-rank models and phase retrieval."""

import pandas as pd
import streamlit as st

from lrlab.figures import moments as figures
from lrlab.models.phase_retrieval import PhaseRetrieval
from lrlab.spectra import moments
from lrlab.spectra.draws import Row
from lrlab.ui.shared import live
from lrlab.ui.spectrum.plan import SpectrumPlan
from lrlab.ui.widgets import plot, tables
from lrlab.ui.widgets.axis import fine

MATRICES = (
    r"The moment is the average of each measurement times its measurement matrix; its mean is the matrix $W$. Solvers "
    r"start from its $k$ leading singular vectors (eigenvectors for a network), which are close to those of $W$ "
    "only while their values stay above the rest. Dashed: the limit for Gaussian, independent noise of the moment, a "
    "good approximation for many measurements."
)
PHASES = (
    r"The moment averages $a a^*$ with the weights of the optimal start, which favour large measurements. Its leading "
    "eigenvector overlaps with the signal once its eigenvalue leaves the bulk. Dashed: exact for large $m$ and $p$ "
    "(Lu & Li 2017)."
)


def draw(plan: SpectrumPlan, rows: list[Row]) -> None:
    """Draw the measured points and the curves, or the curves alone."""
    spec, along = plan.spec, plan.along
    curve = live.once("spectrum:curve", plan, lambda: moments.predictions(spec, along.name, fine(along)))
    points = figures.no_points()
    if rows:
        points = moments.compare(pd.DataFrame(rows), moments.ranks(spec, along.name, along.values))
    columns = st.columns([1.25, 1], gap="medium")
    for column, name, make in zip(columns, ("values", "overlap"), (figures.values, figures.overlaps), strict=True):
        figure = make(points, curve, axis_title=along.title).update_xaxes(type=along.spacing)
        figure.update_layout(uirevision=f"{along.name} {along.spacing}")
        with column:
            plot.show(figure, key=f"spectrum.{name}", label=f"{name} along {along.title}")
    st.caption(
        (PHASES if isinstance(spec, PhaseRetrieval) else MATRICES)
        + " Dots: mean of the trials, bars: their standard deviation."
    )
    if len(points):
        note = "One row per value of the axis: mean and sd over the trials."
        tables.show(lambda: points, key="spectrum-table", file=f"{spec.model}-moment", note=note)
        tables.show(
            lambda: pd.DataFrame(rows), key="spectrum-trials", file=f"{spec.model}-moment-trials", title="All trials",
            note="Every trial, with the seed that reproduces it. rank 1 is the largest value.",
        )  # fmt: skip

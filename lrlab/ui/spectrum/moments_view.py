"""What the moment of a spectral start looks like along an axis: low-rank models and magnitudes."""

import pandas as pd
import streamlit as st

from lrlab.figures import moments as figures
from lrlab.spectra import moments
from lrlab.spectra.draws import Row
from lrlab.ui.shared import live
from lrlab.ui.spectrum.plan import SpectrumPlan
from lrlab.ui.widgets import plot, tables
from lrlab.ui.widgets.axis import fine

MATRICES = (
    "The moment averages measurements times what measured them; its mean is the matrix W. Solvers start from its k "
    "leading singular vectors (eigenvectors, of a network), which know W only while their values stand clear of the "
    "rest. Dashed: what it would be if the moment's noise were Gaussian and independent, an approximation that is good "
    "for many measurements."
)
PHASES = (
    "The moment averages a a* with weights that favour large answers, those of the optimal start. Its leading "
    "eigenvector knows the signal once its eigenvalue leaves the bulk. Dashed: exact for large m and p (Lu & Li 2017)."
)


def draw(plan: SpectrumPlan, rows: list[Row]) -> None:
    """Draw what has been measured, or the curves alone."""
    spec, along = plan.spec, plan.along
    curve = live.once("spectrum:curve", plan, lambda: moments.predictions(spec, along.name, fine(along)))
    points = figures.nothing()
    if rows:
        points = moments.compare(pd.DataFrame(rows), moments.ranks(spec, along.name, along.values))
    columns = st.columns([1.25, 1], gap="medium")
    for column, name, make in zip(columns, ("values", "overlap"), (figures.values, figures.overlaps), strict=True):
        figure = make(points, curve, axis_title=along.title).update_xaxes(type=along.spacing)
        figure.update_layout(uirevision=f"{along.name} {along.spacing}")
        with column:
            plot.show(figure, key=f"spectrum.{name}", label=f"{name} along {along.title}")
    st.caption(
        (PHASES if spec.model == "phase-retrieval" else MATRICES)
        + " Dots: mean of the trials, bars: their standard deviation."
    )
    if len(points):
        note = "One row a value of the axis: mean and sd over the trials."
        tables.show(lambda: points, key="spectrum-table", file=f"{spec.model}-moment", note=note)
        tables.show(
            lambda: pd.DataFrame(rows), key="spectrum-trials", file=f"{spec.model}-moment-trials", title="All trials",
            note="Every trial, with the seed that opens it again. rank 1 is the largest value.",
        )  # fmt: skip

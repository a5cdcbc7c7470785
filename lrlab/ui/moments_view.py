"""What the moment of a spectral start looks like along an axis: low-rank models."""

from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from lrlab.experiments import moments
from lrlab.figures import moments as figures
from lrlab.parameters import InputError
from lrlab.protocol import Spec
from lrlab.ui import batches, code, controls, live, plot, tables
from lrlab.ui.axis import Axis
from lrlab.ui.run_view import described
from lrlab.ui.spectrum_view import grid

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


class Plan(NamedTuple):
    """A spectrum as it is asked for: the spec, the axis, how often, and the draws that measure it."""

    spec: Spec
    along: Axis
    trials: int
    tasks: list[moments.MomentTrial]


def plan(spec: Spec | InputError, along: Axis | InputError, trials: object) -> Plan | InputError | None:
    """Return the plan; the error in it; or None where its parts are in error themselves."""
    if isinstance(spec, InputError) or isinstance(along, InputError):
        return None
    try:
        number = int(controls.TRIALS.check(trials))
        return Plan(spec, along, number, moments.moment_trials(spec, along.name, along.values, number))
    except InputError as error:
        return error


def draw(asked: Any) -> None:
    """Draw what the followed batch has measured, or, before the first one, the curves alone."""
    batch, plan = live.current("spectrum"), live.about("spectrum") or asked
    if not isinstance(plan, Plan):
        return
    batches.progress(batch)
    rows = [row for trial in batches.results(batch).values() for row in trial]
    spec, along = plan.spec, plan.along
    st.caption(f"{described(spec, without=[along.decides])}; along {along.title}")
    curve = live.once("spectrum:curve", plan, lambda: moments.predictions(spec, along.name, grid(along)))
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


def python(plan: Plan) -> str:
    """Return the script that computes the same table."""
    arguments = f"spec, {plan.along.name!r}, {list(plan.along.values)}, trials={plan.trials}"
    return "\n".join(
        [
            "import lrlab",
            "from lrlab.experiments.moments import moments",
            "",
            f"spec = {code.spec_python(plan.spec)}",
            f"table = moments({arguments})",
            "print(table)",
        ]
    )

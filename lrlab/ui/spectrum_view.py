"""What a spectrum along an axis looks like: eigenvalues, overlaps, and the table of both."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from lrlab.experiments import spectrum
from lrlab.figures import spectrum as figures
from lrlab.parameters import InputError
from lrlab.protocol import Spec
from lrlab.ui import batches, code, controls, live, plot, tables
from lrlab.ui.axis import Axis
from lrlab.ui.run_view import described

FINE = 161
MOMENTS = {"auto": "whichever separates", "M": "M", "M'": "M′"}


class Plan(NamedTuple):
    """A spectrum as it is asked for: the spec, the axis, how often, and the draws that measure it."""

    spec: Spec
    along: Axis
    trials: int
    tasks: list[spectrum.SpectrumTrial]


def plan(spec: Spec | InputError, along: Axis | InputError, trials: object) -> Plan | InputError | None:
    """Return the plan; the error in it; or None where its parts are in error themselves."""
    if isinstance(spec, InputError) or isinstance(along, InputError):
        return None
    try:
        number = int(controls.TRIALS.check(trials))
        return Plan(spec, along, number, spectrum.spectrum_trials(spec, along.name, along.values, number, count=2))
    except InputError as error:
        return error


def draw(asked: Plan | InputError | None, moment: str) -> None:
    """Draw what the followed batch has measured, or, before the first one, the curves alone."""
    batch, plan = live.current("spectrum"), live.about("spectrum") or asked
    if not isinstance(plan, Plan):
        return
    batches.progress(batch)
    rows = [row for trial in batches.results(batch).values() for row in trial]
    spec, along = plan.spec, plan.along
    st.caption(f"{described(spec, without=[along.decides])}; along {along.title}")
    place = (spec, along)
    curve = chosen(live.once("spectrum:curve", place, lambda: predicted(plan, grid(along))), moment)
    points = pd.DataFrame()
    if rows:
        exact = live.once("spectrum:exact", place, lambda: predicted(plan, along.values))
        points = chosen(spectrum.compare(pd.DataFrame(rows), exact), moment)
    values, overlaps = st.columns([1.25, 1], gap="medium")
    with values:
        show(figures.eigenvalues, points, curve, along, "values")
    with overlaps:
        show(figures.overlaps, points, curve, along, "overlap")
    st.caption(
        "Dots: mean of the trials, bars: their standard deviation. Dashed: the exact limit at this n/p. Dotted: "
        "endless data, the eigenvalues if n were infinite. Shaded: where n/p exceeds the threshold, so that the "
        "leading eigenvector has a squared overlap with the signal (1 is exact) that does not vanish as n and p grow."
    )
    if len(points):
        tables.show(
            lambda: points, key="spectrum-table", file=f"{spec.model}-spectrum",
            note="One row a value of the axis and moment: mean and sd of the trials, predictions, relative deviations.",
        )  # fmt: skip
        tables.show(
            lambda: pd.DataFrame(rows), key="spectrum-trials", file=f"{spec.model}-spectrum-trials", title="All trials",
            note="Every trial, with the seed that opens it again. rank 1 is the largest eigenvalue.",
        )  # fmt: skip


def predicted(plan: Plan, values: Sequence[float]) -> pd.DataFrame:
    """Return what theory says at the values of the axis."""
    return spectrum.predictions(plan.spec, plan.along.name, values)


def chosen(table: pd.DataFrame, moment: str) -> pd.DataFrame:
    """Return the rows of one moment; "auto" takes M where phi > 0 and M' elsewhere, value by value."""
    if moment == "auto":
        return spectrum.informative(table)
    return table[table["moment"] == moment].reset_index(drop=True)


def grid(along: Axis) -> list[float]:
    """Return a fine grid of the axis for the curves; the values themselves where they are whole numbers."""
    low, high = along.values[0], along.values[-1]
    if along.whole:
        return list(along.values)
    spaced = np.geomspace if along.spacing == "log" else np.linspace
    return [float(value) for value in spaced(low, high, FINE)]


def show(figure_of: Any, points: pd.DataFrame, curve: pd.DataFrame, along: Axis, name: str) -> None:
    """Draw one figure of the page, on the axis' own scale."""
    if points.empty:
        columns = ("at", "trials", "mean_top", "sd_top", "mean_second", "sd_second", "mean_overlap")
        points = pd.DataFrame({column: [] for column in columns})
    figure = figure_of(points, curve, axis_title=along.title)
    figure.update_xaxes(type=along.spacing)
    figure.update_layout(uirevision=f"{along.name} {along.spacing}")
    plot.show(figure, key=f"spectrum.{name}", label=f"{name} along {along.title}")


def python(plan: Plan) -> str:
    """Return the script that computes the same table."""
    arguments = f"spec, {plan.along.name!r}, {list(plan.along.values)}, trials={plan.trials}, count=2"
    return "\n".join(
        [
            "import lrlab",
            "from lrlab.experiments.spectrum import spectrum",
            "",
            f"spec = {code.spec_python(plan.spec)}",
            f"table = spectrum({arguments})",
            "print(table)",
        ]
    )

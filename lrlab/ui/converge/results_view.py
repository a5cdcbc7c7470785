"""Shows a run of solvers: curves, estimates, a card for each solver, and the table of all iterates."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from lrlab import catalog
from lrlab.catalog import family
from lrlab.figures import convergence, theme
from lrlab.figures.recovery import Recovery
from lrlab.parameters import display_name
from lrlab.protocol import Spec
from lrlab.runs.job import Job
from lrlab.ui.converge import estimates, result_cards
from lrlab.ui.converge.curve_controls import CurveSettings, measures
from lrlab.ui.shared import captions, live, progress
from lrlab.ui.widgets import plot, tables


class PlannedRun(NamedTuple):
    """A job that has not been started: its problem and its prediction are shown."""

    job: Job


def draw(settings: CurveSettings, jobs: Sequence[Job]) -> None:
    """Draw the run that is followed, or, before the first one, the chosen jobs with their predictions."""
    following = live.current("converge")
    runs = following.runs if following else [PlannedRun(job) for job in jobs]
    if not runs:
        st.info("Choose a solver on the left that can handle this problem.")
        return
    spec = runs[0].job.spec
    drawn = recoveries(spec, runs)
    progress.show_run_progress(following)
    changed = following and jobs and jobs[0].spec != spec
    note = ". **The settings have changed since this run: press Run.**" if changed else ""
    st.caption(captions.describe_spec(spec) + note)
    left, right = st.columns([1.35, 1], gap="medium")
    with left:
        draw_curves(settings, spec, drawn)
    with right:
        estimates.show(spec, truth_of(spec), drawn, following)
    if following:
        result_cards.show(following.runs, drawn, measures(spec.model))
        tables.show(
            lambda: table(following.runs), key="converge-table", file=f"{spec.model}-convergence",
            note="One row per iterate. seconds: solver time. " + meanings(spec.model),
        )  # fmt: skip


def draw_curves(settings: CurveSettings, spec: Spec, drawn: Sequence[Recovery]) -> None:
    """Draw a measure of all runs, and below it the singular values of matrices."""
    measure = settings.measure
    figure = convergence.curves(
        drawn, measure, settings.time, measures=family(spec.model).measures, log_x=settings.log_x, log_y=settings.log_y,
        height=370 + 14 * len(drawn),
    )  # fmt: skip
    plot.show(figure, key="converge.curves", label=f"{measure} against {settings.time}")
    meaning = measures(spec.model)[measure].meaning
    st.caption(f"**{display_name(measure)}**: {meaning}. " + theory_caption(drawn, measure))
    estimates.show_values(truth_of(spec), drawn)


def recoveries(spec: Spec, runs: Sequence[Any]) -> list[Recovery]:
    """Return runs as they are drawn; a solver has its own colour on a model, whichever others run."""
    names = [entry.name for entry in catalog.solvers_for(spec.model)]
    colour, dash, symbol = theme.colours(names), theme.dashes(names), theme.symbols(names)
    comparable = estimates.aligned(spec, truth_of(spec))
    drawn = []
    for run in runs:
        name, trace = run.job.solver, getattr(run, "trace", None)
        drawn.append(
            Recovery(
                run.job.entry.title,
                colour[name],
                dash[name],
                symbol[name],
                rows=trace.rows if trace else (),
                predictions=run.job.predictions,
                history=[(k, comparable(estimate)) for k, estimate in trace.history] if trace else (),
                estimate=comparable(trace.estimate) if trace and trace.estimate is not None else None,
            )  # fmt: skip
        )
    return drawn


def theory_caption(drawn: Sequence[Recovery], measure: str) -> str:
    """Return what the lines and marks of theory are, or nothing where there are none."""
    if any(convergence.prediction(run.predictions, f"start_{measure}") is not None for run in drawn):
        return "Star: the exact prediction of the start, for large m and p."
    if all(convergence.prediction(run.predictions, measure) is None for run in drawn):
        return ""
    return "Dashed: the exact prediction at this n/p, for large n and p, of where the solver ends."


def meanings(model: str) -> str:
    """Return what each measure of a model means."""
    return " ".join(f"{name}: {measure.meaning}." for name, measure in measures(model).items())


@st.cache_data(max_entries=64, show_spinner=False)
def truth_of(spec: Spec) -> Any:
    """Return the truth of a spec."""
    return getattr(spec.build(), "truth", None)


def table(runs: Sequence[Any]) -> pd.DataFrame:
    """Return all iterates of all runs, with the predictions."""
    rows = [
        {"solver": run.job.solver, **row, **run.job.predictions}
        for run in runs
        for row in (run.trace.rows if run.trace else ())
    ]
    return pd.DataFrame(rows, columns=None if rows else ["solver", "iteration", "seconds"])

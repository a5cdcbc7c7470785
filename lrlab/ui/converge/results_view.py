"""Shows a run of solvers: curves, estimates, a card for each solver, and the table of all iterates."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from lrlab.catalog import family
from lrlab.engine.handles import LiveRun
from lrlab.figures import convergence
from lrlab.figures.recovery import Recovery
from lrlab.parameters import display_name
from lrlab.protocol import Spec
from lrlab.runs.job import Job
from lrlab.ui.converge import estimates, result_cards
from lrlab.ui.converge.curve_controls import CurveSettings
from lrlab.ui.shared import captions, live, progress
from lrlab.ui.widgets import plot, tables


def draw(settings: CurveSettings, jobs: Sequence[Job]) -> None:
    """Draw the run that is followed, or, before the first one, the chosen jobs with their predictions."""
    following = live.current("converge")
    runs = following.runs if following else [LiveRun(job) for job in jobs]
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
        result_cards.show(following.runs, drawn, family(spec.model).measures)
        meanings = " ".join(f"{name}: {measure.meaning}." for name, measure in family(spec.model).measures.items())
        tables.show(
            lambda: table(following.runs), key="converge-table", file=f"{spec.model}-convergence",
            note=f"One row per iterate. seconds: solver time. {meanings} {given(following.runs)}".rstrip(),
        )  # fmt: skip


def given(runs: Sequence[LiveRun]) -> str:
    """Return what each solver is given beyond the data, as sentences."""
    words = dict.fromkeys(f"{run.job.solver}: {sentence}" for run in runs if (sentence := run.job.given))
    return " ".join(words)


def draw_curves(settings: CurveSettings, spec: Spec, drawn: Sequence[Recovery]) -> None:
    """Draw a measure of all runs, and below it the singular values of matrices."""
    measure, measures = settings.measure, family(spec.model).measures
    figure = convergence.curves(
        drawn, measure, settings.time, measures=measures, log_x=settings.log_x, log_y=settings.log_y,
        height=370 + 14 * len(drawn),
    )  # fmt: skip
    plot.show(figure, key="converge.curves", label=f"{measure} against {settings.time}")
    st.caption(f"**{display_name(measure)}**: {measures[measure].meaning}. " + theory_caption(drawn, measure))
    estimates.show_values(truth_of(spec), drawn)


EXPECTED_ITERATIONS = 40
"""Iterations of a solver whose prediction is drawn one by one."""


def recoveries(spec: Spec, runs: Sequence[Any]) -> list[Recovery]:
    """Return runs as they are drawn."""
    comparable = estimates.aligned(spec, truth_of(spec))
    return [
        replace(
            captions.style_of(spec.model, run.job.solver), rows=run.trace.rows, predictions=run.job.predictions,
            expected=expected(run.job, min(len(run.trace.rows), EXPECTED_ITERATIONS)),
            history=[(k, comparable(estimate)) for k, estimate in run.trace.history],
            estimate=None if run.trace.estimate is None else comparable(run.trace.estimate),
            standard_errors=run.trace.standard_errors,
        )
        for run in runs
    ]  # fmt: skip


@st.cache_data(max_entries=64, show_spinner=False)
def expected(job: Job, iterations: int) -> Sequence[float]:
    """Return the overlaps that theory predicts for the first iterates of a job."""
    return job.entry.predict_iterations(job.spec, dict(job.options), iterations) if iterations else ()


def theory_caption(drawn: Sequence[Recovery], measure: str) -> str:
    """Return what the lines and marks of theory are, or nothing where there are none."""
    if any(convergence.prediction(run.predictions, f"start_{measure}") is not None for run in drawn):
        return "Star: the exact prediction of the start, for large m and p."
    words = []
    if any(convergence.prediction(run.predictions, measure) is not None for run in drawn):
        words.append("Dashed: the exact prediction at this n/p, for large n and p, of where the solver ends.")
    iterated = [run.title for run in drawn if run.expected and measure in ("error", "overlap")]
    if iterated:
        words.append(f"Dashed and curved: of each iterate of {', '.join(iterated)}.")
    # The same for all runs, as they are of one problem.
    known = drawn[0].predictions if drawn else {}
    limits = [convergence.prediction(known, measure, prefix) for prefix in convergence.LIMITS]
    if limits[0] is not None:
        hard = (
            " than the better line; no fast method is known to do better than the other"
            if limits[1] is not None
            else ""
        )
        words.append(f"Dotted: no method can do better{hard}.")
    return " ".join(words)


@st.cache_data(max_entries=64, show_spinner=False)
def truth_of(spec: Spec) -> Any:
    """Return the truth of a spec."""
    return getattr(spec.build(), "truth", None)


def table(runs: Sequence[Any]) -> pd.DataFrame:
    """Return all iterates of all runs, with the predictions."""
    rows = [{"solver": run.job.solver, **row, **run.job.predictions} for run in runs for row in run.trace.rows]
    return pd.DataFrame(rows, columns=None if rows else ["solver", "iteration", "seconds"])

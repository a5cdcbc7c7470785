"""What a run on *own data* looks like: curves on both sides of the split, and solvers compared beside the baseline."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from lrlab import catalog
from lrlab.figures import labels, theme
from lrlab.figures.measures import MEASURES
from lrlab.figures.recovery import Recovery
from lrlab.fits.fitted_model import FittedModel
from lrlab.fits.tuned_run import TunedRun
from lrlab.models.own_rows import OwnRows
from lrlab.ui.own_data.fit_controls import BASELINE, FitPlan
from lrlab.ui.own_data.row_source import RowTables
from lrlab.ui.shared import live, progress
from lrlab.ui.widgets import controls, plot, tables
from lrlab.ui.widgets.permalink import Permalink

PAGE = "own_data"
SCORES = ("precision_3", "precision_1", "precision_5", "ndcg_3", "ndcg_5", "hamming", "auc")
KNOWN = {name: MEASURES["multilabel"][name] for name in SCORES}
STATES = {"waiting": "waiting", "running": "running", "failed": "failed"}
TRIED = 15
"""Settings that a solver is tried with, about."""


class CurveSettings(NamedTuple):
    """What a person has chosen to see."""

    measure: str
    time: str


def choose(link: Permalink) -> CurveSettings:
    """Show what can be chosen about the curves."""
    words = {name: measure.title for name, measure in KNOWN.items()}
    measure = controls.choose(link, "show", words, "precision_3", "score of the curves and of the comparison", "Show")
    times = {"iteration": "iteration", "seconds": "seconds"}
    time = controls.choose(link, "against", times, "iteration", "iterations, or the time a solver took", "against")
    return CurveSettings(measure, time)


def draw(settings: CurveSettings, plan: FitPlan | None) -> None:
    """Draw the run that is followed, or, before the first one, what is about to be run."""
    running, followed = live.current(PAGE), live.about(PAGE) or plan
    show_progress(running)
    runs = list(running.runs) if running else []
    if followed is None:
        return
    # A place of its own: figures that move on the page would be drawn from scratch, and lose their zoom.
    with st.container():
        remarks(running, changed=bool(plan) and plan.spec != followed.spec)
    curves, found = st.columns([1, 1.1], gap="medium")
    with curves:
        drawn = recoveries(runs) if runs else [looks(job.solver) for job in followed.jobs]
        figure = labels.both_sides(drawn, settings.measure, settings.time)
        plot.show(figure, key="own_data.curves", label=f"{KNOWN[settings.measure].title} against {settings.time}")
        st.caption(
            f"**{KNOWN[settings.measure].title}**: {KNOWN[settings.measure].meaning}. Solid: test rows. "
            "Dotted: rows that were fitted, at most 2,000 of them."
        )
    with found:
        compare(runs, settings.measure)
    if isinstance(running, TunedRun) and any(one.table for one in running.tunings):
        tables.show(
            lambda: tried(running), key="own_data-tried", file="tuning", title="Settings that were tried, as a table",
            note=f"score: {followed.questions[0].metric} on the rows held out, at the best iteration.",
        )  # fmt: skip


def remarks(running: Any, changed: bool) -> None:
    """Say what has changed since a run was begun, what failed while it was tuned, and whether that was cancelled."""
    if changed:
        st.caption("**The rows or settings have changed since: press Run.**")
    if not isinstance(running, TunedRun):
        return
    for one in running.tunings:
        if one.error:
            st.error(f"{one.job.entry.title}: {one.error}")
    if running.cancelled and not running.runs:
        st.caption("Cancelled while settings were tried: those up to here stand below.")


def looks(solver: str) -> Recovery:
    """Return how a solver is drawn, whichever others are."""
    names = [entry.name for entry in catalog.solvers_for(OwnRows.model)]
    title = catalog.solver(solver, OwnRows.model).title
    return Recovery(title, theme.colours(names)[solver], theme.dashes(names)[solver], theme.symbols(names)[solver])


def recoveries(runs: Sequence[Any]) -> list[Recovery]:
    """Return runs as they are drawn."""
    return [replace(looks(run.job.solver), rows=run.trace.rows) for run in runs]


def show_progress(running: Any) -> None:
    """Show how far a run is."""
    if isinstance(running, TunedRun) and running.alive and not running.runs:
        done = sum(len(one.table) for one in running.tunings)
        over = sum(one.over for one in running.tunings)
        words = f"{done} settings tried, {over} of {len(running.tunings)} solvers tuned"
        st.empty().progress(min(0.95, done / (TRIED * len(running.tunings))), text=words)
    else:
        progress.show_run_progress(running)


def compare(runs: Sequence[Any], measure: str) -> None:
    """Show a row a solver, to be sorted by any score, and what failed."""
    if not runs:
        st.caption("The comparison appears here: a row a solver, the full-rank baseline always among them.")
        return
    columns = {name: st.column_config.NumberColumn(m.title, help=m.meaning, format="%.4f") for name, m in KNOWN.items()}
    columns["seconds"] = st.column_config.NumberColumn(format="%.3g", help="time of the solver, scoring not counted")
    columns["lead"] = st.column_config.NumberColumn(
        "over baseline", format="%+.4f", help=f"{KNOWN[measure].title} less that of binary relevance"
    )
    st.dataframe(comparison(runs, measure), hide_index=True, column_config=columns, key="own_data.comparison")
    st.caption("Scores on the test rows after the last iteration. A click on a column's name sorts by it.")
    for run in runs:
        if run.state == "failed":
            st.error(f"{run.job.entry.title}: {run.error}")


def comparison(runs: Sequence[Any], measure: str) -> pd.DataFrame:
    """Return a row a solver: its state, settings, and last scores, that of `measure` less the baseline's first."""
    rows = []
    for run in runs:
        last = run.trace.rows[-1] if run.trace.rows else {}
        options = dict(run.job.options)
        stop = run.trace.stop.name.replace("_", " ").lower() if run.trace.stop else STATES.get(run.state, "")
        about = {"solver": run.job.entry.title, "lead": None, **{name: last.get(name) for name in KNOWN}}
        about |= {"rank": rank_of(run), "regularization": options.get("regularization")}
        rows.append({**about, "iterations": len(run.trace.rows), "seconds": last.get("seconds"), "state": stop})
    base = next((row[measure] for run, row in zip(runs, rows, strict=True) if run.job.solver == BASELINE), None)
    for row in rows:
        row["lead"] = row[measure] - base if row[measure] is not None and base is not None else None
    return pd.DataFrame(rows)


def rank_of(run: Any) -> int | None:
    """Return the rank of a solver's estimate; None for one that has none."""
    options = dict(run.job.options)
    return int(options["fitted_rank"]) or run.job.spec.rank if "fitted_rank" in options else None


def tried(running: TunedRun) -> pd.DataFrame:
    """Return all settings that were tried."""
    return pd.DataFrame([{"solver": one.job.solver, **result.row()} for one in running.tunings for result in one.table])


def models(rows: RowTables) -> dict[str, FittedModel]:
    """Return what has been fitted to the end, by title."""
    running = live.current(PAGE)
    return {
        run.job.entry.title: FittedModel(run.job.solver, dict(run.job.options), run.trace.estimate, rows.columns)
        for run in (running.runs if running else ())
        if run.state == "done" and run.trace.estimate is not None
    }


def has_results() -> bool:
    """Tell whether the followed run has anything to show."""
    running = live.current(PAGE)
    return running is None or any(run.trace.rows for run in running.runs)

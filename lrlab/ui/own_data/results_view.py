"""Shows a run on *own data*: curves on training and test rows, and a comparison of solvers with the baseline."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from lrlab.engine.handles import LiveRun
from lrlab.figures import labels
from lrlab.figures.build import Figure
from lrlab.fits import baselines
from lrlab.fits.fitted_model import FittedModel
from lrlab.fits.tuned_run import TunedRun
from lrlab.model_entry import Measure
from lrlab.models.multilabel import FAMILY
from lrlab.models.own_rows import OwnRows
from lrlab.parameters import duration
from lrlab.runs.drawn import style_of
from lrlab.ui.converge.run_controls import CurveSettings, choose_time
from lrlab.ui.live.changes import State
from lrlab.ui.live.tabs import View
from lrlab.ui.own_data.fit_controls import BASELINE, FitPlan
from lrlab.ui.own_data.row_source import RowTables
from lrlab.ui.shared import live, progress
from lrlab.ui.widgets import controls, plot, tables
from lrlab.ui.widgets.permalink import Permalink
from lrlab.ui.widgets.text import plain

PAGE = "own_data"
SCORES = ("precision_3", "precision_1", "precision_5", "ndcg_3", "ndcg_5", "hamming", "auc")
PAGE_MEASURES = {name: FAMILY.measures[name] for name in SCORES}
LOSSES = ("hamming",)
BEFORE = "The comparison appears here: one row per solver, including the full-rank baseline."


def measures_of(labels: int | None) -> dict[str, Measure]:
    """Return the measures that say something of so many labels: of six, the first five hold nearly all; None: all."""
    most = max(2, labels) if labels else math.inf
    return {name: measure for name, measure in PAGE_MEASURES.items() if 2 * _first(name) <= most}


def _first(name: str) -> int:
    """Return of how many first labels a measure is, precision_3 of three; 1 where it is of all."""
    last = name.rpartition("_")[2]
    return int(last) if last.isdecimal() else 1


def choose(link: Permalink, labels: int | None) -> CurveSettings:
    """Show the controls of the curves and return the settings; labels: how many there are, if known."""
    words = {name: measure.title for name, measure in measures_of(labels).items()}
    first = next(iter(words))
    measure = controls.choose(link, "show", words, first, "measure of the curves and of the comparison", "Show")
    return CurveSettings(measure, choose_time(link))


def draw(settings: CurveSettings, plan: FitPlan | None) -> None:
    """Draw the run that is followed, or, before the first one, the planned one."""
    running, followed = live.current(PAGE), live.about(PAGE) or plan
    alive = running is not None and running.alive
    progress.strip(progress_bar(running), f"{PAGE}.progress", alive=alive)
    runs = list(running.runs) if running else []
    if followed is None:
        return
    # In a container: figures that move on the page would be drawn from scratch, and lose their zoom.
    with st.container():
        show_warnings(running, changed=plan is not None and plan.spec != followed.spec)
        progress.show_failures(failures(running), PAGE, alive=alive)
    curves, comparison_column = st.columns([1, 1.1], gap="medium")
    with curves:
        measure = PAGE_MEASURES[settings.measure]
        label = f"{measure.title} against {settings.time}"
        plot.show(figure(settings, runs, followed), key=f"{PAGE}.curves", label=label)
        st.caption(
            f"**{measure.title}**: {measure.meaning}. Solid: test rows. Dotted: training rows, at most 2,000 of them."
        )
    with comparison_column:
        if alive:
            plot.words(comparison_html(settings, runs, followed), key=f"{PAGE}.scores", small=True)
        else:
            compare(runs, settings.measure, followed.rows)
        if followed.rows.scaling(followed.spec.scaling).name != "deviations" and followed.rows.facts.spread:
            st.caption(plain(followed.rows.facts.spread))
    if isinstance(running, TunedRun) and any(one.table for one in running.tunings):
        rows = [{"solver": one.job.solver, **result.row()} for one in running.tunings for result in one.table]
        note = f"score: {followed.tasks[0].metric} on the held-out rows, at the best iteration."
        note += " Of a single label the rankings of a row say nothing." * (followed.spec.labels == 1)
        title, key = "Settings tried in tuning", "own_data-tried"
        tables.show(lambda: pd.DataFrame(rows), key=key, file="tuning", title=title, note=note)


def live_view(settings: CurveSettings) -> View | None:
    """Return the view of the run that is followed, for its live channel."""
    running, followed = live.current(PAGE), live.about(PAGE)

    def parts() -> State:
        runs = list(running.runs)
        return {
            f"{PAGE}.progress": progress_bar(running),
            f"{PAGE}.failures": progress.failures_html(failures(running)),
            f"{PAGE}.curves": figure(settings, runs, followed),
            f"{PAGE}.scores": comparison_html(settings, runs, followed),
        }

    return parts if running else None


def figure(settings: CurveSettings, runs: Sequence[Any], followed: FitPlan) -> Figure:
    """Return the curves of the runs; before they have begun, of the planned ones."""
    shown = runs or [LiveRun(job) for job in followed.jobs]
    drawn = [replace(style_of(OwnRows.model, run.job.solver), rows=run.trace.rows) for run in shown]
    return labels.both_sides(drawn, settings.measure, settings.time)


def comparison_html(settings: CurveSettings, runs: Sequence[Any], followed: FitPlan) -> str:
    """Return the comparison of runs that go on as HTML, for the live channel."""
    if not runs:
        return escape(BEFORE)
    measures = measures_of(followed.rows.columns.L)
    titles = {"lead": "over baseline", "within": "±"} | {name: measure.title for name, measure in measures.items()}
    table = comparison(runs, settings.measure, followed.rows)
    return tables.html(table.rename(columns=titles))


def show_warnings(running: Any, changed: bool) -> None:
    """Show whether settings have changed since the start of a run, and whether its tuning was cancelled."""
    if changed:
        st.caption("**The rows or settings have changed since this run: press Run.**")
    if isinstance(running, TunedRun) and running.cancelled and not running.runs:
        st.caption("Cancelled during tuning: the settings tried so far are in the table below.")


def failures(running: Any) -> list[str]:
    """Return why solvers could not be tuned or fitted, as sentences."""
    if running is None:
        return []
    tunings = running.tunings if isinstance(running, TunedRun) else ()
    failed = [one for one in (*tunings, *running.runs) if one.error]
    return [f"{one.job.entry.title}: {one.error}" for one in failed]


def progress_bar(running: Any) -> str:
    """Return the progress of tuning or of the run as HTML; empty where it is over."""
    if running is None or not running.alive:
        return ""
    if isinstance(running, TunedRun) and not running.runs:
        done = sum(len(one.table) for one in running.tunings)
        over = sum(one.over for one in running.tunings)
        words = f"{done} settings tried, {over} of {len(running.tunings)} solvers tuned"
        expected = sum(one.total for one in running.tunings)
        if 0 < done < expected:
            left = (time.monotonic() - running.started) / done * (expected - done)
            words += f", about {duration(left)} left to tune"
        return progress.bar(min(0.95, done / expected), words)
    return progress.run_bar(running.runs)


def compare(runs: Sequence[Any], measure: str, data: RowTables) -> None:
    """Show one row per solver and one of label frequencies, sortable by any measure, and what is below these."""
    if not runs:
        st.caption(BEFORE)
        return
    columns = {
        name: st.column_config.NumberColumn(known.title, help=known.meaning, format="%.4f")
        for name, known in measures_of(data.columns.L).items()
    }
    columns["seconds"] = st.column_config.NumberColumn(format="%.3g", help="time of the solver without scoring")
    columns["lead"] = st.column_config.NumberColumn(
        "over baseline", format="%+.4f", help=f"{PAGE_MEASURES[measure].title} minus that of binary relevance"
    )
    columns["within"] = st.column_config.NumberColumn(
        "±", format="%.4f", help="95% of the lead over draws of the test rows; less where both err in the same rows"
    )
    table = comparison(runs, measure, data)
    st.dataframe(table, hide_index=True, column_config=columns, key="own_data.comparison")
    words = plain(led(table, measure))
    st.caption(f"**{words}** Scores on the test rows after the last iteration. Click a column's name to sort by it.")
    for remark in remarks(runs, data.facts.floor):
        st.caption(plain(remark))


def led(table: pd.DataFrame, measure: str) -> str:
    """Return whether a solver leads the baseline by more than the uncertainty, from the table of `comparison`."""
    own = table.iloc[:-1]
    own = own[own["within"].notna()].astype({"lead": float, "within": float})
    if own.empty:
        return "No lead over binary relevance is known."
    # Of a loss the least is the best.
    sign = -1.0 if measure in LOSSES else 1.0
    best = own.loc[(sign * own["lead"]).idxmax()]
    gap, title = sign * best["lead"], PAGE_MEASURES[measure].title
    words = f"{best['lead']:+.3f} ± {best['within']:.3f} in {title}"
    if gap > best["within"]:
        return f"{best['solver']} is better than binary relevance: {words}."
    if gap < -best["within"]:
        return f"Binary relevance is better than each other solver; the nearest is {best['solver']}: {words}."
    return f"Which is better is open: {best['solver']} against binary relevance, {words}."


def remarks(runs: Sequence[Any], floor: Mapping[str, float]) -> list[str]:
    """Return a sentence for each solver that is done and below a baseline in AUC."""
    last = {run.job.solver: (run.job.entry.title, run.trace.rows[-1]) for run in runs if run.trace.rows}
    full = {baselines.FULL_RANK: last[BASELINE][1]} if BASELINE in last else {}
    known = {baselines.FREQUENCIES: floor, **full}
    remarks = {title: baselines.remark(row, known) for title, row in last.values()}
    return [f"**{title}**: {words}" for title, words in remarks.items() if words]


def comparison(runs: Sequence[Any], measure: str, data: RowTables) -> pd.DataFrame:
    """Return one row per solver: its lead over the baseline in `measure`, last scores, settings, and state.

    The last row is that of label frequencies. Where no test row has a measure there is no lead.
    """
    rows, measures, tested = [], measures_of(data.columns.L), data.rows_with(measure)
    for run in runs:
        last = run.trace.rows[-1] if run.trace.rows else {}
        options = dict(run.job.options)
        stop = run.trace.stop.name.replace("_", " ").lower() if run.trace.stop else run.state
        about = {
            "solver": run.job.entry.title,
            "lead": None,
            "within": None,
            **{name: last.get(name) for name in measures},
        }
        # A full-rank solver has none.
        about["rank"] = (int(options["fitted_rank"]) or run.job.spec.rank) if "fitted_rank" in options else None
        about["regularization"] = options.get("regularization")
        rows.append({**about, "iterations": run.trace.iterations, "seconds": last.get("seconds"), "state": stop})
    own = next((row for run, row in zip(runs, rows, strict=True) if run.job.solver == BASELINE), None)
    base = own[measure] if own else None
    frequent = {name: data.facts.floor.get(name) for name in measures}
    rows.append({"solver": baselines.FREQUENCIES.capitalize(), "lead": None, **frequent, "state": "baseline"})
    for row in rows:
        if tested and row[measure] is not None and base is not None:
            row["lead"] = row[measure] - base
            # The baseline's own lead is 0 in every draw.
            row["within"] = None if row is own else baselines.uncertainty(row[measure], base, tested)
    return pd.DataFrame(rows)


def fitted_models(rows: RowTables) -> dict[str, FittedModel]:
    """Return the models of the solvers that are done, by title."""
    running = live.current(PAGE)
    return {
        run.job.entry.title: FittedModel(
            run.job.solver, dict(run.job.options), run.trace.estimate, rows.columns,
            rows.scaling(run.job.spec.scaling), *run.job.spec.thresholds,
        )
        for run in (running.runs if running else ())
        if run.state == "done" and run.trace.estimate is not None
    }  # fmt: skip

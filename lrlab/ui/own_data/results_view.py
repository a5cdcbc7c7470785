"""Shows a run on *own data*: curves on training and test rows, and a comparison of solvers with the baseline."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from lrlab.engine.handles import LiveRun
from lrlab.figures import labels
from lrlab.figures.build import Figure
from lrlab.fits.fitted_model import FittedModel
from lrlab.fits.tuned_run import TunedRun
from lrlab.models.own_rows import OwnRows
from lrlab.parameters import duration
from lrlab.runs.drawn import styles
from lrlab.ui.converge.run_controls import CurveSettings, choose_time
from lrlab.ui.live.changes import State
from lrlab.ui.live.tabs import View
from lrlab.ui.own_data.comparison import PAGE_MEASURES, compare, comparison_html, measures_of
from lrlab.ui.own_data.fit_controls import FitPlan
from lrlab.ui.own_data.row_source import RowTables
from lrlab.ui.shared import live, progress
from lrlab.ui.widgets import controls, plot, tables
from lrlab.ui.widgets.permalink import Permalink
from lrlab.ui.widgets.text import plain

PAGE = "own_data"


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
        show_warnings(running, changed=running is not None and (plan is None or plan.spec != followed.spec))
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
            plot.words(comparison_html(runs, settings.measure, followed.rows), key=f"{PAGE}.scores", small=True)
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
            f"{PAGE}.scores": comparison_html(runs, settings.measure, followed.rows),
        }

    return parts if running else None


def figure(settings: CurveSettings, runs: Sequence[Any], followed: FitPlan) -> Figure:
    """Return the curves of the runs; before they have begun, of the planned ones."""
    shown = runs or [LiveRun(job) for job in followed.jobs]
    looks = styles(OwnRows.model, (run.job.solver for run in shown))
    drawn = [replace(looks[run.job.solver], rows=run.trace.rows) for run in shown]
    return labels.both_sides(drawn, settings.measure, settings.time)


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


def fitted_models(rows: RowTables) -> dict[str, FittedModel]:
    """Return the models of the solvers that are done, by title."""
    running = live.current(PAGE)
    return {
        run.job.entry.title: FittedModel(
            run.job.solver,
            dict(run.job.options),
            run.trace.estimate,
            rows.columns,
            rows.scaling(run.job.spec.scaling),
            *run.job.spec.thresholds,
        )
        for run in (running.runs if running else ())
        if run.state == "done" and run.trace.estimate is not None
    }

"""The last settings of *Run*, drawn with or without the page, and the figures that follow a dragged slider."""

import time
from collections.abc import Sequence
from concurrent.futures import wait
from typing import Any

import streamlit as st

from lrlab.catalog import family, model_entry, spec
from lrlab.engine.engine import together
from lrlab.engine.live import LiveRun
from lrlab.engine.messages import Failure
from lrlab.figures import theme
from lrlab.figures.recovery import Recovery
from lrlab.parameters import InputError
from lrlab.protocol import Spec, Stop
from lrlab.runs import theory
from lrlab.runs.job import Job, make_job
from lrlab.runs.run import quick_run
from lrlab.runs.trace import Trace
from lrlab.ui.converge import results_view, run_controls
from lrlab.ui.converge.run_controls import CurveSettings
from lrlab.ui.live.tabs import Parts, waiting
from lrlab.ui.shared import live, problem_controls
from lrlab.ui.widgets.permalink import Permalink


class Dragged:
    """What *Run* shows at every position of a dragged slider: runs that are quick, and theory, of workers.

    Called with a spec for each position of a slider. A solver that is not quick keeps a pale curve: that of the
    previous run, in `ran`, until a quick run ends early with some iterates, and then theirs.
    """

    def __init__(self, settings: CurveSettings, jobs: Sequence[Job], ran: Sequence[LiveRun] = ()) -> None:
        self._settings, self._jobs = settings, jobs
        self._rows = {run.job.solver: run.trace.rows for run in ran if run.trace.rows}
        self._slow_until = dict[str, float]()

    def __call__(self, spec: Spec) -> Parts:
        """Return the live parts for a spec."""
        jobs = [make_job(spec, job.solver, **dict(job.options), **job.limits._asdict()) for job in self._jobs]
        begun = time.monotonic()
        measures = family(spec.model).measures
        # If all are slow the first one shows how far it comes.
        quick = [job for job in jobs if self._slow_until.get(job.solver, 0.0) < begun] or jobs[:1]
        runs = {job: together.submit(quick_run, job) for job in quick}
        lines = {job: together.submit(theory.quick, job) for job in theory.not_cached(jobs, quickly=True)}
        measured = results_view.measured_parts(spec)
        with waiting():
            # Many tabs share the workers.
            wait([*runs.values(), *lines.values()], 2.0)
        for job, line in lines.items():
            if line.done() and not isinstance(line.result(), Failure):
                theory.cache(job, line.result(), exact=False)
        over = [self._over(job, runs.get(job)) for job in jobs]
        drawn, parts = results_view.shown(self._settings, over, dragged=True)
        late = [k for k, run in enumerate(over) if not run.over and run.job.solver in self._rows]
        if late:
            looks = list(drawn)
            for k in late:
                look, rows = drawn[k], self._rows[over[k].job.solver]
                title = f"{look.title} (after release)"
                looks[k] = Recovery(title, theme.pale(look.color), look.dash, look.symbol, rows)
            parts = {**parts, "converge.curves": results_view.curves(self._settings.of(measures), spec, looks, False)}
        return {**parts, **measured}

    def _over(self, job: Job, run: Any) -> LiveRun:
        """Return a run that is over, or one that has not begun if it isn't quick."""
        live = LiveRun(job)
        if run is None or not run.done():
            return live
        match run.result():
            case Trace(stop=Stop.CANCELLED) as trace:
                # It isn't quick here, and is tried again a second later.
                self._slow_until[job.solver] = time.monotonic() + 1.0
                if trace.rows:
                    self._rows[job.solver] = trace.rows
            case Trace() as trace:
                live.state, live.trace = "done", trace
            case Failure(sentence):
                live.state, live.error = "failed", sentence
        return live


class RunSettings:
    """The problem and its solvers, and how the page shows them.

    spec, limits: the InputError if lrlab rejects them.
    """

    curves: CurveSettings

    def __init__(self, link: Permalink, model: str) -> None:
        """Begin with the defaults of a model, and without solvers."""
        self.link, self.model = link, model
        self.spec: Spec | InputError = spec(model)
        self.limits: dict[str, Any] | InputError = {}
        self.jobs: list[Job] = []

    def choose(self) -> None:
        """Show the settings."""
        self.spec = problem_controls.choose_spec(self.link, self.model, main=model_entry(self.model).main)
        self.limits = problem_controls.choose_limits(self.link)
        st.header("Solvers", anchor=False)
        usual = family(self.model).solvers
        self.jobs = problem_controls.choose_jobs(
            self.link, self.model, self.spec, self.limits, default=usual, recommended=3
        )

    def choose_curves(self) -> None:
        """Show the controls of the curves."""
        self._absent = run_controls.absent_measures(self.model, self.spec)
        self.curves = run_controls.choose(self.link, self.model, self.spec)

    def draw(self) -> None:
        """Draw the run that the page follows, or the settings before the first one."""
        results_view.draw(self.curves, self.jobs, self.spec)

    def apart(self) -> bool:
        """Return whether the rest of the page shows a run, and only says that the settings have changed."""
        return (
            live.current("converge") is not None
            and bool(self.jobs)
            and not any(isinstance(given, InputError) for given in (self.spec, self.limits))
            and not st.session_state.get(run_controls.ON_CHANGE)
            and self._absent == run_controls.absent_measures(self.model, self.spec)
        )

    def follow(self) -> None:
        """Update the rest of the page, and the answers of its sliders, to the settings."""
        live.tab().push(results_view.changes(self.jobs))
        self.follow_sliders()

    def follow_sliders(self) -> None:
        """Have the figures follow each slider while it is dragged."""
        following = live.current("converge")
        ran = following.runs if following else ()
        if self.jobs and isinstance(self.spec, Spec):
            problem_controls.follow_sliders(self.link, self.spec, Dragged(self.curves, self.jobs, ran))

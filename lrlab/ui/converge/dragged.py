"""What *Run* shows while a slider is dragged: at every position runs that are quick, and theory, of workers."""

import time
from collections.abc import Sequence
from concurrent.futures import wait
from typing import Any

from lrlab.catalog import family
from lrlab.engine.engine import together
from lrlab.engine.live import LiveRun
from lrlab.engine.messages import Failure
from lrlab.figures import theme
from lrlab.figures.recovery import Recovery
from lrlab.protocol import Spec, Stop
from lrlab.runs import theory
from lrlab.runs.job import Job, make_job
from lrlab.runs.run import quick_run
from lrlab.runs.trace import Trace
from lrlab.ui.converge.results_view import curves, measured_parts, shown
from lrlab.ui.converge.run_controls import CurveSettings
from lrlab.ui.live.tabs import Parts, waiting


class Dragged:
    """Called with a spec for each position of a slider; of a solver that is not quick a curve stays, pale.

    It is that of the previous run, in `ran`, and then of the iterates that it reached in the time of a quick run.
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
        measured = measured_parts(spec)
        with waiting():
            # Many tabs share the workers.
            wait([*runs.values(), *lines.values()], 2.0)
        for job, line in lines.items():
            if line.done() and not isinstance(line.result(), Failure):
                theory.cache(job, line.result(), exact=False)
        over = [self._over(job, runs.get(job)) for job in jobs]
        drawn, parts = shown(self._settings, over, dragged=True)
        late = [k for k, run in enumerate(over) if not run.over and run.job.solver in self._rows]
        if late:
            looks = list(drawn)
            for k in late:
                look, rows = drawn[k], self._rows[over[k].job.solver]
                title = f"{look.title} (after release)"
                looks[k] = Recovery(title, theme.pale(look.color), look.dash, look.symbol, rows)
            parts = {**parts, "converge.curves": curves(self._settings.of(measures), spec, looks, False)}
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
                self._rows[job.solver] = trace.rows
            case Trace() as trace:
                live.state, live.trace = "done", trace
            case Failure(sentence):
                live.state, live.error = "failed", sentence
        return live

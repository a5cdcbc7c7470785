"""The figures of *Run* that follow a dragged slider."""

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
from lrlab.parameters import InputError
from lrlab.protocol import Spec, Stop
from lrlab.runs import theory
from lrlab.runs.job import Job, make_job
from lrlab.runs.run import quick_run
from lrlab.runs.trace import Trace
from lrlab.ui.converge import results_view
from lrlab.ui.converge.run_controls import CurveSettings
from lrlab.ui.live import script_queue
from lrlab.ui.live.tabs import Parts
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
        with script_queue.pause():
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


def follow_sliders(link: Permalink, spec: Spec | InputError, settings: CurveSettings, jobs: Sequence[Job]) -> None:
    """Have the figures follow each slider of the problem while it is dragged."""
    following = live.current("converge")
    if jobs and isinstance(spec, Spec):
        ran = following.runs if following else ()
        problem_controls.follow_sliders(link, spec, Dragged(settings, jobs, ran))

"""A figure in a notebook that moves while solvers run: plotly's own widget, with the verdict below it."""

import threading
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any

from lrlab.catalog import family
from lrlab.engine.engine import get_engine
from lrlab.engine.live import LiveRun, LiveRuns
from lrlab.extras import named
from lrlab.figures import convergence
from lrlab.figures.runs import measures_of, metric_of, outcomes, recoveries
from lrlab.parameters import InputError
from lrlab.plugins import AnySolver
from lrlab.protocol import Spec
from lrlab.runs.job import make_job
from lrlab.runs.trace import Trace


def live(spec: Spec, solvers: Sequence[AnySolver], measure: str = "", **settings: object) -> Any:
    """Start solvers on a problem, and return a widget whose figure grows while they run.

    solvers: names, or your solvers, as for `lrlab.solve`. measure: one of the model's, by default its first.
    settings: options, each for the solvers that have it, `tol`, `max_iter` and `max_seconds`. The widget's `cancel()`
    ends the runs, `wait()` returns when they are over; `traces` are their records so far, `errors` the
    sentences of failed runs. It needs the extra `notebook`: InputError, with the command, without it.
    """
    entries = [] if isinstance(solvers, str) else [make_job(spec, solver).entry for solver in solvers]
    if not entries:
        raise InputError("solvers", "some solvers", solvers or "none", "give a list of names that `models` lists")
    measure = metric_of(spec, measure)
    for name in settings:
        if not any(name in entry.settings for entry in entries):
            # InputError: it is none of its settings.
            entries[0].settle({name: settings[name]})
    known = [{k: v for k, v in settings.items() if k in entry.settings} for entry in entries]
    jobs = [make_job(spec, entry.name, **own) for entry, own in zip(entries, known, strict=True)]
    return _widget()(get_engine().follow(jobs), measure)


@cache
def _widget() -> Any:
    with named():
        import anywidget  # noqa: F401  (plotly's widget needs it)
        import ipywidgets
        import plotly.graph_objects as go

    class LiveFigure(ipywidgets.VBox):
        """The figure of runs, which grows with them, and the verdict below it."""

        def __init__(self, following: LiveRuns, measure: str) -> None:
            self.following, self._measure = following, measure
            self.figure, self.words = go.FigureWidget(), ipywidgets.HTML()
            super().__init__([self.figure, self.words])
            self._thread = threading.Thread(target=self._follow, daemon=True)
            self._thread.start()

        @property
        def traces(self) -> list[Trace]:
            """The records of the runs."""
            return [run.trace for run in self.following.runs]

        @property
        def errors(self) -> dict[str, str]:
            """The sentence of each solver that failed, by its name."""
            return {run.job.solver: run.error for run in self.following.runs if run.error}

        def cancel(self) -> None:
            """End the runs; their records stay."""
            self.following.cancel()

        def wait(self, seconds: float | None = None) -> None:
            """Return when the runs are over and shown, or after so many seconds."""
            self._thread.join(seconds)

        def _follow(self) -> None:
            alive, last = True, None
            while alive:
                alive, version = self.following.alive, self.following.version
                if version != last or not alive:
                    self._show()
                last = version
                # At most ten figures per second.
                self.following.wait(0.1)

        def _show(self) -> None:
            drawn, self.words.value = shown(self.following.runs, self._measure)
            with self.figure.batch_update():
                # The layout keeps zoom and hidden series, by its uirevision.
                self.figure.update_layout(drawn.layout)
                if len(self.figure.data) == len(drawn.data):
                    for old, new in zip(self.figure.data, drawn.data, strict=True):
                        old.update(new, overwrite=True)
                else:
                    self.figure.data = []
                    self.figure.add_traces(drawn.data)

    return LiveFigure


def shown(runs: Sequence[LiveRun], measure: str) -> tuple[Any, str]:
    """Return plotly's figure of runs, and below it the verdict and how they ended, as HTML."""
    spec, alive = runs[0].job.spec, not all(run.over for run in runs)
    drawn = recoveries(spec, runs)
    figure = convergence.curves(drawn, measure, measures=measures_of(spec), log_y=True, hold=True, growing=alive)
    ends = [
        f"{run.job.entry.title}: {f'FAILED. {run.error}' if run.error else run.trace.ending}"
        for run in runs
        if run.over
    ]
    verdict = family(spec.model).verdict(spec, outcomes(runs, drawn))
    return figure.plotly(), f"<strong>{escape(verdict)}</strong> {escape(' '.join(ends))}"

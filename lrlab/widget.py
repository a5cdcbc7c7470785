"""A figure in a notebook that moves while solvers run: the plot component of the pages, by anywidget."""

import json
import re
import threading
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from lrlab.catalog import family
from lrlab.engine.engine import get_engine
from lrlab.engine.live import LiveRun, LiveRuns
from lrlab.figures import convergence, theme
from lrlab.figures.build import encoded
from lrlab.figures.runs import outcomes, recoveries
from lrlab.parameters import InputError, require_known
from lrlab.plugins import AnySolver
from lrlab.protocol import Spec
from lrlab.runs.job import make_job
from lrlab.runs.trace import Trace

ASSETS = Path(__file__).parent / "ui" / "assets"
FILES = ("save.js", "plot.js")
"""The scripts of a figure; each comes after the scripts that it needs."""
SERVED = re.compile(r' *<button[^>]* data-format="pdf".*?</button>\n')
"""The file of a figure that a server writes."""
FRAME_SECONDS = 0.1
STYLE = """
.lrlab-plot, .lrlab-figure { width: 100%; }
.lrlab-scrub[hidden] { display: none; }
.lrlab-files { display: flex; justify-content: flex-end; gap: 0.25rem; }
.lrlab-words { margin: 0.3rem 0; }
"""


def live(spec: Spec, solvers: Sequence[AnySolver], measure: str = "", **settings: object) -> Any:
    """Start solvers on a problem, and return a widget whose figure grows while they run.

    solvers: names, or your solvers, as for `lrlab.solve`. measure: one of the model's, by default its first.
    settings: options, each for the solvers that have it, `tol`, `max_iter` and `max_seconds`. The widget's `cancel()`
    ends the runs, `wait()` returns when they are over; `traces` are their records so far, `errors` the
    sentences of failed runs. It needs the extra `notebook`: InputError, with the command, without it.
    """
    names = [make_job(spec, solver).solver for solver in solvers]
    if not names:
        raise InputError("solvers", "some solvers", "none", "name one that `models` lists")
    measures = family(spec.model).measures
    require_known(measure or next(iter(measures)), measures, what="measure")
    jobs = []
    for name in names:
        known = make_job(spec, name).entry.settings
        jobs.append(make_job(spec, name, **{k: value for k, value in settings.items() if k in known}))
    for name in settings:
        if not any(name in job.entry.settings for job in jobs):
            jobs[0].entry.require_setting(name)
    return _widget()(get_engine().follow(jobs), measure or next(iter(measures)))


@cache
def _widget() -> Any:
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        remedy = 'pip install "lrlab[notebook]"'
        raise InputError("lrlab.live", "in an environment with anywidget", "one without", remedy) from error

    class LiveFigure(anywidget.AnyWidget):
        """The figure of runs, drawn anew while they grow, and the verdict below it."""

        _esm, _css = script(), STYLE
        figure, label, words, template = (traitlets.Unicode("").tag(sync=True) for _ in range(4))

        def __init__(self, following: LiveRuns, measure: str) -> None:
            super().__init__(template=encoded(theme.TEMPLATE), label=f"{measure} of {len(following.runs)} runs")
            self.following, self._measure = following, measure
            self._show()
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
            while self.following.alive:
                before = self.following.version
                self.following.wait(FRAME_SECONDS)
                if self.following.version != before:
                    self._show()

        def _show(self) -> None:
            with self.hold_sync():
                self.figure, self.words = shown(self.following.runs, self._measure)

    return LiveFigure


def shown(runs: Sequence[LiveRun], measure: str) -> tuple[str, str]:
    """Return the figure of runs as JSON, and below it the verdict and how they ended, as HTML."""
    spec, alive = runs[0].job.spec, not all(run.over for run in runs)
    drawn, measures = recoveries(spec, runs), family(spec.model).measures
    figure = convergence.curves(drawn, measure, measures=measures, log_y=True, hold=True, growing=alive)
    ends = [
        f"{run.job.entry.title}: {f'FAILED. {run.error}' if run.error else run.trace.ending}"
        for run in runs
        if run.over
    ]
    verdict = family(spec.model).verdict(spec, outcomes(runs, drawn))
    return figure.to_json(template=False, single=True), f"<strong>{escape(verdict)}</strong> {escape(' '.join(ends))}"


@cache
def script() -> str:
    """Return the module of the widget, with the scripts of the pages and the library in it."""
    from plotly.offline import get_plotlyjs

    files = {name: (ASSETS / "files" / name).read_text("utf-8") for name in (*FILES, "widget.js")}
    own, html = files.pop("widget.js"), SERVED.sub("", (ASSETS / "plot.html").read_text("utf-8"))
    known = {"FILES": files, "LIBRARY": get_plotlyjs(), "HTML": html}
    return "".join(f"const {name} = {json.dumps(value)};\n" for name, value in known.items()) + own

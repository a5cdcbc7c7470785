"""One solver on one problem: checked, run, scored, and kept as a trace."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lrlab import catalog
from lrlab.parameters import Value
from lrlab.protocol import Estimate, Interrupted, Iterate, Limits, Spec, Stop, drive, parts
from lrlab.runs.memory import require_memory
from lrlab.solver_entry import SolverEntry

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, float]

KEPT_ESTIMATES = 200


@dataclass(frozen=True)
class Job:
    """A solver on a spec with all its settings: checked, small, and ready to travel."""

    spec: Spec
    solver: str
    options: tuple[tuple[str, Value], ...]
    limits: Limits

    @property
    def entry(self) -> SolverEntry:
        """The solver's entry on the catalogue."""
        return catalog.solver(self.solver, self.spec.model)

    def on(self, spec: Spec) -> "Job":
        """Return the same job on another spec of the same shape (another seed), which needs no new checks."""
        return replace(self, spec=spec)

    @property
    def predictions(self) -> Row:
        """What theory says of this job, as `predicted_...` numbers."""
        return self.entry.predict(self.spec, dict(self.options))


def job(spec: Spec, solver: str, **settings: object) -> Job:
    """Return the job, or raise InputError with the reason why it cannot be run.

    `settings` are the solver's options and `tol`, `max_iter`, `max_seconds`, as values or as text.
    """
    entry = catalog.compatible(spec, solver)
    options, ending = entry.settle(settings)
    entry.refuse(spec, dict(options))
    require_memory(spec, entry, dict(options))
    return Job(spec, solver, options, ending)


def single(estimate: Estimate) -> Estimate:
    """Return the estimate in single precision: enough to be looked at, half the memory."""
    half = [part.astype(np.complex64 if np.iscomplexobj(part) else np.float32) for part in parts(estimate)]
    return type(estimate)(*half) if isinstance(estimate, tuple) else half[0]


@dataclass
class Trace:
    """What a run left behind.

    rows: one an iterate: iteration, seconds (solver time), objective, residual (nan where the solver has none) and the
    problem's scores. history: (iteration, estimate) of at most 200 iterates, evenly thinned, in single precision.
    stop: why it ended. note: what the solver decided.
    """

    job: Job
    rows: list[Row] = field(default_factory=list, repr=False)
    history: list[tuple[int, Estimate]] = field(default_factory=list, repr=False)
    estimate: Estimate | None = field(default=None, repr=False)
    stop: Stop | None = None
    note: str = ""
    _stride: int = field(default=1, repr=False)

    def record(self, row: Row, iterate: Iterate) -> None:
        """Add an iterate."""
        self.rows.append(row)
        self.estimate, self.note = iterate.estimate, iterate.note
        iteration = int(row["iteration"])
        if self.job.spec.watched and (iteration - 1) % self._stride == 0:
            self.history.append((iteration, single(iterate.estimate)))
        if len(self.history) > KEPT_ESTIMATES:
            self.history, self._stride = self.history[::2], 2 * self._stride

    @property
    def table(self) -> "pd.DataFrame":
        """The rows as a table."""
        # Imported when it is wanted: the shell and the workers do without its 60 MB.
        import pandas as pd

        return pd.DataFrame(self.rows)

    @cached_property
    def problem(self) -> Any:
        """The problem, built anew from its spec."""
        return self.job.spec.build()

    @property
    def metrics(self) -> Row:
        """The scores of the last iterate, and the predictions of theory."""
        last = self.rows[-1] if self.rows else {}
        scores = {k: v for k, v in last.items() if k not in ("iteration", "seconds")}
        return {**scores, **self.job.predictions}

    def summary(self) -> dict[str, Any]:
        """Return all of it as plain values, as `solve --json` prints it."""
        spec = self.job.spec
        return {
            "model": spec.model,
            "spec": spec.public_values(),
            "solver": self.job.solver,
            "options": {**dict(self.job.options), **self.job.limits._asdict()},
            "stop": self.stop.name if self.stop else None,
            "message": " ".join(part for part in (self.stop.value if self.stop else "", self.note) if part),
            "iterations": len(self.rows),
            "seconds": self.rows[-1]["seconds"] if self.rows else 0.0,
            "metrics": self.metrics,
            "trace": self.rows,
        }


def solve(spec: Spec, solver: str, **settings: object) -> Trace:
    """Run a solver on a problem, here and now, and return its trace.

    `settings` are the solver's options and `tol`, `max_iter`, `max_seconds`. Raises InputError before anything is run
    where the settings are wrong, the solver cannot handle the model, or memory would not suffice.
    """
    return run(job(spec, solver, **settings))


def run(
    job: Job,
    watch: Callable[[Row, Iterate], None] = lambda row, iterate: None,
    progress: Callable[[float], None] = lambda fraction: None,
    cancelled: Callable[[], bool] = lambda: False,
    last_only: bool = False,
) -> Trace:
    """Run a checked job; `watch` gets each scored iterate, `progress` the share of each pass over the data.

    With `last_only` the last iterate alone is scored and kept: in a short run, scores cost more than the solver.
    """
    trace, newest = Trace(job), list[tuple[int, float, Iterate]]()
    # The limit holds inside an iteration too: a pass over data that is drawn anew may take minutes.
    deadline = time.monotonic() + job.limits.max_seconds

    def checkpoint(fraction: float) -> None:
        progress(fraction)
        # Once the run has ended, the data may still be read, for the last score.
        if trace.stop is None and (cancelled() or time.monotonic() > deadline):
            raise Interrupted(Stop.CANCELLED if cancelled() else Stop.TIMEOUT)

    def score(iteration: int, seconds: float, iterate: Iterate) -> None:
        row = _row(iteration, seconds, iterate) | problem.score(iterate.estimate)
        trace.record(row, iterate)
        watch(row, iterate)

    def hold(*iterate: Any) -> None:
        newest[:] = [iterate]

    try:
        problem = job.spec.build(checkpoint)
        problem.load(everything=not job.entry.streams)
        rng = np.random.default_rng(job.spec.streams().solver)
        iterates = job.entry.run(problem, **dict(job.options), rng=rng)
        trace.stop = drive(iterates, hold if last_only else score, **job.limits._asdict(), cancelled=cancelled)
    except Interrupted as interruption:
        trace.stop = interruption.stop
    for last in newest:
        score(*last)
    return trace


def _row(iteration: int, seconds: float, iterate: Iterate) -> Row:
    own = {"objective": iterate.objective, "residual": iterate.residual}
    known = {name: float("nan") if value is None else value for name, value in own.items()}
    return {"iteration": iteration, "seconds": seconds, **known}

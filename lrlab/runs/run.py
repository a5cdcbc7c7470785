"""Runs a job: builds its problem, drives its solver, scores the iterates, and records them in a trace."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from lrlab import extras, metrics
from lrlab.arrays import Intervals
from lrlab.plugins import AnySolver
from lrlab.protocol import Checkpoint, Interrupted, Iterate, Problem, Spec, Stop, proceed
from lrlab.runs.drive import Clock, drive
from lrlab.runs.job import Job, make_job
from lrlab.runs.trace import Row, Trace


class _Thread(threading.local):
    """What ends the runs of a thread; in one where nothing was set, nothing does."""

    check: Callable[[], bool] = staticmethod(lambda: False)


_thread = _Thread()


class NumericalBreakdown(RuntimeError):
    """A computation inside a solver came to no number; the message is one sentence, with the remedy."""

    def __init__(self, solver: str, iterations: int, error: Exception) -> None:
        reason = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
        remedy = "take another seed or start, more measurements, or another solver"
        super().__init__(f"{solver} broke down numerically after {iterations} iterations ({reason}): {remedy}.")


@contextmanager
def cancellable(check: Callable[[], bool]) -> Iterator[None]:
    """Let `check` end the runs of this thread: they look at it at every iterate and checkpoint."""
    _thread.check = check
    try:
        yield
    finally:
        del _thread.check


def cancelled() -> bool:
    """Return whether what this thread computes is to end, see `cancellable`."""
    return _thread.check()


@cache
def blas() -> Any:
    """Return the controller of the BLAS libraries of this process."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def blas_threads(count: int) -> Iterator[None]:
    """Let BLAS use so many threads meanwhile."""
    with blas().limit(limits=count, user_api="blas"):
        yield


def solve(spec: Spec, solver: AnySolver, **settings: object) -> Trace:
    """Run a solver on a problem, here and now, and return its trace; settings and errors as of `lrlab.solve`.

    `max_seconds` is looked at between iterates and between blocks of data: one large decomposition is not interrupted.
    NumericalBreakdown where a computation inside the solver comes to no number.
    """
    return run_job(make_job(spec, solver, **settings))


@dataclass
class Newest:
    """The newest iterate of a run whose iterates are not scored as they come: number, solver time, iterate."""

    held: tuple[int, float, Iterate] | None = None
    trace: Trace | None = None
    problem: Any = None

    def hold(self, iteration: int, seconds: float, iterate: Iterate) -> None:
        """Take an iterate in the place of the one before."""
        self.held = iteration, seconds, iterate

    @property
    def iterations(self) -> int:
        """Number of iterates."""
        return self.held[0] if self.held else 0

    def scored(self) -> Row:
        """Return the row of the newest iterate, empty where there is none, while the run does not come back in time."""
        if self.held is None or self.trace is None:
            return {}
        # Lets the data be read, see `run_job`.
        self.trace.stop = Stop.TIMEOUT
        return scored_row(self.problem, *self.held)


@extras.named()
def run_job(
    job: Job,
    watch: Callable[[Row, Iterate], None] = lambda row, iterate: None,
    progress: Callable[[float], None] = lambda fraction: None,
    cancelled: Callable[[], bool] = cancelled,
    newest: Newest | None = None,
    clock: Clock = time.perf_counter,
    trace: Trace | None = None,
) -> Trace:
    """Run a checked job; `watch` gets each scored iterate, `progress` the fraction of each pass over the data.

    With `newest` the last iterate alone is scored and recorded: in a short run, scores cost more than the solver.
    clock: of solver time and of `max_seconds`, see `drive.drive`. trace: that of the job, empty, where another
    thread looks at it meanwhile.
    """
    trace = Trace(job) if trace is None else trace
    # The limit holds inside an iteration too: a pass over data that is drawn anew may take minutes.
    began = clock()
    deadline = began + job.limits.max_seconds

    def checkpoint(fraction: float) -> None:
        progress(fraction)
        # Once the run has ended, the data may still be read, for the last score.
        if trace.stop is None and (cancelled() or clock() > deadline):
            raise Interrupted(Stop.CANCELLED if cancelled() else Stop.TIMEOUT)

    last: Iterate | None = None

    def score(iteration: int, seconds: float, iterate: Iterate) -> None:
        nonlocal last
        last = iterate
        row, intervals = complete_row(problem, iteration, seconds, iterate)
        trace.record(row, iterate, intervals)
        watch(row, iterate)

    try:
        problem, rng = opened(job, checkpoint)
        if newest is not None:
            newest.trace, newest.problem = trace, problem
        iterates = job.entry.run(problem, **dict(job.options), rng=rng)
        trace.stop = drive(
            iterates, newest.hold if newest else score, **job.limits._asdict(), cancelled=cancelled, clock=clock
        )
    except Interrupted as interruption:
        trace.stop = interruption.stop
    except (np.linalg.LinAlgError, ArithmeticError) as error:
        iterations = max(trace.iterations, newest.iterations if newest else 0)
        raise NumericalBreakdown(job.solver, iterations, error) from error
    except (KeyboardInterrupt, SystemExit) as error:
        # Ctrl-C reaches the main thread alone: elsewhere the solver's own code raises it.
        if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
            raise
        raise RuntimeError(f"{job.solver} raised {type(error).__name__}: correct the solver.") from error
    if newest is not None and newest.held is not None:
        score(*newest.held)
    trace.seconds = 0.0 if trace.rows else clock() - began
    if last is not None:
        trace.stop = beside_the_truth(trace.stop, problem, trace.rows[-1], job.limits.tol)
    return trace


def opened(job: Job, checkpoint: Checkpoint = proceed) -> tuple[Any, np.random.Generator]:
    """Return the problem of a job, with its data drawn, and the generator of its solver's random numbers."""
    problem = job.spec.build(checkpoint)
    problem.load(everything=not job.entry.streams)
    return problem, np.random.default_rng(job.spec.streams().solver)


def beside_the_truth(stop: Stop | None, problem: Problem, row: Row, tol: float) -> Stop | None:
    """Return why a run ended with a row, in view of how well the truth fits."""
    if stop is Stop.CONVERGED and problem.truth_fits_better(row, tol):
        return Stop.LOCAL_MINIMUM
    if stop in (Stop.CONVERGED, Stop.SETTLED, Stop.FINISHED) and problem.another_fits(row):
        return Stop.NOT_UNIQUE
    return stop


def complete_row(problem: Problem, iteration: int, seconds: float, iterate: Iterate) -> tuple[Row, Intervals | None]:
    """Return all that is recorded of an iterate, with its intervals and their scores where it has some."""
    intervals = iterate.intervals() if iterate.intervals else None
    row = scored_row(problem, iteration, seconds, iterate)
    if intervals and problem.truth is not None:
        row |= metrics.interval_scores(iterate.estimate, *intervals[:2], problem.truth)
    return row, intervals


def scored_row(problem: Problem, iteration: int, seconds: float, iterate: Iterate, quick: bool = False) -> Row:
    """Return what is recorded of an iterate, with the problem's scores of its estimate, or its quick ones."""
    own = {"objective": iterate.objective, "residual": iterate.residual}
    known = {name: float("nan") if value is None else value for name, value in own.items()}
    score = problem.quick_score if quick else problem.score
    return {"iteration": iteration, "seconds": seconds, **known, **score(iterate.estimate)}

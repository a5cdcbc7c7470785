"""Runs a job: builds its problem, drives its solver, scores the iterates, and records them in a trace; runs trials.

The loop counts the solver's time, and says when and why a run ends.
"""

import hashlib
import json
import math
import threading
import time
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lrlab import extras, linalg
from lrlab.arrays import Intervals
from lrlab.parameters import InputError, counted, declared
from lrlab.protocol import Checkpoint, Interrupted, Iterate, Limits, Problem, Spec, Stop, parts, proceed
from lrlab.runs import theory
from lrlab.runs.job import Job
from lrlab.runs.trace import Row, Trace

Progress = Callable[[int, int], None]
"""Called with the number of trials done and the number of all."""
Watch = Callable[[int, float, Iterate], None]
Check = Callable[[], bool]
Clock = Callable[[], float]
"""Seconds since a moment: `time.perf_counter` of the wall, `time.thread_time` of the processor."""
LIMITS = Limits()
QUICK_SECONDS = 0.08
"""Processor time of a quick run, including the scores: ten of them a second leave time for the figures."""
EACH, APART = 20, 1.35
SCORED = frozenset([*range(1, EACH), *(int(EACH * APART**k) for k in range(40))])
"""Iterations of a quick run with scores: all early ones, later ones a third apart. On a logarithmic axis the line
through these differs little from the line through all."""


ENDED = set[str]()
"""Names of tasks that are to end, see `cancelled`."""
thread = threading.local()
"""`task`: the name of the task that a worker's thread computes."""


class NumericalBreakdown(RuntimeError):
    """A computation inside a solver came to no number; the message is one sentence, with the remedy."""


def cancelled() -> bool:
    """Return whether what this thread computes is to end: runs look at it at every iterate and checkpoint."""
    return getattr(thread, "task", "") in ENDED


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


def run_job(
    job: Job,
    watch: Callable[[Row, Iterate], None] = lambda row, iterate: None,
    progress: Callable[[float], None] = lambda fraction: None,
    cancelled: Check = cancelled,
    scored: Container[int] | None = None,
    clock: Clock = time.perf_counter,
    trace: Trace | None = None,
) -> Trace:
    """Run a checked job; `watch` gets each scored iterate, `progress` the fraction of each pass over the data.

    scored: the iterations with scores and a record, by default all; the last one has them in any case. In a short
    run, scores cost more than the solver. clock: of solver time and of `max_seconds`, see `drive`. trace: an empty
    trace of the job, if the caller reads it meanwhile.
    """
    trace = Trace(job) if trace is None else trace
    # The limit also holds inside an iteration: a pass over simulated data may take minutes.
    began = clock()
    deadline, last = began + job.limits.max_seconds, (0, 0.0, Iterate(None))

    def checkpoint(fraction: float) -> None:
        progress(fraction)
        # Once the run has ended, the data may still be read, for the last score.
        if trace.stop is None and (cancelled() or clock() > deadline):
            raise Interrupted(Stop.CANCELLED if cancelled() else Stop.TIMEOUT)

    def score(iteration: int, seconds: float, iterate: Iterate) -> None:
        row, intervals = scored_row(problem, iteration, seconds, iterate)
        trace.record(row, iterate, intervals)
        watch(row, iterate)

    def take(iteration: int, seconds: float, iterate: Iterate) -> None:
        nonlocal last
        last = iteration, seconds, iterate
        if scored is None or iteration in scored:
            score(*last)

    try:
        problem, rng = opened(job, checkpoint)
        iterates = job.entry.run(problem, **dict(job.options), rng=rng)
        trace.stop = drive(iterates, take, job.limits, cancelled, clock)
    except Interrupted as interruption:
        trace.stop = interruption.stop
    except ModuleNotFoundError:
        with extras.named():
            raise
    except (np.linalg.LinAlgError, ArithmeticError) as error:
        reason = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
        course = f"after {counted(last[0], 'iteration')} ({reason})"
        remedy = "take another seed or start, more measurements, or another solver"
        raise NumericalBreakdown(f"{job.solver} broke down numerically {course}: {remedy}.") from error
    if last[0] and scored is not None and last[0] not in scored:
        score(*last)
    trace.seconds = 0.0 if trace.rows else clock() - began
    if trace.rows:
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


def scored_row(problem: Problem, iteration: int, seconds: float, iterate: Iterate) -> tuple[Row, Intervals | None]:
    """Return all that is recorded of an iterate, with its intervals and their scores if it has some."""
    own = {"objective": iterate.objective, "residual": iterate.residual}
    known = {name: float("nan") if value is None else value for name, value in own.items()}
    intervals = iterate.intervals() if iterate.intervals else None
    shape, got = (getattr(one, "shape", None) for one in (problem.truth, iterate.estimate))
    if shape and got is not None and got != shape:
        raise InputError("estimate", f"of shape {shape}", got, "check what the solver yields")
    row = {"iteration": iteration, "seconds": seconds, **known, **problem.score(iterate.estimate)}
    if intervals and problem.truth is not None:
        row |= linalg.interval_scores(iterate.estimate, *intervals[:2], problem.truth)
    return row, intervals


def drive(
    iterates: Iterator[Iterate],
    watch: Watch,
    limits: Limits = LIMITS,
    cancelled: Check = lambda: False,
    clock: Clock = time.perf_counter,
) -> Stop:
    """Run a solver to its end and say why it ended: the only owner of loop, clock and stopping.

    `watch(iteration, seconds, iterate)` gets every finite iterate; its own time does not count as the solver's.
    cancelled: whether the run is to end now. clock: counts seconds. Somebody waits for a live run, whose BLAS may have
    several threads: wall time. Trials count the processor time of their thread (`time.thread_time`), on one thread of
    BLAS, so that a busy machine ends them after the same iterations.
    """
    iteration, seconds, first = 0, 0.0, math.nan
    while True:
        iteration += 1
        started = clock()
        try:
            iterate = next(iterates)
        except StopIteration as end:
            if not isinstance(end.value, Stop | None):
                raise unexpected(iterates, "returns", "a Stop or nothing", end.value) from None
            return end.value or Stop.FINISHED
        except Interrupted as interruption:
            return interruption.stop
        seconds += clock() - started
        if not isinstance(iterate, Iterate):
            raise unexpected(iterates, "yields", "an Iterate", iterate)
        objective = math.nan if iterate.objective is None else iterate.objective
        residual = math.nan if iterate.residual is None else iterate.residual
        first = abs(objective) if math.isnan(first) else first
        known = iterate.objective is None or math.isfinite(objective)
        finite = known and all(np.isfinite(part).all() for part in parts(iterate.estimate))
        if finite:
            watch(iteration, seconds, iterate)
        solved = residual <= limits.tol
        reasons = {
            Stop.NONFINITE: not finite,
            # Objectives may be negative or start at zero; growth is measured against the first one's size plus one.
            Stop.DIVERGED: objective > 1e6 * (first + 1.0),
            Stop.CONVERGED: solved and iterate.optimal,
            Stop.SETTLED: solved,
            Stop.CANCELLED: cancelled(),
            Stop.TIMEOUT: seconds >= limits.max_seconds,
            Stop.MAX_ITER: iteration >= limits.max_iter,
        }
        if holding := [stop for stop, holds in reasons.items() if holds]:
            return holding[0]


def unexpected(iterates: Iterator[Iterate], verb: str, expected: str, got: object) -> InputError:
    """Return the error of a solver that yields or returns something else."""
    code = getattr(iterates, "gi_code", None)
    where = f"{code.co_name} ({Path(code.co_filename).name})" if code else "a solver"
    return InputError(f"what {where} {verb}", expected, type(got).__name__, "yield Iterate(estimate)")


class Trial(NamedTuple):
    """One repetition of a job; the job's spec carries the seed of the whole sweep.

    number: 0, 1, ...; together with the sweep's seed it decides the trial's own seed, see `trial_spec`.
    """

    job: Job
    number: int

    @property
    def seeded(self) -> Job:
        """The job on the trial's own seed."""
        return self.job.on(trial_spec(self.job.spec, self.number))

    @property
    def max_seconds(self) -> float:
        """Limit of processor time; at twice this limit a worker ends the trial by force."""
        return self.job.limits.max_seconds


class TrialResult(NamedTuple):
    """The result of a trial: its own seed, how it ended, seconds of the processor, the scores of its last iterate."""

    seed: int
    stop: str
    iterations: int
    seconds: float
    scores: dict[str, float]

    def row(self, trial: Trial) -> dict[str, Any]:
        """Return the columns of a table of trials, without those that name the cell."""
        about = {"solver": trial.job.solver, "trial": trial.number, "seed": self.seed}
        ending = {"stop": self.stop, "iterations": self.iterations, "seconds": self.seconds, "refused": ""}
        shares = {
            name: self.scores[score] / limit
            for name, (score, limit) in theory.fractions(trial.job.spec).items()
            if score in self.scores
        }
        return {**about, **self.scores, **shares, **theory.predictions(trial.job, sampled=False), **ending}


def run_trial(trial: Trial) -> TrialResult:
    """Run a trial and score its last iterate."""
    job = trial.seeded
    trace = run_job(job, scored=(), clock=time.thread_time)
    scores = dict(trace.rows[-1]) if trace.rows else {"iteration": 0, "seconds": trace.seconds}
    iterations, seconds = int(scores.pop("iteration")), scores.pop("seconds")
    return TrialResult(job.spec.seed, trace.stop.name if trace.stop else "", iterations, seconds, scores)


def run_traced(trial: Trial) -> list[dict[str, Any]]:
    """Run a trial and return a row per iterate: solver, trial, seed, iteration, seconds, scores, and how it ended."""
    job = trial.seeded
    trace = run_job(job, clock=time.thread_time)
    about = {"solver": job.solver, "trial": trial.number, "seed": job.spec.seed}
    return [{**about, **row, "stop": trace.stop.name if trace.stop else ""} for row in trace.rows]


def quick_run(job: Job) -> Trace:
    """Return the trace of a run with some of its iterates and without its history; CANCELLED if it takes longer.

    It is for every position of a slider that is dragged.
    """
    deadline = time.thread_time() + QUICK_SECONDS
    trace = run_job(job, cancelled=lambda: time.thread_time() > deadline, scored=SCORED)
    trace.history.clear()
    return trace


def timed_out(trial: Trial) -> TrialResult:
    """Return the result of a trial that its worker ended by force: no iterate came back in time."""
    return TrialResult(trial.seeded.spec.seed, Stop.TIMEOUT.name, 0, trial.max_seconds, {})


def trial_spec(spec: Spec, trial: int) -> Spec:
    """Return the spec of trial number `trial` (0, 1, ...): the same parameters, and a seed of its own.

    The seed is the first 32 bits of BLAKE2b over the model's name, all parameters that are not at their defaults (the
    spec's own seed among them) and the trial's number. It depends on nothing else, so a trial gives the same numbers in
    any process, order or batch, also after a model gets a new parameter; and it depends on every
    parameter, so two cells of a table do not share their randomness.
    """
    known = declared(type(spec))
    # Equal specs have equal seeds: 0.0 and -0.0 are equal, but not as text.
    values = {name: value or 0 for name, value in spec.values().items() if value != known[name].default}
    text = json.dumps([spec.model, values, trial], sort_keys=True, separators=(",", ":"))
    return spec.replace(seed=int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest()))


def silent(done: int, total: int) -> None:
    """Report nothing."""

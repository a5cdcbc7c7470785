"""Trials: repeated runs of a job on data of their own, each opened again by its seed."""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from lrlab.parameters import declared
from lrlab.protocol import Spec, Stop
from lrlab.runs import theory
from lrlab.runs.job import Job
from lrlab.runs.run import Newest, run_job
from lrlab.runs.trace import Row, Trace

Progress = Callable[[int, int], None]
"""Called with the number of trials done and the number of all."""


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
        """After how much processor time it is to end; where it does not, a worker ends it by force."""
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
            for name, (score, limit) in theory.quotients(trial.job.spec).items()
            if score in self.scores
        }
        return {**about, **self.scores, **shares, **theory.known(trial.job, draw=False), **ending}


_under_way: dict[int, Callable[[], Any]] = {}
"""What gives the result so far of what a thread computes, by the thread's number."""


@contextmanager
def interruptible(result_so_far: Callable[[], Any]) -> Iterator[None]:
    """Let another thread have the result so far of what is computed here, for it may not come back in time."""
    thread = threading.get_ident()
    _under_way[thread] = result_so_far
    try:
        yield
    finally:
        del _under_way[thread]


def result_so_far(thread: int) -> Any:
    """Return the result so far of what a thread computes; None where nothing is known of it."""
    result = _under_way.get(thread)
    return None if result is None else result()


def run_trial(trial: Trial) -> TrialResult:
    """Run a trial and score its last iterate."""
    job, newest = trial.seeded, Newest()
    with interruptible(lambda: result_of(job, Stop.TIMEOUT, newest.scored())):
        trace = run_job(job, newest=newest, clock=time.thread_time)
    return result_of(job, trace.stop, trace.rows[-1] if trace.rows else {"seconds": trace.seconds})


def result_of(job: Job, stop: Stop | None, last: Row) -> TrialResult:
    """Return the result of a trial on its own seed from the row of its last iterate."""
    scores = dict(last)
    iterations, seconds = int(scores.pop("iteration", 0)), scores.pop("seconds", 0.0)
    return TrialResult(job.spec.seed, stop.name if stop else "", iterations, seconds, scores)


def run_traced(trial: Trial) -> list[dict[str, Any]]:
    """Run a trial and return a row per iterate: solver, trial, seed, iteration, seconds, scores, and how it ended."""
    job = trial.seeded
    about, trace = {"solver": job.solver, "trial": trial.number, "seed": job.spec.seed}, Trace(job)

    def table(stop: Stop | None) -> list[dict[str, Any]]:
        return [{**about, **row, "stop": stop.name if stop else ""} for row in trace.rows]

    with interruptible(lambda: table(Stop.TIMEOUT)):
        return table(run_job(job, clock=time.thread_time, trace=trace).stop)


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

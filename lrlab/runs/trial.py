"""Trials: repeated runs of a job, each on new data; its seed repeats a trial."""

import hashlib
import json
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from lrlab.parameters import declared
from lrlab.protocol import Spec, Stop
from lrlab.runs import theory
from lrlab.runs.job import Job
from lrlab.runs.run import Newest, run_job
from lrlab.runs.trace import Row

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
        return {**about, **self.scores, **shares, **theory.predictions(trial.job, draw=False), **ending}


def run_trial(trial: Trial) -> TrialResult:
    """Run a trial and score its last iterate."""
    job = trial.seeded
    trace = run_job(job, newest=Newest(), clock=time.thread_time)
    return result_of(job, trace.stop, trace.rows[-1] if trace.rows else {"seconds": trace.seconds})


def result_of(job: Job, stop: Stop | None, last: Row) -> TrialResult:
    """Return the result of a trial on its own seed from the row of its last iterate."""
    scores = dict(last)
    iterations, seconds = int(scores.pop("iteration", 0)), scores.pop("seconds", 0.0)
    return TrialResult(job.spec.seed, stop.name if stop else "", iterations, seconds, scores)


def run_traced(trial: Trial) -> list[dict[str, Any]]:
    """Run a trial and return a row per iterate: solver, trial, seed, iteration, seconds, scores, and how it ended."""
    job = trial.seeded
    trace = run_job(job, clock=time.thread_time)
    about = {"solver": job.solver, "trial": trial.number, "seed": job.spec.seed}
    return [{**about, **row, "stop": trace.stop.name if trace.stop else ""} for row in trace.rows]


def timed_out(trial: Trial) -> TrialResult:
    """Return the result of a trial that its worker ended by force: no iterate came back in time."""
    return result_of(trial.seeded, Stop.TIMEOUT, {"seconds": trial.max_seconds})


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

"""Times the first trials of a job, for forecasts: each for a moment, or some together where a sweep runs them so."""

import time
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from statistics import median
from typing import NamedTuple

from threadpoolctl import threadpool_limits

from lrlab.protocol import Stop
from lrlab.runs.job import Job
from lrlab.runs.stacks import run_stack, shape_of
from lrlab.runs.trial import Trial, run_trial

LIMITS_SECONDS = (0.15, 0.6, 2.4)
"""Processor time after which a trial is cut off."""
STACK = 32
"""Trials that are timed together where a sweep runs them together."""


class TimedTrial(NamedTuple):
    """Times of a trial: seconds of its thread, of them the solver's; iterations; whole: it was not cut off."""

    seconds: float
    solver: float
    iterations: int
    whole: bool

    def extrapolated(self, iterations: int, most: float) -> float:
        """Return the seconds with so many iterations, the solver's at most so many."""
        each = self.solver / max(1, self.iterations)
        return self.seconds - self.solver + min(max(self.solver, each * iterations), most)


@lru_cache(maxsize=1000)
def time_trial(job: Job, limits: tuple[float, ...] = LIMITS_SECONDS) -> TimedTrial:
    """Run the first trial of a job for a moment, or the first of those that a sweep runs together.

    limits: processor time after which it is cut off; the next is for those that had no iterate by then.
    """
    with threadpool_limits(1):
        if shape_of(Trial(job, 0)) is not None:
            return _timed_stack(job)
        for seconds in limits:
            timed = _timed(job, seconds)
            if timed.whole or timed.iterations:
                break
    return timed


def _timed(job: Job, most: float) -> TimedTrial:
    short = replace(job, limits=job.limits._replace(max_seconds=min(most, job.limits.max_seconds)))
    # Time of this thread alone, whatever else the machine does.
    started = time.thread_time()
    try:
        result = run_trial(Trial(short, 0))
    except Exception:
        # It fails in the sweep too, and is reported there; until then it takes its time.
        return TimedTrial(time.thread_time() - started, 0.0, 0, True)
    seconds = time.thread_time() - started
    return TimedTrial(seconds, result.seconds, result.iterations, result.stop != Stop.TIMEOUT.name or short == job)


def _timed_stack(job: Job) -> TimedTrial:
    started = time.thread_time()
    iterations = [0]
    with suppress(Exception):
        iterations = [result.iterations for result in run_stack([Trial(job, number) for number in range(STACK)])]
    seconds = (time.thread_time() - started) / STACK
    return TimedTrial(seconds, seconds, round(median(iterations)), True)

"""Times a trial: runs it for a moment, and extrapolates what was cut off."""

import time
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from lrlab.protocol import Stop
from lrlab.runs.job import Job
from lrlab.runs.trial import Trial, run_trial

TRIAL_SECONDS = 0.15
"""After which a trial is cut off."""


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


@lru_cache(maxsize=200)
def time_trial(job: Job) -> TimedTrial:
    """Run the first trial of a job for a moment."""
    from threadpoolctl import threadpool_limits

    short = replace(job, limits=job.limits._replace(max_seconds=min(TRIAL_SECONDS, job.limits.max_seconds)))
    with threadpool_limits(1):
        # Time of this thread alone, whatever else the machine does.
        began, started = time.monotonic(), time.thread_time()
        try:
            result = run_trial(Trial(short, 0))
        except Exception:
            # It fails in the sweep too, and is reported there; until then it takes its time.
            return TimedTrial(time.thread_time() - started, 0.0, 0, True)
        seconds = time.thread_time() - started
        fraction = min(1.0, result.seconds / max(time.monotonic() - began, 1e-6))
    return TimedTrial(seconds, fraction * seconds, result.iterations, result.stop != Stop.TIMEOUT.name or short == job)

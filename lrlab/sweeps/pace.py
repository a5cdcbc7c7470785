"""The time that is left of a sweep: at its pace so far, by the times that its trials are expected to take."""

import time

import numpy as np

from lrlab.runs.job import Job
from lrlab.sweeps.forecast import job_seconds, usual
from lrlab.sweeps.results import Results


class Pace:
    """Begins with what is there of a sweep; a trial counts by its expected time, as cells differ by factors of 100."""

    def __init__(self, results: Results) -> None:
        """Start the clock; the trials were timed before, by the forecast."""
        self._results, self._sweep = results, results.sweep
        self._seconds = job_seconds(results.sweep)
        self._before, self._begun = self._counts(), time.monotonic()

    def _counts(self) -> dict[Job, int]:
        return {job: self._results.finished(job) for job in self._seconds}

    def seconds_left(self, trials: int) -> float | None:
        """Return the remaining time; None before the first result. trials: left at most, of an adaptive sweep."""
        now, (each, share) = self._counts(), self._each()
        work = sum((now[job] - self._before[job]) * seconds for job, seconds in each.items())
        rest = sum((self._sweep.trials - now[job]) * seconds for job, seconds in each.items())
        if self._sweep.adaptive:
            rest = trials * share * usual(self._sweep, np.array([*self._seconds.values()]))
        return (time.monotonic() - self._begun) * rest / work if work > 0.0 else None

    def _each(self) -> tuple[dict[Job, float], float]:
        """Return the seconds of a trial of each job, measured where there are some, and their share of the expected."""
        own = {job: self._results.values(job, "seconds") for job in self._seconds}
        measured = {job: max(1e-9, float(np.nanmean(seconds))) for job, seconds in own.items() if np.any(seconds > 0.0)}
        share = sum(measured.values()) / sum(self._seconds[job] for job in measured) if measured else 1.0
        return {job: measured.get(job, share * seconds) for job, seconds in self._seconds.items()}, share

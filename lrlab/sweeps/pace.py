"""The pace of a running sweep: the remaining time, and a limit on its total time."""

import math
import time

from lrlab import settings
from lrlab.parameters import InputError
from lrlab.runs.job import memory_needed, memory_words
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.results import SweepResults

FIRST_SECONDS = 60.0
"""Seconds before a sweep may be too slow: the pace isn't steady before."""


class Pace:
    """Takes the progress of a sweep. The first trial of every grid point comes first, so that the pace is soon typical.

    seconds_left: remaining time; None before the second batch of results.
    """

    def __init__(self, results: SweepResults) -> None:
        self.seconds_left: float | None = None
        self._results = results
        self._first: tuple[float, int] | None = None

    def __call__(self, done: int, total: int) -> None:
        """Take the numbers of trials; InputError if the sweep takes longer than it may."""
        now, new = time.monotonic(), done - self._results.reused
        if self._first is None and new:
            # Workers may need minutes to start and compute nothing meanwhile.
            self._first = now, new
        begun, before = self._first or (now, new)
        if new > before:
            self.seconds_left = (now - begun) / (new - before) * (total - done)
            if now >= begun + FIRST_SECONDS:
                require_time(self._results.sweep, now - begun + self.seconds_left)


def require_time(sweep: Sweep, seconds: float) -> None:
    """Raise InputError when a sweep takes longer than LRLAB_SWEEP_HOURS (24), naming the most trials that fit."""
    limit = 3600.0 * settings.number("LRLAB_SWEEP_HOURS")
    if seconds <= limit:
        return
    name, got = ("budget", sweep.most) if sweep.adaptive else ("trials", sweep.trials)
    words, remedy = f"{got}, which take about {seconds / 3600.0:.3g}", f"lower {name}, or set LRLAB_SWEEP_HOURS"
    if (fitting := math.floor(got * limit / seconds)) < 1:
        name, fitting = "grid points", math.floor(len(sweep.cells) * limit / seconds * sweep.trials)
        words, remedy = (
            f"{len(sweep.cells)}; one trial for each takes longer",
            "take fewer values, or a smaller problem",
        )
    raise InputError(name, f"at most {fitting} within {limit / 3600.0:g} hours", words, remedy)


def size_words(sweep: Sweep) -> str:
    """Return how many trials a sweep has, at most, and how much memory a worker needs for the largest."""
    size = max(memory_needed(job.spec, job.entry, dict(job.options)) for job in sweep.jobs)
    trials = min(sweep.most, len(sweep.jobs) * sweep.trials)
    return f"up to {trials:,} trials, {memory_words(size)} per worker"

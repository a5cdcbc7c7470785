"""The pace of a running sweep: the remaining time, and a limit on its total time."""

import math
import time

import numpy as np

from lrlab import settings
from lrlab.arrays import Array
from lrlab.parameters import InputError
from lrlab.runs.job import memory_needed, memory_words
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.results import SweepResults

CHECK_SECONDS = 60.0
"""Seconds between two checks of a sweep's time; before the first check the pace isn't steady."""


class Pace:
    """Begins with the first results that arrive. A trial counts by its time, for cells differ by factors of 100.

    The bytes of its data stand for the time of a job that has no trial yet.
    """

    def __init__(self, results: SweepResults) -> None:
        self._results, self._sweep = results, results.sweep
        self._bytes = np.array([max(1.0, job.spec.data_bytes) for job in results.sweep.jobs])
        self._before, self._begun = self._trials()[0], time.monotonic()
        self._checked: float | None = None

    def seconds_left(self, trials: int) -> float | None:
        """Return the remaining time; None before the first result. trials: left at most, of an adaptive sweep."""
        now, each = self._trials()
        work, rest = (now - self._before) @ each, (self._sweep.trials - now) @ each
        if self._sweep.adaptive or self._sweep.race:
            # Most of its trials are at the slowest grid points.
            rest = trials * (each @ each) / each.sum()
        return float((time.monotonic() - self._begun) * rest / work) if work > 0.0 else None

    def require_time(self, trials: int) -> None:
        """Raise InputError if the sweep takes longer than it may, checked once per minute; trials: as above."""
        now = time.monotonic()
        if self._checked is None:
            if (counts := self._trials()[0]).sum() > self._before.sum():
                # Workers may need minutes to start and compute nothing meanwhile.
                self._before, self._begun, self._checked = counts, now, now
        elif now >= self._checked + CHECK_SECONDS:
            self._checked = now
            if (left := self.seconds_left(trials)) is not None:
                require_time(self._sweep, now - self._begun + left)

    def _trials(self) -> tuple[Array, Array]:
        """Return the finished trials of each job, and the seconds of each: their mean, or by the bytes of its data."""
        seconds = self._results.matrix("seconds")
        counts, total = (~np.isnan(seconds)).sum(axis=1), np.nansum(seconds, axis=1)
        measured = total > 0.0
        ratio = (total / np.maximum(counts, 1))[measured].sum() / self._bytes[measured].sum() if measured.any() else 1.0
        return counts, np.where(measured, total / np.maximum(counts, 1), ratio * self._bytes)


def require_time(sweep: Sweep, seconds: float) -> None:
    """Raise InputError when a sweep takes longer than LRLAB_SWEEP_HOURS (24), naming the most trials that fit."""
    limit = 3600.0 * settings.number("LRLAB_SWEEP_HOURS")
    if seconds <= limit:
        return
    name, got = ("budget", sweep.most) if sweep.adaptive else ("trials", sweep.trials)
    fitting = math.floor(got * limit / seconds)
    hours = f"{limit / 3600.0:g} hours"
    if fitting >= 1:
        words = f"{got}, which take about {seconds / 3600.0:.3g}"
        raise InputError(name, f"at most {fitting} within {hours}", words, f"lower {name}, or set LRLAB_SWEEP_HOURS")
    fitting = math.floor(len(sweep.cells) * limit / seconds * sweep.trials)
    words = f"{len(sweep.cells)}; one trial for each takes longer"
    raise InputError(
        "grid points", f"at most {fitting} within {hours}", words, "take fewer values, or a smaller problem"
    )


def size_words(sweep: Sweep) -> str:
    """Return how many trials a sweep has, at most, and how much memory a worker needs for the largest."""
    size = max(memory_needed(job.spec, job.entry, dict(job.options)) for job in sweep.jobs)
    trials = min(sweep.most, len(sweep.jobs) * sweep.trials)
    return f"up to {trials:,} trials, {memory_words(size)} per worker"

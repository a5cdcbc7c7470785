"""What a sweep will take, before it is run: a few of its trials are measured, the others follow from their sizes."""

import math
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import product
from statistics import median
from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.parameters import InputError
from lrlab.protocol import Stop
from lrlab.runs.job import Job
from lrlab.runs.memory import cores, memory_needed
from lrlab.runs.trial import Trial, run_trial
from lrlab.store.store import Store
from lrlab.sweeps.adaptive import Plane, rounds
from lrlab.sweeps.cells import cells, jobs
from lrlab.sweeps.contour_search import between
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.resume import found

GLIMPSE, LONGEST, LARGEST = 0.15, 0.8, 2**26
"""Seconds of a measured trial, seconds of all of them, and bytes of the data of one, at most."""
HOURS, LIMIT = 24.0, 10**9


class Forecast(NamedTuple):
    """What is left of a sweep.

    seconds: on as many workers as there are cores, or as are named; usually right within a factor of two. bytes: memory
    of its largest trial, and so of each worker. trials: how many; of an adaptive sweep, at most.
    """

    seconds: float
    bytes: int
    trials: int


def forecast(sweep: Sweep, store: Store | None = None, workers: int = 0) -> Forecast:
    """Return what a sweep will take, without the trials that a store has. It takes about a second itself at most.

    The first trial of some cells is run for a moment, in this thread: at the corners and in the middle of the grid and,
    if there is time, between them. Its time over the bytes of its data is interpolated for the others. InputError where
    every cell of the sweep is refused.
    """
    most, planes = _left(sweep, store), [Plane(sweep, solver) for solver in sweep.solvers]
    planes = [plane for plane in planes if plane.survey.open.any()]
    sizes = [_sizes(plane) for plane in planes]
    seconds, longest = 0.0, LONGEST / len(planes)
    for plane, size in zip(planes, sizes, strict=True) if most else ():
        times = _trial_seconds(plane, size, longest)
        # Trials take longest where they barely succeed, and there an adaptive sweep has most of its trials.
        mean = (times**2).sum() / times.sum() if sweep.adaptive else times[plane.survey.open].mean()
        seconds += float(mean) * np.count_nonzero(size)
    seconds *= most / sum(np.count_nonzero(size) for size in sizes) / (workers or cores())
    largest = max(memory_needed(job.spec, job.entry, dict(job.options)) for job in jobs(sweep))
    return Forecast(float(seconds), largest, most)


def require_time(sweep: Sweep, expected: Forecast) -> None:
    """Raise InputError when a sweep takes longer than LRLAB_SWEEP_HOURS (24), naming the most trials that fit."""
    limit = 3600.0 * time_limit()
    if expected.seconds <= limit:
        return
    name, asked = ("budget", sweep.most) if sweep.adaptive else ("trials", sweep.trials)
    fitting = math.floor(asked * limit / expected.seconds)
    hours = f"{limit / 3600.0:g} hours"
    if fitting >= 1:
        got = f"{asked}, which take about {expected.seconds / 3600.0:.3g}"
        raise InputError(name, f"at most {fitting} within {hours}", got, f"lower {name}, or set LRLAB_SWEEP_HOURS")
    fitting = math.floor(len(cells(sweep)) * limit / expected.seconds * sweep.trials)
    got = f"{len(cells(sweep))}, of which one trial each takes longer"
    raise InputError("cells", f"at most {fitting} within {hours}", got, "take fewer values, or a smaller problem")


def time_limit() -> float:
    """Return the hours that a sweep may take: LRLAB_SWEEP_HOURS, or a day."""
    chosen = os.environ.get("LRLAB_SWEEP_HOURS", str(HOURS))
    try:
        hours = float(chosen)
    except ValueError:
        hours = math.nan
    if not hours > 0:
        raise InputError("LRLAB_SWEEP_HOURS", "a number of hours above 0", chosen, "set it to a number, or unset it")
    return hours


class Glimpse(NamedTuple):
    """What was seen of a trial: seconds of this thread and, of them, the solver's; iterations; whether it ended."""

    seconds: float
    solver: float
    iterations: int
    whole: bool

    def carried_on(self, iterations: int, most: float) -> float:
        """Return the seconds with so many iterations, the solver's at most so many."""
        each = self.solver / max(1, self.iterations)
        return self.seconds - self.solver + min(max(self.solver, each * iterations), most)


@lru_cache(maxsize=200)
def glimpse(job: Job) -> Glimpse:
    """Run the first trial of a cell for a moment."""
    from threadpoolctl import threadpool_limits

    short = replace(job, limits=job.limits._replace(max_seconds=min(GLIMPSE, job.limits.max_seconds)))
    with threadpool_limits(1):
        # Time of this thread alone, whatever else the machine does.
        began, started = time.monotonic(), time.thread_time()
        try:
            seen = run_trial(Trial(short, 0))
        except Exception:
            # It fails in the sweep too, and is told of there; until then it takes its time.
            return Glimpse(time.thread_time() - started, 0.0, 0, True)
        seconds = time.thread_time() - started
        share = min(1.0, seen.seconds / max(time.monotonic() - began, 1e-6))
    return Glimpse(seconds, share * seconds, seen.iterations, seen.stop != Stop.TIMEOUT.name or short == job)


def _left(sweep: Sweep, store: Store | None) -> int:
    """Return how many trials there are still to be made, at most."""
    every = dict.fromkeys(jobs(sweep), range(sweep.trials))
    most = sweep.most if sweep.adaptive else sum(map(len, every.values()))
    if store is None:
        return most
    done = 0
    for asked in rounds(sweep, store) if sweep.adaptive else [every]:
        there = sum(found(job, numbers, store) for job, numbers in asked.items())
        done += there
        if there < sum(map(len, asked.values())):
            return max(1, most - done)
    return 0


def _sizes(plane: Plane) -> Array:
    """Return the bytes of data of each cell, by which times are carried on; 0 where it is refused."""
    sizes = np.zeros(plane.jobs.shape)
    for place in map(tuple, np.argwhere(plane.survey.open)):
        sizes[place] = max(1, plane.jobs[place].spec.data_bytes)
    return sizes


def _trial_seconds(plane: Plane, sizes: Array, longest: float) -> Array:
    """Return the expected seconds of a trial of each cell; 0 where it is refused."""
    seen: dict[tuple[int, ...], Glimpse] = {}
    spent = 0.0
    for place in _places(plane, sizes):
        if not seen:
            # What is done for the first time, imports among it, is not counted.
            glimpse.__wrapped__(plane.jobs[place])
        seen[place] = glimpse(plane.jobs[place])
        spent += seen[place].seconds
        if spent > longest:
            break
    # A trial of which no iteration was seen says little: its cell follows from the others, where there are any.
    seen = {place: g for place, g in seen.items() if g.whole or g.iterations} or seen
    usual = median([g.iterations for g in seen.values() if g.whole] or [LIMIT])
    pace = np.zeros(sizes.shape)
    for place, g in seen.items():
        limits = plane.jobs[place].limits
        # One that was cut off goes on as long as those that were not, or, for want of them, to its limit.
        seconds = g.seconds if g.whole else g.carried_on(int(min(usual, limits.max_iter)), limits.max_seconds)
        pace[place] = max(seconds, 1e-6) / sizes[place]
    return np.where(plane.survey.open, between(pace, pace > 0.0) * sizes, 0.0)


def _places(plane: Plane, sizes: Array) -> Iterator[tuple[int, ...]]:
    """Yield the cells to measure: the smallest of those nearest to corners and middle, then the rest, then between."""
    places = np.argwhere(plane.survey.open)
    seen: set[tuple[int, ...]] = set()
    for shares in (*product((0.0, 1.0), repeat=2), (0.5, 0.5)), (*product((0.25, 0.75), repeat=2),):
        points = [[round(share * (n - 1)) for share, n in zip(pair, sizes.shape, strict=True)] for pair in shares]
        chosen = {tuple(map(int, places[np.abs(places - point).sum(axis=1).argmin()])) for point in points} - seen
        for place in sorted(chosen, key=lambda place: (sizes[place], place)):
            if sizes[place] <= LARGEST or not seen:
                seen.add(place)
                yield place

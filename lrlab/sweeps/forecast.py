"""Forecasts time and memory of a sweep: a few trials are timed, the others follow from the sizes of their data.

A page has a `PendingForecast` before a sweep, and a `Pace` while it runs.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from itertools import product
from statistics import median
from typing import NamedTuple

import numpy as np

from lrlab import settings
from lrlab.arrays import Array
from lrlab.parameters import InputError
from lrlab.runs.job import Job
from lrlab.runs.memory import cores, memory_needed
from lrlab.store.location import SharedStore
from lrlab.store.store import Store
from lrlab.sweeps.adaptive import SolverGrid
from lrlab.sweeps.contour_search import interpolate_missing
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.results import Results
from lrlab.sweeps.run import read
from lrlab.sweeps.timed_trials import TimedTrial, time_trial

MAX_SECONDS, MAX_DATA_BYTES = 0.8, 2**26
"""Limits of the timed trials: processor seconds of all of them, and data of each."""
LONGER_SECONDS = (0.8, 3.2)
"""Of a trial that had more iterations than usual when it was cut off."""
NO_ITERATIONS_LIMIT = 10**9
DELAY_SECONDS = 0.4
"""Until a forecast begins: while somebody is typing, the next sweep comes before."""


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
    most, seconds = _left(sweep, store), 0.0
    if most:
        expected = _expected(sweep)
        cells = [np.count_nonzero(times) for _, times in expected]
        means = [usual(sweep, times[times > 0.0]) for _, times in expected]
        seconds = most * float(np.average(means, weights=cells)) / (workers or cores())
    largest = max(memory_needed(job.spec, job.entry, dict(job.options)) for job in sweep.jobs)
    return Forecast(seconds, largest, most)


def job_seconds(sweep: Sweep) -> dict[Job, float]:
    """Return the processor seconds that a trial of each job of a sweep is expected to take."""
    places = ((grid, times, tuple(place)) for grid, times in _expected(sweep) for place in np.argwhere(times))
    return {grid.jobs[place]: float(times[place]) for grid, times, place in places}


def usual(sweep: Sweep, times: Array) -> float:
    """Return the expected seconds of a trial from those of the cells."""
    # Trials take longest where they barely succeed, and there an adaptive sweep has most of its trials.
    return float((times**2).sum() / times.sum() if sweep.adaptive else times.mean())


def _expected(sweep: Sweep) -> list[tuple[SolverGrid, Array]]:
    """Return the grids of the solvers with the seconds of a trial of each cell; 0 where it is refused."""
    grids = [SolverGrid(sweep, solver) for solver in sweep.solvers]
    grids = [grid for grid in grids if grid.search.open.any()]
    return [(grid, _trial_seconds(grid, _sizes(grid), MAX_SECONDS / len(grids))) for grid in grids]


def require_time(sweep: Sweep, expected: Forecast) -> None:
    """Raise InputError when a sweep takes longer than LRLAB_SWEEP_HOURS (24), naming the most trials that fit."""
    limit = 3600.0 * settings.number("LRLAB_SWEEP_HOURS")
    if expected.seconds <= limit:
        return
    name, got = ("budget", sweep.most) if sweep.adaptive else ("trials", sweep.trials)
    fitting = math.floor(got * limit / expected.seconds)
    hours = f"{limit / 3600.0:g} hours"
    if fitting >= 1:
        words = f"{got}, which take about {expected.seconds / 3600.0:.3g}"
        raise InputError(name, f"at most {fitting} within {hours}", words, f"lower {name}, or set LRLAB_SWEEP_HOURS")
    fitting = math.floor(len(sweep.cells) * limit / expected.seconds * sweep.trials)
    words = f"{len(sweep.cells)}, of which one trial each takes longer"
    raise InputError("cells", f"at most {fitting} within {hours}", words, "take fewer values, or a smaller problem")


def _left(sweep: Sweep, store: Store | None) -> int:
    """Return how many trials are still to be computed, at most."""
    if store is None:
        return sweep.most if sweep.adaptive else len(sweep.jobs) * sweep.trials
    if not sweep.adaptive:
        return sum(sweep.trials - len(store.finished(job, sweep.trials)) for job in sweep.jobs)
    results = read(sweep, store)
    return 0 if results.complete else max(1, sweep.most - results.reused)


def _sizes(grid: SolverGrid) -> Array:
    """Return the bytes of data of each cell, by which times are extrapolated; 0 where it is refused."""
    sizes = np.zeros(grid.jobs.shape)
    for place in map(tuple, np.argwhere(grid.search.open)):
        sizes[place] = max(1, grid.jobs[place].spec.data_bytes)
    return sizes


def _trial_seconds(grid: SolverGrid, sizes: Array, longest: float) -> Array:
    """Return the expected seconds of a trial of each cell; 0 where it is refused."""
    timed: dict[tuple[int, ...], TimedTrial] = {}
    spent = 0.0
    for place in _places(grid, sizes):
        if not timed:
            # What is done for the first time, imports among it, is not counted.
            time_trial.__wrapped__(grid.jobs[place])
        timed[place] = time_trial(grid.jobs[place])
        spent += timed[place].seconds
        if spent > longest:
            break
    # A trial cut off before its first iteration says little: its cell follows from the others, where there are any.
    timed = {place: trial for place, trial in timed.items() if trial.whole or trial.iterations} or timed
    usual = median([trial.iterations for trial in timed.values() if trial.whole] or [NO_ITERATIONS_LIMIT])
    pace = np.zeros(sizes.shape)
    for place, trial in timed.items():
        limits = grid.jobs[place].limits
        if not trial.whole and trial.iterations >= usual:
            # More iterations than usual: it may be about to end, or never.
            trial = time_trial(grid.jobs[place], LONGER_SECONDS)
        # A trial that was cut off would take as many iterations as the whole ones; all allowed ones without these, or
        # where it has taken twice as many already.
        unusual = trial.iterations > 2 * usual
        iterations = limits.max_iter if unusual else int(min(max(usual, trial.iterations), limits.max_iter))
        seconds = trial.seconds if trial.whole else trial.extrapolated(iterations, limits.max_seconds)
        pace[place] = max(seconds, 1e-6) / sizes[place]
    return np.where(grid.search.open, interpolate_missing(pace, pace > 0.0) * sizes, 0.0)


def _places(grid: SolverGrid, sizes: Array) -> Iterator[tuple[int, ...]]:
    """Yield the cells to time: the smallest of those nearest to corners and middle, then the rest, then between."""
    places = np.argwhere(grid.search.open)
    yielded: set[tuple[int, ...]] = set()
    for shares in (*product((0.0, 1.0), repeat=2), (0.5, 0.5)), (*product((0.25, 0.75), repeat=2),):
        points = [[round(share * (n - 1)) for share, n in zip(pair, sizes.shape, strict=True)] for pair in shares]
        chosen = {tuple(map(int, places[np.abs(places - point).sum(axis=1).argmin()])) for point in points} - yielded
        for place in sorted(chosen, key=lambda place: (sizes[place], place)):
            if sizes[place] <= MAX_DATA_BYTES or not yielded:
                yielded.add(place)
                yield place


class PendingForecast:
    """A forecast under way. value: None until it is ready. refused: the sentence why the sweep is not to be run."""

    def __init__(self, sweep: Sweep, shared: SharedStore, forecast: Callable[..., Forecast] = forecast) -> None:
        self.sweep = sweep
        self.value: Forecast | None = None
        self.refused = ""
        self._shared, self._forecast = shared, forecast
        self._dropped, self._begin, self._over = threading.Event(), threading.Event(), threading.Event()
        threading.Thread(target=self._serve, name="lrlab-forecast", daemon=True).start()

    @property
    def alive(self) -> bool:
        """Whether an answer can still come."""
        return not self._over.is_set()

    @property
    def version(self) -> bool:
        """Differs where there is an answer."""
        return self.alive

    def refresh(self) -> None:
        """Do nothing: the answer comes from a thread of its own."""

    def cancel(self) -> None:
        """Give it up, as another sweep is to be forecast: one that has not begun never begins."""
        self._dropped.set()
        self._begin.set()

    def wait(self, seconds: float) -> None:
        """Begin at once, and wait for the answer, so many seconds at most."""
        self._begin.set()
        self._over.wait(seconds)

    def _serve(self) -> None:
        self._begin.wait(DELAY_SECONDS)
        try:
            if not self._dropped.is_set():
                with self._shared.open() as store:
                    self.value = self._forecast(self.sweep, store)
                require_time(self.sweep, self.value)
        except (InputError, RuntimeError) as error:
            self.refused = str(error) if isinstance(error, InputError) else ""
        finally:
            self._over.set()


class Pace:
    """Begins with what is there of a sweep; a trial counts by its expected time, as cells differ by factors of 100."""

    def __init__(self, results: Results) -> None:
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

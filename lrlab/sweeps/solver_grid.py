"""The cells of one solver as a grid along rising values: which trials to request there, and what their results say."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lrlab.arrays import Array, Mask
from lrlab.catalog import family
from lrlab.runs.job import Job
from lrlab.sweeps.contour_search import ContourSearch, Directions, interpolate_missing
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.results import Results
from lrlab.sweeps.statistics import wilson_bounds


class SolverGrid:
    """A solver's jobs, (columns, rows), with the search for the contour; None where a cell is refused."""

    def __init__(self, sweep: Sweep, solver: str) -> None:
        """Start without trials."""
        self._sweep, self._rule = sweep, sweep.contour
        values = [np.array(axis, dtype=float) for axis in sweep.grid.values()]
        values = [*values, np.full(1, np.nan)][:2]
        order = [axis.argsort() for axis in values]
        self.axes = [axis[by] for axis, by in zip(values, order, strict=True)]
        jobs = np.empty(len(order[0]) * len(order[1]), dtype=object)
        jobs[:] = [cell.job for cell in sweep.cells if cell.solver == solver]
        self.jobs = jobs.reshape(len(order[0]), len(order[1]))[np.ix_(*order)]
        open_ = np.array([job is not None for job in self.jobs.flat]).reshape(self.jobs.shape)
        self._seconds, self._counted = np.zeros(self.jobs.shape), np.zeros(self.jobs.shape, dtype=np.int64)
        self.search = ContourSearch(open_, directions(sweep, self.jobs), sweep.trials, sweep.tolerance)

    @property
    def requested(self) -> int:
        """Number of trials that were requested."""
        return int(self.search.requested.sum())

    def at(self, place: tuple[int, ...]) -> tuple[float, float]:
        """Return the values of both axes at a place; nan where there is no second one."""
        return float(self.axes[0][place[0]]), float(self.axes[1][place[1]])

    def request(self, most: int) -> dict[Job, range]:
        """Return the trials of the next round, so that `most` are requested in all; none where the search is over."""
        before, extra = self.search.requested.copy(), self.search.request(most)
        requested: dict[Job, range] = {}
        for place in self._longest_first(extra > 0):
            # Places that round to the same problem share their trials.
            job, first = self.jobs[place], int(before[place])
            known = requested.get(job, range(first, first))
            requested[job] = range(min(first, known.start), max(first + int(extra[place]), known.stop))
        return requested

    def count(self, results: Results) -> None:
        """Count the results of the trials that were requested."""
        new, self._counted = self.search.requested != self._counted, self.search.requested.copy()
        for place in map(tuple, np.argwhere(new)):
            job, below = self.jobs[place], int(self.search.requested[place])
            seconds = results.values(job, "seconds", below)
            if len(seconds):
                self._seconds[place] = max(1e-6, seconds.max())
            self._take(place, results.values(job, self._rule.metric, below))

    def infer(self, results: Results) -> tuple[Array, Array, Array]:
        """Return mean, low and high of each cell, see `adaptive.infer`."""
        mean, search = np.full(self.jobs.shape, np.nan), self.search
        for place in map(tuple, np.argwhere(search.open)):
            values = results.values(self.jobs[place], self._rule.metric)
            self._take(place, values)
            finite = values[np.isfinite(values)]
            mean[place] = finite.mean() if len(finite) else np.nan
        nothing, known, adaptive = np.full(mean.shape, np.nan), np.isfinite(mean), self._sweep.adaptive
        if self._sweep.success is None:
            return (interpolate_missing(mean, known) if adaptive and known.any() else mean), nothing, nothing
        tried = search.trials > 0
        share = np.divide(search.successes, search.trials, out=nothing.copy(), where=tried)
        low, high = wilson_bounds(search.successes, search.trials)
        if not (adaptive and tried.any()):
            return share, np.where(tried, low, np.nan), np.where(tried, high, np.nan)
        bounds = search.bounds()
        inferred = np.where(tried, share, search.estimate())
        return inferred, np.where(tried, low, bounds[0]), np.where(tried, high, bounds[1])

    def _longest_first(self, chosen: Mask) -> list[tuple[int, ...]]:
        # At the end of a round no worker waits long for another. Which trials are run does not depend on it.
        timed = self._seconds > 0
        seconds = interpolate_missing(self._seconds, timed) if timed.any() else self._seconds
        places = [tuple(place) for place in np.argwhere(chosen)]
        return sorted(places, key=lambda place: (-seconds[place], -self.jobs[place].spec.data_bytes))

    def _take(self, place: tuple[int, ...], values: ArrayLike) -> None:
        self.search.trials[place] = np.size(values)
        self.search.successes[place] = self._rule.reached(values).sum()


def directions(sweep: Sweep, jobs: NDArray[np.object_]) -> Directions:
    """Return how success goes along both axes, as far as the model declares it: 1 grows, -1 falls, 0 unknown.

    A declaration holds while all other parameters stay. So it is no use where moving along an axis changes what the
    other one decides: m/p held fixed, m grows with p.
    """
    kind, known = family(sweep.spec.model), [0, 0]
    for axis, name in enumerate(sweep.grid):
        others = [decided for k, decided in enumerate(sweep.decided) if k != axis]
        lines = np.moveaxis(jobs, axis, 1)
        constant = (len({getattr(job.spec, o) for job in line if job}) <= 1 for o in others for line in lines)
        if all(constant):
            known[axis] = (name in kind.grows) - (name in kind.falls)
    return known[0], known[1]

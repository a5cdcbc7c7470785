"""Adaptive sweeps: trials go to the contour of 50% success, and the rest of the plane is inferred.

Each solver has its own rounds. The first round has one trial at each point of a coarse lattice. Then the grid points at
the contour of the estimated success rate get more trials, 1, 3, 7, ... in total. A point is finished if its Wilson
interval, pooled with the points that can only do better or worse, excludes 1/2, or if all its trials are done. New
trials move the estimate, and so on. Rounds depend only on the results of earlier rounds, and trials only on their
numbers: any worker computes the same trials, however often the sweep is interrupted. The rule is the definition's
`contour`. If a map shows a mean, success means that the metric is above the model's level; the contour is then the
contour of the median.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lrlab.arrays import Array, Mask
from lrlab.catalog import model_entry
from lrlab.runs.job import Job
from lrlab.sweeps.contour_search import ContourSearch, Directions, interpolate_missing
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.results import SweepResults

if TYPE_CHECKING:
    import pandas as pd

RATES, COUNTS = ("mean", "share", "low", "high"), ("trials", "successes")
"""Columns of `SweepResults.table`."""
Requested = Mapping[Job, range]
"""Numbers of the trials that are requested of each job."""


def rounds(sweep: Sweep, results: SweepResults) -> Iterator[Requested]:
    """Yield the trials of each round. Before you take the next round, add its trials to the results.

    A trial that is missing then has failed: it is not requested again.
    """
    grids = [SolverGrid(sweep, solver) for solver in sweep.solvers]
    own = shared(sweep.most, grids)
    # Trials that some solvers do not need go to solvers with an unknown contour.
    while requested := request(grids, own) or request(grids, shared(sweep.most, grids)):
        yield requested
        for grid in grids:
            grid.count(results)


def request(grids: Sequence["SolverGrid"], most: Sequence[int]) -> dict[Job, range]:
    """Return the trials of the next round of all solvers, so that each has at most so many in all."""
    requested: dict[Job, range] = {}
    for grid, limit in zip(grids, most, strict=True):
        requested |= grid.request(limit)
    return requested


def shared(most: int, grids: Sequence["SolverGrid"]) -> list[int]:
    """Return how many trials each solver may have in total; the rest of `most` is divided equally."""
    used = [int(grid.search.requested.sum()) for grid in grids]
    each, more = divmod(max(0, most - sum(used)), len(used))
    return [own + each + (k < more) for k, own in enumerate(used)]


def infer(results: SweepResults, table: "pd.DataFrame | None" = None) -> "pd.DataFrame":
    """Return one row per cell that is not refused: x, y, solver, mean, low, high, trials, inferred.

    y: nan if there is one axis. mean: the success rate, or the mean of the metric if the sweep has no rule. low, high:
    the 95% Wilson interval of the rate, pooled as in `contour_search.bounds` if it is inferred; nan for a mean.
    inferred: an adaptive sweep has no trials there, and its mean lies between its neighbors. Unknown values are nan.
    table: `SweepResults.table` of the metric of the contour, if you have it.
    """
    import pandas as pd

    sweep, parts = results.sweep, list[pd.DataFrame]()
    table = results.table(sweep.contour.metric) if table is None else table
    for solver in sweep.solvers:
        grid = SolverGrid(sweep, solver)
        mean, low, high = grid.infer(table)
        trials, open_ = grid.search.trials, grid.search.open
        x, y = np.meshgrid(*grid.axes, indexing="ij")
        inferred = sweep.adaptive & trials.any() & (trials == 0)
        columns = {"x": x, "y": y, "mean": mean, "low": low, "high": high, "trials": trials, "inferred": inferred}
        own = pd.DataFrame({name: values[open_] for name, values in columns.items()})
        own.insert(2, "solver", solver)
        parts.append(own)
    return pd.concat(parts, ignore_index=True)


class SolverGrid:
    """A solver's jobs, (columns, rows), with the search for the contour; None for a refused cell."""

    def __init__(self, sweep: Sweep, solver: str) -> None:
        self._sweep = sweep
        values = [np.array(axis, dtype=float) for axis in sweep.grid.values()]
        values = [*values, np.full(1, np.nan)][:2]
        order = [axis.argsort() for axis in values]
        self.axes = [axis[by] for axis, by in zip(values, order, strict=True)]
        self._solver, self._order = solver, np.ix_(*order)
        jobs = np.empty(len(order[0]) * len(order[1]), dtype=object)
        jobs[:] = [cell.job for cell in sweep.cells if cell.solver == solver]
        self.jobs = self._placed(jobs)
        open_ = np.array([job is not None for job in self.jobs.flat]).reshape(self.jobs.shape)
        self._seconds = np.zeros(self.jobs.shape)
        self.search = ContourSearch(open_, directions(sweep, self.jobs), sweep.trials, sweep.tolerance)

    def request(self, most: int) -> dict[Job, range]:
        """Return the trials of the next round, so that `most` are requested in total; none after the search."""
        before, extra = self.search.requested.copy(), self.search.request(most)
        requested: dict[Job, range] = {}
        for place in self._longest_first(extra > 0):
            # Places that round to the same problem share their trials.
            job, first = self.jobs[place], int(before[place])
            known = requested.get(job, range(first, first))
            requested[job] = range(min(first, known.start), max(first + int(extra[place]), known.stop))
        return requested

    def count(self, results: SweepResults) -> None:
        """Count the results of the trials that were requested."""
        search, own = self.search, self.search.open
        counts = results.counts(self.jobs[own].tolist(), search.requested[own])
        search.trials[own], search.successes[own], self._seconds[own] = counts

    def infer(self, table: "pd.DataFrame") -> tuple[Array, Array, Array]:
        """Return mean, low and high of each cell, see `infer`; table: of `SweepResults.table`."""
        search, own = self.search, table[table["solver"] == self._solver].fillna({"successes": 0})
        mean, share, low, high = (self._placed(own[name].to_numpy(dtype=float)) for name in RATES)
        search.trials, search.successes = (self._placed(own[name].to_numpy(dtype=np.int64)) for name in COUNTS)
        nothing, known, adaptive = np.full(mean.shape, np.nan), np.isfinite(mean), self._sweep.adaptive
        if self._sweep.success is None:
            return (interpolate_missing(mean, known) if adaptive and known.any() else mean), nothing, nothing
        tried = search.trials > 0
        if not (adaptive and tried.any()):
            return share, low, high
        bounds = search.bounds()
        inferred = np.where(tried, share, search.within(*bounds))
        return inferred, np.where(tried, low, bounds[0]), np.where(tried, high, bounds[1])

    def _longest_first(self, chosen: Mask) -> list[tuple[int, ...]]:
        # At the end of a round no worker waits long for another. Which trials are run does not depend on it.
        timed = self.search.trials > 0
        seconds = interpolate_missing(self._seconds, timed) if timed.any() else self._seconds
        places = [tuple(place) for place in np.argwhere(chosen)]
        return sorted(places, key=lambda place: (-seconds[place], -self.jobs[place].spec.data_bytes))

    def _placed(self, values: Any) -> Any:
        """Return what cells have, in the order of the sweep, by column and row."""
        rows, columns = self._order
        return values.reshape(rows.size, columns.size)[self._order]


def directions(sweep: Sweep, jobs: NDArray[np.object_]) -> Directions:
    """Return how success goes along both axes, as far as the model declares it: 1 grows, -1 falls, 0 unknown.

    A declaration holds while all other parameters stay. It says nothing if a move along one axis changes the parameter
    that the other axis decides: with m/p fixed, m grows with p.
    """
    model, known = model_entry(sweep.spec.model), [0, 0]
    for axis, name in enumerate(sweep.grid):
        others = [decided for k, decided in enumerate(sweep.decided) if k != axis]
        lines = np.moveaxis(jobs, axis, 1)
        constant = (len({getattr(job.spec, o) for job in line if job}) <= 1 for o in others for line in lines)
        # No non-zero entries stand for all of them, which is the other end of the axis.
        turns = name in model.turns or (name == "sparsity" and 0 in sweep.grid[name])
        if all(constant) and not turns:
            known[axis] = (name in model.family.grows) - (name in model.family.falls)
    return known[0], known[1]

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

from lrlab.catalog import model_entry
from lrlab.runs.job import Job
from lrlab.sweeps.contour_search import ContourSearch, Directions, interpolate_missing
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.results import SweepResults

if TYPE_CHECKING:
    import pandas as pd

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


def infer(results: SweepResults, table: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table of grid points with the column `inferred`, and values for points without trials.

    table: `SweepResults.table` of the contour's metric. An adaptive sweep infers the `success_rate` with its
    interval (`low`, `high`, pooled as in `contour_search.bounds`), or the `mean` if it has no rule, from other points.
    """
    import pandas as pd

    if not results.sweep.adaptive:
        return table.assign(inferred=False)
    grids = {solver: SolverGrid(results.sweep, solver) for solver in results.sweep.solvers}
    return pd.concat([grid.infer(table[table["solver"] == solver]) for solver, grid in grids.items()]).sort_index()


class SolverGrid:
    """A solver's jobs, (columns, rows), with the search for the contour; None for a refused cell."""

    def __init__(self, sweep: Sweep, solver: str) -> None:
        self._sweep = sweep
        order = [np.argsort(values) for values in (*sweep.grid.values(), [0])[:2]]
        self._order = np.ix_(*order)
        jobs = np.empty(len(order[0]) * len(order[1]), dtype=object)
        jobs[:] = [cell.job for cell in sweep.cells if cell.solver == solver]
        self.jobs = self._placed(jobs)
        open_ = np.array([job is not None for job in self.jobs.flat]).reshape(self.jobs.shape)
        self.search = ContourSearch(open_, directions(sweep, self.jobs), sweep.trials, sweep.tolerance)

    def request(self, most: int) -> dict[Job, range]:
        """Return the trials of the next round, so that `most` are requested in total; none after the search."""
        before, extra = self.search.requested.copy(), self.search.request(most)
        requested: dict[Job, range] = {}
        places = map(tuple, np.argwhere(extra > 0))
        # The largest problems first: at the end of a round no worker waits long for another.
        for place in sorted(places, key=lambda place: -self.jobs[place].spec.data_bytes):
            # Places that round to the same problem share their trials.
            job, first = self.jobs[place], int(before[place])
            known = requested.get(job, range(first, first))
            requested[job] = range(min(first, known.start), max(first + int(extra[place]), known.stop))
        return requested

    def count(self, results: SweepResults) -> None:
        """Count the results of the trials that were requested."""
        search, own = self.search, self.search.open
        search.trials[own], search.successes[own] = results.counts(self.jobs[own].tolist(), search.requested[own])

    def infer(self, own: "pd.DataFrame") -> "pd.DataFrame":
        """Return the rows of the solver as in `infer`."""
        search = self.search
        search.trials, search.successes = (
            self._placed(own[name].fillna(0).to_numpy(dtype=np.int64)) for name in ("trials", "successes")
        )
        if not search.trials.any():
            return own.assign(inferred=False)
        if self._sweep.success is None:
            mean = self._placed(own["mean"].to_numpy())
            known = np.isfinite(mean)
            values = {"mean": interpolate_missing(mean, known)} if known.any() else {}
        else:
            low, high = search.bounds()
            values = {"success_rate": search.within(low, high), "low": low, "high": high}
        inferred = self._unplaced(search.open & (search.trials == 0))
        filled = {name: own[name].where(~inferred, self._unplaced(one)) for name, one in values.items()}
        return own.assign(inferred=inferred, **filled)

    def _placed(self, values: Any) -> Any:
        """Return what cells have, in the order of the sweep, by column and row."""
        rows, columns = self._order
        return values.reshape(rows.size, columns.size)[self._order]

    def _unplaced(self, values: Any) -> Any:
        """Return what columns and rows have, by cell."""
        cells = np.empty_like(values)
        cells[self._order] = values
        return cells.ravel()


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
        non_monotone = name in model.non_monotone or (name == "sparsity" and 0 in sweep.grid[name])
        if all(constant) and not non_monotone:
            known[axis] = (name in model.family.grows) - (name in model.family.falls)
    return known[0], known[1]

"""Adaptive sweeps: trials go to the contour of 50% success, and the rest of the plane is inferred.

Each solver has its own rounds. The first round has one trial at each point of a coarse lattice. Then the grid points at
the contour of the estimated success rate get more trials, 1, 3, 7, ... in total. A point is finished if its Wilson
interval, pooled with the points that can only do better or worse, excludes 1/2, or if all its trials are done. New
trials move the estimate, and so on. Rounds depend only on the results of earlier rounds, and trials only on their
numbers: any worker computes the same trials, however often the sweep is interrupted. The rule is the definition's
`contour`. If a map shows a mean, success means that the metric is above the model's level; the contour is then the
contour of the median.

Arrays are (columns, rows), with one entry per grid point. Functions import scipy themselves: its import takes 0.2 s,
which sweeps that are not adaptive, and every start of the shell, would pay for nothing.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lrlab.arrays import Array, Mask
from lrlab.catalog import model_entry
from lrlab.runs.job import Job
from lrlab.runs.run import blas_threads
from lrlab.sweeps.definition import Sweep, first_look
from lrlab.sweeps.results import SweepResults
from lrlab.sweeps.statistics import wilson_bounds

if TYPE_CHECKING:
    import pandas as pd

Requested = Mapping[Job, range]
"""Numbers of the trials that are requested of each job."""
Counts = NDArray[np.int64]
Directions = tuple[int, int]
"""How success rates go along each axis: 1 grow, -1 fall, 0 unknown."""
ALL, NEIGHBORS = 1000, 16
"""Known cells that all decide about each unknown one; of more, so many of the nearest."""


def rounds(sweep: Sweep, results: SweepResults) -> Iterator[Requested]:
    """Yield the trials of each round. Before you take the next round, add its trials to the results.

    A trial that is missing then has failed: it is not requested again.
    """
    grids = [SolverGrid(sweep, solver) for solver in sweep.solvers]
    while True:
        # Trials that some solvers do not need go to solvers with an unknown contour.
        used = [int(grid.requested.sum()) for grid in grids]
        each, more = divmod(max(0, sweep.most - sum(used)), len(grids))
        rounds = [grid.next_round(used[k] + each + (k < more)) for k, grid in enumerate(grids)]
        requested = {job: numbers for own in rounds for job, numbers in own.items()}
        if not requested:
            return
        yield requested
        for grid in grids:
            grid.count(results)


def infer(results: SweepResults, table: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table of grid points with the column `inferred`, and values for points without trials.

    table: `SweepResults.table` of the contour's metric. An adaptive sweep infers the `success_rate` with its
    interval (`low`, `high`, pooled as in `ContourSearch.bounds`), or the `mean` if it has no rule, from other points.
    """
    import pandas as pd

    sweep, parts = results.sweep, list["pd.DataFrame"]()
    if not sweep.adaptive:
        return table.assign(inferred=False)
    for solver in sweep.solvers:
        grid = SolverGrid(sweep, solver)
        # In the order of the jobs.
        own, shape, values = table[table["solver"] == solver].sort_values([*sweep.grid]), grid.open.shape, {}
        trials, successes, mean = own[["trials", "successes", "mean"]].to_numpy(dtype=float).T.reshape(3, *shape)
        grid.trials, grid.successes = np.nan_to_num(trials), np.nan_to_num(successes)
        if sweep.success and trials.any():
            low, high = grid.bounds()
            values = {"success_rate": grid.estimate(), "low": low, "high": high}
        elif np.isfinite(mean).any():
            values = {"mean": interpolate_missing(mean, np.isfinite(mean))}
        inferred = (grid.open & (trials == 0) & trials.any()).ravel()
        filled = {name: own[name].where(~inferred, one.ravel()) for name, one in values.items()}
        parts.append(own.assign(inferred=inferred, **filled))
    return pd.concat(parts).sort_index()


class ContourSearch:
    """A grid of cells with their trials: requested, finished and successful ones; decides which to request next.

    open: which cells can be measured. trials, successes: to be set by whoever runs what `request` returns.
    """

    def __init__(self, open_: Mask, directions: Directions, most: int, tolerance: int = 1) -> None:
        """Request nothing yet; a cell has at most `most` trials, and the contour is sought within `tolerance` cells."""
        self.open, self.directions = open_, directions
        self._most, self._tolerance = most, tolerance
        self.requested, self.trials, self.successes = (np.zeros(open_.shape, dtype=np.int64) for _ in range(3))

    def request(self, budget: int) -> Counts:
        """Return how many more trials each cell gets in the next round, all rounds together at most `budget`.

        Nothing is requested once the contour is known, or the budget used.
        """
        if not self.requested.any():
            wanted = lattice(self.open)
        else:
            wanted = self.uncertain() if self.trials.any() else np.zeros_like(self.open)
        extra = np.where(wanted, np.minimum(2 * self.requested + 1, self._most) - self.requested, 0)
        left = budget - int(self.requested.sum())
        if extra.sum() > left:
            # The cells that are nearest to the contour come first.
            distance = np.where(extra > 0, np.abs(self.estimate() - 0.5), np.inf)
            order = np.argsort(distance, axis=None, kind="stable")
            in_order = extra.flat[order]
            extra.flat[order] = np.clip(left - (in_order.cumsum() - in_order), 0, in_order)
        self.requested = self.requested + extra
        return extra

    def bounds(self) -> tuple[Array, Array]:
        """Return the ends low, high of an interval for the success rate of every cell.

        It is Wilson's 95% interval of the cell's own trials. If rates grow along an axis, boxes of cells below or above
        tighten it: the rate of a box below is at most the cell's rate, so its lower end holds; likewise above.
        """
        turn = tuple(slice(None, None, -1 if direction < 0 else 1) for direction in self.directions)
        counts = self.successes, self.trials
        sums = [np.pad(each[turn].cumsum(0).cumsum(1), ((1, 0), (1, 0))) for each in counts]
        shape: tuple[int, ...] = self.open.shape
        columns, rows = shape
        low, high = np.zeros(shape), np.ones(shape)
        ways = zip(shape, self.directions, strict=True)
        for a, b in product(*([2**k for k in range(n.bit_length() if direction else 1)] for n, direction in ways)):
            ends = wilson_bounds(*(t[a:, b:] - t[:-a, b:] - t[a:, :-b] + t[:-a, :-b] for t in sums))
            np.maximum(low[a - 1 :, b - 1 :], ends[0], out=low[a - 1 :, b - 1 :])
            np.minimum(high[: columns - a + 1, : rows - b + 1], ends[1], out=high[: columns - a + 1, : rows - b + 1])
        for axis, direction in enumerate(self.directions):
            if direction:
                low = np.maximum.accumulate(low, axis=axis)
                high = np.flip(np.minimum.accumulate(np.flip(high, axis), axis=axis), axis)
        return low[turn], high[turn]

    def estimate(self) -> Array:
        """Return the success rate of every cell: interpolated between cells with trials, and clipped to its bounds."""
        low, high = self.bounds()
        share = interpolate_missing(self.successes / np.maximum(self.trials, 1), self.trials > 0)
        # If the two ends contradict each other by chance, neither is used.
        return np.where(low <= high, np.clip(share, low, high), share)

    def uncertain(self) -> Mask:
        """Return the cells at the contour whose side of the contour is not known yet.

        A cell is at the contour if a neighbor's estimate lies on the other side of 1/2. Its side is known if its
        interval excludes 1/2, or if the interval of another cell on its side does, less than `tolerance` cells away.
        """
        from scipy.ndimage import binary_dilation

        low, high = self.bounds()
        above = self.estimate() > 0.5
        sure = [(low > 0.5) & (high >= 0.5), (high < 0.5) & (low <= 0.5)]
        if self._tolerance > 1:
            square = np.ones((3, 3), dtype=bool)
            sure = [binary_dilation(cells, square, iterations=self._tolerance - 1) for cells in sure]
        over, under = above & self.open, ~above & self.open
        contour: Mask = (over & binary_dilation(under)) | (under & binary_dilation(over))
        return contour & ~np.where(above, *sure)


class SolverGrid(ContourSearch):
    """The search of one solver, over its jobs (columns, rows); None for a refused cell."""

    def __init__(self, sweep: Sweep, solver: str) -> None:
        cells = sorted((cell for cell in sweep.cells if cell.solver == solver), key=lambda cell: [*cell.axes.values()])
        shape = [len(values) for values in (*sweep.grid.values(), [0])[:2]]
        self.jobs: Any = np.fromiter((cell.job for cell in cells), dtype=object).reshape(shape)
        super().__init__(self.jobs.astype(bool), directions(sweep, self.jobs), sweep.trials, sweep.tolerance)

    def next_round(self, most: int) -> dict[Job, range]:
        """Return the trials of the next round, so that `most` are requested in total; none after the search."""
        before, extra, requested = self.requested, self.request(most), dict[Job, range]()
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
        rows, requested = [results.rows[job] for job in self.jobs[self.open]], self.requested[self.open]
        finished = ~np.isnan(results.matrix("seconds")[rows])
        counted = finished & (np.arange(finished.shape[1]) < requested[:, None])
        self.trials[self.open] = counted.sum(axis=1)
        self.successes[self.open] = (counted & results.succeeded()[rows]).sum(axis=1)


def directions(sweep: Sweep, jobs: NDArray[np.object_]) -> Directions:
    """Return how success goes along both axes, as far as the model declares it.

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


def interpolate_missing(values: Array, known: Mask) -> Array:
    """Return values that are known in some cells, interpolated in the others by radial functions.

    Along a line this is linear between known cells, and constant beyond them.
    """
    if known.all():
        return values
    from scipy.interpolate import RBFInterpolator

    filled, places = values.copy(), np.argwhere(known)
    # One thread: a second thread of LAPACK spins for small systems on a core that a worker needs.
    with blas_threads(1):
        neighbors = NEIGHBORS if len(places) > ALL else None
        radial = RBFInterpolator(places, values[known], neighbors=neighbors, kernel="linear", degree=0)
        filled[~known] = np.clip(radial(np.argwhere(~known)), values[known].min(), values[known].max())
    return filled


def lattice(open_: Mask) -> Mask:
    """Return the cells to begin with: `first_look` of them along each axis, its ends among them.

    The nearest open cell replaces a cell that is not open.
    """
    lines = [np.linspace(0, n - 1, first_look(n)).round().astype(int) for n in open_.shape]
    chosen, places = np.zeros_like(open_), np.argwhere(open_)
    for place in product(*lines) if len(places) else ():
        nearest = np.abs(places - place).sum(axis=1).argmin()
        chosen[tuple(places[nearest])] = True
    return chosen

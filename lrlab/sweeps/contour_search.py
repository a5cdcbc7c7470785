"""Searches a grid for the contour of 50% success, with few trials.

Arrays are (columns, rows), with one entry per grid point. Directions say for each axis whether success rates grow (1)
or fall (-1) along it, or that nobody knows (0). Functions import scipy themselves: its import takes 0.2 s, which sweeps
that are not adaptive, and every start of the shell, would pay for nothing.
"""

from contextlib import suppress
from itertools import product

import numpy as np
from numpy.typing import NDArray

from lrlab.arrays import Array, Mask
from lrlab.runs.run import blas_threads
from lrlab.sweeps.definition import first_look
from lrlab.sweeps.statistics import wilson_bounds

Counts = NDArray[np.int64]
Cells = Mask
Directions = tuple[int, int]


class ContourSearch:
    """A grid of cells with their trials: requested, finished and successful ones; decides which to request next.

    open: which cells can be measured. trials, successes: to be set by whoever runs what `request` returns.
    """

    def __init__(self, open_: Cells, directions: Directions, most: int, tolerance: int = 1) -> None:
        """Request nothing yet; a cell has at most `most` trials, and the contour is sought within `tolerance` cells."""
        self.open, self.directions = open_, directions
        self._most, self._tolerance = most, tolerance
        self.requested, self.trials, self.successes = (np.zeros(open_.shape, dtype=np.int64) for _ in range(3))

    def request(self, budget: int) -> Counts:
        """Return how many more trials each cell gets in the next round, all rounds together at most `budget`.

        Nothing is requested once the contour is known, or the budget used.
        """
        extra = np.where(self._wanted(), np.minimum(2 * self.requested + 1, self._most) - self.requested, 0)
        left = budget - int(self.requested.sum())
        if extra.sum() > left:
            extra = self._nearest(extra, left)
        self.requested = self.requested + extra
        return extra

    def bounds(self) -> tuple[Array, Array]:
        """Return `bounds` of the present trials."""
        return bounds(self.successes, self.trials, self.directions)

    def estimate(self) -> Array:
        """Return the success rate of every cell: interpolated between cells with trials, and clipped to its bounds."""
        return self.within(*self.bounds())

    def uncertain(self) -> Cells:
        """Return the cells at the contour whose side of the contour is not known yet.

        A cell is at the contour if a neighbor's estimate lies on the other side of 1/2. Its side is known if its
        interval excludes 1/2, or if the interval of another cell on its side does, less than `tolerance` cells away.
        """
        from scipy.ndimage import binary_dilation

        low, high = self.bounds()
        above = self.within(low, high) > 0.5
        sure = [(low > 0.5) & (high >= 0.5), (high < 0.5) & (low <= 0.5)]
        if self._tolerance > 1:
            square = np.ones((3, 3), dtype=bool)
            sure = [binary_dilation(cells, square, iterations=self._tolerance - 1) for cells in sure]
        return at_contour(above, self.open) & ~np.where(above, *sure)

    def within(self, low: Array, high: Array) -> Array:
        """Return `estimate`, given the bounds."""
        share = interpolate_missing(self.successes / np.maximum(self.trials, 1), self.trials > 0)
        # If the two ends contradict each other by chance, neither is used.
        return np.where(low <= high, np.clip(share, low, high), share)

    def _wanted(self) -> Cells:
        if not self.requested.any():
            return lattice(self.open)
        return self.uncertain() if self.trials.any() else np.zeros_like(self.open)

    def _nearest(self, extra: Counts, left: int) -> Counts:
        distance = np.where(extra > 0, np.abs(self.estimate() - 0.5), np.inf)
        order = np.argsort(distance, axis=None, kind="stable")
        wanted = extra.flat[order]
        granted = np.zeros_like(extra)
        granted.flat[order] = np.clip(left - (wanted.cumsum() - wanted), 0, wanted)
        return granted


def bounds(successes: Counts, trials: Counts, directions: Directions) -> tuple[Array, Array]:
    """Return the ends low, high of an interval for the share of every cell.

    It is Wilson's 95% interval of the cell's own trials. If rates grow along an axis, boxes of cells below or above
    tighten it: the rate of a box below is at most the cell's rate, so its lower end holds; likewise above.
    """
    turn = tuple(slice(None, None, -1 if direction < 0 else 1) for direction in directions)
    sums = [np.pad(counts[turn].cumsum(0).cumsum(1), ((1, 0), (1, 0))) for counts in (successes, trials)]
    columns, rows = trials.shape
    low, high = np.zeros(trials.shape), np.ones(trials.shape)
    ways = zip(trials.shape, directions, strict=True)
    for a, b in product(*([2**k for k in range(n.bit_length() if direction else 1)] for n, direction in ways)):
        ends = wilson_bounds(*(t[a:, b:] - t[:-a, b:] - t[a:, :-b] + t[:-a, :-b] for t in sums))
        np.maximum(low[a - 1 :, b - 1 :], ends[0], out=low[a - 1 :, b - 1 :])
        np.minimum(high[: columns - a + 1, : rows - b + 1], ends[1], out=high[: columns - a + 1, : rows - b + 1])
    for axis, direction in enumerate(directions):
        if direction:
            low = np.maximum.accumulate(low, axis=axis)
            high = np.flip(np.minimum.accumulate(np.flip(high, axis), axis=axis), axis)
    return low[turn], high[turn]


def interpolate_missing(values: Array, known: Cells) -> Array:
    """Return values that are known in some cells, interpolated linearly in the others; beyond them, the nearest one."""
    if known.all():
        return values
    from scipy.interpolate import griddata
    from scipy.spatial import QhullError

    places, holes = np.argwhere(known), np.argwhere(~known)
    estimates = np.full(len(holes), np.nan)
    if 1 in known.shape:
        along = int(known.shape[0] == 1)
        estimates = np.interp(holes[:, along], places[:, along], values[known])
    else:
        # With all known cells on one line there is nothing between them. One thread: the triangles' systems are of two
        # unknowns each, and a second thread of LAPACK spins for all of them on a core that a worker needs.
        with suppress(QhullError), blas_threads(1):
            estimates = griddata(places, values[known], holes, method="linear")
    beyond = np.isnan(estimates)
    if beyond.any():
        estimates[beyond] = griddata(places, values[known], holes[beyond], method="nearest")
    filled = values.copy()
    filled[~known] = estimates
    return filled


def lattice(open_: Cells) -> Cells:
    """Return the cells to begin with: `first_look` of them along each axis, its ends among them.

    The nearest open cell replaces a cell that is not open.
    """
    lines = [np.linspace(0, n - 1, first_look(n)).round().astype(int) for n in open_.shape]
    chosen, places = np.zeros_like(open_), np.argwhere(open_)
    for place in product(*lines) if len(places) else ():
        nearest = np.abs(places - place).sum(axis=1).argmin()
        chosen[tuple(places[nearest])] = True
    return chosen


def at_contour(above: Cells, open_: Cells) -> Cells:
    """Return the open cells that have an open neighbor on the other side."""
    from scipy.ndimage import binary_dilation

    over, under = above & open_, ~above & open_
    contour: Cells = (over & binary_dilation(under)) | (under & binary_dilation(over))
    return contour

"""Adaptive sweeps: trials go to where half of them succeed, and the rest of the plane is inferred.

Every solver is measured by itself, in rounds. The first has one trial in each cell of a coarse lattice. Then cells at
the contour of the estimated share get more, 1, 3, 7, ... in all, until Wilson's interval of each, pooled with cells
that can only do better or worse, leaves out 1/2, or all trials are finished; that moves the estimate, and so on. Rounds
follow from the results of earlier ones alone, and trials from their numbers: the same ones are computed on any worker,
and however often the sweep is interrupted. Success is defined by the definition's `contour`: its rule or, where a map
shows a mean, whether the measure is above the model's level; the contour is then that of the median.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lrlab.runs.job import Job
from lrlab.sweeps.contour_search import crossings
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.results import Results
from lrlab.sweeps.solver_grid import SolverGrid

INFERRED_TRIALS = 0.5
"""Trials that an inferred share weighs as much as."""

Requested = Mapping[Job, range]
"""Numbers of the trials that are requested of each job."""


def rounds(sweep: Sweep, results: Results) -> Iterator[Requested]:
    """Yield the trials of each round; before the next one is taken, the results have to have them.

    A trial that is not there then has failed: it is not requested again.
    """
    grids = [SolverGrid(sweep, solver) for solver in sweep.solvers]
    own = shared(sweep.most, [0] * len(grids))
    # What some solvers do not need goes to those whose contour is not known yet.
    while requested := request(grids, own) or request(grids, shared(sweep.most, [g.requested for g in grids])):
        yield requested
        for grid in grids:
            grid.count(results)


def request(grids: Sequence[SolverGrid], most: Sequence[int]) -> dict[Job, range]:
    """Return the trials of the next round of all solvers, so that each has at most so many in all."""
    requested: dict[Job, range] = {}
    for grid, limit in zip(grids, most, strict=True):
        requested |= grid.request(limit)
    return requested


def shared(most: int, used: Sequence[int]) -> list[int]:
    """Return how many trials each solver may have in all, where what is left of `most` is shared alike."""
    each, more = divmod(max(0, most - sum(used)), len(used))
    return [own + each + (k < more) for k, own in enumerate(used)]


def infer(results: Results) -> pd.DataFrame:
    """Return one row per cell that is not refused: x, y, solver, mean, low, high, trials, inferred.

    y: nan where there is one axis. mean: share of successes, or mean of the measure where the sweep has no rule. low,
    high: the share's 95% Wilson interval, pooled as in `contour_search.bounds` where it is inferred; nan of a mean.
    inferred: an adaptive sweep has no trials there, and its mean lies between those around it. What is not known yet is
    nan.
    """
    sweep, rows = results.sweep, []
    for solver in sweep.solvers:
        grid = SolverGrid(sweep, solver)
        mean, low, high = grid.infer(results)
        trials = grid.search.trials
        for place in map(tuple, np.argwhere(grid.search.open)):
            inferred = sweep.adaptive and bool(trials.any()) and not trials[place]
            rows.append((*grid.at(place), solver, mean[place], low[place], high[place], int(trials[place]), inferred))
    return pd.DataFrame(rows, columns=["x", "y", "solver", "mean", "low", "high", "trials", "inferred"])


def contour(results: Results) -> list[dict[str, Any]]:
    """Return points where half of the trials succeed, by axis and `solver`: one in each line along one axis.

    That axis is the second one, or the first where only its direction is declared; without one there are none. See
    `contour_search.crossings`; between two values of the axis it is interpolated linearly.
    """
    points: list[dict[str, Any]] = []
    for solver in results.sweep.solvers:
        grid = SolverGrid(results.sweep, solver)
        grid.infer(results)
        search, along = grid.search, 1 if grid.search.directions[1] else 0
        if not search.trials.any() or not search.directions[along]:
            continue
        weights = np.where(search.trials, search.trials, INFERRED_TRIALS)
        shares, weights = (np.moveaxis(array, along, 1) for array in (search.estimate(), weights))
        rows = np.arange(search.open.shape[along])
        for k, row in enumerate(crossings(shares, weights, search.directions[along])):
            if 0 <= row <= rows[-1]:
                place = [grid.axes[1 - along][k], np.interp(row, rows, grid.axes[along])]
                point = place if along else place[::-1]
                points.append({**dict(zip(results.sweep.grid, map(float, point), strict=False)), "solver": solver})
    return points

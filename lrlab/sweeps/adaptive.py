"""Adaptive sweeps: trials go to where half of them succeed, and the rest of the plane is inferred.

Every solver is surveyed by itself, in rounds. The first has one trial in each cell of a coarse lattice. Then cells at
the contour of the estimated share get more, 1, 3, 7, ... in all, until Wilson's interval of each, pooled with cells
that can only do better or worse, leaves out 1/2, or all trials are made; that moves the estimate, and so on. Rounds
follow from the results of earlier ones alone, and trials from their numbers: whoever computes them, and however often
he is interrupted, they are the same. What succeeds is said by the definition's `contour`: its rule or, where a map
shows a mean, whether the measure is above the model's level; the contour is then that of the median.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lrlab.arrays import Array, Mask
from lrlab.catalog.families import family
from lrlab.runs.job import Job
from lrlab.store.store import Store
from lrlab.sweeps.cells import Asked, cells
from lrlab.sweeps.contour_search import Directions, Survey, between, crossings
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.summary import wilson_bounds

UNSEEN = 0.5
"""Trials that an inferred share weighs as much as."""
Values = Callable[[Job], ArrayLike]
"""values(job) -> the measure in the finished trials of a cell, by which they succeed or whose mean is shown."""


def rounds(sweep: Sweep, store: Store) -> Iterator[Asked]:
    """Yield the trials of each round; before the next one is asked for, the store has to have them.

    A trial that is not there then has failed: it is not asked for again.
    """
    planes = [Plane(sweep, solver) for solver in sweep.solvers]
    own = shared(sweep.most, [0] * len(planes))
    # What some solvers do not need goes to those whose contour is not known yet.
    while asked := ask(planes, own) or ask(planes, shared(sweep.most, [plane.asked for plane in planes])):
        yield asked
        for plane in planes:
            plane.count(store)


def ask(planes: Sequence["Plane"], most: Sequence[int]) -> dict[Job, range]:
    """Return the trials of the next round of all solvers, so that each has at most so many in all."""
    asked: dict[Job, range] = {}
    for plane, limit in zip(planes, most, strict=True):
        asked |= plane.ask(limit)
    return asked


def shared(most: int, used: Sequence[int]) -> list[int]:
    """Return how many trials each solver may have in all, where what is left of `most` is shared alike."""
    each, more = divmod(max(0, most - sum(used)), len(used))
    return [asked + each + (k < more) for k, asked in enumerate(used)]


def measured(sweep: Sweep, store: Store) -> dict[Job, int]:
    """Return how many trials of each cell belong to an adaptive sweep, as far as a store has them."""
    numbers: dict[Job, int] = {}
    for asked in rounds(sweep, store):
        numbers |= {job: max(part.stop, numbers.get(job, 0)) for job, part in asked.items()}
    return numbers


def picture(sweep: Sweep, values: Values) -> pd.DataFrame:
    """Return one row a cell that is not refused: x, y, solver, mean, low, high, trials, inferred.

    y: nan where there is one axis. mean: share of successes, or mean of the measure where the sweep has no rule. low,
    high: the share's 95% Wilson interval, pooled as in `survey.bounds` where it is inferred; nan of a mean. inferred:
    an adaptive sweep has no trials there, and its mean lies between those around it. What is not known yet is nan.
    """
    rows = []
    for solver in sweep.solvers:
        plane = Plane(sweep, solver)
        mean, low, high = plane.see(values)
        trials = plane.survey.trials
        for place in map(tuple, np.argwhere(plane.survey.open)):
            inferred = sweep.adaptive and bool(trials.any()) and not trials[place]
            rows.append((*plane.at(place), solver, mean[place], low[place], high[place], int(trials[place]), inferred))
    return pd.DataFrame(rows, columns=["x", "y", "solver", "mean", "low", "high", "trials", "inferred"])


def contour(sweep: Sweep, values: Values) -> list[dict[str, Any]]:
    """Return points where half of the trials succeed, by axis and `solver`: one in each line along one axis.

    That axis is the second one, or the first where only its direction is declared; without one there are none. See
    `survey.crossings`; between two values of the axis it is interpolated linearly.
    """
    points: list[dict[str, Any]] = []
    for solver in sweep.solvers:
        plane = Plane(sweep, solver)
        plane.see(values)
        survey, along = plane.survey, 1 if plane.survey.directions[1] else 0
        if not survey.trials.any() or not survey.directions[along]:
            continue
        lines = [np.moveaxis(a, along, 1) for a in (survey.estimate(), np.where(survey.trials, survey.trials, UNSEEN))]
        rows = np.arange(survey.open.shape[along])
        for k, row in enumerate(crossings(*lines, survey.directions[along])):
            if 0 <= row <= rows[-1]:
                place = [plane.axes[1 - along][k], np.interp(row, rows, plane.axes[along])]
                point = place if along else place[::-1]
                points.append({**dict(zip(sweep.grid, map(float, point), strict=False)), "solver": solver})
    return points


class Plane:
    """The cells of one solver: a grid of jobs along rising values, what was asked for in each, and what came of it."""

    def __init__(self, sweep: Sweep, solver: str) -> None:
        """Nothing has been measured yet."""
        self._sweep, self._rule = sweep, sweep.contour
        grid = [np.array(values, dtype=float) for values in sweep.grid.values()]
        grid = [*grid, np.full(1, np.nan)][:2]
        order = [values.argsort() for values in grid]
        self.axes = [values[by] for values, by in zip(grid, order, strict=True)]
        jobs = np.empty(len(order[0]) * len(order[1]), dtype=object)
        jobs[:] = [cell.job for cell in cells(sweep) if cell.solver == solver]
        self.jobs = jobs.reshape(len(order[0]), len(order[1]))[np.ix_(*order)]
        open_ = np.array([job is not None for job in self.jobs.flat]).reshape(self.jobs.shape)
        self._seconds, self._counted = np.zeros(self.jobs.shape), np.zeros(self.jobs.shape, dtype=np.int64)
        self.survey = Survey(open_, directions(sweep, self.jobs), sweep.trials, sweep.tolerance)

    @property
    def asked(self) -> int:
        """Number of trials that were asked for."""
        return int(self.survey.asked.sum())

    def at(self, place: tuple[int, ...]) -> tuple[float, float]:
        """Return the values of both axes at a place; nan where there is no second one."""
        return float(self.axes[0][place[0]]), float(self.axes[1][place[1]])

    def ask(self, most: int) -> dict[Job, range]:
        """Return the trials of the next round, so that `most` are asked for in all; none where it is over."""
        before, extra = self.survey.asked.copy(), self.survey.ask(most)
        asked: dict[Job, range] = {}
        for place in self._longest_first(extra > 0):
            # Places that round to the same problem share their trials.
            job, first = self.jobs[place], int(before[place])
            known = asked.get(job, range(first, first))
            asked[job] = range(min(first, known.start), max(first + int(extra[place]), known.stop))
        return asked

    def count(self, store: Store) -> None:
        """Count what a store has of the trials that were asked for."""
        news, self._counted = self.survey.asked != self._counted, self.survey.asked.copy()
        for place in map(tuple, np.argwhere(news)):
            outcomes = store.outcomes(self.jobs[place], int(self.survey.asked[place])).values()
            if outcomes:
                self._seconds[place] = max(1e-6, *(outcome.seconds for outcome in outcomes))
            self._take(place, [outcome.scores.get(self._rule.metric, math.nan) for outcome in outcomes])

    def see(self, values: Values) -> tuple[Array, Array, Array]:
        """Return mean, low and high of each cell, see `picture`."""
        mean, survey = np.full(self.jobs.shape, np.nan), self.survey
        for place in map(tuple, np.argwhere(survey.open)):
            found = np.asarray(values(self.jobs[place]), dtype=float)
            self._take(place, found)
            known = found[np.isfinite(found)]
            mean[place] = known.mean() if len(known) else np.nan
        nothing, seen, infer = np.full(mean.shape, np.nan), np.isfinite(mean), self._sweep.adaptive
        if self._sweep.success is None:
            return (between(mean, seen) if infer and seen.any() else mean), nothing, nothing
        tried = survey.trials > 0
        share = np.divide(survey.successes, survey.trials, out=nothing.copy(), where=tried)
        ends = wilson_bounds(survey.successes, survey.trials)
        if not (infer and tried.any()):
            return share, *(np.where(tried, end, np.nan) for end in ends)
        inferred = survey.estimate(), *survey.bounds()
        return tuple(np.where(tried, *pair) for pair in zip((share, *ends), inferred, strict=True))

    def _longest_first(self, chosen: Mask) -> list[tuple[int, ...]]:
        # At the end of a round no worker waits long for another. Which trials are made does not depend on it.
        seen = self._seconds > 0
        seconds = between(self._seconds, seen) if seen.any() else self._seconds
        places = [tuple(place) for place in np.argwhere(chosen)]
        return sorted(places, key=lambda place: (-seconds[place], -self.jobs[place].spec.data_bytes))

    def _take(self, place: tuple[int, ...], values: ArrayLike) -> None:
        self.survey.trials[place] = np.size(values)
        self.survey.successes[place] = self._rule.reached(values).sum()


def directions(sweep: Sweep, jobs: NDArray[np.object_]) -> Directions:
    """Return how success goes along both axes, as far as the model declares it: 1 grows, -1 falls, 0 unknown.

    A declaration holds while all other parameters stay. So it is no use where moving along an axis changes what the
    other one decides: m/p held fixed, m grows with p.
    """
    kind, found = family(sweep.spec.model), [0, 0]
    for axis, name in enumerate(sweep.grid):
        others = [decided for k, decided in enumerate(sweep.decided) if k != axis]
        lines = np.moveaxis(jobs, axis, 1)
        if all(_constant(line, other) for other in others for line in lines):
            found[axis] = (name in kind.grows) - (name in kind.falls)
    return found[0], found[1]


def _constant(jobs: NDArray[np.object_], parameter: str) -> bool:
    return len({getattr(job.spec, parameter) for job in jobs if job is not None}) <= 1

"""The results of a sweep: its finished trials in columns. Maps, lines, tables and exports read them."""

import math
import threading
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lrlab import catalog
from lrlab.arrays import Array, Mask
from lrlab.parameters import InputError
from lrlab.protocol import Stop
from lrlab.runs import theory
from lrlab.runs.job import Job
from lrlab.runs.run import Trial, TrialResult, trial_spec
from lrlab.sweeps import statistics
from lrlab.sweeps.definition import Sweep

if TYPE_CHECKING:
    import pandas as pd

ENDING = ("seed", "stop", "iterations", "seconds")
"""Columns of every trial. The one of `stop` holds indices in STOPS."""
STOPS = ("", *Stop.__members__)


class SweepResults:
    """The finished trials of a sweep's cells; a million of them take about 100 MB. Safe to use from many threads.

    cells: all cells of the sweep. rows: the row of each job in `matrix`. changes: grows whenever trials are added.
    failures: the sentences of trials that failed. computed, reused: numbers of trials that were computed, and taken
    from the store, in the last run. complete: whether that run reached its end. alive: whether a page's run computes
    more of them.
    """

    def __init__(self, sweep: Sweep) -> None:
        self.sweep, self.cells = sweep, sweep.cells
        measures = catalog.family(sweep.spec.model).measures
        self._quotients = {name: measure.quotient[0] for name, measure in measures.items() if measure.quotient[0]}
        self.changes = self.computed = self.reused = 0
        self.complete = self.alive = False
        self.failures: dict[Trial, str] = {}
        self._lock = threading.RLock()
        self.rows = {job: row for row, job in enumerate(sweep.jobs)}
        self._columns = {name: self._empty() for name in ENDING}

    @property
    def done(self) -> int:
        """Number of trials of the last run that were reused, computed, or failed."""
        return self.reused + self.computed + len(self.failures)

    def _empty(self) -> Array:
        return np.full((len(self.rows), self.sweep.trials), math.nan)

    def add(self, finished: Mapping[Trial, TrialResult]) -> None:
        """Add finished trials; one that is there already changes nothing.

        InputError if trials have scores, but not the metric of the sweep's rule.
        """
        with self._lock:
            for (job, number), result in finished.items():
                ending = zip(ENDING, (result.seed, STOPS.index(result.stop), *result[2:4]), strict=True)
                for name, value in (*ending, *result.scores.items()):
                    if name not in self._columns:
                        self._columns[name] = self._empty()
                    self._columns[name][self.rows[job], number] = value
            self.changes += 1
        rule, scores = self.sweep.success, next((r.scores for r in finished.values() if r.scores), {})
        known = [*scores, *(name for name, score in self._quotients.items() if score in scores)]
        if rule and scores and rule.metric not in known:
            metrics = ", ".join(known)
            raise InputError("metric", f"one that these trials have ({metrics})", rule.metric, "name one of them")

    def matrix(self, name: str) -> Array:
        """Return a score (or "iterations", "seconds") of all trials (jobs, numbers); nan if a trial is not finished.

        Fractions of a bound that has not been computed (`runs.theory`) are nan.
        """
        with self._lock:
            column = self._columns.get(self._quotients.get(name, name))
            values = self._empty() if column is None else column.copy()
        if name in self._quotients:
            bounds = [theory.fractions(job.spec).get(name, ("", math.nan))[1] for job in self.sweep.jobs]
            values /= np.array(bounds)[:, None]
        return values

    def results(self, job: Job) -> dict[int, TrialResult]:
        """Return the finished trials of a job by their numbers, with all scores that are numbers."""
        with self._lock:
            columns = {name: column[self.rows[job]].tolist() for name, column in self._columns.items()}
        finished = dict[int, TrialResult]()
        for number, (seed, stop, iterations, seconds) in enumerate(zip(*map(columns.pop, ENDING), strict=True)):
            if seed == seed:
                scores = {name: values[number] for name, values in columns.items() if values[number] == values[number]}
                finished[number] = TrialResult(int(seed), STOPS[int(stop)], int(iterations), seconds, scores)
        return finished

    def succeeded(self) -> Mask:
        """Return which trials (jobs, numbers) succeed by the rule of the sweep's `contour`.

        If a sweep counts successes, a run that ends although the truth fits better is a failure.
        """
        rule, local = self.sweep.contour, STOPS.index(Stop.LOCAL_MINIMUM.name)
        with self._lock:
            succeeded = rule.reached(self.matrix(rule.metric))
            return succeeded & (self._columns["stop"] != local) if self.sweep.success else succeeded

    def table(self, metric: str) -> "pd.DataFrame":
        """Return a row per cell: its axes and solver, then these columns.

        trials: finished. successes, success_rate, low, high (95% Wilson interval): by the sweep's `contour`. mean,
        spread (standard deviation) and quartiles describe the finite values of the metric. seed: of the first trial.
        refused: why a cell has no trials.
        """
        import pandas as pd

        with self._lock:
            values, trials = self.matrix(metric), (~np.isnan(self._columns["seed"])).sum(axis=1)
            successes = np.where(trials > 0, self.succeeded().sum(axis=1), math.nan)
        low, high = (np.where(trials > 0, end, math.nan) for end in statistics.wilson_bounds(successes, trials))
        columns: dict[str, Any] = {"trials": trials, "successes": successes}
        columns |= {"success_rate": successes / np.maximum(trials, 1), "low": low, "high": high}
        columns |= statistics.describe(np.where(np.isfinite(values), values, math.nan))
        jobs = pd.DataFrame({**columns, "seed": self._first_seeds}).drop(columns="error")
        table = jobs.reindex([self.rows[cell.job] if cell.job else -1 for cell in self.cells]).reset_index(drop=True)
        table[["trials", "seed"]] = table[["trials", "seed"]].fillna(0).astype("int64")
        points = {name: [cell.axes[name] for cell in self.cells] for name in self.sweep.grid}
        about = pd.DataFrame({**points, "solver": [cell.solver for cell in self.cells]})
        return about.join(table).assign(refused=[cell.refused for cell in self.cells])

    @cached_property
    def _first_seeds(self) -> list[int]:
        return [trial_spec(job.spec, 0).seed for job in self.sweep.jobs]

    def metrics(self) -> Iterator[tuple[Job, dict[str, list[float]]]]:
        """Yield each job with the quartiles of its scores and iterations, and three times each prediction of theory."""
        with self._lock:
            scores = [name for name in self._columns if name not in ENDING]
            names = [*scores, *self._quotients, *(["iterations"] if scores else [])]
            quartiles = {name: statistics.quartiles(self.matrix(name)) for name in names}
        for row, job in enumerate(self.sweep.jobs):
            own = {name: values[row].tolist() for name, values in quartiles.items() if not np.isnan(values[row]).all()}
            yield job, own | {name: [value] * 3 for name, value in theory.predictions(job, sampled=False).items()}

    def trial_rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row per trial: the cell's values, solver, trial, seed, scores, predictions, how it ended, refused.

        A trial that failed has `stop` "FAILED" and the reason in `refused`; a refused cell has one row with its reason.
        """
        for axes, solver, job, refused in self.cells:
            if job is None:
                yield {**axes, "solver": solver, "trial": 0, "refused": refused}
                continue
            finished = self.results(job)
            for number in range(self.sweep.trials):
                trial = Trial(job, number)
                if number in finished:
                    yield {**axes, **finished[number].row(trial)}
                elif sentence := self.failures.get(trial):
                    about = {"solver": solver, "trial": number, "seed": trial_spec(job.spec, number).seed}
                    yield {**axes, **about, "stop": "FAILED", "refused": sentence}

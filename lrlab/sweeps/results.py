"""The results of a sweep: its finished trials in columns. Maps, lines, tables and exports read them."""

import math
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from lrlab import catalog
from lrlab.arrays import Array, Mask
from lrlab.parameters import InputError
from lrlab.protocol import Stop
from lrlab.runs import theory
from lrlab.runs.job import Job
from lrlab.runs.trial import Trial, TrialResult, trial_spec
from lrlab.sweeps import statistics
from lrlab.sweeps.definition import Sweep

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "solver",
    "trials",
    "successes",
    "share",
    "low",
    "high",
    "mean",
    "spread",
    "lower_quartile",
    "median",
    "upper_quartile",
    "seed",
    "refused",
)


class SweepResults:
    """The finished trials of a sweep's cells; a million of them take about 100 MB. Safe to use from many threads.

    cells: all cells of the sweep. changes: grows whenever trials are added. failures: the sentences of trials that
    failed. computed, reused: numbers of trials that were computed, and taken from the store, in the last run. complete:
    whether that run reached its end.
    """

    def __init__(self, sweep: Sweep) -> None:
        self.sweep, self.cells = sweep, sweep.cells
        measures = catalog.family(sweep.spec.model).measures
        self._quotients = {name: measure.quotient[0] for name, measure in measures.items() if measure.quotient[0]}
        self.changes = self.computed = self.reused = 0
        self.complete = False
        self.failures: dict[Trial, str] = {}
        self._lock = threading.RLock()
        self._columns: dict[Job, _Columns] = {}
        self._tables: dict[str, _Table] = {}
        self._places: dict[Job, list[int]] = {}
        for place, cell in enumerate(self.cells):
            if cell.job:
                self._places.setdefault(cell.job, []).append(place)

    @property
    def done(self) -> int:
        """Number of trials of the last run that were reused, computed, or failed."""
        return self.reused + self.computed + len(self.failures)

    def add(self, finished: Mapping[Trial, TrialResult]) -> None:
        """Add finished trials; one that is there already changes nothing.

        InputError if trials have scores, but not the metric of the sweep's rule.
        """
        with self._lock:
            for (job, number), result in finished.items():
                if job not in self._columns:
                    self._columns[job] = _Columns(self.sweep.trials)
                self._columns[job].set(number, result)
            for table in self._tables.values():
                table.changed.update(job for job, _ in finished)
            self.changes += 1
        rule, scores = self.sweep.success, next((r.scores for r in finished.values() if r.scores), {})
        known = [*scores, *(name for name, score in self._quotients.items() if score in scores)]
        if rule and scores and rule.metric not in known:
            metrics = ", ".join(known)
            raise InputError("metric", f"one that these trials have ({metrics})", rule.metric, "name one of them")

    def finished(self, job: Job) -> int:
        """Return the number of finished trials of a job."""
        with self._lock:
            return self._columns[job].count if job in self._columns else 0

    def values(self, job: Job, name: str, below: int | None = None) -> Array:
        """Return a score (or "iterations", "seconds") of a job's finished trials, by their numbers; nan if missing.

        Shares of a bound that has not been computed (`runs.theory`) are nan.
        below: leave out trials with this number and higher ones.
        """
        with self._lock:
            if job not in self._columns:
                return np.empty(0)
            score, limit = theory.fractions(job.spec).get(name, (name, math.nan if name in self._quotients else 1.0))
            return self._columns[job].values(score, below) / limit

    def results(self, job: Job) -> dict[int, TrialResult]:
        """Return the finished trials of a job by their numbers."""
        with self._lock:
            return dict(self._columns[job].results()) if job in self._columns else {}

    def table(self, metric: str) -> "pd.DataFrame":
        """Return a row per cell: a column for each axis, and `COLUMNS`. Only rows with new trials are computed.

        trials: finished. successes, share, low, high (95% Wilson interval): by the rule of the sweep's `contour`. mean,
        spread (standard deviation) and quartiles describe the finite values of the metric. seed: of the first trial.
        refused: why a cell has no trials.
        """
        import pandas as pd

        with self._lock:
            table = self._tables.setdefault(metric, _Table(len(self.cells), set(self._places)))
            for job in list(table.changed):
                row = self._row(job, metric)
                table.set(self._places[job], row)
                # Fractions of a bound that is still unknown are computed again later.
                if "mean" in row or not row["trials"]:
                    table.changed.discard(job)
            columns = {name: [*values] for name, values in table.columns.items()}
        columns |= {name: [cell.axes[name] for cell in self.cells] for name in self.sweep.grid}
        columns |= {"solver": [cell.solver for cell in self.cells], "refused": [cell.refused for cell in self.cells]}
        return pd.DataFrame({name: columns[name] for name in (*self.sweep.grid, *COLUMNS)})

    def successes(self, job: Job) -> int:
        """Return how many trials of a job succeed by the rule of the sweep's `contour`.

        If a sweep counts successes, a run that ends although the truth fits better is a failure.
        """
        rule = self.sweep.contour
        with self._lock:
            reached = rule.reached(self.values(job, rule.metric))
            if self.sweep.success and job in self._columns:
                reached &= ~self._columns[job].ended(Stop.LOCAL_MINIMUM)
        return int(reached.sum())

    def metrics(self, job: Job) -> dict[str, list[float]]:
        """Return the quartiles of all scores and of the number of iterations, and thrice each prediction of theory."""
        with self._lock:
            scored = self._columns[job].scores if job in self._columns else {}
            shares = [name for name, (score, _) in theory.fractions(job.spec).items() if score in scored]
            names = [*scored, *shares, "iterations"] if scored else []
            scores = {name: statistics.quartiles(self.values(job, name)) for name in names}
        return scores | {name: [value] * 3 for name, value in theory.predictions(job, draw=False).items()}

    def stops(self, job: Job) -> dict[str, int]:
        """Return how many trials of a job ended how."""
        with self._lock:
            return dict(sorted(self._columns[job].stops().items())) if job in self._columns else {}

    def _row(self, job: Job, metric: str) -> dict[str, Any]:
        trials = self.finished(job)
        row: dict[str, Any] = {"trials": trials, "seed": _first_seed(job)}
        if trials:
            row |= statistics.share(self.successes(job), trials)
        values = self.values(job, metric)
        values = values[np.isfinite(values)]
        return row | statistics.describe(values) if len(values) else row


@lru_cache(maxsize=100_000)
def _first_seed(job: Job) -> int:
    return trial_spec(job.spec, 0).seed


class _Table:
    """The columns of a table with an entry per cell; changed: the jobs whose cells are to be set anew."""

    def __init__(self, cells: int, changed: set[Job]) -> None:
        self.changed, absent = changed, {"trials": 0, "seed": 0}
        self.columns: dict[str, list[Any]] = {name: [absent.get(name, math.nan)] * cells for name in COLUMNS}

    def set(self, places: Sequence[int], row: Mapping[str, Any]) -> None:
        for name in self.columns.keys() & row.keys():
            for place in places:
                self.columns[name][place] = row[name]


class _Columns:
    """The trials of one job: an array per score, with an entry per trial."""

    def __init__(self, trials: int) -> None:
        self._trials = trials
        self._finished = np.zeros(trials, dtype=bool)
        self._seeds, self._stops = np.zeros(trials, dtype=np.uint32), np.zeros(trials, dtype=np.uint8)
        self._stop_names: list[str] = []
        self._ending = {name: np.full(trials, np.nan) for name in ("iterations", "seconds")}
        self.scores: dict[str, Array] = {}
        self.count = 0

    def set(self, number: int, result: TrialResult) -> None:
        self.count += not self._finished[number]
        self._finished[number], self._seeds[number] = True, result.seed
        if result.stop not in self._stop_names:
            self._stop_names.append(result.stop)
        self._stops[number] = self._stop_names.index(result.stop)
        self._ending["iterations"][number], self._ending["seconds"][number] = result.iterations, result.seconds
        for name, value in result.scores.items():
            if name not in self.scores:
                self.scores[name] = np.full(self._trials, np.nan)
            self.scores[name][number] = value

    def values(self, name: str, below: int | None) -> Array:
        finished = self._finished[:below]
        column = {**self.scores, **self._ending}.get(name)
        return np.full(int(finished.sum()), np.nan) if column is None else column[:below][finished]

    def ended(self, stop: Stop) -> Mask:
        """Return which finished trials ended so."""
        names = np.array([name == stop.name for name in self._stop_names], dtype=bool)
        return names[self._stops[self._finished]]

    def stops(self) -> Counter[str]:
        return Counter(self._stop_names[code] for code in self._stops[self._finished])

    def results(self) -> Iterator[tuple[int, TrialResult]]:
        for number in map(int, np.flatnonzero(self._finished)):
            iterations, seconds = (float(column[number]) for column in self._ending.values())
            scores = {name: float(column[number]) for name, column in self.scores.items()}
            stop = self._stop_names[self._stops[number]]
            yield number, TrialResult(int(self._seeds[number]), stop, int(iterations), seconds, scores)

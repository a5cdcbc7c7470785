"""Tunes a solver on one validation split of rows that have been read."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from lrlab.datasets import Dataset
from lrlab.fits import tuning
from lrlab.fits.fit_memory import largest_rank
from lrlab.fits.fit_result import Row
from lrlab.fits.own_files import default_rank, max_rank
from lrlab.fits.validation import HELD_OUT_SHARE, METRICS, Candidate, Result, TuningTask, evaluate
from lrlab.models.own_rows import OwnProblem, split
from lrlab.models.scaling import Scaling

Progress = Callable[[int, float], None]
"""Called with the number of settings that have been tried, and the best validation score so far."""


@dataclass
class Tuned:
    """The settings that one validation split chose, the best result, and all results."""

    metric: str
    chosen: Result
    table: list[Row] = field(repr=False)

    def summary(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"metric": self.metric, **self.chosen.row(), "table": self.table}


def tune_rows(rows: Dataset, task: TuningTask, progress: Progress, *, intercept: bool) -> Tuned:
    """Choose settings by one validation split of these rows."""
    training, held_out = split(rows, HELD_OUT_SHARE, task.seed)
    table = list[Result]()

    @lru_cache(maxsize=1)
    def problem(name: str) -> OwnProblem:
        scaled = Scaling.of(training.X, name)
        return OwnProblem.between(training, held_out, default_rank(rows), intercept=intercept, scaling=scaled)

    def attempt(candidates: list[Candidate]) -> list[Result]:
        for candidate in candidates:
            table.append(evaluate(problem(candidate.scaling), task, candidate))
            progress(len(table), tuning.best_of(table, METRICS[task.metric].better).score)
        return table[-len(candidates) :]

    most = largest_rank(task.solver, dict(task.options), rows, max_rank(rows))
    best = tuning.explore(tuning.search(task, most), attempt)
    return Tuned(task.metric, best, [result.row() for result in table])

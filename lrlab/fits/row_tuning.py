"""Tunes a solver on rows held out of those that have been read."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from lrlab.datasets import Dataset
from lrlab.fits import tuning
from lrlab.fits.fit_memory import largest_rank, table_bytes
from lrlab.fits.fit_result import Row
from lrlab.fits.own_files import default_rank, max_rank
from lrlab.fits.validation import HELD_OUT_SHARE, METRICS, Candidate, Result, TuningTask, evaluate, folds
from lrlab.models.own_rows import OwnProblem, split
from lrlab.models.scaling import Scaling

Progress = Callable[[int, float], None]
"""Called with the number of settings that have been tried, and the best validation score so far."""


@dataclass
class Tuned:
    """The settings that rows held out chose by a metric, the best result, and all results; requested: the metric."""

    metric: str
    chosen: Result
    table: list[Row] = field(repr=False)
    requested: str

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence where the metric does not tell settings apart."""
        if self.metric != self.requested:
            return (f"Of a single label {self.requested} is the same for all settings: tuned by {self.metric}.",)
        if len(self.table) < 2 or len({row["score"] for row in self.table}) > 1:
            return ()
        other = "macro_auc" if self.metric == "hamming" else "macro_auc or hamming"
        return (f"All settings have the same {self.metric}, so that it chose none of them: tune by {other}.",)

    def summary(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"metric": self.metric, **self.chosen.row(), "table": self.table}


def tune_rows(rows: Dataset, task: TuningTask, progress: Progress, *, intercept: bool) -> Tuned:
    """Choose settings by parts of these rows, held out one after the other; a single label by a metric of labels."""
    requested = task.metric
    task = task.of_labels(rows.L)
    count = folds(rows.n, table_bytes(rows.X))
    splits = [split(rows, HELD_OUT_SHARE, task.seed, fold) for fold in range(count)]
    rank, table = default_rank(rows), list[Result]()

    @lru_cache(maxsize=1)
    def problems(name: str) -> list[OwnProblem]:
        return [
            OwnProblem.between(*pair, rank, intercept=intercept, scaling=Scaling.of(pair[0].X, name)) for pair in splits
        ]

    def attempt(candidates: list[Candidate]) -> list[Result]:
        for candidate in candidates:
            table.append(evaluate(problems(candidate.scaling), task, candidate))
            progress(len(table), tuning.best_of(table, METRICS[task.metric].better).score)
        return table[-len(candidates) :]

    most = largest_rank(task.solver, dict(task.options), rows, max_rank(rows))
    best = tuning.explore(tuning.search(task, most), attempt)
    return Tuned(task.metric, best, [result.row() for result in table], requested)

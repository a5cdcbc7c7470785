"""Finished trials of a sweep in little room: a column a score, a row a trial, cell by cell."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array, Mask
from lrlab.runs.job import Job
from lrlab.runs.trial import TrialResult


class Tally:
    """The trials of each cell by their numbers; a million of them take about 60 MB."""

    def __init__(self, trials: int) -> None:
        """Nothing has come yet; cells have so many trials at most."""
        self._trials = trials
        self._cells: dict[Job, _Cell] = {}

    def add(self, finished: Mapping[tuple[Job, int], TrialResult]) -> None:
        """Take finished trials, by cell and number; one that is there already changes nothing."""
        for (job, number), outcome in finished.items():
            cell = self._cells.get(job)
            if cell is None:
                cell = self._cells[job] = _Cell({}, np.zeros(self._trials, dtype=bool))
            cell.there[number] = True
            for name, value in {**outcome.scores, "iterations": outcome.iterations}.items():
                if name not in cell.columns:
                    cell.columns[name] = np.full(self._trials, np.nan)
                cell.columns[name][number] = value

    @property
    def names(self) -> list[str]:
        """The names of all scores, in the order of their coming."""
        return list(dict.fromkeys(name for cell in self._cells.values() for name in cell.columns))

    def finished(self, job: Job) -> int:
        """Return the number of finished trials of a cell."""
        cell = self._cells.get(job)
        return 0 if cell is None else int(cell.there.sum())

    def values(self, job: Job, name: str) -> Array:
        """Return a score of a cell's finished trials, ordered by their numbers; nan where it is none."""
        cell = self._cells.get(job)
        if cell is None:
            return np.empty(0)
        column = cell.columns.get(name)
        return np.full(int(cell.there.sum()), np.nan) if column is None else column[cell.there]

    def jobs(self) -> Iterable[Job]:
        """Return the cells that have trials."""
        return self._cells.keys()


class _Cell(NamedTuple):
    columns: dict[str, Array]
    there: Mask

"""Stores finished trials in an SQLite file, each under the values and the code version that its numbers depend on.

A cell is a `Job`: spec with the sweep's seed, solver, options and limits. Its trials are numbered from 0, as in
`runs.trial.trial_spec`, which gives each its own seed.
"""

import json
import math
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from lrlab.parameters import Value
from lrlab.runs.job import Job
from lrlab.runs.trial import Trial, TrialResult
from lrlab.store import code_version, store_file


class TrialGroup(NamedTuple):
    """Trials of one solver on one model with the same settings and code; stale where the code has changed since."""

    id: int
    model: str
    solver: str
    settings: Mapping[str, Value]
    version: str
    cells: int
    trials: int

    @property
    def stale(self) -> bool:
        """Whether today's code would compute them anew."""
        return not code_version.current(self.model, self.solver, self.version)


class Store(AbstractContextManager["Store"]):
    """An open store, for one thread; several processes may have the same file open."""

    def __init__(
        self,
        path: Path | None = None,
        create: bool = True,
        checked: bool = False,
        lock_wait_seconds: float = store_file.LOCK_WAIT_SECONDS,
    ) -> None:
        """Open the file, made if it is not there and `create`; without a path, store everything in memory.

        checked, lock_wait_seconds: as in `store_file.connect`. InputError where it is foreign, damaged or of another
        format; it is then untouched.
        """
        self.path = path
        self._connection = store_file.connect(path, create, checked, lock_wait_seconds)

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def finished(self, job: Job, below: int) -> set[int]:
        """Return the numbers, smaller than `below`, of the stored trials of a cell."""
        with self.reading():
            rows = self._connection.execute(
                "SELECT trial FROM trials JOIN cells ON cell = id WHERE key = ? AND trial < ?",
                (code_version.key(job), below),
            )
            return {number for (number,) in rows}

    def results(self, job: Job, below: int) -> dict[int, TrialResult]:
        """Return the results of the trials of a cell whose numbers are smaller than `below`, in order."""
        with self.reading():
            rows = self._connection.execute(
                "SELECT trial, seed, stop, iterations, seconds, names, scores FROM cells JOIN trials ON cell = cells.id"
                " JOIN measures ON measures = measures.id WHERE key = ? AND trial < ? ORDER BY trial",
                (code_version.key(job), below),
            )
            return {
                trial: TrialResult(seed, stop, iterations, seconds, unpack_scores(names, scores))
                for trial, seed, stop, iterations, seconds, names, scores in rows
            }

    def add(self, results: Mapping[Trial, TrialResult]) -> None:
        """Store finished trials, all of them or none; one that is there already stays as it is."""
        cells: dict[Job, dict[int, TrialResult]] = {}
        for (job, number), result in results.items():
            cells.setdefault(job, {})[number] = result
        if not cells:
            return
        with self.writing() as connection:
            lists = {tuple(result.scores) for result in results.values()}
            measures = {names: self._measures(connection, names) for names in lists}
            for job, trials in cells.items():
                cell = self._cell(connection, job)
                rows = [(cell, n, *r[:4], measures[tuple(r.scores)], pack_scores(r)) for n, r in trials.items()]
                added = connection.executemany("INSERT OR IGNORE INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
                connection.execute("UPDATE cells SET trials = trials + ? WHERE id = ?", (added.rowcount, cell))

    def items(self, keys: Iterable[bytes]) -> dict[bytes, Any]:
        """Return the stored results of other items than trials, by key; those that are not there are left out.

        A key is made of the item's values and of the code's version, see `presets.resumed`.
        """
        with self.reading() as connection:
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'items'").fetchone():
                return {}
            rows = (connection.execute("SELECT key, result FROM items WHERE key = ?", (k,)).fetchone() for k in keys)
            return {key: json.loads(result) for key, result in filter(None, rows)}

    def add_items(self, results: Mapping[bytes, Any]) -> None:
        """Store results of other items as JSON, all of them or none; their table is made when it is first needed."""
        rows = [(key, json.dumps(result, default=lambda value: value.item())) for key, result in results.items()]
        with self.writing() as connection:
            connection.execute(store_file.ITEMS)
            connection.executemany("INSERT OR IGNORE INTO items VALUES (?, ?)", rows)

    def groups(self) -> list[TrialGroup]:
        """Return what is stored, summed up."""
        with self.reading():
            rows = self._connection.execute(
                "SELECT groups.id, model, solver, settings, version, count(cells.id), ifnull(sum(trials), 0)"
                " FROM groups LEFT JOIN cells ON group_id = groups.id"
                " GROUP BY groups.id ORDER BY model, solver, groups.id"
            )
            return [
                TrialGroup(number, model, solver, json.loads(settings), version, cells, trials)
                for number, model, solver, settings, version, cells, trials in rows
            ]

    def measures(self) -> list[str]:
        """Return the names of all scores that some trial has."""
        with self.reading():
            rows = self._connection.execute("SELECT names FROM measures ORDER BY id").fetchall()
            return list(dict.fromkeys(name for (names,) in rows for name in json.loads(names)))

    def prune(self) -> int:
        """Remove the trials that are stale, give their room back, and return their number."""
        stale = [group for group in self.groups() if group.stale]
        if not stale:
            return 0
        with self.writing() as connection:
            for number, *_ in stale:
                cells = "SELECT id FROM cells WHERE group_id = ?"
                connection.execute(f"DELETE FROM trials WHERE cell IN ({cells})", (number,))
                connection.execute("DELETE FROM cells WHERE group_id = ?", (number,))
                connection.execute("DELETE FROM groups WHERE id = ?", (number,))
        with self.reading():
            self._connection.execute("VACUUM")
        return sum(group.trials for group in stale)

    def rows(self, group: TrialGroup) -> Iterator[dict[str, Value]]:
        """Yield the trials of a group as tidy rows: the cell's values, the trial's seed; `base_seed` is the sweep's."""
        with self.reading():
            rows = self._connection.execute(
                "SELECT spec, trial, seed, stop, iterations, seconds, names, scores FROM cells JOIN trials"
                " ON cell = cells.id JOIN measures ON measures = measures.id WHERE group_id = ?",
                (group.id,),
            )
            stale, head = group.stale, dict[str, Value](model=group.model, solver=group.solver)
            head |= code_version.added_defaults(group.model)
            for spec, trial, seed, stop, iterations, seconds, names, scores in rows:
                values = json.loads(spec)
                start = {**head, **values, "base_seed": values["seed"], "seed": seed, "trial": trial, **group.settings}
                ending = {"stop": stop, "iterations": iterations, "seconds": seconds, "stale": stale}
                yield {**start, **unpack_scores(names, scores), **ending}

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection in a transaction, committed if all goes well; RuntimeError where the file fails."""
        with self.reading():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection; RuntimeError with a sentence where the file fails."""
        try:
            yield self._connection
        except sqlite3.Error as error:
            raise RuntimeError(f"The store {self.path or 'in memory'} failed: {error}.") from error

    def _cell(self, connection: sqlite3.Connection, job: Job) -> int:
        key = code_version.key(job)
        row = connection.execute("SELECT id FROM cells WHERE key = ?", (key,)).fetchone()
        if row:
            return int(row[0])
        settings = code_version.text(code_version.settings(job))
        group = (job.spec.model, job.solver, settings, code_version.version(job.spec.model, job.solver))
        connection.execute("INSERT OR IGNORE INTO groups (model, solver, settings, version) VALUES (?, ?, ?, ?)", group)
        made = connection.execute(
            "INSERT INTO cells (key, spec, group_id) SELECT ?, ?, id FROM groups"
            " WHERE (model, solver, settings, version) = (?, ?, ?, ?)",
            (key, code_version.spec_text(job.spec), *group),
        )
        return int(made.lastrowid or 0)

    def _measures(self, connection: sqlite3.Connection, names: tuple[str, ...]) -> int:
        text = json.dumps(names)
        connection.execute("INSERT OR IGNORE INTO measures (names) VALUES (?)", (text,))
        return int(connection.execute("SELECT id FROM measures WHERE names = ?", (text,)).fetchone()[0])


def pack_scores(result: TrialResult) -> str:
    """Return scores as a JSON list: null for what is not a number, and as text what is infinite."""
    # What `json.dumps` gives, in a fifth of its time.
    return f"[{', '.join(map(_number, result.scores.values()))}]"


def _number(value: float) -> str:
    if math.isfinite(value):
        return repr(float(value))
    return "null" if math.isnan(value) else f'"{float(value)!r}"'


def unpack_scores(names: str, scores: str) -> dict[str, float]:
    """Return scores by name."""
    values = [math.nan if value is None else float(value) for value in json.loads(scores)]
    return dict(zip(_names(names), values, strict=True))


@lru_cache(maxsize=1000)
def _names(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))

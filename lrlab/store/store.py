"""Finished trials, kept in an SQLite file: each under the values and the code version that its numbers depend on.

A cell is a `Job`: spec with the sweep's seed, solver, options and limits. Its trials are numbered from 0, as in
`trials.trial_spec`, which gives each its own seed.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from lrlab.parameters import Value
from lrlab.runs.job import Job
from lrlab.runs.trial import TrialResult
from lrlab.store import code_version, store_file
from lrlab.store.outcome import Kept, packed, unpacked


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


class Store:
    """An open store, for one thread; several processes may have the same file open."""

    def __init__(
        self,
        path: Path | None = None,
        create: bool = True,
        known: bool = False,
        lock_wait_seconds: float = store_file.LOCK_WAIT_SECONDS,
    ) -> None:
        """Open the file, made if it is not there and `create`; without a path, keep everything in memory.

        known, lock_wait_seconds: as in `store_file.connect`. InputError where it is foreign, newer or damaged; it is
        then untouched.
        """
        self.path = path
        self._connection = (
            store_file.connect(path, create, known, lock_wait_seconds) if path else store_file.in_memory()
        )

    def __enter__(self) -> "Store":
        """Return the store."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def trials(self, job: Job, below: int) -> set[int]:
        """Return the numbers, smaller than `below`, of the finished trials of a cell."""
        with self.reading():
            found = self._connection.execute(
                "SELECT trial FROM trials JOIN cells ON cell = id WHERE key = ? AND trial < ?",
                (code_version.key(job), below),
            )
            return {number for (number,) in found}

    def outcomes(self, job: Job, below: int) -> dict[int, TrialResult]:
        """Return what came of the trials of a cell whose numbers are smaller than `below`, in order."""
        with self.reading():
            found = self._connection.execute(
                "SELECT trial, seed, stop, iterations, seconds, names, scores FROM cells JOIN trials ON cell = cells.id"
                " JOIN measures ON measures = measures.id WHERE key = ? AND trial < ? ORDER BY trial",
                (code_version.key(job), below),
            )
            return {
                trial: TrialResult(seed, stop, iterations, seconds, unpacked(names, scores))
                for trial, seed, stop, iterations, seconds, names, scores in found
            }

    def add(self, batch: Sequence[Kept]) -> None:
        """Keep trials, all of them or none; one that is there already stays as it is."""
        cells: dict[Job, list[Kept]] = {}
        for kept in batch:
            cells.setdefault(kept.job, []).append(kept)
        if not cells:
            return
        with self.writing() as connection:
            lists = {tuple(kept.outcome.scores) for kept in batch}
            measures = {names: self._measures(connection, names) for names in lists}
            for job, trials in cells.items():
                cell = self._cell(connection, job)
                rows = [(cell, trial, *o[:4], measures[tuple(o.scores)], packed(o)) for _, trial, o in trials]
                added = connection.executemany("INSERT OR IGNORE INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
                connection.execute("UPDATE cells SET trials = trials + ? WHERE id = ?", (added.rowcount, cell))

    def groups(self) -> list[TrialGroup]:
        """Return what is stored, summed up."""
        with self.reading():
            found = self._connection.execute(
                "SELECT groups.id, model, solver, settings, version, count(cells.id), ifnull(sum(trials), 0)"
                " FROM groups LEFT JOIN cells ON group_id = groups.id"
                " GROUP BY groups.id ORDER BY model, solver, groups.id"
            )
            return [TrialGroup(*row[:3], json.loads(row[3]), *row[4:]) for row in found]

    def measures(self) -> list[str]:
        """Return the names of all scores that some trial has."""
        with self.reading():
            found = self._connection.execute("SELECT names FROM measures ORDER BY id").fetchall()
            return list(dict.fromkeys(name for (names,) in found for name in json.loads(names)))

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
            found = self._connection.execute(
                "SELECT spec, trial, seed, stop, iterations, seconds, names, scores FROM cells JOIN trials"
                " ON cell = cells.id JOIN measures ON measures = measures.id WHERE group_id = ?",
                (group.id,),
            )
            head, stale = {"model": group.model, "solver": group.solver}, group.stale
            for spec, trial, seed, stop, iterations, seconds, names, scores in found:
                values = json.loads(spec)
                start = {**head, **values, "base_seed": values["seed"], "seed": seed, "trial": trial, **group.settings}
                ending = {"stop": stop, "iterations": iterations, "seconds": seconds, "stale": stale}
                yield {**start, **unpacked(names, scores), **ending}

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection in a transaction, kept if all goes well; RuntimeError where the file cannot go on."""
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
        """Yield the connection; RuntimeError with a sentence where the file cannot go on."""
        try:
            yield self._connection
        except sqlite3.Error as error:
            raise RuntimeError(f"The store {self.path or 'in memory'} cannot go on: {error}.") from error

    def _cell(self, connection: sqlite3.Connection, job: Job) -> int:
        key = code_version.key(job)
        found = connection.execute("SELECT id FROM cells WHERE key = ?", (key,)).fetchone()
        if found:
            return found[0]
        settings = code_version.text(code_version.settings(job))
        group = (job.spec.model, job.solver, settings, code_version.version(job.spec.model, job.solver))
        connection.execute("INSERT OR IGNORE INTO groups (model, solver, settings, version) VALUES (?, ?, ?, ?)", group)
        made = connection.execute(
            "INSERT INTO cells (key, spec, group_id) SELECT ?, ?, id FROM groups"
            " WHERE (model, solver, settings, version) = (?, ?, ?, ?)",
            (key, code_version.text(job.spec.values()), *group),
        )
        return int(made.lastrowid or 0)

    def _measures(self, connection: sqlite3.Connection, names: tuple[str, ...]) -> int:
        text = json.dumps(names)
        connection.execute("INSERT OR IGNORE INTO measures (names) VALUES (?)", (text,))
        return connection.execute("SELECT id FROM measures WHERE names = ?", (text,)).fetchone()[0]

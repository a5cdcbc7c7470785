"""Stores finished trials in an SQLite file, each under the values and the code version that its numbers depend on.

A cell is a `Job`: spec with the sweep's seed, solver, options and limits. Its trials are numbered from 0, as in
`runs.trial.trial_spec`, which gives each its own seed.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from lrlab.parameters import Value
from lrlab.runs.job import Job
from lrlab.runs.trial import Trial, TrialResult
from lrlab.store import code_version
from lrlab.store.connection import Connection
from lrlab.store.rows import pack_scores, read_trial


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


LISTED = """
SELECT groups.id, model, solver, settings, version, count(DISTINCT cells.id), count(trial)
    FROM groups JOIN cells ON group_id = groups.id LEFT JOIN trials ON cell = cells.id
    GROUP BY groups.id ORDER BY model, solver, groups.id
"""
ROW = "trial, names, seed, stop, iterations, seconds, scores"
ADD = "(cell, trial, seed, stop, iterations, seconds, measures, scores) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


class Store(Connection):
    """An open store, for one thread; several processes may have the same file open."""

    def finished(self, job: Job, below: int) -> set[int]:
        """Return the numbers, smaller than `below`, of the stored trials of a cell."""
        with self.reading() as connection:
            rows = connection.execute(
                "SELECT trial FROM trials JOIN cells ON cell = id WHERE key = ? AND trial < ?",
                (code_version.key(job), below),
            )
            return {number for (number,) in rows}

    def results(self, job: Job, below: int) -> dict[int, TrialResult]:
        """Return the results of the trials of a cell whose numbers are smaller than `below`, in order."""
        with self.reading() as connection:
            rows = connection.execute(
                f"SELECT {ROW} FROM cells JOIN trials ON cell = cells.id JOIN measures ON measures = measures.id"
                " WHERE key = ? AND trial < ? ORDER BY trial",
                (code_version.key(job), below),
            )
            return {number: read_trial(*row) for number, *row in rows}

    def add(self, results: Mapping[Trial, TrialResult]) -> None:
        """Store finished trials, all of them or none; one that is there already stays as it is."""
        # By identity: to hash a job takes as long as to store a trial.
        cells: dict[int, list[tuple[Trial, TrialResult]]] = {}
        for item in results.items():
            cells.setdefault(id(item[0].job), []).append(item)
        if cells:
            with self.writing() as connection:
                measures: dict[tuple[str, ...], int] = {}
                for trials in cells.values():
                    self._add(connection, trials[0][0].job, trials, measures)

    def _add(
        self,
        connection: sqlite3.Connection,
        job: Job,
        trials: Sequence[tuple[Trial, TrialResult]],
        measures: dict[tuple[str, ...], int],
    ) -> None:
        cell, rows = self._cell(connection, job), list[tuple[object, ...]]()
        for (_, number), result in trials:
            if (names := tuple(result.scores)) not in measures:
                measures[names] = self._measures(connection, names)
            seed, stop, iterations, seconds, _ = result
            rows.append((cell, number, seed, stop, iterations, seconds, measures[names], pack_scores(result)))
        connection.executemany(f"INSERT OR IGNORE INTO trials {ADD}", rows)

    def items(self, keys: Iterable[bytes]) -> dict[bytes, Any]:
        """Return the stored results of other items than trials, by key; those that are not there are left out.

        A key is made of the item's values and of the code's version, see `presets.resumed`.
        """
        with self.reading() as connection:
            look_up = "SELECT key, result FROM items WHERE key = ?"
            rows = (connection.execute(look_up, (key,)).fetchone() for key in keys)
            return {row[0]: json.loads(row[1]) for row in rows if row}

    def add_items(self, results: Mapping[bytes, Any]) -> None:
        """Store results of other items as JSON, all of them or none."""
        rows = [(key, json.dumps(result, default=lambda value: value.item())) for key, result in results.items()]
        with self.writing() as connection:
            connection.executemany("INSERT OR IGNORE INTO items (key, result) VALUES (?, ?)", rows)

    def groups(self) -> list[TrialGroup]:
        """Return what is stored, summed up."""
        with self.reading() as connection:
            rows = connection.execute(LISTED).fetchall()
            return [
                TrialGroup(number, model, solver, json.loads(settings), version, cells, trials)
                for number, model, solver, settings, version, cells, trials in rows
            ]

    def measures(self) -> list[str]:
        """Return the names of all scores that some trial has."""
        with self.reading() as connection:
            rows = connection.execute("SELECT names FROM measures ORDER BY id").fetchall()
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
        with self.reading() as connection:
            connection.execute("VACUUM")
        return sum(group.trials for group in stale)

    def rows(self, group: TrialGroup) -> Iterator[dict[str, Value]]:
        """Yield the trials of a group as tidy rows: the cell's values, the trial's seed; `base_seed` is the sweep's."""
        with self.reading() as connection:
            rows = connection.execute(
                f"SELECT spec, {ROW} FROM cells JOIN trials ON cell = cells.id"
                " JOIN measures ON measures = measures.id WHERE group_id = ? ORDER BY cells.id, trial",
                (group.id,),
            )
            stale, head = group.stale, dict[str, Value](model=group.model, solver=group.solver)
            head |= code_version.added_defaults(group.model)
            for spec, trials in groupby(rows, itemgetter(0)):
                values = json.loads(spec)
                start = {**head, **values, "base_seed": values["seed"]}
                for _, number, *row in trials:
                    result = read_trial(*row)
                    own: dict[str, Value] = {"seed": result.seed, "trial": number, **group.settings, **result.scores}
                    own |= {"stop": result.stop, "iterations": result.iterations, "seconds": result.seconds}
                    yield {**start, **own, "stale": stale}

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

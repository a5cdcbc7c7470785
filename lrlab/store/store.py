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

from lrlab.parameters import InputError, Value
from lrlab.runs.job import Job
from lrlab.runs.trial import Trial, TrialResult
from lrlab.store import code_version
from lrlab.store.connection import Connection
from lrlab.store.rows import checksum, pack_scores, read_trial, row_start, trial_checksum
from lrlab.store.store_file import damaged


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
SELECT groups.id, model, solver, settings, version, key, spec, trials,
    (SELECT count(*) FROM trials WHERE cell = cells.id), (SELECT count(*) FROM trials)
    FROM cells LEFT JOIN groups ON group_id = groups.id ORDER BY model, solver, groups.id
"""
ROW = "names, trial, seed, stop, iterations, seconds, scores, checksum"


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
        key, results = code_version.key(job), dict[int, TrialResult]()
        with self.reading() as connection:
            rows = connection.execute(
                f"SELECT {ROW} FROM cells JOIN trials ON cell = cells.id LEFT JOIN measures ON"
                " measures = measures.id WHERE key = ? AND trial < ? ORDER BY trial",
                (key, below),
            )
            for row in rows:
                result = read_trial(key, *row)
                if result is None:
                    raise self._damaged_trial(row[1], job.solver, job.spec.model)
                results[row[1]] = result
        return results

    def add(self, results: Mapping[Trial, TrialResult]) -> None:
        """Store finished trials, all of them or none; one that is there already stays as it is."""
        # By identity: to hash a job takes as long as to store a trial.
        cells: dict[int, list[tuple[Trial, TrialResult]]] = {}
        for item in results.items():
            cells.setdefault(id(item[0].job), []).append(item)
        if cells:
            with self.writing() as connection:
                measures: dict[tuple[str, ...], tuple[int, str]] = {}
                for trials in cells.values():
                    self._add(connection, trials[0][0].job, trials, measures)

    def _add(
        self,
        connection: sqlite3.Connection,
        job: Job,
        trials: Sequence[tuple[Trial, TrialResult]],
        measures: dict[tuple[str, ...], tuple[int, str]],
    ) -> None:
        key, cell = code_version.key(job), self._cell(connection, job)
        rows, known = list[tuple[object, ...]](), dict[tuple[str, ...], tuple[int, int]]()
        for (_, number), result in trials:
            if (names := tuple(result.scores)) not in known:
                measures[names] = measure, text = measures.get(names) or self._measures(connection, names)
                known[names] = measure, row_start(key, text)[0]
            measure, start = known[names]
            seed, stop, iterations, seconds, _ = result
            scores = pack_scores(result)
            own = trial_checksum(start, number, seed, stop, iterations, seconds, scores)
            rows.append((cell, number, seed, stop, iterations, seconds, measure, scores, own))
        added = connection.executemany("INSERT OR IGNORE INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        connection.execute("UPDATE cells SET trials = trials + ? WHERE id = ?", (added.rowcount, cell))

    def items(self, keys: Iterable[bytes]) -> dict[bytes, Any]:
        """Return the stored results of other items than trials, by key; those that are not there are left out.

        A key is made of the item's values and of the code's version, see `presets.resumed`.
        """
        items = dict[bytes, Any]()
        with self.reading() as connection:
            for key in keys:
                row = connection.execute("SELECT result, checksum FROM items WHERE key = ?", (key,)).fetchone()
                if row and checksum(key, row[0]) != row[1]:
                    raise damaged(self.path, "a result of a figure does not match its checksum")
                if row:
                    items[key] = json.loads(row[0])
        return items

    def add_items(self, results: Mapping[bytes, Any]) -> None:
        """Store results of other items as JSON, all of them or none."""
        texts = {key: json.dumps(result, default=lambda value: value.item()) for key, result in results.items()}
        rows = [(key, text, checksum(key, text)) for key, text in texts.items()]
        with self.writing() as connection:
            connection.executemany("INSERT OR IGNORE INTO items VALUES (?, ?, ?)", rows)

    def groups(self) -> list[TrialGroup]:
        """Return what is stored, summed up; InputError where a cell or its number of trials is damaged."""
        with self.reading() as connection:
            cells = connection.execute(LISTED).fetchall()
        groups = list[TrialGroup]()
        for (number, model, solver, settings, version), rows in groupby(cells, lambda row: row[:5]):
            own = list(rows)
            for *_, key, spec, trials, counted, _ in own:
                if trials != counted or not code_version.is_key(key, model, spec, solver, settings, version):
                    raise damaged(self.path, f"a cell of {solver} on {model}")
            counts = [row[7] for row in own]
            groups.append(TrialGroup(number, model, solver, json.loads(settings), version, len(own), sum(counts)))
        if cells and sum(group.trials for group in groups) != cells[0][-1]:
            raise damaged(self.path, "trials whose cell is lost")
        return groups

    def measures(self) -> list[str]:
        """Return the names of all scores that some trial has."""
        with self.reading() as connection:
            rows = connection.execute("SELECT names FROM measures ORDER BY id").fetchall()
        try:
            return list(dict.fromkeys(name for (names,) in rows for name in json.loads(names)))
        except (ValueError, TypeError) as error:
            raise damaged(self.path, "names of scores") from error

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
                f"SELECT key, spec, {ROW} FROM cells JOIN trials ON cell = cells.id"
                " LEFT JOIN measures ON measures = measures.id WHERE group_id = ?",
                (group.id,),
            )
            stale, head = group.stale, dict[str, Value](model=group.model, solver=group.solver)
            head |= code_version.added_defaults(group.model)
            for (key, spec), trials in groupby(rows, itemgetter(0, 1)):
                values = json.loads(spec)
                start = {**head, **values, "base_seed": values["seed"]}
                for _, _, *row in trials:
                    result = read_trial(key, *row)
                    if result is None:
                        raise self._damaged_trial(row[1], group.solver, group.model)
                    own: dict[str, Value] = {"seed": result.seed, "trial": row[1], **group.settings, **result.scores}
                    own |= {"stop": result.stop, "iterations": result.iterations, "seconds": result.seconds}
                    yield {**start, **own, "stale": stale}

    def _damaged_trial(self, number: object, solver: str, model: str) -> InputError:
        return damaged(self.path, f"trial {number} of {solver} on {model} does not match its checksum")

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

    def _measures(self, connection: sqlite3.Connection, names: tuple[str, ...]) -> tuple[int, str]:
        text = json.dumps(names)
        connection.execute("INSERT OR IGNORE INTO measures (names) VALUES (?)", (text,))
        return int(connection.execute("SELECT id FROM measures WHERE names = ?", (text,)).fetchone()[0]), text

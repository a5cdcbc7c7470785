"""Stores finished trials in an SQLite file, by the values and the version of the code that give their numbers.

A cell is a `Job`: spec with the sweep's seed, solver, options and limits. Its trials are numbered from 0;
`runs.trial.trial_spec` gives each trial its seed.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lrlab.parameters import InputError, Value
from lrlab.runs.job import Job
from lrlab.runs.trial import Trial, TrialResult
from lrlab.store import code_version
from lrlab.store.connection import Connection

if TYPE_CHECKING:
    import pandas as pd

GROUP = "model, solver, settings, version"
RESULT = "trial, seed, stop, iterations, seconds, metrics"
EXPORTED_ROWS = 20_000
"""Trials in memory at once during an export."""
DTYPES = {int: "Int64", bool: "boolean", float: "float64", str: "string"}


class TrialGroup(NamedTuple):
    """Trials of one solver on one model, with the same settings and code."""

    model: str
    solver: str
    settings: Mapping[str, Value]
    version: str
    cells: int
    trials: int

    @property
    def stale(self) -> bool:
        """Whether the code has changed since."""
        return not code_version.current(self.model, self.solver, self.version)


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
                f"SELECT {RESULT} FROM cells JOIN trials ON cell = id WHERE key = ? AND trial < ? ORDER BY trial",
                (code_version.key(job), below),
            )
            return {
                number: TrialResult(seed, stop, iterations, seconds, json.loads(metrics))
                for number, seed, stop, iterations, seconds, metrics in rows
            }

    def add(self, results: Mapping[Trial, TrialResult]) -> None:
        """Store finished trials, all of them or none. A trial that the store has stays as it is."""
        # By identity: to hash a job takes as long as to store a trial.
        jobs = {id(trial.job): trial.job for trial in results}
        if not jobs:
            return
        with self.writing() as connection:
            cells = {number: self._cell(connection, job) for number, job in jobs.items()}
            connection.executemany(
                f"INSERT OR IGNORE INTO trials (cell, {RESULT}) VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (cells[id(trial.job)], trial.number, *result[:-1], json.dumps(result.scores, default=float))
                    for trial, result in results.items()
                ],
            )

    def _cell(self, connection: sqlite3.Connection, job: Job) -> int:
        """Return the number of a cell, which is added if the store lacks it."""
        model, solver = job.spec.model, job.solver
        texts = code_version.text(job.spec.values()), code_version.text(code_version.settings(job))
        key = code_version.key(job)
        connection.execute(
            "INSERT OR IGNORE INTO cells (key, spec, settings, model, solver, version) VALUES (?, ?, ?, ?, ?, ?)",
            (key, *texts, model, solver, code_version.version(model, solver)),
        )
        return int(connection.execute("SELECT id FROM cells WHERE key = ?", (key,)).fetchone()[0])

    def items(self, keys: Iterable[bytes]) -> dict[bytes, Any]:
        """Return the stored results of items that are not trials, by key, as far as the store has them.

        A key is a hash of the item's values and of the code's version, see `presets.resumed`.
        """
        with self.reading() as connection:
            look_up = "SELECT key, result FROM items WHERE key = ?"
            rows = (connection.execute(look_up, (key,)).fetchone() for key in keys)
            return {row[0]: json.loads(row[1]) for row in rows if row}

    def add_items(self, results: Mapping[bytes, Any]) -> None:
        """Store results of items that are not trials as JSON, all of them or none."""
        rows = [(key, json.dumps(result, default=lambda value: value.item())) for key, result in results.items()]
        with self.writing() as connection:
            connection.executemany("INSERT OR IGNORE INTO items (key, result) VALUES (?, ?)", rows)

    def groups(self) -> list[TrialGroup]:
        """Return the stored trials in groups."""
        with self.reading() as connection:
            rows = connection.execute(
                f"SELECT {GROUP}, count(*), sum((SELECT count(*) FROM trials WHERE cell = id)) FROM cells"
                f" GROUP BY {GROUP} ORDER BY model, solver, min(id)"
            ).fetchall()
            return [
                TrialGroup(model, solver, json.loads(settings), *counted) for model, solver, settings, *counted in rows
            ]

    def prune(self) -> int:
        """Remove the stale trials, shrink the file, and return their number."""
        stale = [group for group in self.groups() if group.stale]
        if not stale:
            return 0
        with self.writing() as connection:
            for group in stale:
                values = (group.model, group.solver, group.version)
                chosen = "(model, solver, version) = (?, ?, ?)"
                connection.execute(f"DELETE FROM trials WHERE cell IN (SELECT id FROM cells WHERE {chosen})", values)
                connection.execute(f"DELETE FROM cells WHERE {chosen}", values)
        with self.reading() as connection:
            connection.execute("VACUUM")
        return sum(group.trials for group in stale)

    def rows(self) -> Iterator[dict[str, Value]]:
        """Yield a row per trial: the cell's values and the trial's seed; `base_seed` is the sweep's seed."""
        with self.reading() as connection:
            rows = connection.execute(
                f"SELECT id, spec, {GROUP}, {RESULT} FROM cells JOIN trials ON cell = id"
                " ORDER BY model, solver, id, trial"
            )
            for (_, spec, model, solver, settings, version), trials in groupby(rows, itemgetter(*range(6))):
                values = json.loads(spec)
                cell = {"model": model, "solver": solver, **values, "base_seed": values["seed"], **json.loads(settings)}
                stale = not code_version.current(model, solver, version)
                for *_, number, seed, stop, iterations, seconds, metrics in trials:
                    ending = {"stop": stop, "iterations": iterations, "seconds": seconds, "stale": stale}
                    yield {**cell, "seed": seed, "trial": number, **json.loads(metrics), **ending}


def export(store: Store, out: Path) -> int:
    """Write all trials of a store to a .csv or .parquet file, and return their number; InputError if it cannot."""
    kind = out.suffix.lower()
    if kind not in (".csv", ".parquet"):
        raise InputError("export", "a file that ends in .csv or .parquet", out, "name it so")
    if kind == ".parquet" and find_spec("pyarrow") is None:
        raise InputError("export", "a .csv file without pyarrow", out, "install pyarrow, or name a .csv file")
    if store.path and out.resolve() == store.path.resolve():
        raise InputError("export", "another file than the store", out, "name another")
    # An older file of that name stays until the new table is complete.
    unfinished = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        try:
            written = (write_csv if kind == ".csv" else write_parquet)(tables(store), unfinished)
            unfinished.replace(out)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise InputError("export", "a file that can be written", out, f"{error.strerror}: name another") from error
    return written


def tables(store: Store) -> Iterator["pd.DataFrame"]:
    """Yield all trials in tables with the same columns, a row per trial; the first table is empty."""
    # Imported here: pages open a store without pandas.
    import pandas as pd

    kinds: dict[str, set[type]] = {}
    for row in store.rows():
        for name, value in row.items():
            kinds.setdefault(name, set()).add(type(value))
    kinds = {name: {float} if kind == {int, float} else kind for name, kind in kinds.items()}
    dtypes = {name: DTYPES[kind.pop()] if len(kind) == 1 else "string" for name, kind in kinds.items()}
    yield pd.DataFrame(columns=list(dtypes)).astype(dtypes)
    trials = store.rows()
    while rows := list(islice(trials, EXPORTED_ROWS)):
        yield pd.DataFrame(rows, columns=list(dtypes)).astype(dtypes)


def write_csv(tables: Iterator["pd.DataFrame"], out: Path) -> int:
    """Write a CSV file, and return its number of rows."""
    written = 0
    with out.open("w", newline="", encoding="utf-8") as file:
        for k, table in enumerate(tables):
            table.to_csv(file, header=k == 0, index=False, lineterminator="\n")
            written += len(table)
    return written


def write_parquet(tables: Iterator["pd.DataFrame"], out: Path) -> int:
    """Write a Parquet file, and return its number of rows."""
    import pyarrow
    from pyarrow import parquet

    written, schema = 0, pyarrow.Schema.from_pandas(next(tables), preserve_index=False).remove_metadata()
    with parquet.ParquetWriter(out, schema) as writer:
        for table in tables:
            writer.write_table(pyarrow.Table.from_pandas(table, schema, preserve_index=False))
            written += len(table)
    return written

"""Stores finished trials in an SQLite file, by the values and the version of the code that give their numbers.

A cell is a `Job`: spec with the sweep's seed, solver, options and limits. Its trials are numbered from 0;
`runs.run.trial_spec` gives each trial its seed.
"""

import errno
import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from lrlab import catalog, code_hash
from lrlab.parameters import InputError, Value
from lrlab.runs.job import Job
from lrlab.runs.run import Trial, TrialResult

if TYPE_CHECKING:
    import pandas as pd

EDITION = 1
"""Raise it if trials get other seeds (`runs.run`), or if `runs.run` or `protocol` run or score them differently: all
stored trials are then stale."""
LOCK_WAIT_SECONDS = 30.0
"""Seconds to wait for another process that writes."""
DAMAGE = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""Codes of SQLite for a damaged file; the first stands for a missing table or column."""
APPLICATION, HEADER_BYTES = 0x6C726C62, 72
"""Number at the end of the first bytes of a file."""
FORMAT = 4
SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS cells (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, model TEXT NOT NULL, solver TEXT NOT NULL,
    settings TEXT NOT NULL, version TEXT NOT NULL, spec TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS trials (
    cell INTEGER NOT NULL REFERENCES cells, trial INTEGER NOT NULL, seed INTEGER NOT NULL, stop TEXT NOT NULL,
    iterations INTEGER NOT NULL, seconds REAL NOT NULL, metrics TEXT NOT NULL,
    PRIMARY KEY (cell, trial)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sweeps (
    session TEXT NOT NULL, definition TEXT NOT NULL, title TEXT NOT NULL, page TEXT NOT NULL, state TEXT NOT NULL,
    done INTEGER NOT NULL, total INTEGER NOT NULL, changed REAL NOT NULL,
    PRIMARY KEY (session, definition)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS items (key BLOB PRIMARY KEY, result TEXT NOT NULL) WITHOUT ROWID;
PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT};
COMMIT;
"""
"""cells: grid points, with `settings` and `spec` (and the sweep's seed in it) as JSON. trials: by their number in the
cell. sweeps: what a browser session has run, as TOML; `changed` in seconds since 1970. items: traces, spectra, fits to
data sets and other results, as JSON."""
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
        return not is_current(self.model, self.solver, self.version)


class Store:
    """An open store, for one thread; several processes may have the same file open."""

    def __init__(self, path: Path | None = None, create: bool = True, lock_wait_seconds: float | None = None) -> None:
        """Open a file; without a path, keep everything in memory.

        create: make a missing file. lock_wait_seconds: how long to wait for another process that writes,
        LOCK_WAIT_SECONDS by default.
        InputError if the file is foreign, damaged or of another format; lrlab does not change such a file.
        """
        self.path = path
        seconds = LOCK_WAIT_SECONDS if lock_wait_seconds is None else lock_wait_seconds
        with in_sentences(path):
            self._connection = connect(path, create, seconds)
            self._file = path and os.stat(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection; InputError if the file is damaged, RuntimeError if it fails otherwise."""
        with in_sentences(self.path):
            yield self._connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection in a transaction, which is committed unless an error occurs; errors as for `reading`.

        RuntimeError if somebody removed or replaced the file meanwhile.
        """
        with self.reading(), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection
        if self.path and self._file:
            with suppress(OSError):
                if os.path.samestat(os.stat(self.path), self._file):
                    return
            words = "was removed or replaced while it was in use: run this again to store its trials anew."
            raise RuntimeError(f"The store {self.path} {words}")

    def results(self, job: Job, below: int) -> dict[int, TrialResult]:
        """Return the results of the trials of a cell whose numbers are smaller than `below`, in order."""
        with self.reading() as connection:
            rows = connection.execute(
                f"SELECT {RESULT} FROM cells JOIN trials ON cell = id WHERE key = ? AND trial < ? ORDER BY trial",
                (key_of(job), below),
            )
            return {number: TrialResult._make([*ending, json.loads(metrics)]) for number, *ending, metrics in rows}

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
        model, solver, key = job.spec.model, job.solver, key_of(job)
        connection.execute(
            "INSERT OR IGNORE INTO cells (key, spec, settings, model, solver, version) VALUES (?, ?, ?, ?, ?, ?)",
            (key, *texts_of(job), model, solver, version(model, solver)),
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
                f"SELECT spec, {GROUP}, {RESULT} FROM cells JOIN trials ON cell = id ORDER BY model, solver, id, trial"
            )
            for spec, model, solver, settings, version, number, seed, stop, iterations, seconds, metrics in rows:
                values, stale = json.loads(spec), not is_current(model, solver, version)
                cell = {"model": model, "solver": solver, **values, "base_seed": values["seed"], **json.loads(settings)}
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
            written = write(tables(store), unfinished, kind)
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


def write(tables: Iterator["pd.DataFrame"], out: Path, kind: str) -> int:
    """Write tables to one file, the columns of the first one at its head, and return the number of rows."""
    written, first = 0, next(tables)
    if kind == ".csv":
        first.to_csv(out, index=False, lineterminator="\n")
        for table in tables:
            table.to_csv(out, mode="a", header=False, index=False, lineterminator="\n")
            written += len(table)
        return written
    import pyarrow
    from pyarrow import parquet

    schema = pyarrow.Schema.from_pandas(first, preserve_index=False).remove_metadata()
    with parquet.ParquetWriter(out, schema) as writer:
        for table in tables:
            writer.write_table(pyarrow.Table.from_pandas(table, schema, preserve_index=False))
            written += len(table)
    return written


def connect(path: Path | None, create: bool, timeout_seconds: float) -> sqlite3.Connection:
    """Return a connection to a store, with the parameters of `Store`.

    SQLite rolls back what a killed writer left half-written. A commit is on the disk when it returns.
    """
    if path is not None:
        check_file(path, create)
    connection = sqlite3.connect(path or ":memory:", timeout=timeout_seconds, isolation_level=None)
    # SQLite knows best: the write-ahead log may overrule the header.
    if not pragma(connection, "user_version"):
        connection.executescript(SCHEMA)
    if (form := pragma(connection, "user_version")) != FORMAT:
        remedy = f"another version of lrlab wrote it (format {form}): name another file"
        raise InputError("store", f"of format {FORMAT}", path, remedy)
    deadline = time.monotonic() + timeout_seconds
    while True:
        # SQLite does not wait for a lock when it changes the journal of a store that others open at the same time.
        try:
            pragma(connection, "journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def pragma(connection: sqlite3.Connection, name: str) -> int | str:
    """Return the value of a pragma."""
    value: int | str = connection.execute(f"PRAGMA {name}").fetchone()[0]
    return value


def check_file(path: Path, create: bool) -> None:
    """Refuse a file that is not a store of lrlab, and make an empty one if there is none."""
    if str(path) == ":memory:":
        raise InputError("store", "a file", path, "name a file, or leave out the store to keep trials in memory")
    if path.exists() and not path.is_file():
        # Opening a named pipe would block for ever.
        raise OSError(errno.EINVAL, "it is not a regular file")
    if path.exists() and path.stat().st_size:
        with path.open("rb") as file:
            header = file.read(HEADER_BYTES)
        if not header.startswith(b"SQLite format 3\0") or int.from_bytes(header[68:]) != APPLICATION:
            raise InputError("store", "a store of lrlab", path, "it holds something else: name another file")
    elif not create:
        raise InputError("store", "an existing file", path, "name a file that `sweep --store` has written")
    else:
        path.touch()
    if not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "it is write-protected")


@contextmanager
def in_sentences(path: Path | None) -> Iterator[None]:
    """Raise InputError if a file is damaged or cannot be used, RuntimeError if it is locked or fails otherwise."""
    try:
        yield
    except (OSError, sqlite3.Error, json.JSONDecodeError) as error:
        code = getattr(error, "sqlite_errorcode", None)
        if isinstance(error, OSError) or code == sqlite3.SQLITE_CANTOPEN:
            reason = getattr(error, "strerror", None) or error
            remedy = f"{reason}: name another"
            raise InputError("store", "a file that can be read and written", path, remedy) from error
        if code == sqlite3.SQLITE_BUSY:
            words = f"The store {path} is locked by another program: end that program, and run this again."
            raise RuntimeError(words) from error
        # Errors without a code come from Python: text that is not UTF-8, or not JSON.
        if code in DAMAGE or (code is None and isinstance(error, sqlite3.OperationalError | json.JSONDecodeError)):
            remedy = f"it is damaged: recover it with `sqlite3 {quote(str(path))} .recover | sqlite3 NEW`, or delete it"
            raise InputError("store", "a sound store", path, remedy) from error
        raise RuntimeError(f"The store {path or 'in memory'} failed: {error}.") from error


def version(model: str, solver: str) -> str:
    """Return the version of the code that runs a solver on a model: 16 hexadecimal digits.

    It is a hash of the solver's generator function, of the model's spec, and of all code that they use (`code_hash`).
    InputError if there is no such model or solver.
    """
    catalog.require_model(model)
    return version_of(catalog.solver(solver, model).run, catalog.MODELS[model])


def version_of(*things: Any) -> str:
    """Return the version of functions and classes with all that they use."""
    return code_hash.digest(" ".join([str(EDITION), *map(code_hash.version, things)]))


def is_current(model: str, solver: str, stored: str) -> bool:
    """Return whether a stored version belongs to today's code."""
    exists = model in catalog.MODELS and solver in {entry.name for entry in catalog.with_aliases(model, [solver])}
    return exists and version(model, solver) == stored


def texts_of(job: Job) -> tuple[str, str]:
    """Return the spec of a job, and its options and limits, as JSON; equal values give equal texts."""
    values = job.spec.values(), {**dict(job.options), **job.limits._asdict()}
    # 0.0 equals -0.0, but has another text.
    same = [{name: value + 0.0 if isinstance(value, float) else value for name, value in v.items()} for v in values]
    spec, settings = (json.dumps(one, sort_keys=True, separators=(",", ":")) for one in same)
    return spec, settings


def key_of(job: Job) -> bytes:
    """Return the key of a job's trials: a hash of all its values and of the code's version."""
    spec, settings = texts_of(job)
    texts = (job.spec.model, spec, job.solver, settings, version(job.spec.model, job.solver))
    return hashlib.blake2b("\0".join(texts).encode(), digest_size=16).digest()

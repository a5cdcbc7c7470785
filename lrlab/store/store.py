"""Stores finished trials in an SQLite file, by the values and the version of the code that give their numbers.

A cell is a `Job`: spec with the sweep's seed, solver, options and limits. Its trials are numbered from 0;
`runs.run.trial_spec` gives each trial its seed.
"""

import atexit
import errno
import hashlib
import json
import os
import shutil
import sqlite3
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache, partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

from lrlab import catalog, code_hash
from lrlab.parameters import InputError, Value
from lrlab.runs.job import Job
from lrlab.runs.run import Trial, TrialResult

if TYPE_CHECKING:
    import pandas as pd

LOCK_WAIT_SECONDS = 15.0
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
"""cells: grid points, with `settings` and `spec` (and the sweep's seed in it) as JSON. trials: by number in the cell.
sweeps: the sweeps of browser sessions, as TOML; `changed` in seconds since 1970. items: results of presets, as JSON."""
GROUP = "model, solver, settings, version"
RESULT = "trial, seed, stop, iterations, seconds, metrics"
ITEM_BYTES = 16
ROWS = 20_000
"""Trials of an export that are Python objects at once."""
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


class Store(AbstractContextManager["Store"]):
    """An open store, for one thread; several processes may have the same file open."""

    def __init__(self, path: Path | None = None, create: bool = True) -> None:
        """Open a file; without a path, keep everything in memory. create: make a missing file.

        InputError if the file is foreign, damaged or of another format; lrlab does not change such a file.
        """
        self.path = path
        with in_sentences(path):
            self._connection = connect(path, create)
            self._file: Any = path and os.stat(path)

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
        with suppress(OSError):
            if not self.path or os.path.samestat(os.stat(self.path), self._file):
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
        cells, trials = dict[int, tuple[Any, ...]](), []
        for trial, result in results.items():
            # By identity: to hash a job takes as long as to store a trial.
            if (job := id(trial.job)) not in cells:
                cells[job] = key_of(trial.job), *texts_of(trial.job)
            trials.append((trial.number, *result[:-1], json.dumps(result.scores, default=float), cells[job][0]))
        with self.writing() as connection:
            values = "(key, model, spec, solver, settings, version) VALUES (?, ?, ?, ?, ?, ?)"
            connection.executemany(f"INSERT OR IGNORE INTO cells {values}", cells.values())
            values = "SELECT id, ?, ?, ?, ?, ?, ? FROM cells WHERE key = ?"
            connection.executemany(f"INSERT OR IGNORE INTO trials (cell, {RESULT}) {values}", trials)

    def items(self, keys: Iterable[bytes]) -> dict[bytes, Any]:
        """Return the stored results of items of presets by key, as far as the store has them.

        The first ITEM_BYTES of a key are a hash of the item's values, the others of the code, see `presets.result`.
        """
        with self.reading() as connection:
            look_up = "SELECT key, result FROM items WHERE key = ?"
            rows = (connection.execute(look_up, (key,)).fetchone() for key in keys)
            return {row[0]: json.loads(row[1]) for row in rows if row}

    def add_items(self, results: Mapping[bytes, Any]) -> None:
        """Store results of items of presets as JSON, all of them or none; they replace results of other code."""
        older = [(item := key[:ITEM_BYTES], item + b"\xff" * len(key)) for key in results]
        rows = [(key, json.dumps(result, default=lambda value: value.item())) for key, result in results.items()]
        with self.writing() as connection:
            connection.executemany("DELETE FROM items WHERE key BETWEEN ? AND ?", older)
            connection.executemany("INSERT INTO items (key, result) VALUES (?, ?)", rows)

    def count_items(self) -> int:
        """Return the number of stored results of items of presets."""
        with self.reading() as connection:
            [count] = connection.execute("SELECT count(*) FROM items").fetchone()
            return int(count)

    def groups(self) -> list[TrialGroup]:
        """Return the stored trials in groups."""
        with self.reading() as connection:
            rows = connection.execute(
                f"SELECT {GROUP}, count(*), sum((SELECT count(*) FROM trials WHERE cell = id)) FROM cells"
                f" GROUP BY {GROUP} ORDER BY model, solver, min(id)"
            ).fetchall()
            return [TrialGroup(model, solver, json.loads(text), *rest) for model, solver, text, *rest in rows]

    def prune(self) -> int:
        """Remove the stale trials, shrink the file, and return their number."""
        stale = [group for group in self.groups() if group.stale]
        if not stale:
            return 0
        codes = [(group.model, group.solver, group.version) for group in stale]
        cells = "SELECT id FROM cells WHERE (model, solver, version) = (?, ?, ?)"
        with self.writing() as connection:
            connection.executemany(f"DELETE FROM trials WHERE cell IN ({cells})", codes)
            connection.executemany(f"DELETE FROM cells WHERE id IN ({cells})", codes)
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
    if kind not in (".csv", ".parquet") or (kind == ".parquet" and find_spec("pyarrow") is None):
        raise InputError("export", "a file that ends in .csv or .parquet", out, "name it so; .parquet needs pyarrow")
    if store.path and out.resolve() == store.path.resolve():
        raise InputError("export", "another file than the store", out, "name another")
    # An older file of that name stays until the new table is complete.
    unfinished = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        table = whole_table(store)
        if kind == ".csv":
            table.to_csv(unfinished, index=False, lineterminator="\n")
        else:
            import pyarrow
            from pyarrow import parquet

            plain = pyarrow.Table.from_pandas(table, preserve_index=False).replace_schema_metadata()
            parquet.write_table(plain, unfinished)
        unfinished.replace(out)
    except OSError as error:
        remedy = f"{error.strerror or error}: name another"
        raise InputError("export", "a file that can be written", out, remedy) from error
    finally:
        with suppress(OSError):
            unfinished.unlink()
    return len(table)


def whole_table(store: Store) -> "pd.DataFrame":
    """Return all trials in one table, a row per trial."""
    # Imported here: pages open a store without pandas.
    import pandas as pd

    kinds: dict[str, set[type]] = {}
    for row in store.rows():
        for name, value in row.items():
            kinds.setdefault(name, set()).add(type(value))
    kinds = {name: {float} if kind == {int, float} else kind for name, kind in kinds.items()}
    dtypes = {name: DTYPES[kind.pop()] if len(kind) == 1 else "string" for name, kind in kinds.items()}
    # As rows of Python, trials take twenty times as much memory.
    trials, parts = store.rows(), [pd.DataFrame(columns=list(dtypes)).astype(dtypes)]
    while rows := list(islice(trials, ROWS)):
        parts.append(pd.DataFrame(rows, columns=list(dtypes)).astype(dtypes))
    return pd.concat(parts, ignore_index=True)


def connect(path: Path | None, create: bool) -> sqlite3.Connection:
    """Return a connection to a store, with the parameters of `Store`.

    SQLite rolls back what a killed writer left half-written. A commit is on the disk when it returns.
    """
    if path is not None:
        check_file(path, create)
    # An absolute path, since SQLite gives `:memory:` another meaning.
    name = path.absolute() if path else ":memory:"
    connection = sqlite3.connect(name, timeout=LOCK_WAIT_SECONDS, isolation_level=None)
    # SQLite knows best: the write-ahead log may overrule the header.
    if connection.execute("PRAGMA user_version").fetchone() == (0,):
        connection.executescript(SCHEMA)
    [form] = connection.execute("PRAGMA user_version").fetchone()
    if form != FORMAT:
        remedy = f"another version of lrlab wrote it (format {form}): name another file"
        raise InputError("store", f"of format {FORMAT}", path, remedy)
    # If others open a new store at the same time, one of them changes its journal, and SQLite does not wait for it.
    with suppress(sqlite3.OperationalError):
        connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def check_file(path: Path, create: bool) -> None:
    """Refuse a file that is not a store of lrlab, and make an empty one if there is none."""
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
        # Without the bits of a cause. Errors without a code come from Python: a text is not UTF-8, or not JSON.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if isinstance(error, OSError) or code == sqlite3.SQLITE_CANTOPEN:
            remedy = f"{getattr(error, 'strerror', None) or error}: name another"
            raise InputError("store", "a file that can be read and written", path, remedy) from error
        if code == sqlite3.SQLITE_BUSY:
            words = f"The store {path} is locked by another program: end that program, and run this again."
            raise RuntimeError(words) from error
        if code in DAMAGE or (not code and isinstance(error, sqlite3.OperationalError | json.JSONDecodeError)):
            remedy = f"it is damaged: recover it with `sqlite3 {quote(str(path))} .recover | sqlite3 NEW`, or delete it"
            raise InputError("store", "a sound store", path, remedy) from error
        raise RuntimeError(f"The store {path or 'in memory'} failed: {error}.") from error


def version(model: str, solver: str) -> str:
    """Return the version of the code that runs a solver on a model: 16 hexadecimal digits.

    It is a hash of the solver's generator function, of the model's spec, and of all code that they use (`code_hash`).
    InputError if there is no such model or solver.
    """
    spec = catalog.model_entry(model).spec
    return code_hash.version(catalog.solver(solver, model).run, spec)


def is_current(model: str, solver: str, stored: str) -> bool:
    """Return whether a stored version belongs to today's code."""
    exists = model in catalog.MODELS and solver in {entry.name for entry in catalog.solvers_for(model, [solver])}
    return exists and version(model, solver) == stored


def texts_of(job: Job) -> tuple[str, ...]:
    """Return the cell of a job: model, spec, solver, settings and version; equal values give equal JSON."""
    values = job.spec.values(), {**dict(job.options), **job.limits._asdict()}
    # 0.0 equals -0.0, but has another text.
    same = [{name: value + 0.0 if isinstance(value, float) else value for name, value in v.items()} for v in values]
    spec, settings = (json.dumps(one, sort_keys=True, separators=(",", ":")) for one in same)
    return job.spec.model, spec, job.solver, settings, version(job.spec.model, job.solver)


def key_of(job: Job) -> bytes:
    """Return the key of a job's trials: a hash of all its values and of the code's version."""
    return hashlib.blake2b("\0".join(texts_of(job)).encode(), digest_size=16).digest()


class SharedStore:
    """The store that all pages of a server share.

    path: its file. open(): returns the store, for the calling thread. warning: empty, or the sentence why the wanted
    file cannot be used; `path` is then a temporary file, removed at the end of this process.
    """

    def __init__(self, wanted: Path) -> None:
        """Check the file once, and make it if it is missing."""
        self.path, self.warning = wanted, ""
        try:
            Store(wanted).close()
        except (InputError, RuntimeError) as error:
            folder = tempfile.mkdtemp(prefix="lrlab-store-")
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            self.path = Path(folder) / "temporary.sqlite"
            self.warning = f"{str(error).rstrip('.')}. Until then sweeps are stored only while this server runs."
        self.open = partial(Store, self.path)


def default_path() -> Path:
    """Return the file of the shared store: LRLAB_STORE, or `lrlab/trials.sqlite` in the user's data folder."""
    if chosen := os.environ.get("LRLAB_STORE"):
        return Path(chosen)
    usual = Path.home() / ("Library/Application Support" if sys.platform == "darwin" else ".local/share")
    return Path(os.environ.get("XDG_DATA_HOME") or usual) / "lrlab" / "trials.sqlite"


_opening = threading.Lock()
_shared = cache(SharedStore)


def get_shared_store() -> SharedStore:
    """Return the store of this process; a server opens it when it starts."""
    path = default_path()
    # Two threads would make two temporary stores.
    with _opening:
        if "LRLAB_STORE" not in os.environ:
            # If this fails, the store's warning says so.
            with suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
        return _shared(path)

"""The file of a store: refused untouched if it is foreign, damaged or of another format."""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

from lrlab.parameters import InputError

APPLICATION = 0x6C726C62
FORMAT = 3
MAGIC = b"SQLite format 3\0"

SCHEMA = """
CREATE TABLE IF NOT EXISTS groups (
    id INTEGER PRIMARY KEY, model TEXT NOT NULL, solver TEXT NOT NULL, settings TEXT NOT NULL, version TEXT NOT NULL,
    UNIQUE (model, solver, settings, version)
);
CREATE TABLE IF NOT EXISTS cells (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, group_id INTEGER NOT NULL REFERENCES groups, spec TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS measures (id INTEGER PRIMARY KEY, names TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS trials (
    cell INTEGER NOT NULL REFERENCES cells, trial INTEGER NOT NULL, seed INTEGER NOT NULL, stop TEXT NOT NULL,
    iterations INTEGER NOT NULL, seconds REAL NOT NULL, measures INTEGER NOT NULL REFERENCES measures,
    scores TEXT NOT NULL,
    PRIMARY KEY (cell, trial)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sweeps (
    session TEXT NOT NULL, definition TEXT NOT NULL, title TEXT NOT NULL, page TEXT NOT NULL, state TEXT NOT NULL,
    done INTEGER NOT NULL, total INTEGER NOT NULL, changed REAL NOT NULL,
    PRIMARY KEY (session, definition)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS items (key BLOB PRIMARY KEY, result TEXT NOT NULL) WITHOUT ROWID;
"""
"""groups: trials alike but for their spec. cells: spec (JSON, with the sweep's seed). trials: by their number in the
cell; `scores` is a JSON list of what `measures` names: null for what is not a number, text for infinities. sweeps: what
a browser session has run (`history`), as TOML; `changed` in seconds since 1970. items: results of other things than
trials: traces, draws of spectra, fits to data sets, as JSON. A file of this format may have more tables and columns:
read and write columns by their names."""
MAKE = f"""
BEGIN IMMEDIATE; {SCHEMA} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT}; COMMIT;
"""


def connect(
    path: Path | None, create: bool = True, checked: bool = False, lock_wait_seconds: float = 0.0
) -> sqlite3.Connection:
    """Return a connection to a store: at a path, made if there is none, or in memory; InputError if it cannot be used.

    SQLite rolls back what a killed writer left half-written. A commit is on the disk when it returns. checked: this
    process has checked the pages of the file before. lock_wait_seconds: how long to wait for another process that
    writes.
    """
    if path is None:
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.executescript(MAKE)
        return connection
    with worded(path):
        _check_file(path, create, checked)
        connection = sqlite3.connect(path, timeout=lock_wait_seconds, isolation_level=None)
        if not _format(connection):
            connection.executescript(MAKE)
        _check_format(_format(connection), path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        if not checked and connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise damaged(path)
        return connection


def _check_file(path: Path, create: bool, checked: bool) -> None:
    """Refuse what is no store of lrlab, and make an empty file if there is none."""
    if str(path) == ":memory:":
        raise InputError("store", "a file", path, "name a file, or give no store to keep trials in memory alone")
    exists = path.exists()
    if exists and not path.is_file():
        # Opening a named pipe would wait for ever.
        raise OSError(errno.EINVAL, "it is not a regular file")
    if exists and path.stat().st_size:
        if not checked:
            _check_header(path)
    elif not create:
        raise InputError("store", "an existing file", path, "name one that `sweep --store` has written")
    elif not exists:
        _make_empty(path)
    if not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "it is write-protected")


def _check_header(path: Path) -> None:
    # As bytes: SQLite would roll back, and so change, what a foreign database has half-written. Once per process alone:
    # to close a file drops the locks that other connections of the process have on it.
    with path.open("rb") as file:
        header = file.read(100)
    if not header.startswith(MAGIC) or int.from_bytes(header[68:72], "big") != APPLICATION:
        raise InputError("store", "a store of lrlab", path, "it holds something else: name another file")


def _make_empty(path: Path) -> None:
    for remains in (path.with_name(path.name + ending) for ending in ("-wal", "-journal")):
        # Another process may have made the store by now.
        if remains.exists() and not path.exists():
            remedy = f"remove {remains.name}, or name another file"
            raise InputError("store", "without remains of a lost one", path.name, remedy)
    path.touch()


def _format(connection: sqlite3.Connection) -> int:
    # Asked of SQLite: the write-ahead log may overrule what the header says.
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check_format(form: int, path: Path) -> None:
    if form > FORMAT:
        remedy = f"a newer lrlab wrote it (format {form}): update lrlab, or name another file"
        raise InputError("store", f"of format {FORMAT}", path, remedy)
    if form < FORMAT:
        remedy = f"an older lrlab wrote it (format {form}): name another file"
        raise InputError("store", f"of format {FORMAT}", path, remedy)


@contextmanager
def worded(path: Path) -> Iterator[None]:
    """Raise InputError if a file cannot be used."""
    try:
        yield
    except (OSError, sqlite3.OperationalError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError("store", "a file that can be read and written", path, f"{reason}: name another") from error
    except sqlite3.DatabaseError as error:
        raise damaged(path) from error


def damaged(path: Path | None) -> InputError:
    """Return the error for a damaged store, with what to do."""
    remedy = f"it is damaged: recover it with `sqlite3 {quote(str(path))} .recover | sqlite3 NEW`, or delete it"
    return InputError("store", "a sound store", path, remedy)

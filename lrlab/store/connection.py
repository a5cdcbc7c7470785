"""The file of a store: transactions, locks, and one sentence for a file that cannot be used."""

import errno
import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from shlex import quote
from typing import Self

from lrlab.parameters import InputError

LOCK_WAIT_SECONDS = 30.0
"""Seconds to wait for another process that writes."""
DAMAGE = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""Codes of SQLite for a damaged file; the first stands for a missing table or column."""
APPLICATION = 0x6C726C62
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


class Connection:
    """An open file, for one thread. Several processes may open the same file."""

    def __init__(self, path: Path | None = None, create: bool = True, lock_wait_seconds: float | None = None) -> None:
        """Open a file; without a path, keep everything in memory.

        create: make a missing file. lock_wait_seconds: how long to wait for another process that writes,
        LOCK_WAIT_SECONDS by default.
        InputError if the file is foreign, damaged or of another format; lrlab does not change such a file.
        """
        self.path = path
        with in_sentences(path):
            self._connection = connect(
                path, create, LOCK_WAIT_SECONDS if lock_wait_seconds is None else lock_wait_seconds
            )
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
        with self.reading():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
        if self.path and self._file:
            with suppress(OSError):
                if os.path.samestat(os.stat(self.path), self._file):
                    return
            words = "was removed or replaced while it was in use: run this again to store its trials anew."
            raise RuntimeError(f"The store {self.path} {words}")


def connect(path: Path | None, create: bool, timeout_seconds: float) -> sqlite3.Connection:
    """Return a connection to a store, with the parameters of `Connection`.

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
        application: int | str = 0
        # Immutable: otherwise SQLite would roll back, and so change, a half-written foreign database.
        with (
            suppress(sqlite3.DatabaseError),
            closing(sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)) as connection,
        ):
            application = pragma(connection, "application_id")
        if application != APPLICATION:
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

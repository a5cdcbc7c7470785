"""The file of a store: refused untouched if it is foreign, damaged or of another format; transactions; locks."""

import errno
import json
import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote
from typing import Self

from lrlab.parameters import InputError, printable

LOG = logging.getLogger("lrlab.store")
LOCK_WAIT_SECONDS = 600.0
"""Seconds to wait for another process that writes."""
WORD_SECONDS = 5.0
"""Seconds of waiting for another process before a warning."""
DAMAGE = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""What SQLite finds wrong with the file; the first if a table or column is missing."""
APPLICATION = 0x6C726C62
MAGIC = b"SQLite format 3\0"
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
"""cells: grid points, `settings` and `spec` (with the sweep's seed) as JSON. trials: by their number in the cell.
sweeps: what a browser session has run, as TOML; `changed` in seconds since 1970. items: results of other things than
trials (traces, spectra, fits to data sets), as JSON."""


class Connection:
    """An open file, for one thread; several processes may have the same one open."""

    def __init__(
        self,
        path: Path | None = None,
        create: bool = True,
        checked: bool = False,
        lock_wait_seconds: float | None = None,
    ) -> None:
        """Open the file, made if it is not there and `create`; without a path, store everything in memory.

        checked: this process has checked the pages of the file before. lock_wait_seconds: how long to wait for another
        process that writes; LOCK_WAIT_SECONDS by default.
        InputError if the file is foreign, damaged or of another format; it is then untouched.
        """
        self.path = path
        self._lock_wait = LOCK_WAIT_SECONDS if lock_wait_seconds is None else lock_wait_seconds
        with in_sentences(path):
            self._connection = connect(path, create, checked, min(WORD_SECONDS, self._lock_wait))
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
        """Yield the connection in a transaction, committed if all goes well; errors as of `reading`.

        RuntimeError if the file was removed or replaced meanwhile.
        """
        with self.reading():
            self._begin()
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
            self._require_file()

    def _begin(self) -> None:
        deadline, said = time.monotonic() + self._lock_wait, False
        while True:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    raise
                if time.monotonic() >= deadline:
                    # Who tries again to store what is left does not wait as long again.
                    self._lock_wait = min(WORD_SECONDS, self._lock_wait)
                    raise
            if not said:
                words = f"The store {self.path} is locked by another program: waiting up to {self._lock_wait:.0f} s."
                LOG.warning("%s", printable(words))
                said = True

    def _require_file(self) -> None:
        if self.path and self._file:
            with suppress(OSError):
                if os.path.samestat(os.stat(self.path), self._file):
                    return
            words = "was removed or replaced while it was in use: run this again to store its trials anew."
            raise RuntimeError(f"The store {self.path} {words}")


def connect(path: Path | None, create: bool, checked: bool, timeout_seconds: float) -> sqlite3.Connection:
    """Return a connection to a store, made if there is none; the parameters are those of `Connection`.

    SQLite rolls back what a killed writer left half-written. A commit is on the disk when it returns.
    """
    if path is not None:
        check_file(path, create, checked)
    connection = sqlite3.connect(path or ":memory:", timeout=timeout_seconds, isolation_level=None)
    # Asked of SQLite: the write-ahead log may overrule what the header says.
    if not pragma(connection, "user_version"):
        connection.executescript(SCHEMA)
    if (form := pragma(connection, "user_version")) != FORMAT:
        remedy = f"another version of lrlab wrote it (format {form}): name another file"
        raise InputError("store", f"of format {FORMAT}", path, remedy)
    pragma(connection, "journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    if not checked and pragma(connection, "quick_check(1)") != "ok":
        raise damaged(path)
    return connection


def pragma(connection: sqlite3.Connection, name: str) -> int | str:
    """Return the value of a pragma."""
    value: int | str = connection.execute(f"PRAGMA {name}").fetchone()[0]
    return value


def check_file(path: Path, create: bool, checked: bool) -> None:
    """Refuse a file that is not a store of lrlab, and make an empty one if there is none."""
    if str(path) == ":memory:":
        raise InputError("store", "a file", path, "name a file, or give no store to keep trials in memory alone")
    if path.exists() and not path.is_file():
        # Opening a named pipe would wait for ever.
        raise OSError(errno.EINVAL, "it is not a regular file")
    if path.exists() and path.stat().st_size:
        # As bytes: SQLite would roll back, and so change, what a foreign database has half-written. Once per process
        # alone: to close a file drops the locks that other connections of the process have on it.
        if not checked:
            with path.open("rb") as file:
                header = file.read(100)
            if not header.startswith(MAGIC) or int.from_bytes(header[68:72], "big") != APPLICATION:
                raise InputError("store", "a store of lrlab", path, "it holds something else: name another file")
    elif not create:
        raise InputError("store", "an existing file", path, "name one that `sweep --store` has written")
    elif not path.exists():
        for remains in (path.with_name(path.name + ending) for ending in ("-wal", "-journal")):
            # Another process may have made the store by now.
            if remains.exists() and not path.exists():
                remedy = f"remove {remains.name}, or name another file"
                raise InputError("store", "without remains of a lost one", path.name, remedy)
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
            words = f"The store {path} is locked by another program: end that, and run this again."
            raise RuntimeError(words) from error
        # Errors of Python's have no code: text that is not UTF-8, or not the JSON that lrlab writes.
        unread = code is None and isinstance(error, sqlite3.OperationalError | json.JSONDecodeError)
        if code in DAMAGE or unread:
            raise damaged(path) from error
        raise RuntimeError(f"The store {path or 'in memory'} failed: {error}.") from error


def damaged(path: Path | None) -> InputError:
    """Return the error for a damaged store, with what to do."""
    remedy = f"it is damaged: recover it with `sqlite3 {quote(str(path))} .recover | sqlite3 NEW`, or delete it"
    return InputError("store", "a sound store", path, remedy)

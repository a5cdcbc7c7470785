"""A connection to the file of a store: transactions, errors in sentences, processes that lock or remove the file."""

import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from lrlab.parameters import InputError, printable
from lrlab.store import store_file

LOG = logging.getLogger("lrlab.store")
LOCK_WAIT_SECONDS = 600.0
"""Seconds to wait for another process that writes."""
WORD_SECONDS = 5.0
"""After which a wait for another process is told."""
DAMAGE = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""What SQLite finds wrong with the file; the first where a table or column is missing."""

MERGE = """
INSERT OR IGNORE INTO anew.groups (model, solver, settings, version)
    SELECT model, solver, settings, version FROM main.groups;
INSERT OR IGNORE INTO anew.measures (names) SELECT names FROM main.measures;
INSERT OR IGNORE INTO anew.cells (key, spec, group_id) SELECT key, spec, b.id FROM main.cells
    JOIN main.groups AS a ON group_id = a.id JOIN anew.groups AS b USING (model, solver, settings, version);
INSERT OR IGNORE INTO anew.trials
    SELECT b.id, trial, seed, stop, iterations, seconds, d.id, scores, checksum FROM main.trials
    JOIN main.cells AS a ON cell = a.id JOIN anew.cells AS b USING (key)
    JOIN main.measures AS c ON measures = c.id JOIN anew.measures AS d USING (names);
UPDATE anew.cells SET trials = (SELECT count(*) FROM anew.trials WHERE cell = id);
INSERT OR IGNORE INTO anew.sweeps SELECT * FROM main.sweeps;
INSERT OR IGNORE INTO anew.claims SELECT * FROM main.claims;
INSERT OR IGNORE INTO anew.items SELECT * FROM main.items;
"""
"""Adds what a store has to another one; checksums do not depend on the numbers of cells and measures."""


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

        checked: as in `store_file.connect`. lock_wait_seconds: how long to wait for another process that writes;
        LOCK_WAIT_SECONDS by default.
        InputError where the file is foreign, damaged or of another format; it is then untouched.
        """
        self.path = path
        self._lock_wait = LOCK_WAIT_SECONDS if lock_wait_seconds is None else lock_wait_seconds
        self._open(create, checked)

    def _open(self, create: bool, checked: bool) -> None:
        self._connection = store_file.connect(self.path, create, checked, min(WORD_SECONDS, self._lock_wait))
        self._files = {} if self.path is None else {file: _identity(file) for file in store_file.parts(self.path)}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection; InputError where the file is damaged, RuntimeError where it fails otherwise."""
        try:
            yield self._connection
        except sqlite3.Error as error:
            raise self._worded(error) from error

    @contextmanager
    def writing(self, synchronised: bool = True) -> Iterator[sqlite3.Connection]:
        """Yield the connection in a transaction, committed if all goes well; errors as of `reading`.

        A file that was removed or replaced meanwhile is written anew. synchronised: on the disk when this returns.
        """
        with self.reading():
            if not synchronised:
                self._connection.execute("PRAGMA synchronous = NORMAL")
            self._begin()
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                if not synchronised:
                    self._connection.execute("PRAGMA synchronous = FULL")
            if self.path and _identity(self.path) != self._files[self.path]:
                self._write_anew(self.path)

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

    def _write_anew(self, path: Path) -> None:
        """Add all that the open file has to the one that is now under its name, made if there is none."""
        old = self._connection
        try:
            for file, identity in self._files.items():
                # The remains belong to the file that is gone, unless another process has written it anew by now.
                if not path.exists() and identity is not None and _identity(file) == identity:
                    file.unlink(missing_ok=True)
            self._open(create=True, checked=False)
        except InputError as error:
            words = f"The store {path} was removed or replaced while it was in use, and cannot be written anew"
            raise RuntimeError(f"{words} ({error}).") from error
        old.execute("ATTACH ? AS anew", (str(path),))
        old.executescript(f"BEGIN IMMEDIATE; {MERGE} COMMIT")
        old.close()

    def _worded(self, error: sqlite3.Error) -> Exception:
        code = getattr(error, "sqlite_errorcode", None)
        if code == sqlite3.SQLITE_BUSY:
            return RuntimeError(f"The store {self.path} is locked by another program: end that, and run this again.")
        # Text that is not UTF-8 is an error of Python's, without a code.
        if code in DAMAGE or (code is None and isinstance(error, sqlite3.OperationalError)):
            return store_file.damaged(self.path, "text that is not UTF-8" if code is None else str(error))
        return RuntimeError(f"The store {self.path or 'in memory'} failed: {error}.")


def _identity(file: Path) -> tuple[int, int] | None:
    """Return what tells a file from all others, whatever its name; None where there is none."""
    with suppress(OSError):
        status = os.stat(file)
        return status.st_dev, status.st_ino
    return None

"""A connection to the file of a store: transactions, errors in sentences, processes that lock the file."""

import json
import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from lrlab.parameters import printable
from lrlab.store import store_file

LOG = logging.getLogger("lrlab.store")
LOCK_WAIT_SECONDS = 600.0
"""Seconds to wait for another process that writes."""
WORD_SECONDS = 5.0
"""After which a wait for another process is told."""
DAMAGE = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""What SQLite finds wrong with the file; the first where a table or column is missing."""


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
        InputError if the file is foreign, damaged or of another format; it is then untouched.
        """
        self.path = path
        self._lock_wait = LOCK_WAIT_SECONDS if lock_wait_seconds is None else lock_wait_seconds
        self._connection = store_file.connect(path, create, checked, min(WORD_SECONDS, self._lock_wait))
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
        try:
            yield self._connection
        except (sqlite3.Error, json.JSONDecodeError) as error:
            raise self._worded(error) from error

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

    def _worded(self, error: Exception) -> Exception:
        code = getattr(error, "sqlite_errorcode", None)
        if code == sqlite3.SQLITE_BUSY:
            return RuntimeError(f"The store {self.path} is locked by another program: end that, and run this again.")
        # Errors of Python's have no code: text that is not UTF-8, or not the JSON that lrlab writes.
        unread = code is None and isinstance(error, sqlite3.OperationalError | json.JSONDecodeError)
        if code in DAMAGE or unread:
            return store_file.damaged(self.path)
        return RuntimeError(f"The store {self.path or 'in memory'} failed: {error}.")

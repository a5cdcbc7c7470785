"""Divides the trials of a sweep between processes with the same store: each claims what it begins to compute.

A claim ends when its trial is stored or its process gives it back; when that has died, which the others on its machine
see; or, at the latest, `LEASE_SECONDS` after it was renewed. The trial is then anybody's.
"""

import os
import secrets
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice

from lrlab.parameters import InputError
from lrlab.runs.job import Job
from lrlab.runs.trial import Trial
from lrlab.store import code_version
from lrlab.store.store import Store

LEASE_SECONDS = 15.0
TOGETHER, MOST_TOGETHER, TOGETHER_SECONDS = 32, 512, 0.25
"""Trials that are claimed at once: twice as many where the last ones were taken within this time."""

OVER = """
DELETE FROM claims WHERE until < ? OR EXISTS (
    SELECT 1 FROM cells JOIN trials ON cell = id WHERE cells.key = claims.key AND trials.trial = claims.trial)
"""
CLAIM = """
INSERT OR IGNORE INTO claims SELECT :key, :trial, :owner, :until WHERE NOT EXISTS (
    SELECT 1 FROM cells JOIN trials ON cell = id WHERE key = :key AND trial = :trial)
"""


class Claims:
    """The claims of one run of a sweep; a store in memory needs none, for no other process has it."""

    def __init__(self, store: Store) -> None:
        self._store, self._renewed, self._refused = store, 0.0, False
        self._keys: dict[int, tuple[Job, bytes]] = {}
        self._owner = f"{socket.gethostname()} {os.getpid()} {secrets.token_hex(4)}"

    def granted(self, trials: Iterable[Trial]) -> Iterator[Trial]:
        """Yield those of some trials that nobody has stored or claimed; they are then claimed."""
        if self._store.path is None:
            yield from trials
            return
        remaining, size = iter(trials), TOGETHER
        while together := list(islice(remaining, size)):
            began = time.monotonic()
            yield from self._claim(together)
            size = min(2 * size, MOST_TOGETHER) if time.monotonic() < began + TOGETHER_SECONDS else TOGETHER

    def renew(self) -> None:
        """Renew the claims where a third of their time has passed."""
        if self._renewed and self._due:
            self._claim([])

    @property
    def _due(self) -> bool:
        return time.monotonic() > self._renewed + LEASE_SECONDS / 3

    def release(self) -> None:
        """Give back what was not computed."""
        if self._renewed:
            # Where the store fails that was said before, and the claims end by themselves.
            with suppress(RuntimeError, InputError), self._store.writing(synchronised=False) as connection:
                connection.execute("DELETE FROM claims WHERE owner = ?", (self._owner,))

    def _claim(self, trials: list[Trial]) -> list[Trial]:
        claimed = list[Trial]()
        with self._store.writing(synchronised=False) as connection:
            # All claims are looked through: not at every step, but where another's, which may be over, was in the way.
            if not self._renewed or self._due or self._refused:
                self._tidy(connection)
            until = time.time() + LEASE_SECONDS
            for trial in trials:
                # By identity: a key takes as long as to claim ten trials.
                if (place := id(trial.job)) not in self._keys:
                    self._keys[place] = trial.job, code_version.key(trial.job)
                values = {"key": self._keys[place][1], "trial": trial.number, "owner": self._owner, "until": until}
                if connection.execute(CLAIM, values).rowcount:
                    claimed.append(trial)
        self._refused = len(claimed) < len(trials)
        return claimed

    def _tidy(self, connection: sqlite3.Connection) -> None:
        """Renew the own claims, and drop those that are over."""
        self._renewed, now = time.monotonic(), time.time()
        connection.execute(OVER, (now,))
        for (owner,) in connection.execute("SELECT DISTINCT owner FROM claims").fetchall():
            if _has_died(owner):
                connection.execute("DELETE FROM claims WHERE owner = ?", (owner,))
        connection.execute("UPDATE claims SET until = ? WHERE owner = ?", (now + LEASE_SECONDS, self._owner))


def _has_died(owner: str) -> bool:
    """Tell whether the owner of a claim is known to have died: a process of this machine that is not there."""
    host, number, *_ = [*owner.split(), "", ""]
    if os.name != "posix" or host != socket.gethostname() or not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        pass
    return False

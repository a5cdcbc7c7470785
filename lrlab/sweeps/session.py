"""Sweeps that run in threads of a server against its store: paused, resumed, and followed again after a reload.

A sweep belongs to the server and not to the page that began it: it continues when a browser is closed, and the next
page that asks for it gets the same one. Finished trials are in the store, and in memory as `SweepResults`.
The store has the list of past sweeps of each browser session, too.
"""

import math
import threading
import time
from contextlib import suppress
from typing import Literal, NamedTuple
from weakref import WeakValueDictionary

from lrlab import settings
from lrlab.engine.engine import on_workers
from lrlab.engine.results import EngineClosed, Failure, Start
from lrlab.parameters import InputError
from lrlab.store.store import SharedStore, Store
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.results import SweepResults
from lrlab.sweeps.run import run
from lrlab.sweeps.toml import parse, to_toml

NOTE_SECONDS = 2.0
"""Seconds between two updates of a sweep on the list of past sweeps."""
ENDING_SECONDS = 10.0
"""Seconds that a stopped sweep may take to end before it begins again."""
RACE_SECONDS = 60.0
"""Budget of a race: it pauses so many seconds after its first result."""
State = Literal["new", "running", "paused", "cancelled", "failed", "done"]
"""The last known state of a sweep; one that is still "running" may have been lost with its server."""


class Past(NamedTuple):
    """A sweep on a session's list: its definition as TOML, its title, its state, its progress in trials.

    changed: in seconds since 1970.
    """

    session: str
    definition: str
    title: str
    state: State
    done: int
    total: int
    changed: float

    @property
    def sweep(self) -> Sweep:
        """The sweep; InputError if today's rules refuse its definition."""
        return parse(self.definition)


COLUMNS = ", ".join(Past._fields)


def note(store: Store, line: Past) -> None:
    """Put a sweep on its session's list, or update its line there: it has one line, however often it runs."""
    with store.writing() as connection:
        # The format has a column for a page; nothing reads it.
        connection.execute(f"INSERT OR REPLACE INTO sweeps ({COLUMNS}, page) VALUES (?, ?, ?, ?, ?, ?, ?, '')", line)


def past(store: Store, session: str, most: int = 100) -> list[Past]:
    """Return the sweeps of a session, the newest first."""
    with store.reading() as connection:
        rows = connection.execute(
            f"SELECT {COLUMNS} FROM sweeps WHERE session = ? ORDER BY changed DESC, definition LIMIT ?", (session, most)
        ).fetchall()
    return [Past(*row) for row in rows]


def forget(store: Store, session: str, definition: str) -> None:
    """Take a sweep off a session's list; its trials stay."""
    with store.writing() as connection:
        connection.execute("DELETE FROM sweeps WHERE session = ? AND definition = ?", (session, definition))


class SweepRun:
    """A sweep as pages follow it: computed with `go_on`, or only read with `look`.

    state: as on the list of past sweeps, or "new". results: its finished trials, and those that failed. changes grows
    with whatever is new. done, total: trials. seconds_left: None before the pace is known. spent: whether it paused
    because its time is used, RACE_SECONDS of a race and LRLAB_SWEEP_HOURS of any sweep. error: the sentence of what
    ended the whole of it. session: the browser session that it belongs to. title: on the list of past sweeps.
    shipped: whether its trials come with the package.
    """

    shipped = False

    def __init__(self, sweep: Sweep, shared: SharedStore, *, session: str = "", title: str = "") -> None:
        """Prepare a sweep; InputError if lrlab refuses every cell of it."""
        self.sweep, self.results = sweep, SweepResults(sweep)
        self.state: State = "new"
        self.done, self.error, self.spent = 0, "", False
        self.seconds_left: float | None = None
        self.total = min(sweep.most, len(sweep.jobs) * sweep.trials)
        self.session, self.title = session, title
        self._shared = shared
        self._thread: threading.Thread | None = None
        self._ending: State | None = None
        self._noted, self._until = 0.0, math.inf
        self._first: tuple[float, int] | None = None

    @property
    def version(self) -> tuple[int, int, str, bool]:
        """Differs if there is something new to show."""
        return self.results.changes, self.done, self.state, self.alive

    @property
    def alive(self) -> bool:
        """Whether anything can still arrive."""
        return self._thread is not None

    @property
    def computing(self) -> bool:
        """Whether it computes, and is not to stop; reading the store is not computing."""
        return self.alive and not self._ending

    def go_on(self, start: Start = on_workers) -> None:
        """Compute trials that the store lacks; nothing happens while that is under way."""
        if not self.computing:
            self.wait(ENDING_SECONDS)
            self._begin("running", None, start)

    def look(self, state: State = "new") -> None:
        """Read stored trials, and compute nothing; `state` is from the list of past sweeps."""
        # It runs nowhere, whatever the list says: its server has ended.
        state = "paused" if state == "running" else state
        self._begin(state, state, on_workers)

    def pause(self) -> None:
        """Stop within a second; `go_on` resumes it."""
        if self.computing:
            self._ending = "paused"

    def cancel(self) -> None:
        """Stop within a second, for good; computed trials stay in the store."""
        if self.results.alive:
            self._ending = "cancelled"
        elif self.state == "paused":
            # While it is read, too.
            self.state = self._ending = "cancelled"
            self._note()

    def refresh(self) -> None:
        """Do nothing: what arrives is there at once."""

    def wait(self, seconds: float) -> bool:
        """Wait for its end, at most so many seconds, and return whether it has ended."""
        if thread := self._thread:
            thread.join(seconds)
        return not self.alive

    def _begin(self, state: State, ending: State | None, start: Start) -> None:
        """Begin to compute, or with a state to end in only to read, unless it is alive."""
        if self.alive:
            return
        self.state, self._ending, self.error, self.spent = state, ending, "", False
        self.seconds_left, self._first, self.results.alive = None, None, not ending
        self._thread = threading.Thread(target=self._serve, args=(start,), name="lrlab-sweep", daemon=True)
        self._thread.start()

    def _serve(self, start: Start) -> None:
        try:
            self._until = time.monotonic() + 3600.0 * settings.number("LRLAB_SWEEP_HOURS")
            with self._shared.open() as store:
                if self.results.alive:
                    self._note()
                run(self.sweep, store, start, self._progress, self._ends, self.results)
                # With the trials that arrived before the stop and were not reported.
                self.done, self.state = self.results.done, self._ending or "done"
                if self.results.alive:
                    self._note()
        except EngineClosed as closed:
            # The list still says that it runs: with its server it is interrupted, and can be resumed, as after a crash.
            self.error, self.state = str(closed), "paused"
        except Exception as error:
            self.error = str(error) if isinstance(error, InputError | RuntimeError) else Failure.of(error).sentence
            self.state = "failed"
            with suppress(InputError, RuntimeError):
                self._note()
        finally:
            self.results.alive = False
            self._thread, self.seconds_left = None, 0.0

    def _ends(self) -> bool:
        """Return whether the run is to end: somebody stopped it, or its time is used up."""
        if time.monotonic() > self._until and self.computing:
            self.spent, self._ending = True, "paused"
        return bool(self._ending)

    def _progress(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        if not self.results.alive:
            # The store is only read.
            return
        now, computed = time.monotonic(), self.results.computed
        if computed and not self._first:
            # Workers may need minutes to start.
            self._first = now, computed
            self._until = min(self._until, now + RACE_SECONDS) if self.sweep.race else self._until
        begun, before = self._first or (now, computed)
        if computed > before:
            left = (total - done) * (now - begun) / (computed - before)
            self.seconds_left = max(0.0, min(left, self._until - now))
        if now > self._noted + NOTE_SECONDS:
            self._note()

    def _note(self) -> None:
        """Update its line on the list of past sweeps."""
        self._noted = time.monotonic()
        if self.session:
            line = self.session, to_toml(self.sweep), self.title, self.state, self.done, self.total, time.time()
            with self._shared.open() as store:
                note(store, Past(*line))


_runs: WeakValueDictionary[tuple[str, str, Sweep], SweepRun] = WeakValueDictionary()
_lookup = threading.Lock()


def get_run(sweep: Sweep, shared: SharedStore, session: str, title: str = "") -> SweepRun:
    """Return the run of a sweep by a browser session: the one that is alive or that a page holds, or else a new one.

    InputError if lrlab refuses every cell of it.
    """
    with _lookup:
        key = str(shared.path), session, sweep
        # The dictionary does not keep it alive.
        known = _runs.get(key) or SweepRun(sweep, shared, session=session, title=title)
        _runs[key] = known
        return known


def under_way(sweep: Sweep, shared: SharedStore, session: str) -> SweepRun | None:
    """Return the run of a sweep by a session if it is alive."""
    known = _runs.get((str(shared.path), session, sweep))
    return known if known is not None and known.alive else None

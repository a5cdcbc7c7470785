"""Sweeps that run in threads of a server against the store of the lab: paused, taken up again, found after a reload.

A sweep belongs to the server and not to the page that began it: it goes on when a browser is closed, and the next page
that asks for it gets the same one. What it has computed is in the store; what pages draw is in memory, in a `Tally`.
"""

import threading
import time
from collections.abc import Callable, Mapping
from weakref import WeakValueDictionary

from lrlab.engine import remote
from lrlab.engine.streams import HereStream, Start
from lrlab.parameters import InputError
from lrlab.runs.trial import TrialResult
from lrlab.store.location import Lab
from lrlab.store.store import Store
from lrlab.sweeps import history
from lrlab.sweeps.cells import Item, cells
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.history import State
from lrlab.sweeps.resume import ON_ENGINE, resume
from lrlab.sweeps.tally import Tally

NOTED = 2.0
"""Seconds after which the list of past sweeps hears how far one came."""
ENDING = 10.0
"""Seconds that one that is stopped may take, before it is begun again."""


class SweepRun:
    """A sweep as pages follow it: computed with `go_on`, or only read with `look`.

    state: as on the list of past sweeps, or "new". tally: its finished trials, to be read with `lock` held. changes
    grows with whatever is new. done, total: trials. failures: trials that came to nothing, with the sentences why.
    error: the sentence of what ended the whole of it.
    """

    def __init__(self, sweep: Sweep, lab: Lab, *, session: str = "", page: str = "", title: str = "") -> None:
        """Take a sweep; InputError where every cell of it is refused."""
        self.sweep, self.cells = sweep, cells(sweep)
        self.tally, self.lock = Tally(sweep.trials), threading.Lock()
        self.state: State | str = "new"
        self.done, self.changes, self.error = 0, 0, ""
        self.total = len({cell.job for cell in self.cells if cell.job}) * sweep.trials
        self.failures: dict[Item, str] = {}
        self._lab, self._session, self._page, self._title = lab, session, page, title
        self._thread: threading.Thread | None = None
        self._asked: State | str = ""
        self._begun, self._found, self._noted = 0.0, -1, 0.0

    @property
    def alive(self) -> bool:
        """Whether anything can still arrive."""
        return self._thread is not None

    @property
    def ending(self) -> bool:
        """Whether it was asked to stop, and has not yet."""
        return self.alive and bool(self._asked)

    @property
    def seconds_left(self) -> float | None:
        """Remaining time at the pace so far; None before the first result."""
        fresh = self.done - self._found
        if not self.alive:
            return 0.0
        return (time.monotonic() - self._begun) / fresh * (self.total - self.done) if fresh > 0 else None

    def go_on(self, start: Start = ON_ENGINE) -> None:
        """Compute what the store does not have; nothing happens where that is under way."""
        if self.ending:
            self.wait(ENDING)
        if not self.alive:
            self.state = "running"
            self._begin(lambda store: self._compute(store, start))

    def look(self, state: State | str = "new") -> None:
        """Read what the store has, and compute nothing; `state` is what the list of past sweeps says."""
        if not self.alive:
            # It runs nowhere, whatever the list says: its server has ended.
            self.state = "paused" if state == "running" else state
            self._begin(self._read)

    def pause(self) -> None:
        """Stop within a second; `go_on` takes it up again."""
        if self.alive:
            self._asked = self._asked or "paused"

    def cancel(self) -> None:
        """Stop within a second, for good; what was computed is kept."""
        if self.alive:
            self._asked = "cancelled"
        elif self.state == "paused":
            self.state = "cancelled"
            with self._lab.open() as store:
                self._note(store)

    def refresh(self) -> None:
        """Do nothing: what arrives is there at once."""

    def wait(self, seconds: float) -> bool:
        """Wait until it has ended, so many seconds at most, and tell whether it has."""
        if thread := self._thread:
            thread.join(seconds)
        return not self.alive

    def _begin(self, work: Callable[[Store], None]) -> None:
        self.error, self._begun, self._found, self._asked = "", time.monotonic(), -1, ""
        self._thread = threading.Thread(target=self._serve, args=(work,), name="lrlab-sweep", daemon=True)
        self._thread.start()

    def _serve(self, work: Callable[[Store], None]) -> None:
        try:
            with self._lab.open() as store:
                work(store)
        except Exception as error:
            told = isinstance(error, InputError | RuntimeError)
            self.error = str(error) if told else remote.failure(error).sentence
            self.state = "failed"
        finally:
            self.changes += 1
            self._thread = None

    def _read(self, store: Store) -> None:
        resume(self.sweep, store, HereStream, self._progress, self._watch, stop=lambda: True)

    def _compute(self, store: Store, start: Start) -> None:
        def progress(done: int, total: int) -> None:
            self._progress(done, total)
            if time.monotonic() > self._noted + NOTED:
                self._note(store)

        self._note(store)
        try:
            report = resume(self.sweep, store, start, progress, self._watch, stop=lambda: bool(self._asked))
            self.failures = report.failures
            self.state = self._asked or "done"
        except Exception:
            self.state = "failed"
            raise
        finally:
            self._note(store)

    def _progress(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        if self._found < 0:
            self._found, self._begun = done, time.monotonic()

    def _watch(self, finished: Mapping[Item, TrialResult]) -> None:
        with self.lock:
            self.tally.add(finished)
            self.changes += 1

    def _note(self, store: Store) -> None:
        self._noted = time.monotonic()
        if self._session:
            history.note(
                store, self._session, self.sweep,
                title=self._title, page=self._page, state=self.state, done=self.done, total=self.total,
            )  # fmt: skip


_runs: WeakValueDictionary[tuple[str, str, Sweep], SweepRun] = WeakValueDictionary()
_finding = threading.Lock()


def get_run(sweep: Sweep, lab: Lab, session: str, page: str = "", title: str = "") -> SweepRun:
    """Return the run of a sweep by a browser session: the one that is there, under way or held by a page, or a new one.

    InputError where every cell of it is refused.
    """
    with _finding:
        # Bound before it is returned: the dictionary alone does not keep it.
        run = _runs.get((str(lab.path), session, sweep))
        if run is None:
            run = SweepRun(sweep, lab, session=session, page=page, title=title)
            _runs[str(lab.path), session, sweep] = run
        return run


def under_way(sweep: Sweep, lab: Lab, session: str) -> SweepRun | None:
    """Return the run of a sweep by a session where it is alive."""
    run = _runs.get((str(lab.path), session, sweep))
    return run if run is not None and run.alive else None

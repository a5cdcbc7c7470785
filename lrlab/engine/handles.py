"""What a page or a shell holds of the engine's work: followed runs, and results that workers compute.

The engine's thread only fills an inbox; what a page draws changes in `refresh` alone, which the drawing thread calls.
"""

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, Literal

from lrlab.engine.messages import ChunkDone, EngineClosed, Failed, Finished, Message, NewIterates, Queued, Started
from lrlab.engine.stream import POLL_SECONDS, ItemResult, ResultStream
from lrlab.runs.job import Job
from lrlab.runs.trace import Trace

WAIT_SECONDS = 1.0
LOOK_AHEAD_SECONDS, LOOK_AHEAD_MIN_ITEMS, LOOK_AHEAD_MAX_ITEMS = 20.0, 4000, 20_000
"""How much work the engine holds of items that are generated as they are needed."""


class Inbox:
    """Messages about work from the engine's thread.

    first_message_at: time.monotonic() of the first. received: how many have come.
    """

    def __init__(self) -> None:
        self._messages: deque[tuple[int, Message]] = deque()
        self._arrived = threading.Event()
        self.first_message_at: float | None = None
        self.received = 0

    def put(self, message: Message, number: int = 0) -> None:
        """Add a message; `number` says of which item it is, where it is of one."""
        self.first_message_at = self.first_message_at or time.monotonic()
        self._messages.append((number, message))
        self.received += 1
        self._arrived.set()

    def take(self) -> list[tuple[int, Message]]:
        """Return (number, message) of all messages, oldest first, and remove them."""
        self._arrived.clear()
        return [self._messages.popleft() for _ in range(len(self._messages))]

    def wait(self, seconds: float) -> None:
        """Return when there is a message, or after so many seconds."""
        self._arrived.wait(seconds)


def call_when_dropped(holder: object, function: Callable[[], None]) -> None:
    """Call the function when nobody holds this object any more; not at the end of the program."""
    finalizer: Any = weakref.finalize(holder, function)
    finalizer.atexit = False


class LiveRun:
    """One followed job: `trace` grows with every `Following.refresh`.

    error: a sentence when it failed. ahead: while it waits, how many jobs come first.
    """

    def __init__(self, job: Job) -> None:
        self.job, self.trace = job, Trace(job)
        self.state: Literal["waiting", "running", "done", "failed"] = "waiting"
        self.progress, self.error, self.ahead = 0.0, "", 0

    @property
    def over(self) -> bool:
        """Whether nothing more will arrive."""
        return self.state in ("done", "failed")

    def apply(self, message: Message) -> None:
        """Take in a message."""
        if self.over:
            return
        match message:
            case Started():
                # Started anew where the first worker was lost: the same iterates come again.
                self.state, self.progress, self.trace = "running", 0.0, Trace(self.job)
            case Queued(ahead):
                self.ahead = ahead
            case NewIterates():
                self._grow(message)
            case Finished(stop, iterates, seconds):
                if iterates is not None:
                    self._grow(iterates)
                self.state, self.trace.stop, self.trace.seconds = "done", stop, seconds
            case Failed(sentence):
                self.state, self.error = "failed", sentence

    def _grow(self, new: NewIterates) -> None:
        trace = self.trace
        trace.rows.extend(new.rows)
        trace.stride = new.stride
        trace.history = [pair for pair in trace.history + new.history if (pair[0] - 1) % new.stride == 0]
        if new.estimate is not None:
            trace.estimate, trace.note, trace.intervals = new.estimate, new.note, new.intervals
        self.progress = new.progress


class Following:
    """Jobs that send their iterates; they end when nobody holds this object any more."""

    def __init__(self, jobs: Sequence[Job], inbox: Inbox, cancel: Callable[[], None]) -> None:
        self.runs = [LiveRun(job) for job in jobs]
        self._inbox, self._cancel = inbox, cancel
        call_when_dropped(self, cancel)

    @property
    def version(self) -> int:
        """A number that grows with whatever is new."""
        return self._inbox.received

    def refresh(self) -> bool:
        """Apply what has arrived since the last call, and return whether anything has."""
        messages = self._inbox.take()
        for number, message in messages:
            self.runs[number].apply(message)
        return bool(messages)

    @property
    def alive(self) -> bool:
        """Whether a `refresh` can still change anything."""
        return not all(run.over for run in self.runs)

    def cancel(self) -> None:
        """End every run within a second; what it has computed stays."""
        if self.alive:
            self._cancel()

    def wait(self, timeout: float | None = None) -> bool:
        """Apply what arrives until all runs are over, or for `timeout` seconds; return whether they are."""
        deadline = time.monotonic() + (float("inf") if timeout is None else timeout)
        self.refresh()
        while self.alive and (left := deadline - time.monotonic()) > 0:
            self._inbox.wait(min(left, WAIT_SECONDS))
            self.refresh()
        return not self.alive


class WorkerStream(ResultStream):
    """Computed by an engine's workers; ended when nobody holds this object any more.

    A collection (what has a length) is handed to the engine whole. Of other iterables a part at a time is taken, in
    the thread that calls `take`, so that neither all items nor all results are in memory at once.
    """

    def __init__(
        self,
        items: Iterable[Any],
        inbox: Inbox,
        add: Callable[[list[tuple[int, Any]]], None],
        cancel: Callable[[], None],
    ) -> None:
        """Hand over the first part; `add` gives the engine (number, item) pairs, `cancel` ends the work there."""
        super().__init__(items)
        self._inbox, self._add, self._cancel = inbox, add, cancel
        self._under_way: dict[int, Any] = {}
        self._exhausted = self._closed = False
        self._ended: RuntimeError | None = None
        self._fill()
        call_when_dropped(self, cancel)

    @property
    def alive(self) -> bool:  # noqa: D102
        return not self._closed and bool(self._under_way or not self._exhausted)

    @property
    def version(self) -> int:  # noqa: D102
        return self._inbox.received

    def take(self, wait_seconds: float = POLL_SECONDS) -> list[ItemResult]:
        """Return what is new; EngineClosed, or RuntimeError with the engine's sentence, where it has ended."""
        if not self.alive:
            return []
        if wait_seconds:
            self._inbox.wait(wait_seconds)
        results = self._received()
        if self._ended and not results:
            self._closed = True
            raise self._ended
        self._fill()
        return results

    def cancel(self) -> list[ItemResult]:
        """End it, and return the results that were not taken."""
        if not self.alive:
            return []
        self._cancel()
        self._closed = True
        return self._received()

    def _received(self) -> list[ItemResult]:
        results = list[ItemResult]()
        for _, message in self._inbox.take():
            match message:
                case ChunkDone(values):
                    results += [ItemResult(number, self._under_way.pop(number), value) for number, value in values]
                case Failed(sentence):
                    # What is closed is at last given up by its engine, too, with another sentence.
                    self._ended = self._ended or (RuntimeError(sentence) if sentence else EngineClosed())
        self._began = self._inbox.first_message_at
        self.done += len(results)
        return results

    def _fill(self) -> None:
        if self._exhausted:
            return
        # The next part is handed over before this one ends: no worker waits for the last items of a part.
        pace = self.done / max(time.monotonic() - self._began, POLL_SECONDS) if self._began else 0.0
        size = int(min(max(pace * LOOK_AHEAD_SECONDS, LOOK_AHEAD_MIN_ITEMS), LOOK_AHEAD_MAX_ITEMS))
        if len(self._under_way) > size / 2:
            return
        part = list(self._items if self.total is not None else islice(self._items, size))
        if self.total is not None or len(part) < size:
            self._exhausted, self.total = True, self.done + len(self._under_way) + len(part)
        if part:
            self._under_way.update(part)
            self._add(part)

"""Runs that are followed: a worker sends their iterates, and a page, a notebook or the shell holds them; all messages.

The engine only fills an inbox. Traces change only in `LiveRuns.refresh`, which the drawing thread calls.
"""

import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Literal, NamedTuple

from lrlab.arrays import Intervals
from lrlab.protocol import Estimate, Iterate, Stop
from lrlab.runs.job import Job
from lrlab.runs.trace import Row, Trace, single

WAIT_SECONDS = 1.0
SEND_SECONDS, LEAST_SECONDS = 0.05, 0.02
"""Period of messages; shortest pause after a message that took long."""


class Started(NamedTuple):
    """A worker has begun."""


class Queued(NamedTuple):
    """The job waits for a worker, behind so many other callers."""

    ahead: int


class NewIterates(NamedTuple):
    """Records of a run since the last message.

    rows, history: the new ones. stride: the trace holds every stride-th estimate. estimate: the newest, in single
    precision until the run has ended; None if the model does not show estimates. progress: fraction of the pass over
    the data. intervals: of the newest estimate.
    """

    rows: list[Row]
    history: list[tuple[int, Estimate]]
    stride: int
    estimate: Estimate | None
    note: str
    progress: float
    intervals: Intervals | None = None


class Finished(NamedTuple):
    """The run has ended; `iterates` are the last ones, None if it was ended by force or never began.

    seconds: duration of a run without an iterate.
    """

    stop: Stop
    iterates: NewIterates | None = None
    seconds: float = 0.0


class Failed(NamedTuple):
    """A run, or everything that one call asked for, cannot continue; the sentence says why ("" after a cancel)."""

    sentence: str


class BatchDone(NamedTuple):
    """(number of the item, value or Failure) of the items that were computed, and their seconds in all.

    overdue: the last item has not come back in time, and its worker is to be ended.
    """

    results: list[tuple[int, Any]]
    seconds: float
    overdue: bool = False


Message = Started | Queued | NewIterates | Finished | Failed | BatchDone
Send = Callable[[Message], None]


class Inbox:
    """Messages that wait for their reader."""

    def __init__(self) -> None:
        self._messages = SimpleQueue[tuple[int, Message]]()

    def put(self, message: Message, number: int = 0) -> None:
        """Add a message about the job with this number."""
        self._messages.put((number, message))

    def take(self, wait_seconds: float = 0.0) -> list[tuple[int, Message]]:
        """Return (number, message) of all messages, the oldest first, and wait for the first up to `wait_seconds`."""
        messages = list[tuple[int, Message]]()
        with suppress(Empty):
            messages.append(self._messages.get(wait_seconds > 0, wait_seconds or None))
            while True:
                messages.append(self._messages.get_nowait())
        return messages

    def belongs_to(self, holder: object, cancel: Callable[[], None]) -> None:
        """Call `cancel` when nobody holds the reader of these messages any more, but not at the end of the program."""
        finalizer: Any = weakref.finalize(holder, cancel)
        finalizer.atexit = False


class LiveRun:
    """One followed job, or with a trace one that is done; `trace` grows with every `LiveRuns.refresh`.

    error: the sentence of a run that failed. ahead: how many callers come before a run that waits.
    """

    def __init__(self, job: Job, trace: Trace | None = None) -> None:
        self.job, self.trace = job, trace or Trace(job)
        self.state: Literal["waiting", "running", "done", "failed"] = "done" if trace else "waiting"
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
                # A second start follows a lost worker: the same iterates come again.
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


class LiveRuns:
    """Jobs that send their iterates; they end when nobody holds this object any more.

    version: grows with every message that has been applied.
    """

    def __init__(self, jobs: Sequence[Job], inbox: Inbox, cancel: Callable[[], None]) -> None:
        self.runs, self.version = [LiveRun(job) for job in jobs], 0
        self._inbox, self._cancel = inbox, cancel
        inbox.belongs_to(self, cancel)

    @property
    def alive(self) -> bool:
        """Whether a `refresh` can still change anything."""
        return not all(run.over for run in self.runs)

    def refresh(self, wait_seconds: float = 0.0) -> bool:
        """Apply new messages, and wait for them up to `wait_seconds`; return whether there were any."""
        messages = self._inbox.take(wait_seconds)
        for number, message in messages:
            self.runs[number].apply(message)
        self.version += len(messages)
        return bool(messages)

    def cancel(self) -> None:
        """End every run within half a second; computed iterates stay."""
        if self.alive:
            self._cancel()

    def wait(self, timeout: float | None = None) -> bool:
        """Apply what arrives until all runs are over, or for `timeout` seconds; return whether they are."""
        deadline = time.monotonic() + (float("inf") if timeout is None else timeout)
        self.refresh()
        while self.alive and (left := deadline - time.monotonic()) > 0:
            self.refresh(min(left, WAIT_SECONDS))
        return not self.alive


class IterateSender:
    """Sends the records of a run: its first iterate at once, later ones together, twenty times per second."""

    def __init__(self, job: Job, send: Send) -> None:
        self.trace, self._send = Trace(job), send
        self._rows_sent, self._newest_sent, self._progress, self._progress_sent = 0, 0, 0.0, 0.0
        self._due = time.monotonic()

    def watch(self, row: Row, iterate: Iterate) -> None:
        """Send the first iterate, and later ones when they are due."""
        if len(self.trace.rows) == 1 or time.monotonic() >= self._due:
            self.send_new()

    def progress(self, fraction: float) -> None:
        """Record the completed fraction of the pass over the data, and send it when that is due."""
        self._progress = fraction
        news = fraction != self._progress_sent or len(self.trace.rows) > self._rows_sent
        if news and time.monotonic() >= self._due:
            self.send_new()

    def send_new(self) -> None:
        """Send the new rows and estimates."""
        self._send(self._new_iterates())
        self._progress_sent = self._progress
        self._due = max(self._due + SEND_SECONDS, time.monotonic() + LEAST_SECONDS)

    def last_iterates(self) -> NewIterates:
        """Return the unsent records, with the final estimate in full precision."""
        return self._new_iterates()._replace(estimate=self.trace.estimate, progress=1.0)

    def _new_iterates(self) -> NewIterates:
        trace = self.trace
        rows = trace.rows[self._rows_sent :]
        history = [pair for pair in trace.history if pair[0] > self._newest_sent]
        self._rows_sent += len(rows)
        self._newest_sent = history[-1][0] if history else self._newest_sent
        changed = bool(rows) and trace.job.spec.watched
        estimate = single(trace.estimate) if changed and trace.estimate is not None else None
        return NewIterates(rows, history, trace.stride, estimate, trace.note, self._progress, trace.intervals)

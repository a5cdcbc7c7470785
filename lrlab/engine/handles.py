"""Followed runs, as a page or a shell holds them.

The engine's thread only fills an inbox; what a page draws changes in `refresh` alone, which the drawing thread calls.
"""

import time
from collections.abc import Callable, Sequence
from typing import Literal

from lrlab.engine.inbox import Inbox, call_when_dropped
from lrlab.engine.messages import Failed, Finished, Message, NewIterates, Queued, Started
from lrlab.runs.job import Job
from lrlab.runs.trace import Trace

WAIT_SECONDS = 1.0


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

"""What a page or a shell holds of followed runs.

The engine's thread only fills an inbox; what can be seen changes in `refresh` alone, so one thread may draw in peace.
"""

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Literal

from lrlab.engine.remote import News
from lrlab.runs.job import Job
from lrlab.runs.trace import Trace


class Inbox:
    """Messages from the engine's thread to the one that looks."""

    def __init__(self) -> None:
        """Start empty."""
        self._messages: deque[Any] = deque()
        self._arrived = threading.Event()

    def put(self, message: Any) -> None:
        """Add a message."""
        self._messages.append(message)
        self._arrived.set()

    def take(self) -> list[Any]:
        """Return all messages, oldest first, and forget them."""
        self._arrived.clear()
        return [self._messages.popleft() for _ in range(len(self._messages))]

    def wait(self, seconds: float) -> None:
        """Return when there is a message, or after so many seconds."""
        self._arrived.wait(seconds)


class LiveRun:
    """One followed job: `trace` grows with every `Following.refresh`; `error` is a sentence when it failed."""

    def __init__(self, job: Job) -> None:
        """Start waiting."""
        self.job, self.trace = job, Trace(job)
        self.state: Literal["waiting", "running", "done", "failed"] = "waiting"
        self.progress, self.error = 0.0, ""

    @property
    def over(self) -> bool:
        """Whether nothing more will arrive."""
        return self.state in ("done", "failed")

    def apply(self, kind: str, body: Any) -> None:
        """Take a message: "started", "news", "stopped" (with the Stop) or "failed" (with the sentence)."""
        if self.over:
            return
        if kind == "started":
            # Started anew where the first worker was lost: the same iterates come again.
            self.state, self.progress, self.trace = "running", 0.0, Trace(self.job)
        elif kind == "news":
            self._grow(body)
        elif kind == "stopped":
            self.state, self.trace.stop = "done", body
        else:
            self.state, self.error = "failed", body

    def _grow(self, news: News) -> None:
        trace = self.trace
        trace.rows.extend(news.rows)
        trace._stride = news.stride
        trace.history = [kept for kept in trace.history + news.history if (kept[0] - 1) % news.stride == 0]
        if news.estimate is not None:
            trace.estimate, trace.note = news.estimate, news.note
        self.progress = news.progress
        if news.stop is not None:
            self.state, trace.stop = "done", news.stop


class Following:
    """Jobs that stream their iterates; they end when nobody holds this object any more."""

    def __init__(self, jobs: Sequence[Job], inbox: Inbox, cancel: Callable[[], None]) -> None:
        """Nothing has arrived yet."""
        self.runs = [LiveRun(job) for job in jobs]
        self._inbox, self._cancel = inbox, cancel
        weakref.finalize(self, cancel).atexit = False

    def refresh(self) -> bool:
        """Apply what has arrived since the last call, and tell whether anything has."""
        messages = self._inbox.take()
        for index, kind, body in messages:
            self.runs[index].apply(kind, body)
        return bool(messages)

    @property
    def alive(self) -> bool:
        """Whether a `refresh` can still change anything."""
        return not all(run.over for run in self.runs)

    def cancel(self) -> None:
        """End every run: within a second, keeping what it has computed."""
        if self.alive:
            self._cancel()

    def wait(self, timeout: float | None = None) -> bool:
        """Apply what arrives until all runs are over, or for `timeout` seconds; tell whether they are."""
        deadline = time.monotonic() + (float("inf") if timeout is None else timeout)
        self.refresh()
        while self.alive and (left := deadline - time.monotonic()) > 0:
            self._inbox.wait(min(left, 1.0))
            self.refresh()
        return not self.alive

"""Sends what a followed run records while it runs."""

import threading
import time

from lrlab.engine.messages import NewIterates, Send
from lrlab.protocol import Iterate
from lrlab.runs.job import Job
from lrlab.runs.trace import Row, Trace, single

SEND_SECONDS, LEAST_SECONDS, PATIENCE_SECONDS = 0.05, 0.02, 0.02
"""Between the beginnings of two messages; from the end of one that took long to the next; and for how long one that is
due waits for the next iterate."""


class IterateSender:
    """Sends what the trace of a run has: its first iterate at once, later ones together, twenty times a second."""

    def __init__(self, job: Job, send: Send) -> None:
        self.trace, self._send = Trace(job), send
        self._rows_sent, self._newest_sent, self._progress, self._last_sent = 0, 0, 0.0, (0, 0.0)
        self._due = time.monotonic()
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._send_regularly, daemon=True)

    def __enter__(self) -> "IterateSender":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()
        self._send_new()

    def watch(self, row: Row, iterate: Iterate) -> None:
        """Send the first iterate, and later ones when they are due."""
        if len(self.trace.rows) == 1 or time.monotonic() >= self._due:
            self._send_new()

    def progress(self, fraction: float) -> None:
        """Record the fraction of the pass over the data that is done."""
        self._progress = fraction

    def last_iterates(self) -> NewIterates:
        """Return what was not sent, with the final estimate in full precision."""
        return self._new_iterates()._replace(estimate=self.trace.estimate, progress=1.0)

    def _send_regularly(self) -> None:
        # A thread of its own: rows must not wait for an iteration that takes minutes. Between short ones the thread of
        # the solver is faster, for no other has to wait until that one gives the interpreter up.
        while not self._ended.wait(max(LEAST_SECONDS, self._due + PATIENCE_SECONDS - time.monotonic())):
            if time.monotonic() >= self._due + PATIENCE_SECONDS:
                self._send_new()

    def _send_new(self) -> None:
        with self._lock:
            state = (len(self.trace.rows), self._progress)
            if state != self._last_sent:
                self._last_sent = state
                self._send(self._new_iterates())
            self._due = max(self._due + SEND_SECONDS, time.monotonic() + LEAST_SECONDS)

    def _new_iterates(self) -> NewIterates:
        trace = self.trace
        rows = trace.rows[self._rows_sent :]
        history = [pair for pair in trace.history if pair[0] > self._newest_sent]
        self._rows_sent += len(rows)
        self._newest_sent = history[-1][0] if history else self._newest_sent
        changed = bool(rows) and trace.job.spec.watched
        estimate = single(trace.estimate) if changed and trace.estimate is not None else None
        return NewIterates(rows, history, trace.stride, estimate, trace.note, self._progress, trace.intervals)

"""What runs on a worker: one followed job that streams its iterates, or a chunk of items.

Embedded workers load this module before their first task, so that a click does not pay for imports.
"""

import os
import pickle
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from lrlab.parameters import InputError
from lrlab.protocol import Estimate, Iterate, Stop
from lrlab.runs.job import Job
from lrlab.runs.run import cancellable, cancelled, run_job
from lrlab.runs.trace import Row, Trace, single

EVERY = 0.05
Send = Callable[[str, Any], None]

_cancelled: set[str] = set()


class Failure(NamedTuple):
    """What an item gives when it cannot be computed: the sentence that says why, and the InputError where it was."""

    sentence: str
    error: InputError | None = None


class News(NamedTuple):
    """What a run has to tell since the last time.

    rows, history: new ones. stride: the trace keeps every stride-th estimate. estimate: the newest, in single
    precision until the run has ended. progress: share of the pass over the data. stop: why it ended, once it has.
    """

    rows: list[Row]
    history: list[tuple[int, Estimate]]
    stride: int
    estimate: Estimate | None
    note: str
    progress: float
    stop: Stop | None = None


class Stream:
    """Sends what a run yields: the first iterate at once, the others together, twenty times a second."""

    def __init__(self, job: Job, send: Send) -> None:
        """Start with nothing to tell."""
        self._trace, self._send = Trace(job), send
        self._rows, self._newest, self._progress, self._told = 0, 0, 0.0, (0, 0.0)
        self._lock, self._over = threading.Lock(), threading.Event()
        self._teller = threading.Thread(target=self._tell_regularly, daemon=True)

    def __enter__(self) -> "Stream":
        """Begin to tell."""
        self._teller.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Tell the rest, and then nothing more by itself."""
        self._over.set()
        self._teller.join()
        self._tell()

    def watch(self, row: Row, iterate: Iterate) -> None:
        """Take an iterate."""
        self._trace.record(row, iterate)
        if len(self._trace.rows) == 1:
            self._tell()

    def progress(self, fraction: float) -> None:
        """Take the share of the pass over the data that is done."""
        self._progress = fraction

    def last(self, stop: Stop) -> News:
        """Return what has not been told, with the final estimate in full precision."""
        return self._news()._replace(estimate=self._trace.estimate, progress=1.0, stop=stop)

    def _tell_regularly(self) -> None:
        # A thread of its own: rows must not wait for an iteration that takes minutes.
        while not self._over.wait(EVERY):
            self._tell()

    def _tell(self) -> None:
        with self._lock:
            state = (len(self._trace.rows), self._progress)
            if state != self._told:
                self._told = state
                self._send("news", self._news())

    def _news(self) -> News:
        trace = self._trace
        rows = trace.rows[self._rows :]
        history = [kept for kept in trace.history if kept[0] > self._newest]
        self._rows += len(rows)
        self._newest = history[-1][0] if history else self._newest
        estimate = single(trace.estimate) if rows and trace.job.spec.watched else None
        return News(rows, history, trace._stride, estimate, trace.note, self._progress)


class Follow(NamedTuple):
    """The order to run one job and stream it."""

    index: int
    job: Job

    def run(self, send: Send) -> None:
        """Send News; the last has a `stop`. Or "failed" with the sentence."""
        try:
            with Stream(self.job, send) as stream:
                stop = run_job(self.job, stream.watch, stream.progress).stop
        except Exception as error:
            send("failed", failure(error).sentence)
        else:
            send("news", stream.last(stop))


class Chunk(NamedTuple):
    """The order to compute some items of many; those not begun after `seconds` are handed back."""

    function: Callable[[Any], Any]
    numbers: list[int]
    items: list[Any]
    seconds: float

    def run(self, send: Send) -> None:
        """Send "results": (number, value or Failure) of each item that was computed, and the seconds it all took."""
        started, results = time.perf_counter(), []
        for number, item in zip(self.numbers, self.items, strict=True):
            if cancelled() or (results and time.perf_counter() - started > self.seconds):
                break
            try:
                results.append((number, self.function(item)))
            except Exception as error:
                results.append((number, failure(error)))
        send("results", (results, time.perf_counter() - started))


Order = Follow | Chunk


def perform(payload: bytes) -> None:
    """Carry out a pickled (topic, task, order), sending what comes of it to the topic as (task, kind, body)."""
    from distributed import get_worker

    worker = get_worker()
    topic, task, order = pickle.loads(payload)

    def send(kind: str, body: Any) -> None:
        # Topics carry plain values, so the message travels as bytes; the scheduler need not know our types.
        worker.log_event(topic, pickle.dumps((task, kind, body)))

    send("started", worker.address)
    try:
        with cancellable(lambda: task in _cancelled):
            order.run(send)
    finally:
        _cancelled.discard(task)


def cancel(task: str) -> None:
    """Let a task end at its next iterate, item or checkpoint (called on the worker, beside the task)."""
    _cancelled.add(task)


def failure(error: Exception) -> Failure:
    """Return an exception as one sentence."""
    if isinstance(error, InputError):
        return Failure(str(error), error)
    if isinstance(error, MemoryError):
        return Failure("The job needed more memory than there is: lower n or p.")
    words = " ".join(str(error).split())[:200]
    return Failure(f"The job failed inside the solver ({type(error).__name__}: {words}).")


def warm() -> None:
    """Have been imported: with this module come numpy, scipy, pandas and the catalogue."""


def dask_setup(worker: Any) -> None:
    """Leave the machine to its user: on a laptop the page must stay quick while all cores compute."""
    os.nice(5)

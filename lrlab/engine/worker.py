"""Carries out tasks on a worker: a followed job that sends its iterates, or a chunk of items.

Results are sent in time even where an item does not come back. Embedded workers load this module before their first
task, so that a click does not pay for imports.
"""

import math
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lrlab import plugins
from lrlab.engine.iterate_sender import IterateSender
from lrlab.engine.messages import ChunkDone, Failed, Failure, Finished, Message, Send, Started
from lrlab.protocol import Stop
from lrlab.runs.job import Job
from lrlab.runs.run import blas_threads, cancellable, cancelled, run_job
from lrlab.runs.trial import result_so_far

NICENESS = 5
SWITCH_SECONDS = 0.0005
OVERTIME_SECONDS = 2.0
"""How long an item may outlast its time limit; then its worker is to end."""
GRACE_SECONDS = 2.0 * OVERTIME_SECONDS
"""After how long the engine ends a worker that cannot say so itself, as where a call holds the interpreter's lock."""
BUSY = 8.0
"""How many seconds of the wall a second of processor time takes at most, on a machine that does much else."""
WATCH_SECONDS = 0.25

_tasks: set[str] = set()
"""Tasks that this process carries out."""
_cancelled_tasks: set[str] = set()


@dataclass(frozen=True)
class FollowJob:
    """Run one job of several on so many BLAS threads, and send its iterates."""

    number: int
    job: Job
    threads: int = 1

    def run(self, send: Send) -> None:
        """Send NewIterates, and at last Finished or Failed."""
        try:
            with blas_threads(self.threads), IterateSender(self.job, send) as sender:
                trace = run_job(self.job, sender.watch, sender.progress, trace=sender.trace)
            assert trace.stop is not None
        except Exception as error:
            send(Failed(Failure.of(error).sentence))
        else:
            send(Finished(trace.stop, sender.last_iterates(), trace.seconds))


@dataclass(frozen=True)
class ComputeChunk:
    """Compute some items of many; those not begun after `seconds` are handed back.

    An item may say by `max_seconds` after how much processor time it is to end. Where it does not, as inside one long
    decomposition, what it has so far is sent, and the engine ends this worker.
    """

    function: Callable[[Any], Any]
    numbers: list[int]
    items: list[Any]
    seconds: float

    def run(self, send: Send) -> None:
        """Send ChunkDone with the items that were computed."""
        with ChunkSender(send) as sender:
            for number, item in zip(self.numbers, self.items, strict=True):
                if cancelled() or (sender.results and sender.elapsed > self.seconds):
                    break
                sender.begin(number, getattr(item, "max_seconds", math.inf))
                if not sender.end(number, computed(self.function, item)):
                    break


def computed(function: Callable[[Any], Any], item: Any) -> Any:
    """Return the function's value of an item, or a Failure."""
    try:
        return function(item)
    except Exception as error:
        return Failure.of(error)


class ChunkSender:
    """Sends the results of a chunk at its end, or when one of its items is overdue."""

    def __init__(self, send: Send) -> None:
        self.results = list[tuple[int, Any]]()
        self._send, self._started, self._thread = send, time.perf_counter(), threading.get_ident()
        self._number, self._deadline, self._processor_deadline = 0, math.inf, math.inf
        self._lock, self._over = threading.Lock(), threading.Event()
        self._watch = threading.Thread(target=self._watch_deadline, daemon=True)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._started

    def __enter__(self) -> "ChunkSender":
        self._watch.start()
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        with self._lock:
            # Where an error ends a chunk without a result the task fails: handed back, its items would come again.
            if not self._over.is_set() and (kind is None or self.results):
                self._send(ChunkDone(self.results, self.elapsed))
            self._over.set()

    def begin(self, number: int, max_seconds: float) -> None:
        """Begin an item."""
        with self._lock:
            self._number, self._deadline = number, time.perf_counter() + BUSY * max_seconds + OVERTIME_SECONDS
            self._processor_deadline = time.process_time() + max_seconds + OVERTIME_SECONDS

    def end(self, number: int, value: Any) -> bool:
        """Take the value of an item, and return whether it has come in time."""
        with self._lock:
            self._deadline = self._processor_deadline = math.inf
            if not self._over.is_set():
                self.results.append((number, value))
            return not self._over.is_set()

    def _watch_deadline(self) -> None:
        while not self._over.wait(WATCH_SECONDS):
            with self._lock:
                in_time = time.perf_counter() < self._deadline and time.process_time() < self._processor_deadline
                if in_time or self._over.is_set():
                    continue
                value = result_so_far(self._thread)
                late = Failure(Stop.TIMEOUT.value) if value is None else value
                self._over.set()
                self._send(ChunkDone([*self.results, (self._number, late)], self.elapsed, overdue=True))


Assignment = FollowJob | ComputeChunk
"""What a task does."""


def perform(payload: bytes) -> None:
    """Carry out a pickled (topic, task, assignment); its messages go to the topic as pickled (task, message)."""
    from distributed import get_worker

    worker = get_worker()
    topic, task, own, pickled = pickle.loads(payload)

    def send(message: Message) -> None:
        # Topics carry plain values, so the message travels as bytes; the scheduler need not know our types.
        worker.log_event(topic, pickle.dumps((task, message)))

    _tasks.add(task)
    send(Started(worker.address))
    try:
        plugins.install(own)
        with cancellable(lambda: task in _cancelled_tasks):
            pickle.loads(pickled).run(send)
    except Exception as error:
        # As text: the engine may not have the error's class.
        raise RuntimeError(plugins.described(error)) from None
    finally:
        _tasks.discard(task)
        _cancelled_tasks.discard(task)


def cancel(tasks: Sequence[str]) -> None:
    """Let those of the tasks that run here end at their next iterates, items or checkpoints (beside the tasks)."""
    _cancelled_tasks.update(_tasks.intersection(tasks))


def warm() -> None:
    """Have been imported: with this module come numpy, scipy, pandas and the catalogue."""


def dask_setup(worker: Any) -> None:
    """Lower this process's priority: on a laptop the page must stay quick while all cores compute."""
    os.nice(NICENESS)
    # A message passes between threads several times, and waits each time for a solver that holds the interpreter.
    sys.setswitchinterval(SWITCH_SECONDS)

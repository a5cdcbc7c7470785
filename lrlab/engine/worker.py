"""Tasks on a worker: a followed job that sends its iterates, or a batch of items.

Embedded workers import this module before their first task, so that a click does not pay for imports.
"""

import math
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from lrlab import catalog
from lrlab.engine.live import BatchDone, Failed, Finished, IterateSender, Message, Send, Started
from lrlab.engine.results import TIMED_OUT, Failure, computed
from lrlab.runs.job import Job
from lrlab.runs.run import ENDED, blas_threads, cancelled, run_job, thread

NICENESS = 5
SWITCH_SECONDS = 0.0005
OVERTIME_SECONDS = 2.0
"""Shortest excess over an item's time limit, in seconds; an item with a longer limit may take twice its limit."""
BUSY = 8.0
"""Most seconds of wall time per second of processor time, on a machine that does much else."""
WATCH_SECONDS = 0.25


def follow_job(job: Job, threads: int, send: Send) -> None:
    """Run a job on so many BLAS threads; send NewIterates, and at last Finished or Failed."""
    sender = IterateSender(job, send)
    try:
        with blas_threads(threads):
            trace = run_job(job, sender.watch, sender.progress, trace=sender.trace)
        assert trace.stop is not None
    except Exception as error:
        sender.send_new()
        send(Failed(Failure.of(error).sentence))
    else:
        send(Finished(trace.stop, sender.last_iterates(), trace.seconds))


def compute_batch(
    function: Callable[[Any], Any], numbers: Sequence[int], items: Sequence[Any], seconds: float, send: Send
) -> None:
    """Compute some items of many, and send BatchDone; those that have not begun after `seconds` are handed back.

    An item may give its limit of processor time as `max_seconds`. If an item ignores it, for example inside one long
    decomposition, the results so far are sent, and the engine ends this worker.
    """
    began, results = time.perf_counter(), list[tuple[int, Any]]()
    lock, over = threading.Lock(), threading.Event()
    number, wall, processor = 0, math.inf, math.inf

    def watch() -> None:
        while not over.wait(WATCH_SECONDS):
            with lock:
                if time.perf_counter() > wall or time.process_time() > processor:
                    over.set()
                    send(BatchDone([*results, (number, TIMED_OUT)], 0.0, overdue=True))

    threading.Thread(target=watch, daemon=True).start()
    try:
        for number, item in zip(numbers, items, strict=True):
            if cancelled() or (results and time.perf_counter() > began + seconds):
                break
            most = getattr(item, "max_seconds", math.inf)
            limit = most + max(most, OVERTIME_SECONDS)
            with lock:
                wall, processor = time.perf_counter() + BUSY * limit, time.process_time() + limit
            value = computed(function, item)
            with lock:
                wall = processor = math.inf
                if over.is_set():
                    return
                results.append((number, value))
    finally:
        over.set()
    send(BatchDone(results, time.perf_counter() - began))


def perform(payload: bytes) -> None:
    """Carry out a pickled (topic, task, plugins, work); messages go to the topic as pickled (task, message)."""
    from distributed import get_worker

    worker = get_worker()
    topic, task, own, pickled = pickle.loads(payload)

    def send(message: Message) -> None:
        # Topics carry plain values, so messages travel as bytes; the scheduler need not know our types.
        worker.log_event(topic, pickle.dumps((task, message)))

    send(Started())
    try:
        catalog.install(own)
        thread.task = task
        pickle.loads(pickled)(send)
    except Exception as error:
        # As text: the engine may not have the error's class. Broken plugins may be the reason.
        raise RuntimeError("; ".join([*catalog.LEFT_OUT, f"{type(error).__name__}: {error}"])) from None
    finally:
        ENDED.discard(task)


def cancel(tasks: Sequence[str]) -> None:
    """Let tasks end at their next iterates, items or checkpoints."""
    ENDED.update(tasks)


def dask_setup(worker: Any) -> None:
    """Lower this process's priority: on a laptop the page must stay quick while all cores compute."""
    os.nice(NICENESS)
    # A message passes between threads several times, and waits each time for a solver that holds the interpreter.
    sys.setswitchinterval(SWITCH_SECONDS)

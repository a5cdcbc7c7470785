"""Runs jobs on dask.distributed: on embedded workers by default, or on an existing scheduler by its address.

Dask places tasks on free workers, restarts workers and reports lost tasks. The engine decides who is next (module
`calls`), and ends late tasks. All of it happens under one lock, mostly in the thread of dask's client.
"""

import asyncio
import atexit
import logging
import os
import pickle
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from math import inf
from typing import Any

from lrlab import catalog, extras
from lrlab.engine import worker as worker_side
from lrlab.engine.calls import KILL, PERFORM, Batch, Call, next_call, out_of_memory
from lrlab.engine.live import BatchDone, Failed, Finished, LiveRuns, Queued, Started
from lrlab.engine.local_cluster import LocalCluster, client_of
from lrlab.engine.results import BATCH_SECONDS, Results, Together, WorkerResults, one_line
from lrlab.engine.worker import OVERTIME_SECONDS
from lrlab.parameters import InputError
from lrlab.protocol import Stop
from lrlab.runs.job import Job

POLL_SECONDS, IDLE_SECONDS = 0.1, 0.5
"""Pause between two checks for late batches; pause while nothing is under way."""
CONNECT_SECONDS, WARM_SECONDS, CLOSE_SECONDS = 5.0, 60.0, 1.0
CANCEL_SECONDS = 0.4
"""Time that a cancelled batch has to end by itself; then its worker is killed."""
REASON_SECONDS = 0.3
"""Time to wait for the reason of a worker's death."""
LONGER, WORKERS = 4.0, 20.0
"""Most usual durations of a batch that holds up nobody; number of workers whose batches have the usual duration."""
SHORTAGE_SECONDS = 30.0
"""Pause between two warnings that work waits for an existing cluster without workers."""
LOG = logging.getLogger("lrlab.engine")
ENDED = "The engine that ran the job has ended: run it again."
LOST = "The worker that ran the job was lost, and so was a second one: lower n or p, or run it again."


class Engine:
    """One connection to a scheduler; safe to use from many threads (sessions) at once."""

    def __init__(self, address: str | None = None, workers: int = 0) -> None:
        """Start the embedded scheduler and workers (one per core if 0), or connect to the scheduler at `address`.

        The embedded engine returns at once, and work waits until its workers are there. InputError if no scheduler
        answers at the address, or if the engine is not installed.
        """
        # Here, so that no other thread imports it while a page holds the interpreter.
        with extras.named():
            import distributed  # noqa: F401

        self.address, self._ended = address or "", ""
        self._client: Any = None
        self._lock, self._has_workers = threading.RLock(), threading.Event()
        self._cluster: LocalCluster | None = None
        self._calls, self._batches, self._outgrown = list[Call](), dict[str, Batch](), set[str]()
        self._soon_calls = deque[tuple[Callable[..., None], tuple[Any, ...]]]()
        self._workers, self._spare = 0, 0
        self._topic = f"lrlab-{uuid.uuid4().hex}"
        if address:
            try:
                client = client_of(address, CONNECT_SECONDS)
                self._serve(client)
                self._workers = sum(client.ncores().values())
            except (OSError, ValueError, TypeError) as error:
                remedy = "start one there with `dask scheduler`, or leave it out to run on this machine"
                expected = "the address of a running dask scheduler"
                raise InputError("scheduler", expected, address, remedy) from error
        else:
            threading.Thread(target=self._start, args=(workers,), name="lrlab-engine", daemon=True).start()

    @property
    def alive(self) -> bool:
        """Whether it takes work."""
        return not self._ended

    @property
    def shortage(self) -> str:
        """The sentence that an existing cluster has no workers, or nothing."""
        sentence = f"The cluster has no workers: start one with `dask worker {self.address}`."
        return sentence if self.address and not self._workers and self.alive else ""

    def warm(self) -> None:
        """Return when a worker is there that has imported all that a job needs; at most after a minute."""
        if self._has_workers.wait(WARM_SECONDS) and self.address and self.alive:
            self._client.run(worker_side.cancel, [], on_error="ignore")

    def follow(self, jobs: Sequence[Job], threads: int = 1) -> LiveRuns:
        """Start jobs that send their iterates; callers take fair turns.

        threads: of BLAS for each; one, unless nothing else runs on this machine.
        """
        call = Call(jobs, None, threads=threads)
        self._add(call)
        return LiveRuns(jobs, call.inbox, lambda: self._soon(self._cancel, call))

    def map(
        self,
        function: Callable[[Any], Any],
        items: Iterable[Any],
        batch_seconds: float = BATCH_SECONDS,
        item_seconds: float = inf,
    ) -> WorkerResults:
        """Start function(item) for all items, in batches of about `batch_seconds`.

        An item that takes longer than `item_seconds` is ended by force.
        """
        items = tuple(items)
        call = Call(items, function, batch_seconds, item_seconds)
        self._add(call)
        return WorkerResults(items, call.inbox, lambda: self._soon(self._cancel, call))

    def close(self) -> None:
        """End all work and the embedded processes; an existing scheduler continues."""
        self._end("")
        with suppress(Exception):
            self._client.close(timeout=CLOSE_SECONDS)
        if self._cluster is not None:
            self._cluster.close()

    def _start(self, workers: int) -> None:
        try:
            self._cluster = LocalCluster(workers)
            client = self._cluster.client()
        except (InputError, RuntimeError, OSError) as error:
            self._end(str(error))
        else:
            self._spare = self._cluster.spare
            self._serve(client)
        if not self.alive:
            # It was closed meanwhile.
            self.close()

    def _serve(self, client: Any) -> None:
        client.subscribe_topic(self._topic, self._receive)
        client.subscribe_topic("worker-restart-memory", lambda event: self._outgrown.add(event[1]["worker"]))
        self._client = client
        self._in_loop(self._watch())

    async def _watch(self) -> None:
        warned = -inf
        while self.alive and self._client.status == "running" and (self._cluster is None or self._cluster.alive):
            with suppress(OSError):
                self._workers = sum((await self._client.scheduler.ncores()).values())
            if self._workers:
                self._has_workers.set()
            self._end_late(time.monotonic())
            self._run_soon()
            self._fill()
            if self.shortage and self._calls and time.monotonic() > warned + SHORTAGE_SECONDS:
                warned = time.monotonic()
                LOG.warning(self.shortage)
            await asyncio.sleep(POLL_SECONDS if self._calls or not self._workers else IDLE_SECONDS)
        if self.alive:
            if self._cluster is not None and not self._has_workers.is_set():
                self._end(str(self._cluster.not_started()))
            reason = self._cluster.logged_error() if self._cluster is not None else ""
            self._end(f"The engine that ran the job has ended{reason and ': ' + reason}. Run it again.")
            # Closed in this thread, a client waits for itself.
            threading.Thread(target=self.close, daemon=True).start()

    def _add(self, call: Call) -> None:
        with self._lock:
            if self.alive:
                self._calls.append(call)
            else:
                call.give_up(call.items, self._ended)
        # Not in this thread: one of many that draw pages would hold the lock while it waits for the interpreter.
        self._soon(self._fill)

    def _fill(self) -> None:
        """Send tasks to free workers, and tell waiting callers how many come first."""
        with self._lock:
            while self._workers and (call := next_call(self._calls, self._workers, self._spare, time.monotonic())):
                self._send(call)
            self._calls = [call for call in self._calls if call.waiting or call.running]
            waiting = [call for call in self._calls if call.urgent and call.waiting]
            for ahead, call in enumerate(sorted(waiting, key=lambda call: (call.running, call.sent_at))):
                for number in call.items if ahead != call.ahead else ():
                    call.put(number, Queued(ahead))
                call.ahead = ahead

    def _send(self, call: Call) -> None:
        # Longer batches if they hold up nobody, since a spare worker waits for what comes; and if many workers share a
        # scheduler.
        alone = self._spare and len(self._calls) == 1
        longer = max(min(max(call.computed, 1.0), LONGER) if alone else 1.0, self._workers / WORKERS)
        (numbers, work), now = call.next_batch(max(self._workers - self._spare, 1), longer), time.monotonic()
        # On an existing scheduler a batch may wait for its worker.
        seconds, began = call.limit(numbers) + 2.0 * longer * call.batch_seconds, inf if self.address else now
        key, batch = f"lrlab-{uuid.uuid4().hex}", Batch(call, numbers, seconds, began)
        try:
            import cloudpickle

            # By value if necessary: functions of a notebook or script travel too. The work is read last, since it needs
            # the plugins.
            payload = cloudpickle.dumps((self._topic, key, catalog.sources(), cloudpickle.dumps(work)))
            batch.future = self._client.submit(PERFORM, payload, key=key, pure=False, priority=int(call.urgent))
        except Exception as error:
            # Pickle refuses in many ways.
            batch.lose(f"The job cannot be sent to a worker: {one_line(error)}.")
            return
        self._batches[key] = batch
        call.running, call.sent_at = call.running + 1, now
        batch.future.add_done_callback(lambda future: self._done(key, future))
        if call.urgent and not self.address:
            # It is the only task of its worker, which cannot say so while a call holds the interpreter.
            call.put(numbers[0], Started())

    def _receive(self, event: tuple[float, bytes]) -> None:
        key, message = pickle.loads(event[1])
        with self._lock:
            batch = self._batches.get(key)
            if batch is None or batch.settled:
                return
            call, batch.last_message_at = batch.call, time.monotonic()
            if isinstance(message, Started):
                # Again after a lost worker: an existing scheduler restarts a task by itself.
                batch.began = batch.last_message_at
            if self.address or not isinstance(message, Started):
                call.put(batch.numbers[0], message)
            batch.settled = isinstance(message, Finished | Failed | BatchDone)
            if isinstance(message, BatchDone):
                call.pace(message)
                call.put_back(batch.numbers)
                if message.overdue:
                    self._in_loop(self._tell([key], KILL, nanny=True))

    def _done(self, key: str, future: Any) -> None:
        """Take note of the end of a task, whose messages have come before; in dask's thread for this."""
        from distributed import KilledWorker

        error: BaseException | None = None
        if future.status == "error":
            try:
                error = future.exception(timeout=CONNECT_SECONDS)
            except Exception as unreadable:
                # An exception of a class that this process does not have.
                error = unreadable
        worker = error.last_worker.address if isinstance(error, KilledWorker) else ""
        batch = self._batches.get(key)
        if batch and not batch.settled and worker and worker not in self._outgrown:
            time.sleep(REASON_SECONDS)
        with self._lock:
            if batch is None or self._batches.pop(key, None) is None:
                return
            batch.call.running -= 1
            if worker:
                self._workers = max(self._workers - 1, 0)
            if worker in self._outgrown:
                batch.lose(out_of_memory(self._cluster.memory if self._cluster else None))
            elif worker or error is None:
                batch.lose(LOST, retry=True)
            else:
                # A worker reports its internal errors as RuntimeError.
                kind = "" if type(error) is RuntimeError else f"{type(error).__name__}: "
                batch.lose(f"The workers cannot run the job ({kind}{one_line(error)}).")
        self._soon(self._fill)

    def _cancel(self, call: Call) -> None:
        with self._lock:
            own = {key: batch for key, batch in self._batches.items() if batch.call is call and not batch.settled}
            for key, batch in own.items():
                batch.deadline, batch.stop = time.monotonic() + CANCEL_SECONDS, Stop.CANCELLED
                if batch.began == inf:
                    # It waits on its worker behind tasks of others.
                    del self._batches[key]
                    call.running -= 1
                    batch.future.release()
            running = {number for key in own.keys() & self._batches for number in own[key].numbers}
            call.give_up(call.items.keys() - running)
        if running:
            self._in_loop(self._tell(own, worker_side.cancel, list(own)))
        self._fill()

    def _end_late(self, now: float) -> None:
        with self._lock:
            late = list[str]()
            for key, batch in self._batches.items():
                limit = inf if batch.settled else max(batch.began + batch.seconds, batch.last_message_at)
                if now <= min(batch.deadline, limit + OVERTIME_SECONDS):
                    continue
                late.append(key)
                batch.deadline = inf
                if batch.call.urgent and not batch.settled:
                    batch.call.put(batch.numbers[0], Finished(batch.stop, None, now - batch.began))
                batch.lose(batch.stop.value)
        if late:
            self._in_loop(self._tell(late, KILL, nanny=True))

    async def _tell(self, keys: Iterable[str], function: Callable[..., Any], *given: Any, nanny: bool = False) -> None:
        """Call a function on the workers that have some of these tasks, or by their nannies."""
        having = (await self._client.scheduler.processing()).items()
        if where := [worker for worker, tasks in having if set(keys).intersection(tasks)]:
            await self._client.run(function, *given, workers=where, nanny=nanny, on_error="ignore")

    def _end(self, sentence: str) -> None:
        with self._lock:
            self._ended = self._ended or sentence or ENDED
            for call in self._calls:
                call.give_up(call.items, sentence)
            self._calls.clear()
            self._batches.clear()
        self._has_workers.set()

    def _soon(self, call: Callable[..., None], *given: Any) -> None:
        """Call in the thread of dask's client: the garbage collector may call this one under any lock."""
        self._soon_calls.append((call, given))
        if self._client is not None:
            self._client.loop.add_callback(self._run_soon)

    def _run_soon(self) -> None:
        while self.alive and self._soon_calls:
            call, given = self._soon_calls.popleft()
            call(*given)

    def _in_loop(self, work: Coroutine[Any, Any, None]) -> None:
        """Carry out a call to workers or the scheduler, which may be gone by now."""

        async def quietly() -> None:
            try:
                await work
            except Exception:
                LOG.debug("the cluster did not answer", exc_info=True)

        asyncio.run_coroutine_threadsafe(quietly(), self._client.loop.asyncio_loop)


_engines: dict[str, Engine] = {}
_starting = threading.Lock()


def get_engine(address: str | None = None) -> Engine:
    """Return the engine of this process for an address (default: LRLAB_SCHEDULER, or embedded), started once.

    InputError if no scheduler answers there.
    """
    chosen = address or os.environ.get("LRLAB_SCHEDULER", "")
    with _starting:
        if chosen not in _engines or not _engines[chosen].alive:
            _engines[chosen] = Engine(chosen or None)
        return _engines[chosen]


def shortage() -> str:
    """Return the sentence that the engine of the pages has no workers, or nothing; starts no engine."""
    engine = _engines.get(os.environ.get("LRLAB_SCHEDULER", ""))
    return engine.shortage if engine is not None else ""


def on_workers(function: Callable[[Any], Any], items: Iterable[Any]) -> Results:
    """Start function(item) for all items on the engine of this process: a `results.Start`."""
    return get_engine().map(function, items)


together = Together(on_workers)
"""The small requests of this process."""


@atexit.register
def close_engines() -> None:
    """Close all engines of this process; the next use starts them anew."""
    with _starting:
        while _engines:
            _engines.popitem()[1].close()

"""Connects the engine to a dask scheduler: sends tasks there, ends and kills them, and reports what becomes of them."""

import asyncio
import pickle
import uuid
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any

from lrlab import plugins
from lrlab.engine import worker as worker_side
from lrlab.engine.connect import CONNECT_SECONDS, connect, reach
from lrlab.engine.embedded import Embedded
from lrlab.engine.orders import (
    Order,
    TaskDone,
    TaskLocated,
    TaskMessage,
    WorkerOutOfMemory,
    WorkersChanged,
)
from lrlab.runs.memory import GIB

CLOSE_SECONDS = 1.0


class Cluster:
    """A connection to a scheduler: the embedded one, or an existing one by its address."""

    def __init__(self, address: str | None, workers: int, post: Callable[[Order], None]) -> None:
        """Start or reach the scheduler, and `post` reports to the engine's thread.

        InputError where none answers at the address, RuntimeError where the embedded one cannot be started.
        """
        self._post, self._topic, self.address = post, f"lrlab-{uuid.uuid4().hex}", address or ""
        self._embedded = None if self.address else Embedded(workers)
        self._workers_changed = self._querying_workers = False
        self._client = reach(self._embedded) if self._embedded is not None else connect(self.address)
        subscribe = self._client.subscribe_topic
        subscribe(self._topic, lambda event: post(TaskMessage(*pickle.loads(event[1]))))
        subscribe("worker-restart-memory", lambda event: post(WorkerOutOfMemory(event[1]["worker"])))
        subscribe("all", self._scheduler_event)

    @property
    def spare(self) -> int:
        """How many workers there are beyond the cores, for what must not wait."""
        return self._embedded.spare if self._embedded is not None else 0

    @property
    def resends(self) -> bool:
        """Whether the scheduler gives tasks that are lost with their worker to another one: unless it is embedded."""
        return self._embedded is None

    @property
    def alive(self) -> bool:
        """Whether the scheduler is there."""
        return bool(self._client.status == "running") and (self._embedded is None or self._embedded.alive)

    @property
    def no_workers(self) -> str:
        """The sentence while the existing scheduler has no worker; nothing of the embedded one, whose workers start."""
        return self.address and f"The cluster has no workers: start one with `dask worker {self.address}`."

    def ended(self, had_workers: bool) -> str:
        """Return the sentence for jobs under way when the scheduler ended, before its first worker or after it."""
        if self._embedded is not None and not had_workers:
            return str(self._embedded.not_started())
        reason = self._embedded.logged_error() if self._embedded is not None else ""
        return f"The engine that ran the job has ended{reason and ': ' + reason}. Run it again."

    @property
    def out_of_memory(self) -> str:
        """The sentence for a job that outgrew its worker's memory."""
        if self._embedded is None:
            return "The job needed more memory than its worker has: lower n or p, or give the workers more."
        limit = self._embedded.memory / GIB
        return f"The job needed more than {limit:.3g} GiB of memory: lower n or p, or set LRLAB_MEMORY_GIB."

    def send(self, task: str, assignment: worker_side.Assignment, urgent: bool) -> Any:
        """Send a task and return its future; its messages are reported as TaskMessage, its end as TaskDone."""
        import cloudpickle

        # By value where it has to be: functions of a notebook or script travel too. The assignment is read after what
        # it needs is there.
        payload = cloudpickle.dumps((self._topic, task, plugins.sources(), cloudpickle.dumps(assignment)))
        future = self._client.submit(task_function(), payload, key=task, pure=False, priority=int(urgent))
        future.add_done_callback(lambda future: self._done(task, future))
        return future

    def drop(self, future: Any) -> None:
        """Give up a task; if it has not begun, it never will."""
        future.cancel(force=True)

    def cancel(self, tasks: Mapping[str, Sequence[str]]) -> None:
        """Let tasks that run, by their workers, end at their next iterates, items or checkpoints."""
        if tasks:
            names = [name for own in tasks.values() for name in own]
            self._call(worker_side.cancel, names, workers=[*tasks])

    def locate(self, task: str) -> None:
        """Have TaskLocated reported of a task that has sent no message; on embedded workers only."""
        # An existing scheduler may give a worker several tasks: that it has one does not mean that it runs it.
        if self._embedded is not None:
            self._run_in_loop(self._locate(task))

    def kill(self, worker: str) -> None:
        """End a worker's process; its nanny starts another. A worker without a nanny is left alone."""
        self._call(kill_function(), workers=[worker], nanny=True)

    def warm(self) -> None:
        """Have every worker of an existing cluster import the package; embedded ones have done so."""
        if self._embedded is None:
            self._call(worker_side.warm)

    def threads(self) -> dict[str, int]:
        """Return the numbers of threads of all workers; later changes are reported as WorkersChanged."""
        with suppress(OSError):
            return dict(self._client.ncores())
        return {}

    def close(self) -> None:
        """Leave the scheduler; the embedded one ends."""
        with suppress(Exception):
            self._client.close(timeout=CLOSE_SECONDS)
        if self._embedded is not None:
            self._embedded.close()

    def _call(self, function: Callable[..., Any], *given: Any, **where: Any) -> None:
        async def call() -> None:
            # Within the loop of the client `run` waits for nobody.
            await self._client.run(function, *given, on_error="ignore", **where)

        self._run_in_loop(call())

    def _run_in_loop(self, work: Coroutine[Any, Any, Any]) -> None:
        asyncio.run_coroutine_threadsafe(ignore_errors(work), self._client.loop.asyncio_loop)

    def _scheduler_event(self, event: tuple[float, dict[str, Any]]) -> None:
        if event[1].get("action") in ("add-worker", "remove-worker"):
            self._run_in_loop(self._report_workers())

    async def _locate(self, task: str) -> None:
        for worker, tasks in (await self._client.scheduler.processing()).items():
            if task in tasks:
                self._post(TaskLocated(task, worker))

    async def _report_workers(self) -> None:
        # One question for all that changes meanwhile: a thousand workers come at once, and each answer names them all.
        self._workers_changed = True
        if self._querying_workers:
            return
        self._querying_workers = True
        try:
            while self._workers_changed:
                self._workers_changed = False
                self._post(WorkersChanged(await self._client.scheduler.ncores()))
        finally:
            self._querying_workers = False

    def _done(self, task: str, future: Any) -> None:
        error: BaseException | None = None
        if future.status == "error":
            try:
                error = future.exception(timeout=CONNECT_SECONDS)
            except Exception as unreadable:
                # An exception of a class that this process does not have.
                error = unreadable
        elif future.status != "finished":
            error = ConnectionError(f"the task is {future.status}")
        self._post(TaskDone(task, error))


def task_function() -> Callable[[bytes], None]:
    """Return the function that dask calls; defined inside so that it is pickled by value.

    The scheduler unpickles what it is sent: were it a function of this package, the scheduler would have to import it.
    """

    def lrlab_task(payload: bytes) -> None:
        from lrlab.engine.worker import perform

        perform(payload)

    return lrlab_task


def kill_function() -> Callable[[Any], None]:
    """Return the function by which a nanny kills its worker; by value, for a nanny need not know this package."""

    def kill(dask_worker: Any) -> None:
        import os
        import signal

        os.kill(dask_worker.pid, signal.SIGKILL)

    return kill


async def ignore_errors(work: Coroutine[Any, Any, Any]) -> None:
    """Await a call to a worker or the scheduler, which may be gone by now."""
    with suppress(Exception):
        await work

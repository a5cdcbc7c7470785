"""The engine's side of dask: the connection, and how tasks are sent there, asked to end, and killed."""

import asyncio
import logging
import pickle
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from lrlab.engine import remote
from lrlab.engine.embedded import Embedded
from lrlab.parameters import InputError
from lrlab.runs.memory import GIB

CONNECT = 5.0

Post = Callable[..., None]
"""post(kind, *details) tells the engine's thread what happened: "message" (task, kind, body), "done" (task, error or
None), "located" (task, worker), "starved" (worker that outgrew its memory) or "workers" ({address: threads})."""


class Cluster:
    """A connection to a scheduler: the embedded one, or one that is there already."""

    def __init__(self, address: str | None, workers: int, post: Post) -> None:
        """Start or find the scheduler; InputError when none answers at the address."""
        self._post, self._topic = post, f"lrlab-{uuid.uuid4().hex}"
        self._embedded = None if address else Embedded(workers)
        self._address = address or self._embedded.address()
        try:
            self._client = connect(self._address)
        except InputError:
            if self._embedded is not None:
                self._embedded.close()
            raise
        for topic, handler in (
            (self._topic, self._message),
            ("worker-restart-memory", self._starved),
            ("all", self._event),
        ):
            self._client.subscribe_topic(topic, handler)
        self._later(self._count())

    @property
    def alive(self) -> bool:
        """Whether the scheduler is there."""
        return self._client.status == "running" and (self._embedded is None or self._embedded.alive)

    @property
    def ended(self) -> str:
        """What is said of jobs that were under way when the scheduler went."""
        why = self._embedded.last_words() if self._embedded is not None else ""
        return f"The engine that ran the job has ended{why and ': ' + why}. Run it again."

    @property
    def starved(self) -> str:
        """What is said of a job that outgrew its worker's memory."""
        if self._embedded is None:
            return "The job needed more memory than its worker has: lower n or p, or give the workers more."
        limit = self._embedded.memory / GIB
        return f"The job needed more than {limit:.3g} GiB of memory: lower n or p, or set LRLAB_MEMORY_GIB."

    def send(self, task: str, order: remote.Order, urgent: bool) -> Any:
        """Send a task and return its future; "started" and what it sends arrive as messages, its end as "done"."""
        import cloudpickle

        # By value where it has to be: functions of a notebook or script travel too.
        payload = cloudpickle.dumps((self._topic, task, order))
        future = self._client.submit(carrier(), payload, key=task, pure=False, priority=int(urgent))
        future.add_done_callback(lambda future: self._done(task, future))
        return future

    def drop(self, future: Any) -> None:
        """Forget a task; if it has not begun, it never will."""
        future.cancel(force=True)

    def cancel(self, worker: str, task: str) -> None:
        """Ask a task that runs to end."""
        self._later(self._client._run(remote.cancel, task, workers=[worker], on_error="ignore"))

    def locate(self, task: str) -> None:
        """Find out which worker has a task that has not said so: "located" follows. Embedded workers have one each."""
        if self._embedded is not None:
            self._later(self._locate(task))

    def kill(self, worker: str) -> None:
        """End a worker's process; its nanny starts another. A worker without a nanny is left alone."""
        self._later(self._client._run(killer(), workers=[worker], nanny=True, on_error="ignore"))

    def warm(self) -> None:
        """Have every worker of an existing cluster import the package; embedded ones have."""
        if self._embedded is None:
            self._later(self._client._run(remote.warm, on_error="ignore"))

    def close(self) -> None:
        """Leave the scheduler; the embedded one ends."""
        with suppress(Exception):
            self._client.close(timeout=1.0)
        if self._embedded is not None:
            self._embedded.close()

    def _later(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(quietly(work), self._client.loop.asyncio_loop)

    def _message(self, event: tuple[float, bytes]) -> None:
        self._post("message", *pickle.loads(event[1]))

    def _starved(self, event: tuple[float, dict[str, Any]]) -> None:
        self._post("starved", event[1]["worker"])

    def _event(self, event: tuple[float, dict[str, Any]]) -> None:
        if event[1].get("action") in ("add-worker", "remove-worker"):
            self._later(self._count())

    async def _locate(self, task: str) -> None:
        for worker, tasks in (await self._client.scheduler.processing()).items():
            if task in tasks:
                self._post("located", task, worker)

    async def _count(self) -> None:
        self._post("workers", await self._client.scheduler.ncores())

    def _done(self, task: str, future: Any) -> None:
        error: Exception | None = None
        if future.status == "error":
            error = future.exception(timeout=CONNECT)
        elif future.status != "finished":
            error = ConnectionError(f"the task is {future.status}")
        self._post("done", task, error)


def connect(address: str) -> Any:
    """Return a client of the scheduler at the address."""
    from distributed import Client

    # Whatever the library has to say of lost connections, the engine says in one sentence where it matters.
    for name in ("distributed", "distributed.client", "distributed.core", "distributed.comm"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    logging.getLogger("tornado.application").addFilter(worth_telling)
    try:
        return Client(address, timeout=CONNECT, set_as_default=False, name="lrlab")
    except (OSError, ValueError, TypeError) as error:
        remedy = "start one there with `dask scheduler`, or leave it out to run on this machine"
        raise InputError("scheduler", "an address at which a dask scheduler answers", address, remedy) from error


def worth_telling(record: logging.LogRecord) -> bool:
    """Tell whether a log record says more than that this program is ending while the library still has callbacks."""
    return not (record.exc_info and "cannot schedule new futures" in str(record.exc_info[1]))


def carrier() -> Callable[[bytes], None]:
    """Return the function that dask is given; made here so that it is pickled by value.

    The scheduler unpickles what it is sent: were it a function of this package, the scheduler would have to import it.
    """

    def lrlab_task(payload: bytes) -> None:
        from lrlab.engine.remote import perform

        perform(payload)

    return lrlab_task


def killer() -> Callable[[Any], None]:
    """Return the function by which a nanny kills its worker; by value, for a nanny need not know this package."""

    def kill(dask_worker: Any) -> None:
        import os
        import signal

        os.kill(dask_worker.pid, signal.SIGKILL)

    return kill


async def quietly(work: Any) -> None:
    """Wait for a message to be delivered, or not: the worker may be gone by now."""
    with suppress(Exception):
        await work

"""Runs jobs on dask.distributed: embedded by default, or an existing scheduler by its address.

Embedded, a scheduler and one single-threaded worker per core are processes of their own, bound to 127.0.0.1, each
worker with a memory limit whose breach ends the job that caused it, and nothing else. One thread owns everything that
is under way (`dispatch`); sessions put `orders` in its queue and read their own inboxes (`handles`, `worker_stream`).
"""

import atexit
import logging
import math
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from lrlab import extras
from lrlab.engine.cluster import Cluster
from lrlab.engine.dispatch import Dispatcher
from lrlab.engine.follow_work import FollowWork
from lrlab.engine.handles import Following
from lrlab.engine.inbox import Inbox
from lrlab.engine.orders import AddWork, CancelWork, Close, Order, Warm
from lrlab.engine.stream import CHUNK_SECONDS, ResultStream
from lrlab.engine.work import MapWork
from lrlab.engine.worker_stream import WorkerStream
from lrlab.parameters import InputError
from lrlab.runs.job import Job

POLL_SECONDS, IDLE_POLL_SECONDS = 0.1, 0.5
"""Between two looks at what is late; where nothing is under way only the end of the scheduler is looked for."""
WARM_SECONDS = 60.0
CLOSE_SECONDS = 5.0
SHORTAGE_SECONDS = 30.0
"""How often it is said that work waits for an existing cluster that has no workers."""
LOG = logging.getLogger("lrlab.engine")
ENDED = "The engine that ran the job has ended: run it again."


class Engine:
    """One connection to a scheduler; safe to use from many threads (sessions) at once.

    shortage: the sentence where work would wait because an existing cluster has no workers, else nothing.
    """

    def __init__(self, address: str | None = None, workers: int = 0) -> None:
        """Start the embedded scheduler and workers (one per core if 0), or connect to the scheduler at `address`.

        Embedded, this returns at once and orders wait until the workers are there. Raises InputError when no scheduler
        answers at the address, or where the engine is not installed.
        """
        # Here, so that the engine's thread does not import it while a page holds the interpreter.
        with extras.named():
            import distributed  # noqa: F401

        self._orders: queue.SimpleQueue[Order] = queue.SimpleQueue()
        self._address, self._workers = address, workers
        self._refused: Exception | None = None
        self.shortage = ""
        self._started, self._has_workers = threading.Event(), threading.Event()
        # Between the two the thread says to what was under way that it ended: who then asks again needs another engine.
        self._ending, self._closed = threading.Event(), threading.Event()
        threading.Thread(target=self._serve, name="lrlab-engine", daemon=True).start()
        if address:
            self._started.wait()
            if self._refused:
                raise self._refused

    @property
    def alive(self) -> bool:
        """Whether it takes orders."""
        return not self._ending.is_set()

    @property
    def local(self) -> bool:
        """Whether its workers see the files of this machine."""
        return not self._address

    def warm(self) -> None:
        """Return when a worker is there, with everything imported that a job needs; at most after a minute."""
        self._post(Warm())
        self._has_workers.wait(WARM_SECONDS)

    def follow(self, jobs: Sequence[Job], threads: int = 1) -> Following:
        """Start jobs that send their iterates; turns are fair between calls.

        threads: of BLAS for each; one, unless a job is alone on this machine.
        """
        inbox = Inbox()
        work = FollowWork(inbox, threads)
        self._post(AddWork(work, list(enumerate(jobs))))
        return Following(jobs, inbox, lambda: self._post(CancelWork(work)))

    def map(
        self,
        function: Callable[[Any], Any],
        items: Iterable[Any],
        chunk_seconds: float = CHUNK_SECONDS,
        item_seconds: float = float("inf"),
    ) -> WorkerStream:
        """Start function(item) for all items, in chunks of about `chunk_seconds`.

        An item that takes longer than `item_seconds` is ended by force.
        """
        inbox = Inbox()
        work = MapWork(function, chunk_seconds, item_seconds, inbox)
        add, cancel = lambda part: self._post(AddWork(work, part)), lambda: self._post(CancelWork(work))
        return WorkerStream(items, inbox, add, cancel, lambda: work.demand)

    def close(self) -> None:
        """End what is under way and the embedded processes; an existing scheduler continues."""
        self._post(Close())
        self._closed.wait(CLOSE_SECONDS)

    def _post(self, order: Order) -> None:
        self._orders.put(order)
        # The thread may have ended in between: then the queue is not read any more.
        if self._closed.is_set():
            self._refuse_all()

    def _refuse_all(self) -> None:
        with suppress(queue.Empty):
            while order := self._orders.get_nowait():
                if isinstance(order, AddWork):
                    order.work.add(order.items)
                    order.work.close(str(self._refused or ENDED))

    def _serve(self) -> None:
        try:
            cluster = Cluster(self._address, self._workers, self._post)
        except (InputError, RuntimeError, OSError) as error:
            self._refused = error
        else:
            dispatcher = Dispatcher(cluster)
            self.shortage = dispatcher.shortage
            self._started.set()
            try:
                self._carry_out_orders(cluster, dispatcher)
            finally:
                self._ending.set()
                dispatcher.close(cluster.ended(self._has_workers.is_set()))
                cluster.close()
        finally:
            for event in (self._ending, self._closed, self._started, self._has_workers):
                event.set()
            self._refuse_all()

    def _carry_out_orders(self, cluster: Cluster, dispatcher: Dispatcher) -> None:
        last_check, last_warning = 0.0, -math.inf
        while True:
            with suppress(queue.Empty):
                match self._orders.get(timeout=POLL_SECONDS if any(dispatcher.load) else IDLE_POLL_SECONDS):
                    case Close():
                        dispatcher.close()
                        return
                    case Warm():
                        cluster.warm()
                    case order:
                        dispatcher.handle(order)
            now = time.monotonic()
            if now > last_check + POLL_SECONDS:
                last_check = now
                if not cluster.alive:
                    return
            dispatcher.step()
            if dispatcher.workers:
                self._has_workers.set()
            self.shortage = dispatcher.shortage
            if self.shortage and dispatcher.load[0] and now > last_warning + SHORTAGE_SECONDS:
                last_warning = now
                LOG.warning(self.shortage)


_engines: dict[str, Engine] = {}
_starting = threading.Lock()


def get_engine(address: str | None = None) -> Engine:
    """Return the engine of this process for an address (default: LRLAB_SCHEDULER, or embedded), started once.

    Raises InputError when no scheduler answers there.
    """
    chosen = address or os.environ.get("LRLAB_SCHEDULER", "")
    with _starting:
        if chosen not in _engines or not _engines[chosen].alive:
            _engines[chosen] = Engine(chosen or None)
        return _engines[chosen]


def shortage() -> str:
    """Return the sentence where the engine that pages use has no workers, else nothing; starts none."""
    engine = _engines.get(os.environ.get("LRLAB_SCHEDULER", ""))
    return engine.shortage if engine is not None else ""


def on_workers(function: Callable[[Any], Any], items: Iterable[Any]) -> ResultStream:
    """Start function(item) for all items on the engine of this process: a `stream.StartStream`."""
    return get_engine().map(function, items)


@atexit.register
def close_engines() -> None:
    """Close all engines of this process; the next use starts them anew."""
    with _starting:
        while _engines:
            _engines.popitem()[1].close()

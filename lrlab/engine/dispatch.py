"""Whose turn it is, and what happens when a task is late or its worker is lost. Used by the engine's thread alone.

No more tasks are under way than there are workers, so that whoever comes next starts as soon as one of them is free:
what is followed first, and of several the one that has least. Followed jobs leave one worker to a sweep that waits.
"""

import time
import uuid
from collections import deque
from collections.abc import Sequence
from typing import Any

from lrlab.engine.cluster import Cluster
from lrlab.engine.work import KILLED, Loss, Task, Work
from lrlab.protocol import Stop

ANSWER = 0.8
"""Seconds that a task has for ending by itself when it is cancelled; then its worker is killed."""
GRACE = 2.0
"""Seconds of silence beyond a job's time limit after which its worker is killed."""
HEARSAY = 2.0
"""Seconds in which the reason of a worker's death arrives, if it was memory."""
SILENCE, SEEK = 5.0, 2.0
DYING, RESTART = 3.0, 10.0


class Dispatcher:
    """All work and all tasks of an engine."""

    def __init__(self, cluster: Cluster) -> None:
        """Start with nothing to do."""
        self._cluster = cluster
        self._works: list[Work] = []
        self._tasks: dict[str, Task] = {}
        self._threads: dict[str, int] = {}
        self._killed: dict[str, float] = {}
        self._starved: deque[str] = deque(maxlen=100)

    @property
    def workers(self) -> int:
        """How many tasks can run at once."""
        now = time.monotonic()
        # A worker without a nanny survives: it is counted again, for some day its call returns.
        gone = [worker for worker, killed in self._killed.items() if now < killed + RESTART]
        return sum(threads for worker, threads in self._threads.items() if worker not in gone)

    def add(self, work: Work, items: Sequence[tuple[int, Any]]) -> None:
        """Take on work, or more items of it."""
        work.add(items)
        if work not in self._works:
            self._works.append(work)

    def cancel(self, work: Work) -> None:
        """End work: at once what waits, within a second what runs."""
        work.close()
        for name, task in list(self._tasks.items()):
            if task.work is work and not task.over:
                task.due, task.then = min(task.due, time.monotonic() + ANSWER), Stop.CANCELLED
                if task.starts:
                    self._cluster.cancel(task.worker, name)
                else:
                    self._cluster.locate(name)
                    work.end(task.order, Stop.CANCELLED)
                    task.over = True

    def message(self, name: str, kind: str, body: Any) -> None:
        """Take what a task sends."""
        if (task := self._tasks.get(name)) is None:
            return
        task.heard = time.monotonic()
        if kind == "started":
            task.worker, task.started, task.starts = body, task.heard, task.starts + 1
            if task.over:
                # It was cancelled on its way to the worker.
                self._cluster.cancel(task.worker, name)
                task.due = task.heard + ANSWER
            elif task.starts > 2:
                # An existing scheduler starts a task anew by itself when its worker is lost; once is enough.
                self._lose(name, KILLED)
                return
        if not task.over and task.work.take(task.order, kind, body):
            task.over, task.due = True, float("inf")
        if task.over and task.done:
            self._forget(name)

    def done(self, name: str, error: Exception | None) -> None:
        """Take the end of a task, as dask has it; ConnectionError where it was lost."""
        from distributed import KilledWorker

        if (task := self._tasks.get(name)) is None:
            return
        task.done = True
        if task.over:
            self._forget(name)
        elif error is None:
            # Its last message is on the way.
            task.due, task.then = time.monotonic() + SILENCE, KILLED
        elif isinstance(error, KilledWorker) and error.last_worker.address in self._starved:
            self._lose(name, Loss(self._cluster.starved, again=False))
        elif isinstance(error, KilledWorker | ConnectionError):
            if not isinstance(task.then, Stop):
                task.due, task.then = time.monotonic() + HEARSAY, KILLED
        else:
            words = " ".join(str(error).split())[:200]
            self._lose(name, Loss(f"The workers cannot run the job ({type(error).__name__}: {words}).", again=False))

    def located(self, name: str, worker: str) -> None:
        """Take it that a task runs on a worker, though it never said so: a call may hold the interpreter's lock."""
        if (task := self._tasks.get(name)) and not task.starts:
            task.worker, task.starts, task.started = worker, 1, time.monotonic()
            if not task.over:
                task.work.take(task.order, "started", worker)

    def starved(self, worker: str) -> None:
        """Take the news that a worker outgrew its memory."""
        self._starved.append(worker)
        for name, task in list(self._tasks.items()):
            if task.worker == worker and not task.over:
                self._killed[worker] = time.monotonic()
                self._lose(name, Loss(self._cluster.starved, again=False))

    def see(self, threads: dict[str, int]) -> None:
        """Take the list of workers that are there."""
        self._threads = threads
        self._killed = {worker: killed for worker, killed in self._killed.items() if worker in threads}

    def act(self) -> None:
        """End what is late, and send what can be sent."""
        now = time.monotonic()
        for name, task in list(self._tasks.items()):
            if task.starts and not task.over and now > max(task.started + task.limit, task.heard) + GRACE:
                task.due, task.then = now, Stop.TIMEOUT
            elif not task.starts and now > task.sought + SEEK:
                task.sought = now
                self._cluster.locate(name)
            if now >= task.due:
                self._enforce(name, task)
        # A worker that is dying is still sent tasks, and takes them with it, until the scheduler knows.
        dying = any(worker in self._threads and now < killed + DYING for worker, killed in self._killed.items())
        while not dying and sum(not t.done for t in self._tasks.values()) < self.workers and (work := self._turn()):
            self._send(work, now)
        self._works = [work for work in self._works if work.waiting or work.running]

    def close(self, sentence: str = "") -> None:
        """Give everything up: cancelled, or failed with a sentence."""
        for name, task in list(self._tasks.items()):
            self._forget(name)
            if not task.over and sentence:
                task.work.lose(task.order, Loss(sentence, again=False))
            elif not task.over:
                task.work.end(task.order, Stop.CANCELLED)
        for work in self._works:
            work.close(sentence)

    def _send(self, work: Work, now: float) -> None:
        order, name = work.next(self.workers), f"lrlab-{uuid.uuid4().hex}"
        try:
            future = self._cluster.send(name, order, work.urgent)
        except Exception as error:
            # What cannot be pickled, pickle refuses in many ways.
            words = " ".join(str(error).split())[:200]
            work.lose(order, Loss(f"The job cannot be sent to a worker: {words}.", again=False))
            return
        self._tasks[name] = Task(work, order, work.limit(order), future, now)
        work.running, work.served = work.running + 1, now

    def _turn(self) -> Work | None:
        waiting = [work for work in self._works if work.waiting]
        followed, swept = [work for work in waiting if work.urgent], [work for work in waiting if not work.urgent]
        if followed and swept:
            under_way = sum(work.running for work in self._works if work.urgent)
            last_was_followed = max(self._works, key=lambda work: work.served).urgent
            shared = under_way < self.workers - 1 or (self.workers == 1 and not last_was_followed)
            waiting = followed if shared else swept
        return min(waiting, key=lambda work: (work.running, work.served), default=None)

    def _enforce(self, name: str, task: Task) -> None:
        if isinstance(task.then, Loss):
            self._lose(name, task.then)
            return
        if task.starts and not task.done:
            self._cluster.kill(task.worker)
            self._killed[task.worker] = time.monotonic()
        self._forget(name)
        if not task.over:
            task.work.end(task.order, task.then)

    def _lose(self, name: str, loss: Loss) -> None:
        task = self._forget(name)
        task.work.lose(task.order, loss)

    def _forget(self, name: str) -> Task:
        task = self._tasks.pop(name)
        task.work.running -= 1
        if not task.done:
            self._cluster.drop(task.future)
        return task

"""Schedules tasks on workers; handles time limits and lost workers. Used by the engine's thread alone.

No more tasks are under way than there are workers, so that new work starts as soon as one of them is free. What is done
for each message takes a time that does not grow with the number of workers; all tasks are looked at ten times a second.
"""

import time
import uuid
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

from lrlab.engine import orders
from lrlab.engine.cluster import Cluster
from lrlab.engine.messages import ChunkDone, Message, Started, one_line
from lrlab.engine.turns import next_work, turn
from lrlab.engine.work import WORKER_LOST, Task, TaskLoss, Work
from lrlab.protocol import Stop

CANCEL_SECONDS, CANCELS_PER_SECOND = 0.8, 200.0
"""How long a cancelled task has to end by itself, where so many are told a second; then its worker is killed."""
OVERTIME_SECONDS = 2.0
"""How long a task may be silent beyond its time limit; then its worker is killed."""
LOSS_REASON_SECONDS = 2.0
"""How long after a worker's death its reason is waited for: memory, or unknown."""
LAST_MESSAGE_SECONDS = 5.0
"""How long the last message of a task is waited for once dask reports its end."""
LOCATE_SECONDS = 2.0
"""How long after sending a task the scheduler is queried for its worker, where no message says that it started."""
DYING_SECONDS, RESTART_SECONDS = 3.0, 10.0
"""How long a killed worker is sent nothing, and is not counted."""
CHECK_SECONDS = 0.1
"""Between two looks at whether tasks are late."""


class Dispatcher:
    """All work and all tasks of an engine."""

    def __init__(self, cluster: Cluster, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with nothing; clock: seconds from any start."""
        self._cluster, self._clock = cluster, clock
        self._works: list[Work[Any]] = []
        self._tasks: dict[str, Task] = {}
        self._under_way, self._checked_at = 0, float("-inf")
        self._threads = cluster.threads()
        self._total_threads = sum(self._threads.values())
        self._killed_at: dict[str, float] = {}
        self._out_of_memory: deque[str] = deque(maxlen=100)

    @property
    def workers(self) -> int:
        """How many tasks can run at once."""
        # A worker without a nanny survives: it is counted again, for some day its call returns.
        dead_since = self._clock() - RESTART_SECONDS
        gone = (worker for worker, killed_at in self._killed_at.items() if killed_at > dead_since)
        return self._total_threads - sum(self._threads.get(worker, 0) for worker in gone)

    @property
    def shortage(self) -> str:
        """The sentence where an existing cluster has no workers, else nothing."""
        return "" if self._threads else self._cluster.no_workers

    @property
    def load(self) -> tuple[int, int]:
        """How many works wait for a worker, and how many tasks are under way."""
        return sum(work.waiting for work in self._works), self._under_way

    def handle(self, order: orders.Order) -> None:
        """Carry out an order, or take in a report."""
        match order:
            case orders.AddWork(work, items):
                work.add(items)
                if work not in self._works:
                    self._works.append(work)
            case orders.CancelWork(work):
                self._cancel(work)
            case orders.TaskMessage(name, message) if name in self._tasks:
                self._receive(name, self._tasks[name], message)
            case orders.TaskDone(name, error) if name in self._tasks:
                self._done(name, self._tasks[name], error)
            case orders.TaskLocated(name, worker) if name in self._tasks:
                self._located(self._tasks[name], worker)
            case orders.WorkerOutOfMemory(worker):
                self._lose_out_of_memory(worker)
            case orders.WorkersChanged(threads):
                self._threads, self._total_threads = threads, sum(threads.values())
                self._killed_at = {worker: at for worker, at in self._killed_at.items() if worker in threads}

    def step(self) -> None:
        """End what is late, and send what can be sent."""
        now = self._clock()
        if now >= self._checked_at + CHECK_SECONDS:
            self._checked_at = now
            self._check_tasks(now)
        # A worker that is dying is still sent tasks, and takes them with it, until the scheduler knows.
        # An existing scheduler sends those to another worker by itself.
        dying = any(worker in self._threads and now < at + DYING_SECONDS for worker, at in self._killed_at.items())
        workers = self.workers
        free = workers - self._under_way if self._cluster.resends or not dying else 0
        while free > 0 and (work := next_work(self._works, workers, self._cluster.spare, now)):
            self._send(work, workers, now)
            free = workers - self._under_way
        waiting = [work for work in self._works if work.urgent and work.waiting]
        for ahead, work in enumerate(sorted(waiting, key=turn)):
            work.queued(ahead)
        self._works = [work for work in self._works if work.waiting or work.running]

    def close(self, sentence: str = "") -> None:
        """Give everything up: cancelled, or failed with a sentence."""
        for name, task in list(self._tasks.items()):
            self._forget(name)
            if not task.settled and sentence:
                task.work.lose(task.assignment, TaskLoss(sentence))
            elif not task.settled:
                task.work.end(task.assignment, Stop.CANCELLED)
        for work in self._works:
            work.close(sentence)

    def _check_tasks(self, now: float) -> None:
        for name, task in list(self._tasks.items()):
            time_limit = max(task.started_at + task.max_seconds, task.last_message_at)
            if task.starts and not task.settled and now > time_limit + OVERTIME_SECONDS:
                task.deadline, task.at_deadline = now, Stop.TIMEOUT
            elif not task.starts and now > task.located_at + LOCATE_SECONDS:
                task.located_at = now
                self._cluster.locate(name)
            if now >= task.deadline:
                self._enforce_deadline(name, task)

    def _cancel(self, work: Work[Any]) -> None:
        work.close()
        started = defaultdict[str, list[str]](list)
        deadline = self._clock() + CANCEL_SECONDS + work.running / CANCELS_PER_SECOND
        for name, task in list(self._tasks.items()):
            if task.work is not work or task.settled:
                continue
            task.deadline, task.at_deadline = min(task.deadline, deadline), Stop.CANCELLED
            if task.starts:
                started[task.worker].append(name)
            else:
                self._cluster.locate(name)
                work.end(task.assignment, Stop.CANCELLED)
                task.settled = True
        self._cluster.cancel(started)

    def _receive(self, name: str, task: Task, message: Message) -> None:
        task.last_message_at = self._clock()
        if isinstance(message, Started):
            task.worker, task.started_at, task.starts = message.worker, task.last_message_at, task.starts + 1
            if task.settled:
                # It was cancelled on its way to the worker.
                self._cluster.cancel({task.worker: [name]})
                task.deadline = task.last_message_at + CANCEL_SECONDS
            elif task.starts > 2:
                # An existing scheduler starts a task anew by itself when its worker is lost; once is enough.
                self._lose(name, WORKER_LOST)
                return
        if not task.settled and task.work.receive(task.assignment, message):
            task.settled, task.deadline = True, float("inf")
            if isinstance(message, ChunkDone) and message.overdue:
                task.deadline, task.at_deadline = task.last_message_at + CANCEL_SECONDS, Stop.TIMEOUT
        if task.settled and task.dask_done:
            self._forget(name)

    def _done(self, name: str, task: Task, error: BaseException | None) -> None:
        from distributed import KilledWorker

        self._under_way -= not task.dask_done
        task.dask_done = True
        if task.settled:
            self._forget(name)
        elif error is None:
            # Its last message is on the way.
            task.deadline, task.at_deadline = self._clock() + LAST_MESSAGE_SECONDS, WORKER_LOST
        elif isinstance(error, KilledWorker) and error.last_worker.address in self._out_of_memory:
            self._lose(name, TaskLoss(self._cluster.out_of_memory))
        elif isinstance(error, KilledWorker | ConnectionError):
            if not isinstance(task.at_deadline, Stop):
                task.deadline, task.at_deadline = self._clock() + LOSS_REASON_SECONDS, WORKER_LOST
        else:
            # What a worker says of its own errors, it says as a RuntimeError.
            kind = "" if type(error) is RuntimeError else f"{type(error).__name__}: "
            sentence = f"The workers cannot run the job ({kind}{one_line(error)})."
            self._lose(name, TaskLoss(sentence))

    def _located(self, task: Task, worker: str) -> None:
        # It runs there without having sent a message: a call may hold the interpreter's lock.
        if not task.starts:
            task.worker, task.starts, task.started_at = worker, 1, self._clock()
            if not task.settled:
                task.work.receive(task.assignment, Started(worker))

    def _lose_out_of_memory(self, worker: str) -> None:
        self._out_of_memory.append(worker)
        for name, task in list(self._tasks.items()):
            if task.worker == worker and not task.settled:
                self._killed_at[worker] = self._clock()
                self._lose(name, TaskLoss(self._cluster.out_of_memory))

    def _send(self, work: Work[Any], workers: int, now: float) -> None:
        # Longer chunks where no other work is held up by them, and a spare worker waits for what comes.
        alone = bool(self._cluster.spare) and len(self._works) == 1
        assignment = work.next(max(workers - self._cluster.spare, 1), alone)
        name = f"lrlab-{uuid.uuid4().hex}"
        try:
            future = self._cluster.send(name, assignment, work.urgent)
        except Exception as error:
            # What cannot be pickled, pickle refuses in many ways.
            work.lose(assignment, TaskLoss(f"The job cannot be sent to a worker: {one_line(error)}."))
            return
        self._tasks[name] = Task(work, assignment, work.max_seconds(assignment), future, now)
        work.running, work.last_sent_at = work.running + 1, now
        self._under_way += 1

    def _enforce_deadline(self, name: str, task: Task) -> None:
        if isinstance(task.at_deadline, TaskLoss):
            self._lose(name, task.at_deadline)
            return
        if task.starts and not task.dask_done:
            self._cluster.kill(task.worker)
            self._killed_at[task.worker] = self._clock()
        self._forget(name)
        if not task.settled:
            task.work.end(task.assignment, task.at_deadline, self._clock() - task.started_at)

    def _lose(self, name: str, loss: TaskLoss) -> None:
        task = self._forget(name)
        task.work.lose(task.assignment, loss)

    def _forget(self, name: str) -> Task:
        task = self._tasks.pop(name)
        task.work.running -= 1
        if not task.dask_done:
            self._under_way -= 1
            self._cluster.drop(task.future)
        return task

"""Followed jobs as work of the engine: their iterates are sent while they run, and their ends are logged."""

import json
import logging
import time
from collections import Counter, deque
from collections.abc import Sequence

from lrlab.engine.inbox import Inbox
from lrlab.engine.messages import Failed, Finished, Message, NewIterates, Queued, Started
from lrlab.engine.work import TaskLoss, Work
from lrlab.engine.worker import FollowJob
from lrlab.protocol import Stop
from lrlab.runs.job import Job

LOG = logging.getLogger("lrlab.jobs")
"""One line of JSON a job, at its end."""


class FollowWork(Work[FollowJob]):
    """Jobs whose iterates are sent while they run."""

    urgent = True

    def __init__(self, inbox: Inbox, threads: int = 1) -> None:
        super().__init__(inbox)
        self._waiting, self._threads = deque[FollowJob](), threads
        self._retried: set[int] = set()
        self._ahead = 0
        self._iterations, self._added_at = Counter[int](), time.monotonic()

    @property
    def waiting(self) -> bool:  # noqa: D102
        return bool(self._waiting)

    def add(self, items: Sequence[tuple[int, Job]]) -> None:  # noqa: D102
        self._waiting.extend(FollowJob(number, job, self._threads) for number, job in items)

    def next(self, workers: int, alone: bool = False) -> FollowJob:  # noqa: D102
        return self._waiting.popleft()

    def queued(self, ahead: int) -> None:
        """Say how many come first, where that has changed."""
        if ahead != self._ahead:
            self._ahead = ahead
            for assignment in self._waiting:
                self.inbox.put(Queued(ahead), assignment.number)

    def max_seconds(self, assignment: FollowJob) -> float:  # noqa: D102
        return assignment.job.limits.max_seconds

    def receive(self, assignment: FollowJob, message: Message) -> bool:
        """Pass on a message of a job, log its end, and return whether it was the last one."""
        self.inbox.put(message, assignment.number)
        match message:
            case Started():
                self._iterations[assignment.number] = 0
            case NewIterates(rows) | Finished(_, NewIterates(rows)):
                self._iterations[assignment.number] += len(rows)
        if not isinstance(message, Finished | Failed):
            return False
        job = assignment.job
        entry = {
            "model": job.spec.model,
            "seed": job.spec.seed,
            "solver": job.solver,
            "end": message.stop.name if isinstance(message, Finished) else "FAILED",
            "error": message.sentence if isinstance(message, Failed) else "",
            "iterations": self._iterations[assignment.number],
            "seconds": round(time.monotonic() - self._added_at, 3),
        }
        LOG.info(json.dumps(entry))
        return True

    def lose(self, assignment: FollowJob, loss: TaskLoss) -> None:  # noqa: D102
        if loss.retry and assignment.number not in self._retried:
            self._retried.add(assignment.number)
            self._waiting.appendleft(assignment)
        else:
            self.receive(assignment, Failed(loss.sentence))

    def end(self, assignment: FollowJob, stop: Stop, seconds: float = 0.0) -> None:  # noqa: D102
        self.receive(assignment, Finished(stop, None, seconds))

    def close(self, sentence: str = "") -> None:  # noqa: D102
        while self._waiting:
            self.receive(self._waiting.popleft(), Failed(sentence) if sentence else Finished(Stop.CANCELLED))

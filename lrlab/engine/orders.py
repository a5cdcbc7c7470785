"""Orders to the engine's thread: from the threads that use the engine, and from its connection to the scheduler."""

from typing import Any, NamedTuple

from lrlab.engine.messages import Message
from lrlab.engine.work import Work


class AddWork(NamedTuple):
    """Take on work, or more (number, item) pairs of it."""

    work: Work[Any]
    items: list[tuple[int, Any]]


class CancelWork(NamedTuple):
    """End work: what waits at once, what runs within a second."""

    work: Work[Any]


class TaskMessage(NamedTuple):
    """A task has sent a message."""

    task: str
    message: Message


class TaskDone(NamedTuple):
    """Dask reports the end of a task; `error` is None where it returned, ConnectionError where it was lost."""

    task: str
    error: BaseException | None


class TaskLocated(NamedTuple):
    """The scheduler reports that this worker has a task."""

    task: str
    worker: str


class WorkerOutOfMemory(NamedTuple):
    """A worker was ended because it outgrew its memory."""

    worker: str


class WorkersChanged(NamedTuple):
    """All workers that are there, with their numbers of threads."""

    threads: dict[str, int]


class Warm(NamedTuple):
    """Have every worker import what a job needs."""


class Close(NamedTuple):
    """Cancel all work and end the engine."""


Report = TaskMessage | TaskDone | TaskLocated | WorkerOutOfMemory | WorkersChanged
Order = AddWork | CancelWork | Report | Warm | Close

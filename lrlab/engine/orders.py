"""Orders to the engine's thread: from the threads that use the engine, and from its connection to the scheduler."""

from dataclasses import dataclass
from typing import Any

from lrlab.engine.messages import Message
from lrlab.engine.work import Work


@dataclass(frozen=True)
class AddWork:
    """Take on work, or more (number, item) pairs of it."""

    work: Work[Any]
    items: list[tuple[int, Any]]


@dataclass(frozen=True)
class CancelWork:
    """End work: what waits at once, what runs within a second."""

    work: Work[Any]


@dataclass(frozen=True)
class TaskMessage:
    """A task has sent a message."""

    task: str
    message: Message


@dataclass(frozen=True)
class TaskDone:
    """Dask reports the end of a task; `error` is None where it returned, ConnectionError where it was lost."""

    task: str
    error: BaseException | None


@dataclass(frozen=True)
class TaskLocated:
    """The scheduler reports that this worker has a task."""

    task: str
    worker: str


@dataclass(frozen=True)
class WorkerOutOfMemory:
    """A worker was ended because it outgrew its memory."""

    worker: str


@dataclass(frozen=True)
class WorkersChanged:
    """All workers that are there, with their numbers of threads."""

    threads: dict[str, int]


@dataclass(frozen=True)
class Warm:
    """Have every worker import what a job needs."""


@dataclass(frozen=True)
class Close:
    """Cancel all work and end the engine."""


Report = TaskMessage | TaskDone | TaskLocated | WorkerOutOfMemory | WorkersChanged
Order = AddWork | CancelWork | Report | Warm | Close

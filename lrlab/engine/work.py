"""Work of the engine: what waits to be sent, and what becomes of what was sent. Used by the engine's thread alone."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from lrlab.engine.inbox import Inbox
from lrlab.engine.messages import ChunkDone, Failed, Failure, Message
from lrlab.engine.stream import CHUNK_SECONDS
from lrlab.engine.worker import BUSY, GRACE_SECONDS, Assignment, ComputeChunk, FollowJob
from lrlab.protocol import Stop

LAST_CHUNKS_FRACTION, USUAL_FRACTION = 8, 2
"""The last chunks are smaller than others by this factor at most, and than those of a few workers by the second one."""
TASKS_PER_SECOND = 100.0
"""Tasks that all workers together end in a second: a quarter of what one core of a scheduler manages."""
GROWTH, MOST_ITEMS = 16, 10_000
"""Chunks grow by this factor at a time, for the first items may be the cheapest of all; and to so many items, for
schedulers store the last messages."""
AHEAD, AHEAD_SECONDS = 2.0, 2.0
"""Chunks and seconds of work for each worker that are to wait here, where items are generated as they are needed."""
FEW = 4
"""Items whose pace counts as much as that of all before."""
LONGER, LONGER_SHARE = 4.0, 0.5
"""Work that is alone is sent in chunks of up to so many times the usual length, of a share of what is computed."""

A = TypeVar("A", FollowJob, ComputeChunk)


@dataclass(frozen=True)
class TaskLoss:
    """Why a task came to nothing: the sentence, and whether it deserves another try."""

    sentence: str
    retry: bool = False


WORKER_LOST = TaskLoss(
    "The worker that ran the job was lost, and so was a second one: lower n or p, or run it again.", retry=True
)


class Work(ABC, Generic[A]):
    """Tasks that belong together. `running`: tasks sent and not ended; `last_sent_at`: when one was last sent."""

    urgent = False

    def __init__(self, inbox: Inbox) -> None:
        """Nothing waits."""
        self.inbox, self.running, self.last_sent_at = inbox, 0, 0.0

    @property
    @abstractmethod
    def waiting(self) -> bool:
        """Whether there is something to send."""

    @abstractmethod
    def add(self, items: Sequence[tuple[int, Any]]) -> None:
        """Take on (number, item) pairs."""

    @abstractmethod
    def next(self, workers: int, alone: bool = False) -> A:
        """Return the next assignment.

        workers: how many share the work. alone: nobody waits for the end of the assignment.
        """

    def queued(self, ahead: int) -> None:  # noqa: B027
        """Take note of how many works come first."""

    @abstractmethod
    def max_seconds(self, assignment: A) -> float:
        """Return the seconds after which a task is ended by force."""

    @abstractmethod
    def receive(self, assignment: A, message: Message) -> bool:
        """Pass on a message of a task, and return whether it was the last one."""

    @abstractmethod
    def lose(self, assignment: A, loss: TaskLoss) -> None:
        """Try an assignment again, or give it up with the sentence."""

    @abstractmethod
    def end(self, assignment: A, stop: Stop, seconds: float = 0.0) -> None:
        """Give up an assignment that was ended by force, so many seconds after its start."""

    @abstractmethod
    def close(self, sentence: str = "") -> None:
        """Give up all that waits: cancelled, or failed with a sentence."""


@dataclass
class Task:
    """An assignment under way.

    located_at: when it was sent, or its worker last looked for. settled: its last message has come, or nobody waits for
    one. dask_done: dask has reported its end. deadline, at_deadline: when it is ended by force or given up as lost, and
    how.
    """

    work: Work[Any]
    assignment: Assignment
    max_seconds: float
    future: Any
    located_at: float
    worker: str = ""
    starts: int = 0
    started_at: float = 0.0
    last_message_at: float = 0.0
    settled: bool = False
    dask_done: bool = False
    deadline: float = float("inf")
    at_deadline: Stop | TaskLoss = WORKER_LOST


class MapWork(Work[ComputeChunk]):
    """One function for many items, sent in chunks whose size follows from the pace so far."""

    def __init__(self, function: Callable[[Any], Any], chunk_seconds: float, item_seconds: float, inbox: Inbox) -> None:
        super().__init__(inbox)
        self._function, self._chunk_seconds, self._item_seconds = function, chunk_seconds, item_seconds
        self._items: dict[int, Any] = {}
        self._waiting, self._alone = deque[int](), deque[int]()
        self._retried: set[int] = set()
        self._seconds_per_item, self._most_items, self._closed = 0.0, 1, False
        self._computed_seconds, self._ahead = 0.0, 0.0

    @property
    def demand(self) -> int:
        """How many items it would like to have, with those under way, so that no worker waits for more of them."""
        return len(self._items) - len(self._waiting) + int(self._ahead)

    @property
    def waiting(self) -> bool:  # noqa: D102
        return not self._closed and bool(self._waiting or self._alone)

    def add(self, items: Sequence[tuple[int, Any]]) -> None:  # noqa: D102
        self._items.update(items)
        self._waiting.extend(number for number, _ in items)

    def next(self, workers: int, alone: bool = False) -> ComputeChunk:  # noqa: D102
        seconds = self._chunk_seconds * max(1.0, workers / TASKS_PER_SECOND / CHUNK_SECONDS)
        if alone:
            # A task costs some 10 ms of all processors: long work is better sent in fewer of them.
            seconds *= min(max(LONGER_SHARE * self._computed_seconds / self._chunk_seconds, 1.0), LONGER)
        pace = self._seconds_per_item or seconds
        full_size = min(max(seconds / pace, 1.0), self._most_items)
        self._ahead = workers * (AHEAD * full_size + AHEAD_SECONDS / pace)
        if self._alone:
            numbers = [self._alone.popleft()]
        else:
            # The last chunks are smaller, so that no worker waits long for another.
            least = max(seconds / LAST_CHUNKS_FRACTION, self._chunk_seconds / USUAL_FRACTION) / pace
            last_size = max(2 * len(self._waiting) / (3 * workers), least, 1.0)
            size = min(int(min(full_size, last_size)), len(self._waiting))
            numbers = [self._waiting.popleft() for _ in range(size)]
        items = [self._items[number] for number in numbers]
        expected = max(self._chunk_seconds, len(numbers) * self._seconds_per_item)
        return ComputeChunk(self._function, numbers, items, 2.0 * expected)

    def max_seconds(self, assignment: ComputeChunk) -> float:  # noqa: D102
        limits = (BUSY * getattr(item, "max_seconds", self._item_seconds) + GRACE_SECONDS for item in assignment.items)
        return sum(min(limit, self._item_seconds) for limit in limits)

    def receive(self, assignment: ComputeChunk, message: Message) -> bool:  # noqa: D102
        if not isinstance(message, ChunkDone):
            self.inbox.put(message)
            return False
        self._computed_seconds += message.seconds
        if done := len(message.results):
            pace = message.seconds / done
            # Of many items the pace is that of all; a single one, such as the first of a worker, may be an exception.
            weight = max(0.5, done / (done + FEW))
            self._seconds_per_item += (pace - self._seconds_per_item) * (weight if self._seconds_per_item else 1.0)
            self._seconds_per_item = max(self._seconds_per_item, 1e-6)
            self._most_items = min(GROWTH * self._most_items, MOST_ITEMS)
        self._deliver(message)
        self._waiting.extendleft(number for number in reversed(assignment.numbers) if number in self._items)
        return True

    def lose(self, assignment: ComputeChunk, loss: TaskLoss) -> None:  # noqa: D102
        # Each item is tried once more, alone: the one at fault then fails by itself, the others are computed after all.
        for number in assignment.numbers:
            if len(assignment.numbers) > 1 or (loss.retry and number not in self._retried):
                self._alone.append(number)
                self._retried.add(number)
            else:
                self._deliver(ChunkDone([(number, Failure(loss.sentence))], 0.0))

    def end(self, assignment: ComputeChunk, stop: Stop, seconds: float = 0.0) -> None:  # noqa: D102
        self.lose(assignment, TaskLoss(stop.value))

    def close(self, sentence: str = "") -> None:  # noqa: D102
        self._closed = True
        self._items.clear()
        self.inbox.put(Failed(sentence))

    def _deliver(self, message: ChunkDone) -> None:
        if message.results and not self._closed:
            self.inbox.put(message)
            for number, _ in message.results:
                del self._items[number]

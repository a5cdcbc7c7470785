"""Work in the engine's hands: what waits to be sent, and what becomes of what was sent. Used by its thread alone."""

import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from lrlab.engine.handles import Inbox
from lrlab.engine.remote import Chunk, Failure, Follow, Order
from lrlab.protocol import Stop
from lrlab.runs.job import Job


class Loss(NamedTuple):
    """Why a task came to nothing: the sentence, and whether it deserves another try."""

    sentence: str
    again: bool


KILLED = Loss(
    "The worker that ran the job was lost, and so was a second one: lower n or p, or run it again.", again=True
)


SMALLEST = 4
"""By how much the last chunks are smaller than others at most."""


class Work(ABC):
    """Tasks that belong together. `running`: tasks sent and not ended; `served`: when one was last sent."""

    urgent = False

    def __init__(self, inbox: Inbox) -> None:
        """Nothing was sent yet."""
        self.inbox, self.running, self.served = inbox, 0, 0.0

    @property
    @abstractmethod
    def waiting(self) -> bool:
        """Whether there is something to send."""

    @abstractmethod
    def add(self, items: Sequence[tuple[int, Any]]) -> None:
        """Take on numbered items."""

    @abstractmethod
    def next(self, workers: int) -> Order:
        """Return the next order, where so many workers are there."""

    @abstractmethod
    def limit(self, order: Order) -> float:
        """Return the seconds after which an order is ended by force."""

    @abstractmethod
    def take(self, order: Order, kind: str, body: Any) -> bool:
        """Pass on a message of an order, and tell whether it was the last one."""

    @abstractmethod
    def lose(self, order: Order, loss: Loss) -> None:
        """Try an order again, or give it up with the sentence."""

    @abstractmethod
    def end(self, order: Order, stop: Stop) -> None:
        """Give up an order that was ended by force."""

    @abstractmethod
    def close(self, sentence: str = "") -> None:
        """Give up all that waits: cancelled, or failed with a sentence."""


@dataclass
class Task:
    """An order under way.

    sought: when it was sent, or its worker last asked for. over: its last message has come, or nobody waits for one.
    done: dask is done with it. due, then: when it is ended by force or given up as lost, and how.
    """

    work: Work
    order: Order
    limit: float
    future: Any
    sought: float
    worker: str = ""
    starts: int = 0
    started: float = 0.0
    heard: float = 0.0
    over: bool = False
    done: bool = False
    due: float = float("inf")
    then: Stop | Loss = KILLED


class FollowWork(Work):
    """Jobs that are watched while they run."""

    urgent = True

    def __init__(self, inbox: Inbox) -> None:
        """Nothing waits."""
        super().__init__(inbox)
        self._orders = deque[Follow]()
        self._tried: set[int] = set()

    def add(self, items: Sequence[tuple[int, Job]]) -> None:  # noqa: D102
        self._orders.extend(Follow(index, job) for index, job in items)

    @property
    def waiting(self) -> bool:  # noqa: D102
        return bool(self._orders)

    def next(self, workers: int) -> Follow:  # noqa: D102
        return self._orders.popleft()

    def limit(self, order: Follow) -> float:  # noqa: D102
        return order.job.limits.max_seconds

    def take(self, order: Follow, kind: str, body: Any) -> bool:  # noqa: D102
        self.inbox.put((order.index, kind, body))
        return kind == "failed" or (kind == "news" and body.stop is not None)

    def lose(self, order: Follow, loss: Loss) -> None:  # noqa: D102
        if loss.again and order.index not in self._tried:
            self._tried.add(order.index)
            self._orders.appendleft(order)
        else:
            self.inbox.put((order.index, "failed", loss.sentence))

    def end(self, order: Follow, stop: Stop) -> None:  # noqa: D102
        self.inbox.put((order.index, "stopped", stop))

    def close(self, sentence: str = "") -> None:  # noqa: D102
        kind, body = ("failed", sentence) if sentence else ("stopped", Stop.CANCELLED)
        while self._orders:
            self.inbox.put((self._orders.popleft().index, kind, body))


class MapWork(Work):
    """One function for many items, sent in chunks whose size follows from the pace seen so far."""

    def __init__(self, function: Callable[[Any], Any], seconds: float, limit: float, inbox: Inbox) -> None:
        """Nothing waits."""
        super().__init__(inbox)
        self._function, self._seconds, self._limit = function, seconds, limit
        self._items: dict[int, Any] = {}
        self._fresh, self._alone = deque[int](), deque[int]()
        self._lost: set[int] = set()
        self._pace, self._size, self._closed = 0.0, 1, False

    def add(self, items: Sequence[tuple[int, Any]]) -> None:  # noqa: D102
        self._items.update(items)
        self._fresh.extend(index for index, _ in items)

    @property
    def waiting(self) -> bool:  # noqa: D102
        return not self._closed and bool(self._fresh or self._alone)

    def next(self, workers: int) -> Chunk:  # noqa: D102
        if self._alone:
            numbers = [self._alone.popleft()]
        else:
            # The last chunks are smaller, so that no worker waits long for another; a task costs a few milliseconds.
            size = max(1, self._size // SMALLEST, min(self._size, len(self._fresh) // (2 * workers)))
            numbers = [self._fresh.popleft() for _ in range(min(size, len(self._fresh)))]
        return Chunk(self._function, numbers, [self._items[number] for number in numbers], 2.0 * self._seconds)

    def limit(self, order: Chunk) -> float:  # noqa: D102
        return self._limit * len(order.numbers)

    def take(self, order: Chunk, kind: str, body: Any) -> bool:  # noqa: D102
        if kind == "started":
            self.inbox.put(("started", time.monotonic()))
            return False
        results, seconds = body
        if results:
            pace = seconds / len(results)
            self._pace = pace if not self._pace else 0.5 * (self._pace + pace)
            # Grown at most fourfold a time: the first items may be the cheapest of all.
            self._size = max(1, min(int(self._seconds / max(self._pace, 1e-6)), 4 * self._size))
        self._finish(results)
        self._fresh.extendleft(reversed(order.numbers[len(results) :]))
        return True

    def lose(self, order: Chunk, loss: Loss) -> None:  # noqa: D102
        # Each item is tried once more, alone: the one at fault then fails by itself, the others are computed after all.
        for number in order.numbers:
            if len(order.numbers) > 1 or (loss.again and number not in self._lost):
                self._alone.append(number)
                self._lost.add(number)
            else:
                self._finish([(number, Failure(loss.sentence))])

    def end(self, order: Chunk, stop: Stop) -> None:  # noqa: D102
        self.lose(order, Loss(stop.value, again=False))

    def close(self, sentence: str = "") -> None:  # noqa: D102
        self._fresh.clear()
        self._alone.clear()
        if not self._closed:
            self._closed = True
            self.inbox.put(("over", sentence))

    def _finish(self, results: list[tuple[int, Any]]) -> None:
        if results and not self._closed:
            self.inbox.put(("results", results))
            for number, _ in results:
                del self._items[number]

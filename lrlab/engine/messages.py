"""Messages between workers and callers, their inbox, and the value of an item that failed."""

import threading
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from lrlab.arrays import Intervals
from lrlab.parameters import InputError
from lrlab.protocol import Estimate, Stop
from lrlab.runs.run import NumericalBreakdown
from lrlab.runs.trace import Row


@dataclass(frozen=True)
class Failure:
    """The sentence that says why an item has no value, and its InputError if it was one."""

    sentence: str
    error: InputError | None = None

    @classmethod
    def of(cls, error: Exception) -> "Failure":
        """Return an exception as one sentence."""
        if isinstance(error, InputError | NumericalBreakdown):
            return cls(str(error), error if isinstance(error, InputError) else None)
        if isinstance(error, MemoryError):
            return cls("The job needed more memory than there is: lower n or p.")
        return cls(f"The job failed inside the solver ({type(error).__name__}: {one_line(error)}).")


TIMED_OUT = Failure(Stop.TIMEOUT.value)
"""The value of an item that a worker ended by force."""


def one_line(error: BaseException) -> str:
    """Return the message of an exception on one line of at most 200 characters."""
    return " ".join(str(error).split())[:200]


class EngineClosed(RuntimeError):
    """The engine was closed while it computed, for example by a server that ended."""

    def __init__(self) -> None:
        """Give the remedy."""
        super().__init__("The engine was closed: run it again.")


class Started(NamedTuple):
    """A worker has begun."""


class Queued(NamedTuple):
    """The job waits for a worker, behind so many other callers."""

    ahead: int


class NewIterates(NamedTuple):
    """What a run has recorded since the last message.

    rows, history: the new ones. stride: the trace holds every stride-th estimate. estimate: the newest, in single
    precision until the run has ended; None if the model does not show estimates. progress: fraction of the pass over
    the data. intervals: of the newest estimate.
    """

    rows: list[Row]
    history: list[tuple[int, Estimate]]
    stride: int
    estimate: Estimate | None
    note: str
    progress: float
    intervals: Intervals | None = None


class Finished(NamedTuple):
    """The run has ended; `iterates` are the last ones, None if it was ended by force or never began.

    seconds: duration of a run without an iterate.
    """

    stop: Stop
    iterates: NewIterates | None = None
    seconds: float = 0.0


class Failed(NamedTuple):
    """A run, or everything that one call asked for, cannot continue; the sentence says why ("" after a cancel)."""

    sentence: str


class BatchDone(NamedTuple):
    """(number of the item, value or Failure) of the items that were computed, and their seconds in all.

    overdue: the last item has not come back in time, and its worker is to be ended.
    """

    results: list[tuple[int, Any]]
    seconds: float
    overdue: bool = False


Message = Started | Queued | NewIterates | Finished | Failed | BatchDone
Send = Callable[[Message], None]


class Inbox:
    """Messages that wait for their reader. received: how many have come."""

    def __init__(self) -> None:
        self._messages: deque[tuple[int, Message]] = deque()
        self._arrived = threading.Event()
        self.received = 0

    def put(self, message: Message, number: int = 0) -> None:
        """Add a message about the job with this number."""
        self._messages.append((number, message))
        self.received += 1
        self._arrived.set()

    def take(self) -> list[tuple[int, Message]]:
        """Return (number, message) of all messages, the oldest first, and remove them."""
        self._arrived.clear()
        return [self._messages.popleft() for _ in range(len(self._messages))]

    def wait(self, seconds: float) -> None:
        """Return when there is a message, or after so many seconds."""
        self._arrived.wait(seconds)

    def belongs_to(self, holder: object, cancel: Callable[[], None]) -> None:
        """Call `cancel` when nobody holds the reader of these messages any more, but not at the end of the program."""
        finalizer: Any = weakref.finalize(holder, cancel)
        finalizer.atexit = False

"""Messages of a task on a worker, and what takes the place of a value that could not be computed."""

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
    """Takes the place of a value: the sentence that says why there is none, and the InputError where it was one."""

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


def one_line(error: BaseException) -> str:
    """Return the message of an exception on one line of at most 200 characters."""
    return " ".join(str(error).split())[:200]


class EngineClosed(RuntimeError):
    """The engine was closed while it computed, as at the end of a server: what is left can be requested again."""

    def __init__(self) -> None:
        """Say what can be done."""
        super().__init__("The engine was closed: run it again.")


class Started(NamedTuple):
    """The task has begun on the worker with this address."""

    worker: str


class Queued(NamedTuple):
    """The task waits for a worker; so many others come first."""

    ahead: int


class NewIterates(NamedTuple):
    """What a run has recorded since the last message.

    rows, history: new ones. stride: the trace holds every stride-th estimate. estimate: the newest, in single
    precision until the run has ended; None where the model's estimates are not shown. progress: fraction of the pass
    over the data. intervals: of the newest estimate.
    """

    rows: list[Row]
    history: list[tuple[int, Estimate]]
    stride: int
    estimate: Estimate | None
    note: str
    progress: float
    intervals: Intervals | None = None


class Finished(NamedTuple):
    """The run has ended; `iterates` are the last ones, None where it was ended by force or never began.

    seconds: how long it took, where it had no iterate.
    """

    stop: Stop
    iterates: NewIterates | None = None
    seconds: float = 0.0


class Failed(NamedTuple):
    """A run, or all work that belongs together, cannot continue; the sentence says why ("" where it was cancelled)."""

    sentence: str


class ChunkDone(NamedTuple):
    """(number of the item, value or Failure) of the items that were computed, and the seconds they took together.

    overdue: the last of them has not come back in time; its value is what it had so far, and its worker is to end.
    """

    results: list[tuple[int, Any]]
    seconds: float
    overdue: bool = False


Message = Started | Queued | NewIterates | Finished | Failed | ChunkDone
Send = Callable[[Message], None]

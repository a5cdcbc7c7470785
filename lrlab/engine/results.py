"""Results of one function for many items as they arrive, computed by workers or in this process.

`engine.map(function, items)`, `on_workers(function, items)` (the engine of this process) and
`LocalResults(function, items)` start a computation; each is a `Start`. Code that runs many items takes a `Start` and

    values = collect(start(function, items), progress)        all values, in the order of the items

or takes results as they arrive, each with the number of its item (items may repeat, and need not be hashable):

    while results.alive:
        for number, item, value in results.take():            value: of the function, or a Failure
            ...
    rest = results.cancel()                                   at any time: ends it, returns the other results

Pages call `refresh()`, which does not wait, and read `values` by number, and `error`.
"""

import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, NamedTuple

from lrlab.engine.live import BatchDone, Failed, Inbox
from lrlab.parameters import InputError
from lrlab.protocol import Stop
from lrlab.runs.job import cores
from lrlab.runs.run import NumericalBreakdown, Progress, silent

POLL_SECONDS = 0.05
BATCH_SECONDS = 0.2
"""Seconds of work in a batch, and between two deliveries of results."""


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


class ItemResult(NamedTuple):
    """The result of one item: its number (0, 1, ...), the item, and the function's value or a Failure."""

    number: int
    item: Any
    value: Any


class Results(ABC):
    """Results as they arrive.

    done, total: numbers of results so far and of items. values: what `refresh` has taken, by the number of the item.
    error: the sentence of what ended the computation early. state: of a sweep, see `sweeps.session`; empty for other
    computations. shipped: whether the results come with the package.
    """

    state, shipped = "", False

    def __init__(self, items: Iterable[Any]) -> None:
        self.items = tuple(items)
        self.done, self.total = 0, len(self.items)
        self.values, self.error = dict[int, Any](), ""
        self._began: float | None = None
        self._closed = False

    @property
    def alive(self) -> bool:
        """Whether more results will come."""
        return not self._closed and self.done < self.total

    @property
    def version(self) -> int:
        """The number of results that `take` has returned."""
        return self.done

    @property
    def seconds_left(self) -> float | None:
        """Remaining time at the pace so far; None while it is unknown."""
        if not self.alive:
            return 0.0
        if not self.done or self._began is None:
            return None
        return (time.monotonic() - self._began) / self.done * (self.total - self.done)

    @abstractmethod
    def take(self, wait_seconds: float = POLL_SECONDS) -> list[ItemResult]:
        """Return new results, and wait for them up to `wait_seconds`. RuntimeError if the engine has ended."""

    @abstractmethod
    def _end(self) -> list[ItemResult]:
        """End the computation, and return the results that were computed and not taken."""

    def cancel(self) -> list[ItemResult]:
        """End the computation, and return the results that were computed and not taken; `values` has them, too."""
        results = self._end() if self.alive else []
        self._closed = True
        self.values.update((result.number, result.value) for result in results)
        return results

    def refresh(self) -> list[ItemResult]:
        """Move arrived results into `values`, without waiting; an error that ends the computation goes to `error`."""
        try:
            results = self.take(0.0)
        except (RuntimeError, InputError) as error:
            self.error, self._closed = str(error), True
            return []
        self.values.update((result.number, result.value) for result in results)
        return results


Start = Callable[[Callable[[Any], Any], Iterable[Any]], Results]
"""start(function, items): begin to compute function(item) for all items; both are pickled for workers."""


def computed(function: Callable[[Any], Any], item: Any) -> Any:
    """Return the function's value of an item, or a Failure."""
    try:
        return function(item)
    except Exception as error:
        return Failure.of(error)


class LocalResults(Results):
    """Computed in this process inside `take`, for about `batch_seconds` per call, with one BLAS thread."""

    def __init__(
        self, function: Callable[[Any], Any], items: Iterable[Any], batch_seconds: float = BATCH_SECONDS
    ) -> None:
        super().__init__(items)
        self._function, self._batch_seconds = function, batch_seconds
        self._new = list[ItemResult]()

    def take(self, wait_seconds: float = POLL_SECONDS) -> list[ItemResult]:
        """Return the results of as many items as fit into `batch_seconds`, at least one."""
        from threadpoolctl import threadpool_limits

        started = time.monotonic()
        self._began = self._began or started
        # As on a worker: with more threads BLAS adds in another order, and the last digits would differ.
        with threadpool_limits(1):
            for number in range(self.done + len(self._new), self.total if self.alive else 0):
                self._new.append(ItemResult(number, self.items[number], computed(self._function, self.items[number])))
                if time.monotonic() >= started + self._batch_seconds:
                    break
        return self._end()

    def _end(self) -> list[ItemResult]:
        """Return what `take` has computed, also what an interruption (Ctrl-C) of it has left."""
        results, self._new = self._new, []
        self.done += len(results)
        return results


class WorkerResults(Results):
    """Computed by an engine's workers; ended when nobody holds this object any more."""

    def __init__(self, items: Iterable[Any], inbox: Inbox, cancel: Callable[[], None]) -> None:
        """Read the results of items from an inbox. cancel: ends their computation by the engine."""
        super().__init__(items)
        self._inbox, self._cancel = inbox, cancel
        self._ended: RuntimeError | None = None
        inbox.belongs_to(self, cancel)

    def take(self, wait_seconds: float = POLL_SECONDS) -> list[ItemResult]:
        """Return new results; EngineClosed, or RuntimeError with the engine's sentence, if it has ended."""
        if not self.alive:
            return []
        results = self._received(wait_seconds)
        if self._ended and not results:
            self._closed = True
            raise self._ended
        return results

    def _end(self) -> list[ItemResult]:
        self._cancel()
        return self._received()

    def _received(self, wait_seconds: float = 0.0) -> list[ItemResult]:
        results = list[ItemResult]()
        for _, message in self._inbox.take(wait_seconds):
            match message:
                case BatchDone(values):
                    results += [ItemResult(number, self.items[number], value) for number, value in values]
                case Failed(sentence):
                    # An engine that closes gives up closed work, too, with another sentence.
                    self._ended = self._ended or (RuntimeError(sentence) if sentence else EngineClosed())
        self._began = self._began or (time.monotonic() if results else None)
        self.done += len(results)
        return results


def collect(results: Results, progress: Progress = silent, *, failures: bool = False) -> list[Any]:
    """Return the values of all items, in the order of the items; `progress` gets (done, total) as they arrive.

    With `failures` the list has a Failure for each value that could not be computed. Otherwise the first of them is
    raised once all items are done, as its InputError or as RuntimeError. RuntimeError also if the computation was
    cancelled or the engine has ended.
    """
    values: dict[int, Any] = {}
    while results.alive:
        if new := results.take(1.0):
            values.update((result.number, result.value) for result in new)
            progress(len(values), results.total)
    if len(values) < results.total:
        raise RuntimeError(Stop.CANCELLED.value)
    in_order = [values[number] for number in range(results.total)]
    for value in in_order:
        if isinstance(value, Failure) and not failures:
            raise value.error or RuntimeError(value.sentence)
    return in_order


Request = tuple[Callable[[Any], Any], Any]
"""A function and its item, both hashable."""


class Together:
    """Small requests of many callers, sent in common batches: a separate task costs more than such a request."""

    def __init__(self, start: Start) -> None:
        """Begin with nothing; the threads that send start with the first request."""
        self._start, self._waiting, self._futures = start, deque[Request](), dict[Request, Future[Any]]()
        self._changed, self._begun = threading.Condition(), False

    def submit(self, function: Callable[[Any], Any], item: Any) -> "Future[Any]":
        """Return the coming function(item) or Failure; equal requests under way are computed once."""
        request = function, item
        with self._changed:
            if request not in self._futures:
                self._futures[request] = Future()
                self._waiting.append(request)
                self._changed.notify()
            if not self._begun:
                self._begun = True
                for _ in range(cores()):
                    threading.Thread(target=self._serve, name="lrlab-together", daemon=True).start()
            return self._futures[request]

    def _serve(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                # A worker that becomes free gets its share of all that wait.
                requests = [self._waiting.popleft() for _ in range(-(-len(self._waiting) // cores()))]
            values: Sequence[Any]
            try:
                [values] = collect(self._start(compute_requests, [requests]))
            except Exception as error:
                values = [Failure.of(error)] * len(requests)
            for request, value in zip(requests, values, strict=True):
                with self._changed:
                    future = self._futures.pop(request)
                future.set_result(value)


def compute_requests(requests: Sequence[Request]) -> list[Any]:
    """Return the value of each request, or its Failure; on a worker."""
    return [computed(function, item) for function, item in requests]

"""Results of one function for many items as they arrive, computed by workers or in this process.

A stream is started by `engine.map(function, items)`, by `on_workers(function, items)` (the engine of this process) or
by `LocalStream(function, items)`; these are all a `StartStream`. Code that runs many items takes such a parameter and

    values = collect(start(function, items), progress)        all values, in the order of the items

or takes results as they arrive, each with the number of its item (items may repeat, and need not be hashable):

    while stream.alive:
        for number, item, value in stream.take():             value: what the function returned, or a Failure
            ...
    rest = stream.cancel()                                    at any time: ends it, returns what was not taken

Pages hold a `Collection(stream)`: `refresh()` without waiting, `results` by number, `error`.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any, NamedTuple

from lrlab.engine.messages import Failure
from lrlab.engine.worker import computed
from lrlab.parameters import InputError
from lrlab.protocol import Stop
from lrlab.runs.trial import Progress, silent

POLL_SECONDS = 0.05
CHUNK_SECONDS = 0.2
"""Seconds of work that are sent to a worker at once, and after which results are handed on."""


class ItemResult(NamedTuple):
    """The result of one item: its number (0, 1, ...), the item, and the function's value or a Failure."""

    number: int
    item: Any
    value: Any


class ResultStream(ABC):
    """Results as they arrive. `done`: results taken; `total`: number of items, None while it is not known.

    state: of a sweep, as on the list of past ones; nothing of other batches.
    """

    state = ""

    def __init__(self, items: Iterable[Any]) -> None:
        self.done, self.total = 0, len(items) if isinstance(items, Sized) else None
        self._items: Iterator[tuple[int, Any]] = enumerate(items)
        self._began: float | None = None

    @property
    @abstractmethod
    def alive(self) -> bool:
        """Whether more results will come."""

    @property
    def version(self) -> int:
        """A number that grows with whatever is new."""
        return self.done

    @property
    def seconds_left(self) -> float | None:
        """Remaining time at the pace so far; None while it is not known."""
        if not self.alive:
            return 0.0
        if not self.done or self.total is None or self._began is None:
            return None
        return (time.monotonic() - self._began) / self.done * (self.total - self.done)

    @abstractmethod
    def take(self, wait_seconds: float = POLL_SECONDS) -> list[ItemResult]:
        """Return what is new; wait for it up to `wait_seconds`. RuntimeError where the engine has ended before."""

    @abstractmethod
    def cancel(self) -> list[ItemResult]:
        """End it: nothing more will come. Return the results that were computed and not taken."""


StartStream = Callable[[Callable[[Any], Any], Iterable[Any]], ResultStream]
"""start(function, items): begin to compute function(item) for all items; for workers both are pickled."""


class LocalStream(ResultStream):
    """Computed in this process inside `take`, for about `chunk_seconds` a call, with one BLAS thread."""

    def __init__(
        self, function: Callable[[Any], Any], items: Iterable[Any], chunk_seconds: float = CHUNK_SECONDS
    ) -> None:
        super().__init__(items)
        self._function, self._chunk_seconds = function, chunk_seconds
        self._alive, self._new = self.total != 0, list[ItemResult]()

    @property
    def alive(self) -> bool:  # noqa: D102
        return self._alive

    def take(self, wait_seconds: float = POLL_SECONDS) -> list[ItemResult]:
        """Return the results of as many items as fit into `chunk_seconds`, at least one."""
        from threadpoolctl import threadpool_limits

        started = time.monotonic()
        self._began = self._began or started
        # As on a worker: with more threads BLAS adds in another order, and the last digits would differ.
        with threadpool_limits(1):
            for number, item in self._items:
                self._new.append(ItemResult(number, item, computed(self._function, item)))
                if time.monotonic() >= started + self._chunk_seconds:
                    break
            else:
                self._alive, self.total = False, self.done + len(self._new)
        return self._untaken()

    def cancel(self) -> list[ItemResult]:
        """End it, and return the results that an interruption (Ctrl-C) of `take` has left."""
        self._alive, self._items = False, iter(())
        return self._untaken()

    def _untaken(self) -> list[ItemResult]:
        results, self._new = self._new, []
        self.done += len(results)
        if self.done == self.total:
            self._alive = False
        return results


def collect(stream: ResultStream, progress: Progress = silent, *, failures: bool = False) -> list[Any]:
    """Return the values of all items, in the order of the items; `progress` gets (done, total) as they arrive.

    With `failures` the list has a Failure in the place of each value that could not be computed; without, the first
    of them (in the order of the items) is raised, as its InputError or as RuntimeError with its sentence, once all
    items are done. RuntimeError also where the stream was cancelled or the engine has ended.
    """
    values: dict[int, Any] = {}
    while stream.alive:
        if results := stream.take(1.0):
            values.update((result.number, result.value) for result in results)
            progress(len(values), stream.total or len(values))
    if stream.total is None or len(values) < stream.total:
        raise RuntimeError(Stop.CANCELLED.value)
    in_order = [values[number] for number in range(stream.total)]
    for value in in_order:
        if isinstance(value, Failure) and not failures:
            raise value.error or RuntimeError(value.sentence)
    return in_order


class Collection:
    """A stream with all its results so far, as pages follow it.

    results: value or Failure by the number of the item. error: the sentence of what ended it before all were done.
    state: that of its stream.
    """

    def __init__(self, stream: ResultStream) -> None:
        self.stream, self.error = stream, ""
        self.results: dict[int, Any] = {}

    @property
    def alive(self) -> bool:
        """Whether a `refresh` can still change anything."""
        return self.stream.alive

    @property
    def state(self) -> str:  # noqa: D102
        return self.stream.state

    @property
    def version(self) -> int:
        """A number that grows with whatever is new."""
        return self.stream.version

    @property
    def done(self) -> int:
        """Number of items with a result."""
        return len(self.results)

    @property
    def total(self) -> int:
        """Number of items."""
        return self.stream.total or 0

    @property
    def seconds_left(self) -> float | None:
        """Remaining time at the pace so far; None while it is not known."""
        return self.stream.seconds_left

    def refresh(self) -> list[ItemResult]:
        """Take what has arrived since the last call, without waiting, and return it."""
        try:
            results = self.stream.take(0.0)
        except (RuntimeError, InputError) as error:
            self.error = str(error)
            return []
        self.results.update((result.number, result.value) for result in results)
        return results

    def cancel(self) -> None:
        """End it; what was computed stays."""
        self.results.update((result.number, result.value) for result in self.stream.cancel())

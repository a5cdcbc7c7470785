"""Results of many items as they arrive: computed by the engine, a part of them at a time, or in this process."""

import time
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, Protocol

from lrlab.engine.engine import Engine
from lrlab.engine.handles import Batch
from lrlab.engine.remote import failure

LOOK = 0.05
BATCH = 0.2
"""Seconds of work after which results are handed on."""
AHEAD, FEWEST, MOST = 20.0, 500, 20_000
"""Seconds of work that the engine is given at a time, and the least and most items."""

News = list[tuple[Any, Any]]
"""Items with their results; a `remote.Failure` where there is none."""


class Stream(Protocol):
    """Results as they arrive."""

    @property
    def alive(self) -> bool:
        """Whether more will come."""

    def take(self) -> News:
        """Return what is new, after a while at most; RuntimeError where nothing more can come though it should."""

    def cancel(self) -> News:
        """End it, and return what has been computed."""


Start = Callable[[Callable[[Any], Any], Iterable[Any]], Stream]
"""start(function, items): begin to compute function(item) for all items, which are only taken as they are needed."""


def on_engine(engine: Callable[[], Engine]) -> Start:
    """Return what computes on an engine, which is not asked for before there is an item."""

    def start(function: Callable[[Any], Any], items: Iterable[Any]) -> Stream:
        return EngineStream(engine, function, items)

    return start


class EngineStream:
    """Computed by the engine's workers. Neither all items nor all results are in memory at once."""

    def __init__(self, engine: Callable[[], Engine], function: Callable[[Any], Any], items: Iterable[Any]) -> None:
        """Hand over the first part."""
        self._engine, self._function, self._items = engine, function, iter(items)
        self._parts: list[tuple[Batch, list[Any]]] = []
        self._done, self._begun, self._exhausted = 0, time.monotonic(), False
        self._fill()

    @property
    def alive(self) -> bool:
        """Whether more will come."""
        return bool(self._parts)

    def take(self) -> News:
        """Return what is new; RuntimeError with the engine's sentence where it has ended."""
        self._parts[0][0].look(LOOK)
        news = self._collect()
        if not news:
            for batch, _ in self._parts:
                if not batch.alive and batch.done < batch.total:
                    raise RuntimeError(batch.error or "The engine gave up the trials: run it again.")
        self._parts = [(batch, part) for batch, part in self._parts if batch.alive or batch.done < batch.total]
        self._fill()
        return news

    def cancel(self) -> News:
        """End it, and return what has been computed."""
        for batch, _ in self._parts:
            batch.cancel()
        news, self._parts, self._exhausted = self._collect(), [], True
        return news

    def _collect(self) -> News:
        news = [(part[number], result) for batch, part in self._parts for number, result in batch.refresh()]
        self._done += len(news)
        return news

    def _fill(self) -> None:
        # The next part is handed over before this one ends: no worker waits for the last items of a part.
        pace = self._done / max(time.monotonic() - self._begun, LOOK)
        size = int(min(max(pace * AHEAD, FEWEST), MOST))
        if self._exhausted or sum(batch.total - batch.done for batch, _ in self._parts) > size / 2:
            return
        part = list(islice(self._items, size))
        self._exhausted = len(part) < size
        if part:
            self._parts.append((self._engine().map(self._function, part, BATCH), part))


class HereStream:
    """Computed in this process while it is asked for results: the simplest `Start`."""

    def __init__(self, function: Callable[[Any], Any], items: Iterable[Any]) -> None:
        """Compute nothing yet."""
        self._function, self._items, self.alive = function, iter(items), True
        self._news: News = []

    def take(self) -> News:
        """Return the results of as many items as fit into a while."""
        from threadpoolctl import threadpool_limits

        end = time.monotonic() + BATCH
        # As on a worker: with more threads BLAS adds in another order, and the last digits would differ.
        with threadpool_limits(1):
            for item in self._items:
                try:
                    self._news.append((item, self._function(item)))
                except Exception as error:
                    self._news.append((item, failure(error)))
                if time.monotonic() > end:
                    break
            else:
                self.alive = False
        return self._taken()

    def cancel(self) -> News:
        """End it, and return what an interruption has left."""
        self._items, self.alive = iter(()), False
        return self._taken()

    def _taken(self) -> News:
        news, self._news = self._news, []
        return news

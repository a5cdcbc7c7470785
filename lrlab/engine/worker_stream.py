"""Results that an engine's workers compute, of items that are all at hand or generated as they are needed."""

import time
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from lrlab.engine.handles import Inbox, call_when_dropped
from lrlab.engine.messages import ChunkDone, Failed
from lrlab.engine.stream import POLL_SECONDS, ItemResult, ResultStream

LOOK_AHEAD_SECONDS, LOOK_AHEAD_MIN_ITEMS, LOOK_AHEAD_MAX_ITEMS = 20.0, 4000, 20_000
"""How much work the engine holds of items that are generated as they are needed."""


class WorkerStream(ResultStream):
    """Computed by an engine's workers; ended when nobody holds this object any more.

    A collection (what has a length) is handed to the engine whole. Of other iterables a part at a time is taken, in
    the thread that calls `take`, so that neither all items nor all results are in memory at once.
    """

    def __init__(
        self,
        items: Iterable[Any],
        inbox: Inbox,
        add: Callable[[list[tuple[int, Any]]], None],
        cancel: Callable[[], None],
    ) -> None:
        """Hand over the first part; `add` gives the engine (number, item) pairs, `cancel` ends the work there."""
        super().__init__(items)
        self._inbox, self._add, self._cancel = inbox, add, cancel
        self._under_way: dict[int, Any] = {}
        self._exhausted = self._closed = False
        self._ended = ""
        self._fill()
        call_when_dropped(self, cancel)

    @property
    def alive(self) -> bool:  # noqa: D102
        return not self._closed and bool(self._under_way or not self._exhausted)

    @property
    def version(self) -> int:  # noqa: D102
        return self._inbox.received

    def take(self, wait_seconds: float = POLL_SECONDS) -> list[ItemResult]:
        """Return what is new; RuntimeError with the engine's sentence where it has ended."""
        if not self.alive:
            return []
        if wait_seconds:
            self._inbox.wait(wait_seconds)
        results = self._received()
        if self._ended and not results:
            self._closed = True
            raise RuntimeError(self._ended)
        self._fill()
        return results

    def cancel(self) -> list[ItemResult]:
        """End it, and return the results that were not taken."""
        if not self.alive:
            return []
        self._cancel()
        self._closed = True
        return self._received()

    def _received(self) -> list[ItemResult]:
        results = list[ItemResult]()
        for _, message in self._inbox.take():
            match message:
                case ChunkDone(values):
                    results += [ItemResult(number, self._under_way.pop(number), value) for number, value in values]
                case Failed(sentence):
                    self._ended = sentence or "The engine was closed: run it again."
        self._began = self._inbox.first_message_at
        self.done += len(results)
        return results

    def _fill(self) -> None:
        if self._exhausted:
            return
        # The next part is handed over before this one ends: no worker waits for the last items of a part.
        pace = self.done / max(time.monotonic() - self._began, POLL_SECONDS) if self._began else 0.0
        size = int(min(max(pace * LOOK_AHEAD_SECONDS, LOOK_AHEAD_MIN_ITEMS), LOOK_AHEAD_MAX_ITEMS))
        if len(self._under_way) > size / 2:
            return
        part = list(self._items if self.total is not None else islice(self._items, size))
        if self.total is not None or len(part) < size:
            self._exhausted, self.total = True, self.done + len(self._under_way) + len(part)
        if part:
            self._under_way.update(part)
            self._add(part)

"""Results of one function for many items, computed by an engine's workers, as they arrive."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from lrlab.engine.inbox import Inbox, call_when_dropped
from lrlab.engine.messages import ChunkDone, EngineClosed, Failed
from lrlab.engine.stream import POLL_SECONDS, ItemResult, ResultStream

LOOK_AHEAD_MIN_ITEMS, LOOK_AHEAD_MAX_ITEMS = 64, 100_000
"""How many items the engine holds, at first and at most, of those that are generated as they are needed."""
PAUSE, LONGEST_PAUSE_SECONDS = 9.0, 0.25
"""How long results are collected before more are handed on: so many times as long as the last ones took to use."""
MOST_RESULTS = 1000
"""Results that are handed on at once, but for the rest of a message."""


class WorkerStream(ResultStream):
    """Computed by an engine's workers; ended when nobody holds this object any more.

    A collection (what has a length) is handed to the engine whole. Of other iterables a part at a time is taken, in
    the thread that calls `take`, so that neither all items nor all results are in memory at once. Who needs long to use
    results, such as a store that waits for a disk, is handed more of them at a time.
    """

    def __init__(
        self,
        items: Iterable[Any],
        inbox: Inbox,
        add: Callable[[list[tuple[int, Any]]], None],
        cancel: Callable[[], None],
        demand: Callable[[], int],
    ) -> None:
        """Hand over the first part.

        add: gives the engine (number, item) pairs. cancel: ends the work there. demand: returns how many items the
        engine would like to have, with those under way.
        """
        super().__init__(items)
        self._inbox, self._add, self._cancel, self._demand = inbox, add, cancel, demand
        self._handed_on_at, self._pause_until = float("inf"), float("-inf")
        self._under_way: dict[int, Any] = {}
        self._exhausted = self._closed = False
        self._ended: RuntimeError | None = None
        self._fill()
        call_when_dropped(self, cancel)

    @property
    def alive(self) -> bool:  # noqa: D102
        return not self._closed and bool(self._under_way or not self._exhausted)

    @property
    def version(self) -> int:  # noqa: D102
        return self._inbox.received

    def take(self, wait_seconds: float = POLL_SECONDS) -> list[ItemResult]:
        """Return what is new; EngineClosed, or RuntimeError with the engine's sentence, where it has ended."""
        if not self.alive:
            return []
        if wait_seconds and not self._waited(wait_seconds):
            return []
        results = self._received(MOST_RESULTS)
        if self._ended and not results:
            self._closed = True
            raise self._ended
        self._fill()
        self._handed_on_at = self._inbox.now() if results else float("inf")
        return results

    def _waited(self, seconds: float) -> bool:
        """Wait so many seconds at most, and return whether what has come by now is to be handed on."""
        if self._inbox.results >= MOST_RESULTS:
            return True
        now = self._inbox.now()
        if now > self._handed_on_at:
            # The last results have been used since.
            self._pause_until = now + min(PAUSE * (now - self._handed_on_at), LONGEST_PAUSE_SECONDS)
            self._handed_on_at = float("inf")
        if (pause := self._pause_until - now) > 0.0:
            self._inbox.sleep(min(pause, seconds))
            if pause > seconds:
                return False
        self._inbox.wait(seconds)
        return True

    def cancel(self) -> list[ItemResult]:
        """End it, and return the results that were not taken."""
        if not self.alive:
            return []
        self._cancel()
        self._closed = True
        return self._received()

    def _received(self, most: float = float("inf")) -> list[ItemResult]:
        results = list[ItemResult]()
        for _, message in self._inbox.take(most):
            match message:
                case ChunkDone(values):
                    results += [ItemResult(number, self._under_way.pop(number), value) for number, value in values]
                case Failed(sentence):
                    # What is closed is at last given up by its engine, too, with another sentence.
                    self._ended = self._ended or (RuntimeError(sentence) if sentence else EngineClosed())
        self._began = self._inbox.first_message_at
        self.done += len(results)
        return results

    def _fill(self) -> None:
        if self._exhausted:
            return
        size = min(max(self._demand(), LOOK_AHEAD_MIN_ITEMS), LOOK_AHEAD_MAX_ITEMS) - len(self._under_way)
        if size < LOOK_AHEAD_MIN_ITEMS / 2:
            return
        part = list(self._items if self.total is not None else islice(self._items, size))
        if self.total is not None or len(part) < size:
            self._exhausted, self.total = True, self.done + len(self._under_way) + len(part)
        if part:
            self._under_way.update(part)
            self._add(part)

"""Computes a chunk of items on a worker, and sends the results, in time even where an item does not come back."""

import math
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from lrlab.engine.messages import ChunkDone, Failure, Send
from lrlab.protocol import Stop
from lrlab.runs.run import cancelled
from lrlab.runs.stacks import portions, run_stack
from lrlab.runs.trial import result_so_far

OVERTIME_SECONDS = 2.0
"""How long an item may outlast its time limit; then its worker is to end."""
GRACE_SECONDS = 2.0 * OVERTIME_SECONDS
"""After how long the engine ends a worker that cannot say so itself, as where a call holds the interpreter's lock."""
WATCH_SECONDS = 0.25


@dataclass(frozen=True)
class ComputeChunk:
    """Compute some items of many; those not begun after `seconds` are handed back.

    An item may say by `max_seconds` after how long it is to end. Where it does not, as inside one long decomposition,
    what it has so far is sent, and the engine ends this worker.
    """

    function: Callable[[Any], Any]
    numbers: list[int]
    items: list[Any]
    seconds: float

    def run(self, send: Send) -> None:
        """Send ChunkDone with the items that were computed."""
        with ChunkSender(send) as sender:
            for places in portions(self.function, self.items):
                if cancelled() or (sender.results and sender.elapsed > self.seconds):
                    break
                items = [self.items[place] for place in places]
                numbers = [self.numbers[place] for place in places]
                sender.begin(numbers[0], getattr(items[0], "max_seconds", math.inf))
                if not sender.end(zip(numbers, computed(self.function, items), strict=True)):
                    break


def computed(function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """Return the function's values of items of one portion, a Failure in the place of each that could not be computed.

    Where a stack of trials fails each of them is run alone, to see which is at fault.
    """
    if len(items) > 1:
        with suppress(Exception):
            return run_stack(items)
    values = []
    for item in items:
        try:
            values.append(function(item))
        except Exception as error:
            values.append(Failure.of(error))
    return values


class ChunkSender:
    """Sends the results of a chunk at its end, or when one of its items is overdue."""

    def __init__(self, send: Send) -> None:
        self.results = list[tuple[int, Any]]()
        self._send, self._started, self._thread = send, time.perf_counter(), threading.get_ident()
        self._number, self._deadline = 0, math.inf
        self._lock, self._over = threading.Lock(), threading.Event()
        self._watch = threading.Thread(target=self._watch_deadline, daemon=True)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._started

    def __enter__(self) -> "ChunkSender":
        self._watch.start()
        return self

    def __exit__(self, *error: object) -> None:
        with self._lock:
            if not self._over.is_set():
                self._over.set()
                self._send(ChunkDone(self.results, self.elapsed))

    def begin(self, number: int, max_seconds: float) -> None:
        """Begin an item."""
        with self._lock:
            self._number, self._deadline = number, time.perf_counter() + max_seconds + OVERTIME_SECONDS

    def end(self, results: Iterable[tuple[int, Any]]) -> bool:
        """Take the values of items by their numbers, and return whether they have come in time."""
        with self._lock:
            self._deadline = math.inf
            if not self._over.is_set():
                self.results.extend(results)
            return not self._over.is_set()

    def _watch_deadline(self) -> None:
        while not self._over.wait(WATCH_SECONDS):
            with self._lock:
                if time.perf_counter() < self._deadline or self._over.is_set():
                    continue
                value = result_so_far(self._thread)
                late = Failure(Stop.TIMEOUT.value) if value is None else value
                self._over.set()
                self._send(ChunkDone([*self.results, (self._number, late)], self.elapsed, overdue=True))

"""Messages of the engine's thread to one who waits for them, and what happens when nobody does any more."""

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from lrlab.engine.messages import ChunkDone, Message


class Inbox:
    """Messages about work from the engine's thread.

    first_message_at: `now()` of the first. received: how many have come.
    """

    def __init__(self) -> None:
        self._messages: deque[tuple[int, Message]] = deque()
        self._arrived = threading.Event()
        self.first_message_at: float | None = None
        self.received = self._results_received = self._results_taken = 0

    def put(self, message: Message, number: int = 0) -> None:
        """Add a message; `number` says of which item it is, where it is of one."""
        self.first_message_at = self.first_message_at or self.now()
        self._results_received += results_in(message)
        self._messages.append((number, message))
        self.received += 1
        self._arrived.set()

    def take(self, most_results: float = float("inf")) -> list[tuple[int, Message]]:
        """Return (number, message) of messages, oldest first, and remove them: all, or up to about `most_results`."""
        self._arrived.clear()
        taken, before = list[tuple[int, Message]](), self._results_taken
        while self._messages and self._results_taken - before < most_results:
            taken.append(self._messages.popleft())
            self._results_taken += results_in(taken[-1][1])
        if self._messages:
            self._arrived.set()
        return taken

    @property
    def results(self) -> int:
        """How many results wait to be taken."""
        return self._results_received - self._results_taken

    def now(self) -> float:
        """Return the time, in seconds from any start."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""
        time.sleep(seconds)

    def wait(self, seconds: float) -> None:
        """Return when there is a message, or after so many seconds."""
        self._arrived.wait(seconds)


def results_in(message: Message) -> int:
    """Return how many results a message has."""
    return len(message.results) if isinstance(message, ChunkDone) else 0


def call_when_dropped(holder: object, function: Callable[[], None]) -> None:
    """Call the function when nobody holds this object any more; not at the end of the program."""
    finalizer: Any = weakref.finalize(holder, function)
    finalizer.atexit = False

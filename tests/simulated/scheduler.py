"""A scheduler that takes messages one after the other, each in its time."""

from collections import Counter
from collections.abc import Callable

MESSAGE_SECONDS = {"task": 1.2e-3, "event": 0.3e-3, "end": 0.7e-3, "question": 0.1e-3, "heartbeat": 0.2e-3}
"""What a message costs the scheduler: a task takes 2.5 ms in all (400 a second), with two events."""


class Scheduler:
    """Takes messages one after the other, each after what came before."""

    def __init__(self, at: Callable[[float, Callable[[float], None]], None], slowness: float) -> None:
        self._at, self._free_at, self._slowness = at, 0.0, slowness
        self.waiting = self.longest_queue = 0
        self.busy = 0.0
        self.messages = Counter[int]()

    def receive(self, time: float, kind: str, then: Callable[[float], None]) -> None:
        """Take in a message at a time; `then` is called once it has been dealt with."""
        self.waiting += 1
        self.longest_queue = max(self.longest_queue, self.waiting)
        self.messages[int(time)] += 1
        seconds = self._slowness * MESSAGE_SECONDS[kind]
        self.busy += seconds
        self._free_at = max(time, self._free_at) + seconds
        self._at(self._free_at, lambda now: self._dealt_with(now, then))

    def _dealt_with(self, now: float, then: Callable[[float], None]) -> None:
        self.waiting -= 1
        then(now)

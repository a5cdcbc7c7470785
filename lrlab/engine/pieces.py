"""How long pieces of work are: so long that workers wait for neither the scheduler nor the engine."""

from collections.abc import Callable

from lrlab.engine.stream import CHUNK_SECONDS

TASKS_PER_SECOND = 100.0
"""Tasks that all workers together end in a second: a quarter of what one core of a scheduler manages."""
FEWER_TASKS_PER_SECOND, SHORT_SECONDS = 50.0, 1.0
"""The same for pieces up to this long: workers that share cores with each other and with a scheduler lose some 10 ms of
processor time by a piece, and nobody misses what came a second later."""
LAGS = 20.0
"""A piece takes so many times as long as the scheduler's answer: so a worker waits a twentieth of its time at most."""
LONGEST_SECONDS = 30.0
"""What a lost worker may have computed for nothing."""
CHECK_SECONDS, FORGET_SECONDS = 1.0, 10.0
"""Between two questions, and after how long an answer says nothing any more."""


def piece_seconds(usual: float, workers: int, lag: float) -> float:
    """Return how many seconds of work a worker is sent at once, where `usual` are enough for a few workers.

    lag: seconds that the scheduler takes to answer.
    """
    short = min(workers / FEWER_TASKS_PER_SECOND, SHORT_SECONDS)
    factor = max(workers / TASKS_PER_SECOND, short, LAGS * lag) / CHUNK_SECONDS
    return max(usual, min(factor * usual, LONGEST_SECONDS))


class SchedulerLag:
    """How long the scheduler takes to answer, with all that waits there before: asked once a second."""

    def __init__(self, ask: Callable[[], None]) -> None:
        """Know nothing yet; `ask` has `answered` called some time later."""
        self._ask, self._lag = ask, 0.0
        self._sent_at, self._waits = float("-inf"), False

    def check(self, now: float) -> None:
        """Ask, where the last answer has come and is old."""
        if not self._waits and now >= self._sent_at + CHECK_SECONDS:
            if now >= self._sent_at + FORGET_SECONDS:
                self._lag = 0.0
            self._sent_at, self._waits = now, True
            self._ask()

    def answered(self, seconds: float) -> None:
        """Take note of an answer."""
        self._waits = False
        self._lag += (seconds - self._lag) / 2.0

    def seconds(self, now: float) -> float:
        """Return the lag: of late answers, or of the one that is waited for, where that is longer already."""
        return max(self._lag, now - self._sent_at) if self._waits else self._lag

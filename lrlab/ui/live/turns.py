"""Scripts of pages run one at a time, in the order of the clicks.

Of thirty begun together all would end when the last does, and the server's own thread would wait for all of them at
every message.
"""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

TURN_SECONDS = 0.1
"""A script that takes longer no longer holds up those that wait, which then run beside it."""

_lock, _own = threading.Lock(), threading.local()
_queue = deque[threading.Event]()
"""Of scripts; the first one has the turn."""


@contextmanager
def turn() -> Iterator[None]:
    """Wait for a turn, and hold it for the block."""
    _take()
    try:
        yield
    finally:
        _give_back()


@contextmanager
def pause() -> Iterator[None]:
    """Let others run during the block, in which a script that has a turn waits for results."""
    if not hasattr(_own, "turn"):
        yield
        return
    _give_back()
    try:
        yield
    finally:
        _take()


def _take() -> None:
    _own.turn = mine = threading.Event()
    with _lock:
        _queue.append(mine)
        _queue[0].set()
    mine.wait(TURN_SECONDS * len(_queue))


def _give_back() -> None:
    with _lock:
        _queue.remove(_own.turn)
        del _own.turn
        if _queue:
            _queue[0].set()

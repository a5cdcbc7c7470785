"""Turns of pages: the interpreter runs one script at a time, in the order of the clicks.

Threads share the interpreter evenly: of ten scripts begun together, all would end when the last does, and the server's
own thread would wait for all of them at every message.
"""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

TURN_SECONDS = 0.1
"""A script that takes longer no longer holds up the next one, which then runs beside it."""

_lock = threading.Lock()
_waiting = deque[threading.Event]()
_own = threading.local()
_running = False


def waiting() -> bool:
    """Return whether a script waits for its turn."""
    return bool(_waiting)


@contextmanager
def turn() -> Iterator[None]:
    """Wait for a turn, and hold it for the block; inside of another turn of this thread do nothing."""
    if hasattr(_own, "holds"):
        yield
        return
    _own.holds = _take()
    try:
        yield
    finally:
        _give_back()
        del _own.holds


@contextmanager
def pause() -> Iterator[None]:
    """Let others run during the block, in which a script waits for results."""
    if not hasattr(_own, "holds"):
        yield
        return
    _give_back()
    try:
        yield
    finally:
        _own.holds = _take()


def _give_back() -> None:
    global _running
    if not _own.holds:
        return
    _own.holds = False
    with _lock:
        if _waiting:
            _waiting.popleft().set()
        else:
            _running = False


def _take() -> bool:
    """Return whether the turn was given before those ahead took longer than they may."""
    global _running
    with _lock:
        if not _running:
            _running = True
            return True
        mine = threading.Event()
        _waiting.append(mine)
        patience = TURN_SECONDS * len(_waiting)
    if mine.wait(patience):
        return True
    with _lock:
        if mine.is_set():
            return True
        _waiting.remove(mine)
        return False

"""Scripts of pages run one at a time, in the order of the clicks.

Of thirty begun together all would end when the last does, and the server's own thread would wait for all of them at
every message. Scripts that answer a click run before scripts that draw the results of a run. A click in a part of a
page waits for the script of its tab that waits: that then goes before the others, too.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

TURN_SECONDS = 0.1
"""Seconds until a script no longer blocks the waiting ones, which then run at the same time."""
POLL_SECONDS, POLLS_A_SECOND = 0.05, 400
"""A script that waits looks so often whether its session asks for something else, and all that wait together so often:
sixty that each looked twenty times a second took a twelfth of the server's time."""


class _Turn(threading.Event):
    """The turn of a script, set once it has come. tab: its token. later: whether it draws the results of a run."""

    def __init__(self, tab: str, later: bool) -> None:
        super().__init__()
        self.tab, self.later = tab, later


_lock, _own = threading.Lock(), threading.local()
_queue: list[_Turn] = []
"""Turns of scripts in their order; the first script runs."""


@contextmanager
def turn() -> Iterator[None]:
    """Wait for a turn, and hold it for the block. While it waits another request of its session ends a script.

    A block within another one has its turn.
    """
    if hasattr(_own, "turn"):
        yield
        return
    try:
        _wait(later=_own.__dict__.pop("later", False))
        yield
    finally:
        _leave()


def give_way() -> None:
    """Let this thread's turn come after scripts that answer a click."""
    _own.later = True


def hurry(tab: str) -> None:
    """Let the script of a tab whose user acts run before scripts that show the results of a run."""
    with _lock:
        for mine in [one for one in _queue[1:] if one.later and one.tab == tab]:
            _queue.remove(mine)
            mine.later = False
            _insert(mine)


@contextmanager
def pause() -> Iterator[None]:
    """Let other scripts run during the block, while this one waits for results."""
    if not hasattr(_own, "turn"):
        yield
        return
    _leave()
    yield
    _wait(later=True)


def _wait(*, later: bool) -> None:
    _own.turn = mine = _Turn(st.session_state.get("live:token", ""), later)
    with _lock:
        _insert(mine)
        _queue[0].set()
        waiting = len(_queue)
        deadline = time.monotonic() + TURN_SECONDS * waiting
    while not mine.wait(max(POLL_SECONDS, waiting / POLLS_A_SECOND)) and time.monotonic() < deadline:
        # Any access to the session takes up a request that waits.
        _ = "live:tab" in st.session_state


def _insert(mine: _Turn) -> None:
    """Put a turn at the end, or before those that draw the results of a run; who has the turn keeps it."""
    later = (place for place, other in enumerate(_queue) if place and other.later)
    _queue.insert(len(_queue) if mine.later else next(later, len(_queue)), mine)


def _leave() -> None:
    if hasattr(_own, "turn"):
        with _lock:
            _queue.remove(_own.turn)
            if _queue:
                _queue[0].set()
        del _own.turn

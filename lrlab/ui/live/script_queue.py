"""Scripts of pages and answers to sliders run one at a time, in the order of the clicks.

Of thirty begun together all would end when the last does, and the server's own thread would wait for all of them at
every message. Scripts that answer a click run before scripts that draw the results of a run, and before answers to a
slider. A click in a part of a page waits for the script of its tab that waits: that then goes before the others, too.
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
    """A turn, set when it comes. tab: the token of a script's, None of a slider's. later: whether clicks go first."""

    def __init__(self, tab: str | None, later: bool) -> None:
        super().__init__()
        self.tab, self.later = tab, later


_lock, _own = threading.Lock(), threading.local()
_queue: list[_Turn] = []
"""Turns in their order; the first one runs."""


@contextmanager
def turn(*, script: bool = True) -> Iterator[None]:
    """Wait for a turn, and hold it for the block. While it waits another request of its session ends a script.

    A block within another one has its turn. script: whether the block is one of a script, not the answer to a slider.
    """
    if hasattr(_own, "turn"):
        yield
        return
    try:
        tab = st.session_state.get("live:token", "") if script else None
        _wait(tab, later=_own.__dict__.pop("later", not script))
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
    """Let others run during the block, while this thread waits for results."""
    if not hasattr(_own, "turn"):
        yield
        return
    tab = _own.turn.tab
    _leave()
    yield
    _wait(tab, later=True)


def _wait(tab: str | None, *, later: bool) -> None:
    _own.turn = mine = _Turn(tab, later)
    with _lock:
        _insert(mine)
        _queue[0].set()
        waiting = len(_queue)
        deadline = time.monotonic() + TURN_SECONDS * waiting
    while not mine.wait(max(POLL_SECONDS, waiting / POLLS_A_SECOND)) and time.monotonic() < deadline:
        # Any access to the session takes up a request that waits.
        _ = tab is not None and "live:tab" in st.session_state


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

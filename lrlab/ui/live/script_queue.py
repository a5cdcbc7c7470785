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

_lock, _own = threading.Lock(), threading.local()
_queue: list[threading.Event] = []
"""Of scripts; the first one has the turn."""
_later: set[threading.Event] = set()
"""Those of the queue that draw the results of a run."""
_of_tab: dict[str, threading.Event] = {}
"""Of scripts that wait, by the token of their tab."""


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
        mine = _of_tab.get(tab)
        if mine in _later and mine is not _queue[0]:
            _queue.remove(mine)
            _later.discard(mine)
            _queue.insert(_first_later(), mine)


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
    _own.tab = st.session_state.get("live:token", "")
    _own.turn = mine = threading.Event()
    with _lock:
        _queue.insert(len(_queue) if later else _first_later(), mine)
        if later:
            _later.add(mine)
        _of_tab[_own.tab] = mine
        _queue[0].set()
        waiting = len(_queue)
        deadline = time.monotonic() + TURN_SECONDS * waiting
    while not mine.wait(max(POLL_SECONDS, waiting / POLLS_A_SECOND)) and time.monotonic() < deadline:
        # Any access to the session takes up a request that waits.
        _ = "live:tab" in st.session_state


def _first_later() -> int:
    """Return the place before those that draw the results of a run; who has the turn keeps it."""
    places = (place for place, other in enumerate(_queue) if place and other in _later)
    return next(places, len(_queue))


def _leave() -> None:
    if not hasattr(_own, "turn"):
        return
    with _lock:
        _queue.remove(_own.turn)
        _later.discard(_own.turn)
        if _of_tab.get(_own.tab) is _own.turn:
            del _of_tab[_own.tab]
        del _own.turn
        if _queue:
            _queue[0].set()

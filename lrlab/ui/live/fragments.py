"""Parts of a page that Streamlit reruns without the rest of its script, or with the whole page if necessary."""

import threading
import time
from collections.abc import Callable
from typing import NoReturn

import streamlit as st

from lrlab.ui.live import script_queue
from lrlab.ui.live.channel import get_channel

_own = threading.local()


def redraw() -> NoReturn:
    """Draw the whole page again, or follow the request of someone who has left it meanwhile."""
    # st.rerun() would replace a request that waits; any access to the session takes it up first.
    _ = "live:tab" in st.session_state
    st.rerun()


def fragment(draw: Callable[[], None]) -> None:
    """Draw a part of a page, and draw only this part again if one of its widgets, or the end of a run, asks for it.

    It has the buttons and the figures of the runs, and writes the address at its end. To read all controls again would
    take most of a script; a callback that changes these calls `st.rerun`, which draws the whole page.
    """
    again = False

    @st.fragment
    def drawn() -> None:
        nonlocal again
        alone, again = again, True
        if alone and _may_be_lost():
            redraw()
        with script_queue.turn():
            draw()
        if alone:
            note_drawn("part")

    drawn()


def note_drawn(part: str) -> None:
    """Note that this thread has drawn a part of the page, or all of it, once the server has all of it."""
    if loop := get_channel().loop:
        taken = threading.Event()
        loop.call_soon_threadsafe(taken.set)
        # At most a second, if the server is busy.
        taken.wait(1.0)
    st.session_state["drawn"], _own.drew = (part, time.monotonic()), True


def _may_be_lost() -> bool:
    """Return whether the last output, if it was the whole page, may reach the browser incomplete.

    When the next script of a session begins in another thread, Streamlit drops all output of the last script, its end
    included, that the server's thread has not taken yet.
    """
    before, at = st.session_state.get("drawn", ("", 0.0))
    # The server knows that a script has ended a tenth of a second after it has the output.
    return before != "part" and not hasattr(_own, "drew") and time.monotonic() < at + 0.1

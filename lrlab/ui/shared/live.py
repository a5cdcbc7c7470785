"""Following what runs elsewhere: polled while it is alive, never held by the page's own run.

A run is kept in the session under `<page>:run`; touching a widget draws the page again and leaves the run alone.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, Protocol, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from lrlab.parameters import InputError
from lrlab.parameters import duration as duration

EVERY = 0.5
FIRST_SIGHT = 0.35

T = TypeVar("T")


class Running(Protocol):
    """What can be followed: the engine's Following, a Collection, a sweep."""

    def refresh(self) -> object:
        """Take in what has arrived."""

    @property
    def alive(self) -> bool:
        """Whether anything can still arrive."""

    def cancel(self) -> None:
        """End it; what was computed is kept."""


def start(page: str, running: Running, about: Any = None) -> None:
    """Follow something new on a page; what ran there before is cancelled. `about` is what it is a run of."""
    stop(page)
    st.session_state[f"{page}:run"], st.session_state[f"{page}:about"] = running, about
    st.session_state[f"{page}:fresh"] = True


def current(page: str) -> Any:
    """Return what runs, or has run, on a page; None where nothing has."""
    return st.session_state.get(f"{page}:run")


def about(page: str) -> Any:
    """Return what the run of a page is a run of; the widgets may say something else by now."""
    return st.session_state.get(f"{page}:about")


def alive(page: str) -> bool:
    """Tell whether something runs on a page."""
    running = current(page)
    return running is not None and running.alive


def stop(page: str) -> None:
    """Cancel what runs on a page."""
    if alive(page):
        current(page).cancel()


def buttons(page: str, begin: Callable[[], Running], *, ready: bool, about: Any = None) -> None:
    """Show the buttons that start and end a run; `begin` starts it."""
    with st.container(horizontal=True, key=f"{page}-buttons", width="content"):
        pressed = st.button("Run", type="primary", key=f"{page}-run", disabled=not ready)
        if (pressed or st.session_state.pop(f"{page}:autorun", False)) and ready:
            try:
                start(page, begin(), about)
            except InputError as error:
                # The scheduler that LRLAB_SCHEDULER names does not answer.
                st.error(str(error))
        st.button("Cancel", key=f"{page}-cancel", disabled=not alive(page), on_click=stop, args=(page,))


def once(name: str, source: object, make: Callable[[], T]) -> T:
    """Return `make()`, made anew only when `source` is another: pages are drawn twice a second."""
    kept = st.session_state.get(name)
    if kept is None or kept[0] != source:
        kept = st.session_state[name] = (source, make())
    return kept[1]


def follow(page: str, draw: Callable[[], None], seen: Callable[[], bool] = lambda: True) -> None:
    """Call `draw` now, and every half second for as long as the page's run is alive.

    `seen` tells whether there is anything to look at: right after a start the first answer waits up to 0.35 s for
    it, for a first look is worth more than an empty figure and one half a second later.
    """
    running = current(page)
    began = alive(page)

    def poll() -> None:
        if running is not None:
            running.refresh()
            if st.session_state.pop(f"{page}:fresh", False):
                deadline = time.monotonic() + FIRST_SIGHT
                while running.alive and not seen() and time.monotonic() < deadline:
                    time.sleep(0.01)
                    running.refresh()
        draw()
        if began and not running.alive:
            st.rerun()

    # Streamlit tells fragments apart by this name and their place. Were it the same on two pages, the one would answer
    # a question that the browser still asks for the other, and draw on a page that is not there.
    poll.__qualname__ = f"follow.{page}"
    st.fragment(poll, run_every=EVERY if began else None, key=f"{page}-live")()


def leave(path: str, address: Mapping[str, str]) -> NoReturn:
    """Go to another page, from a callback: what the browser asks until it hears of that is not answered.

    A browser goes on polling until the first word of the new page arrives. Such a question names the page that is
    left; Streamlit would follow it back there, or mix the two pages. It takes no notice where the fragment is unknown.
    """
    context = get_script_run_ctx()
    if context is not None:
        context.fragment_storage.clear()
    st.switch_page(path, query_params=dict(address))

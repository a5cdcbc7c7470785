"""Starts, follows and cancels the runs of pages; the script of a page never waits for a run.

A run is stored in the session under `<page>:run`; a changed widget draws the page again and leaves the run alone.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, Protocol, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from lrlab.parameters import InputError
from lrlab.ui.shared import browser, turns
from lrlab.ui.shared.followers import get_followers
from lrlab.ui.widgets import plot

POLL_SECONDS = 0.5
"""Of what has no version to follow, as a forecast."""
FIRST_RESULT_SECONDS = 0.35

T = TypeVar("T")


class Running(Protocol):
    """A run that can be followed: the engine's Following, a Collection, a sweep."""

    def refresh(self) -> object:
        """Read the results that have arrived."""

    @property
    def version(self) -> object:
        """Differs where there is something new to draw."""

    @property
    def alive(self) -> bool:
        """Whether results can still arrive."""

    def cancel(self) -> None:
        """End it; results so far stay."""


def current(page: str) -> Any:
    """Return the current or the last run of a page, or None."""
    return st.session_state.get(f"{page}:run")


def about(page: str) -> Any:
    """Return what the run of a page computes; the widgets may have changed since."""
    return st.session_state.get(f"{page}:about")


def alive(page: str) -> bool:
    """Return whether a run of a page is alive."""
    running = current(page)
    return running is not None and running.alive


def alive_as_shown(page: str) -> bool:
    """Return whether a run of a page is alive, for its buttons; `follow` draws the page again where that has changed.

    A run may end between its buttons and its figure: without a poll, the buttons of a run would stay there for good.
    """
    shown: bool = alive(page)
    st.session_state[f"{page}:shown-alive"] = shown
    return shown


def stop(page: str) -> None:
    """Cancel the run of a page."""
    if alive(page):
        current(page).cancel()


def request(page: str) -> None:
    """Have the page start a run, as its button does."""
    st.session_state[f"{page}:autorun"] = True


def buttons(page: str, begin: Callable[[], Running], *, ready: bool, about: Any = None, label: str = "Run") -> None:
    """Show the buttons that start and end a run; `begin` starts a new one, which ends the previous one.

    about: what the run computes. The run of a tab that is gone, as after a reload, is taken over.
    """
    browser.store_key(page)
    if current(page) is None and (previous := get_followers().take_over(browser.browser_key(), page)):
        st.session_state[f"{page}:run"], st.session_state[f"{page}:about"] = previous.running, previous.about
    with st.container(horizontal=True, key=f"{page}-buttons", width="content"):
        # By a callback, and until a run is there: a widget that is touched meanwhile ends the script, and would take
        # the click with it.
        st.button(label, type="primary", key=f"{page}-run", disabled=not ready, on_click=request, args=(page,))
        if st.session_state.get(f"{page}:autorun") and ready:
            try:
                get_followers().admit(browser.browser_key(), current(page))
                running = begin()
            except InputError as error:
                # Too many are under way, or the scheduler that LRLAB_SCHEDULER names does not answer.
                st.error(str(error))
            else:
                stop(page)
                st.session_state[f"{page}:run"], st.session_state[f"{page}:about"] = running, about
                st.session_state[f"{page}:fresh"] = True
                get_followers().hold(browser.browser_key(), page, running, about)
        st.session_state.pop(f"{page}:autorun", None)
        st.button("Cancel", key=f"{page}-cancel", disabled=not alive_as_shown(page), on_click=stop, args=(page,))
    announce(page)


def announce(page: str) -> None:
    """Tell screen readers that a run has begun or ended, and how."""
    running, words = current(page), ""
    if running is not None:
        words = (
            "The run has begun." if st.session_state.get(f"{page}:shown-alive") else f"The run is over. {_end(running)}"
        )
    plot.send("status", f"{page}-status", {"words": words}, height=1)


def _end(running: Any) -> str:
    if hasattr(running, "runs"):
        ends = [(run.job.entry.title, run.trace.ending) for run in running.runs if run.trace and run.trace.stop]
        return " ".join(f"{title}: {words}" for title, words in ends)
    return f"{running.done:,} of {running.total:,} trials are computed." if hasattr(running, "total") else ""


def once(name: str, source: object, make: Callable[[], T]) -> T:
    """Return `make()`, computed again only when `source` changes: pages are drawn twice a second."""
    cached = st.session_state.get(name)
    if cached is None or cached[0] != source:
        cached = st.session_state[name] = (source, make())
    return cached[1]


def _has_results(running: Any) -> bool:
    if hasattr(running, "runs"):
        return any(run.trace.rows for run in running.runs)
    return running.done > 0


def follow(page: str, draw: Callable[[], None]) -> None:
    """Call `draw` now, and whenever the page's run has news.

    Right after a start the first drawing waits for results, up to 0.35 s, instead of an empty figure and results half
    a second later.
    """
    running = current(page)
    began = st.session_state.get(f"{page}:shown-alive", False) or alive(page)

    def show() -> None:
        if running is not None:
            if st.session_state.pop(f"{page}:fresh", False):
                deadline = time.monotonic() + FIRST_RESULT_SECONDS
                with turns.pause():
                    while running.alive and not _has_results(running) and time.monotonic() < deadline:
                        time.sleep(0.01)
                        running.refresh()
            version, started = running.version, time.thread_time()
            running.refresh()
            if began and not running.alive:
                # The whole page draws it, with the buttons of a run that is over.
                redraw()
            get_followers().watch(page, running if began else None)
        try:
            draw()
        finally:
            if running is not None:
                get_followers().drawn(page, version, time.thread_time() - started)

    def show_in_turn() -> None:
        with turns.turn():
            show()

    fragment(show_in_turn, f"follow.{page}", f"{page}-live")


def fragment(show: Callable[[], None], name: str, key: str, seconds: float | None = None) -> None:
    """Run what shows a part of a page as a fragment, by itself, too, every so many seconds; no other has its name.

    Streamlit identifies fragments by their name and their place. With the same name on two pages, one would be drawn
    for the other, on a page that is no longer shown.
    """
    show.__qualname__ = name
    st.fragment(show, run_every=seconds, key=key)()


def redraw() -> NoReturn:
    """Draw the whole page again, or follow the request of someone who has left it meanwhile."""
    # st.rerun() would replace a request that waits; any access to the session takes it up first.
    _ = "page" in st.session_state
    st.rerun()


def leave(path: str, address: Mapping[str, str]) -> NoReturn:
    """Switch to another page, from a callback, and ignore late polls of the page that is left.

    A browser polls until the first message of the new page arrives. Such a poll names the page that is left; Streamlit
    would switch back to it, or mix the two pages. It ignores polls of unknown fragments.
    """
    context = get_script_run_ctx()
    if context is not None:
        context.fragment_storage.clear()
    st.switch_page(path, query_params=dict(address))

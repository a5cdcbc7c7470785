"""Starts, follows and cancels the runs of pages, whose scripts never wait for a run; sliders that answer while dragged.

A run is stored in the session under `<page>:run`; a changed widget draws the page again and doesn't touch the run.
While it is alive no script runs: the live channel sends news to the tab, and at the end the page is drawn once more.
"""

import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn, Protocol, TypeVar
from urllib.parse import urlencode

import streamlit as st

from lrlab.engine.engine import get_engine
from lrlab.engine.results import collect
from lrlab.parameters import InputError
from lrlab.ui.live import script_queue
from lrlab.ui.live.channel import get_channel
from lrlab.ui.live.routes import COOKIE, KEY, base
from lrlab.ui.live.tabs import Parts, SliderPreview, Tab
from lrlab.ui.shared import progress
from lrlab.ui.widgets import plot
from lrlab.ui.widgets.text import show_error

T = TypeVar("T")
_own = threading.local()


class Running(Protocol):
    """A run that can be followed: `LiveRuns`, `Results`, or a sweep."""

    def refresh(self) -> object:
        """Read the results that have arrived."""

    @property
    def version(self) -> object:
        """Differs if there is something new to draw."""

    @property
    def alive(self) -> bool:
        """Whether results can still arrive."""

    def cancel(self) -> object:
        """End it; results so far stay."""


def browser_key() -> str:
    """Return the key of this browser; one for this tab only if the browser keeps none."""
    key = st.session_state.get("browser:key")
    if key is None:
        key = st.session_state["browser:key"] = _cookie() or secrets.token_hex(16)
    return str(key)


def _cookie() -> str:
    cookie = str(st.context.cookies.get(COOKIE, ""))
    return cookie if KEY.fullmatch(cookie) else ""


def connect(page: str) -> None:
    """Open the live channel of this tab, which shows a page; it stays open from page to page."""
    st.session_state["live:shown"] = page
    token = st.session_state.setdefault("live:token", secrets.token_urlsafe(16))
    st.session_state["live:tab"] = get_channel().open_tab(token, browser_key(), _cookie(), page)
    to, went, step = st.session_state.get("live:to", ("", 0.0, ""))
    data = {"address": f"{base()}/live/{token}", "page": page, "to": to, "went": went, "step": step}
    plot.send("live", "live", data, on_over_change=script_queue.give_way, height=1)


def go(page: str, address: Mapping[str, str]) -> NoReturn:
    """Have the browser follow a link to a page, from a callback, which ends: Streamlit draws the whole page.

    Streamlit's own switch of pages leaves an entry in the browser's history, of the old page with the new parameters.
    """
    lead(page, address, "pushState")
    st.rerun()


def lead(page: str, address: Mapping[str, str], step: str = "replaceState") -> None:
    """Have the browser go to a page once this tab is connected; step: what becomes of the page in its history."""
    st.session_state["live:to"] = f"{base()}/{page}?{urlencode(address)}", time.time(), step


def tab() -> Tab:
    """Return this tab; a new one if a test runs a page without its frame."""
    shown: Tab | None = st.session_state.get("live:tab")
    if shown is None:
        shown = st.session_state["live:tab"] = Tab("", browser_key())
    return shown


def current(page: str) -> Any:
    """Return the current or the last run of a page, or None."""
    return st.session_state.get(f"{page}:run")


def about(page: str) -> Any:
    """Return the work of a page's run; the widgets may have changed since."""
    return st.session_state.get(f"{page}:about")


def alive(page: str) -> bool:
    """Return whether a run of a page is alive."""
    running = current(page)
    return running is not None and running.alive


def alive_as_shown(page: str) -> bool:
    """Return whether a run of a page is alive, for its buttons; `follow` draws the page again if that has changed.

    A run may end between its buttons and its figure: the buttons of a run would stay there for good.
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
    # What changes a page without a run is answered before the runs of a class that begins together.
    script_queue.give_way()


def buttons(
    page: str,
    begin: Callable[[], Running],
    *,
    ready: bool,
    about: Any = None,
    wanted: bool = False,
    label: str = "Run",
) -> None:
    """Show the buttons that start and end a run; `begin` starts a new one, which ends the previous one.

    about: the work of the run. wanted: whether to start it unless the page has its results. The page adopts the run
    of a tab that is gone, as after a reload. A page of the navigation may have several of these pages, one at a
    time: an address with run=1 begins the run of the one it shows.
    """
    st.session_state["live:shown"] = page
    if st.session_state.pop(f"{st.session_state.get('page')}:autorun", False):
        st.session_state[f"{page}:autorun"] = True
    if current(page) is None and (previous := get_channel().adopt(tab(), page)):
        st.session_state[f"{page}:run"], st.session_state[f"{page}:about"] = previous.running, previous.about
    if wanted and ready and (current(page) is None or st.session_state[f"{page}:about"] != about):
        request(page)
    with st.container(horizontal=True, key=f"{page}-buttons", width="content"):
        if st.session_state.get(f"{page}:autorun") and ready:
            _begin(page, begin, about)
        else:
            st.session_state.pop(f"{page}:autorun", None)
        # By callbacks: a script that begins while a button is pressed would otherwise lose the click.
        if alive_as_shown(page):
            st.button("Cancel", key=f"{page}-cancel", on_click=stop, args=(page,))
        st.button(label, type="primary", key=f"{page}-run", disabled=not ready, on_click=request, args=(page,))
    announce(page)


def _begin(page: str, begin: Callable[[], Running], about: Any) -> None:
    try:
        get_channel().admit(browser_key(), current(page))
        running = begin()
    except InputError as error:
        # Too many are under way, or the scheduler that LRLAB_SCHEDULER names does not answer.
        st.session_state.pop(f"{page}:autorun", None)
        show_error(error)
        return
    try:
        stop(page)
        st.session_state[f"{page}:run"], st.session_state[f"{page}:about"] = running, about
        get_channel().register(tab(), page, running, about)
        st.session_state.pop(f"{page}:autorun", None)
    except BaseException:
        # Another request ends this script: its own begins the run, which is still wanted.
        running.cancel()
        raise
    await_results(running)


def await_results(running: Running, seconds: float = 0.15) -> None:
    """Wait a moment for the end of a run: a run that is over by then appears once, with its buttons and figures."""
    deadline = time.monotonic() + seconds
    with script_queue.pause():
        running.refresh()
        while running.alive and time.monotonic() < deadline:
            time.sleep(0.01)
            # Any access to the session takes up a request that waits.
            _ = "live:tab" in st.session_state
            running.refresh()
    # It may have ended during another script's turn: its buttons show that, or the page would be drawn twice.
    running.refresh()


def announce(page: str) -> None:
    """Let screen readers say that a run has begun or ended, and how; its end has the part of the page drawn with it."""
    running, words = current(page), ""
    if running is not None:
        shown_alive = st.session_state.get(f"{page}:shown-alive")
        # Of a sweep that was only opened nothing has run.
        opened = getattr(running, "state", "") == "new"
        begun, over = ("", "") if opened else ("The run has begun.", "The run is over. ")
        words = begun if shown_alive else f"{over}{_end(running)}"
    plot.send("status", f"{page}-status", {"words": words}, height=1, on_over_change=script_queue.give_way)


def _end(running: Any) -> str:
    if hasattr(running, "runs"):
        ends = [(run.job.entry.title, run.trace.ending) for run in running.runs if run.trace and run.trace.stop]
        return " ".join(f"{title}: {words}" for title, words in ends)
    return progress.ending(running) if hasattr(running, "total") else ""


def once(name: str, source: object, make: Callable[[], T]) -> T:
    """Return `make()` or raise its InputError, made again only when `source` changes; held by the session."""
    cached = st.session_state.get(name)
    if cached is None or cached[0] != source:
        try:
            cached = source, make()
        except InputError as error:
            cached = source, error
        st.session_state[name] = cached
    if isinstance(cached[1], InputError):
        raise cached[1].with_traceback(None)
    made: T = cached[1]
    return made


def on_worker(function: Callable[[Any], Any], upload: Any, seconds: float = 60.0) -> Any:
    """Return function(upload), read by a worker under its limits: the server parses no file.

    InputError also if it takes too long or too much memory.
    """
    try:
        return collect(get_engine().map(function, [upload], item_seconds=seconds))[0]
    except RuntimeError as error:
        expected = f"one that a worker reads within {seconds:g} s"
        # The advice of a job, after the colon, is about n and p.
        raise InputError("file", expected, str(error).partition(":")[0], "upload a smaller one") from None


def follow(page: str, draw: Callable[[], None], parts: Callable[[Any], Parts] | None = None) -> None:
    """Call `draw` now; while the page's run is alive send the live parts that `parts` makes of it.

    Without `parts` the tab is only sent the end of the run.
    """
    running = current(page)
    if running is None or not (st.session_state.get(f"{page}:shown-alive") or running.alive):
        draw()
        return
    followed = get_channel().subscribe(tab(), page, running, partial(parts, running) if parts else dict)
    with followed.lock:
        running.refresh()
        if not running.alive:
            # The whole page draws it, with the buttons of a run that is over.
            followed.view = None
            redraw()
        draw()


def when_over(page: str, name: str, running: Running) -> None:
    """Have the page drawn again when something that it waits for is over, as theory."""
    if running.alive:
        followed = get_channel().subscribe(tab(), f"{page}.{name}", running, dict)
        with followed.lock:
            running.refresh()


def slider(
    label: str,
    values: Sequence[Any],
    at: Any,
    rest: Callable[[Any], object],
    *,
    key: str,
    show: Callable[[Any], Parts] | None = None,
    texts: Sequence[str] = (),
    titled: bool = True,
    origin: Any = None,
) -> None:
    """Show a slider at one of some values.

    `show` answers each value over the live channel while it is dragged, and `rest`, as a callback of a widget, the one
    at which it rests; the page is then drawn.

    texts: of the values. titled: whether the label is visible, and not only read out. origin: the first value of a new
    slider, which then goes to `at` by itself, as if dragged.
    """
    drag = tab().previews.setdefault(key, SliderPreview())
    if show:
        drag.show = lambda position: show(values[position])

    def rested() -> None:
        # It may come to rest when somebody has gone on, and sent by hand the position may be anything.
        position = st.session_state.get(key, {}).get("rest")
        if type(position) is int and 0 <= position < len(values):
            # The browser still shows the drag: everything is sent again, also unchanged parts.
            st.session_state["sent"] = {}
            rest(values[position])

    data: dict[str, str | int] = {
        "label": label,
        "texts": json.dumps(list(texts) or [f"{value:g}" for value in values]),
        "at": values.index(at),
        "titled": titled,
        "origin": values.index(at if origin is None else origin),
        "stream": drag.stream.token,
    }
    plot.send("slider", key, data, on_rest_change=rested)


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

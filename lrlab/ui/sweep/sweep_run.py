"""Sweeps on a page: the one that it follows, with its buttons, and lists of others to open.

The lists have past sweeps of this browser, ready-made ones of the library, and definitions as TOML.
"""

import time
from contextlib import suppress
from typing import Any

import pandas as pd
import streamlit as st

from lrlab.figures.sweeps import SweepData
from lrlab.parameters import InputError, counted, declared, duration
from lrlab.presets import sweeps as library
from lrlab.protocol import Limits
from lrlab.store.store import get_shared_store
from lrlab.sweeps import session
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.results import SweepResults
from lrlab.sweeps.run import size_words
from lrlab.sweeps.session import Past, SweepRun
from lrlab.sweeps.toml import decoded, titled
from lrlab.ui.live.channel import get_channel
from lrlab.ui.shared import live, opening, page
from lrlab.ui.shared.code import describe_spec
from lrlab.ui.sweep import sweep_controls
from lrlab.ui.widgets import permalink
from lrlab.ui.widgets.text import plain, show_error, show_warning

COMPUTED = "Nothing remains to compute: Run shows the stored trials."
DAY_SECONDS = 86_400.0
EXAMPLE = """model = "polynomial-network"
solvers = ["tangent-descent", "ep-rom"]
trials = 20
[spec]
p = 60
[axes]
m = [200, 400, 800]
r = { from = 1, to = 5, steps = 5 }
"""


def data(sweep: Sweep | None) -> SweepData | None:
    """Return the data of the sweep that the page follows, or, before the first one, of this one, without trials."""
    if run := live.current("transition"):
        return live.once("transition:data", run.results, lambda: SweepData(run.results))
    if sweep is None:
        # The last valid one stays if a setting is invalid.
        return st.session_state.get("transition:empty", (None, None))[1]
    return live.once("transition:empty", sweep, lambda: SweepData(SweepResults(sweep)))


def start(sweep: Sweep | None) -> None:
    """Begin the sweep that a button or an address asked for, or find again the one of before a reload."""
    if warning := get_shared_store().warning:
        show_warning(warning)
    if sweep and live.current("transition") is None:
        if lost := session.under_way(sweep, get_shared_store(), live.browser_key()):
            _follow(lost)
        elif state := _left(sweep):
            st.session_state.setdefault("transition:look", state)
    if sweep and (state := st.session_state.pop("transition:look", None)):
        look(sweep, state)
    elif sweep and _another_model(sweep) and (shipped := opening.diagram(sweep)):
        _follow(shipped)
        st.session_state.pop("transition:autorun", None)
    with st.container():
        if refused := st.session_state.pop("transition:refused", ""):
            show_error(refused)
        if sweep and st.session_state.get("transition:autorun") and not _computing(sweep):
            begin(sweep)
    # At last: a script that another request ends before that leaves the wish to the next one.
    st.session_state.pop("transition:autorun", None)


def buttons(sweep: Sweep | None) -> None:
    """Show the buttons that start, pause and end a sweep; the last two only if there is something to pause or end."""
    with st.container(horizontal=True, key="transition-buttons", width="content"):
        run, alive = live.current("transition"), live.alive_as_shown("transition")
        paused = run is not None and not alive and run.state == "paused"
        # By callbacks: a script that begins while a button is pressed would otherwise lose the click.
        if alive or paused:
            st.button("Cancel", key="transition-cancel", on_click=run.cancel)
        if paused:
            st.button("Resume", key="transition-resume", on_click=resume)
        elif run is not None and run.computing:
            st.button("Pause", key="transition-pause", on_click=run.pause)
        off, size = sweep is None or _computing(sweep), _size(sweep) if sweep else None
        run_it: dict[str, Any] = {"on_click": live.request, "args": ("transition",)}
        st.button("Run", type="primary", key="transition-run", disabled=off, help=size, **run_it)
    live.announce("transition")


def _computing(sweep: Sweep) -> bool:
    """Return whether the page computes this sweep already."""
    run = live.current("transition")
    return run is not None and run.sweep == sweep and run.computing


def _another_model(sweep: Sweep) -> bool:
    """Return whether the page follows nothing, or a sweep of another model that is over."""
    run = live.current("transition")
    return run is None or (run.sweep.spec.model != sweep.spec.model and not run.alive and run.state != "paused")


def _left(sweep: Sweep) -> str:
    """Return how this browser left a sweep, on the first script of a tab; nothing if it has not run it."""
    if st.session_state.get("transition:first"):
        return ""
    st.session_state["transition:first"] = True
    # The list of past sweeps says why one, or all, cannot be read.
    with suppress(InputError, RuntimeError), get_shared_store().open() as store:
        for past in session.past(store, live.browser_key()):
            with suppress(InputError):
                if past.sweep == sweep:
                    return past.state
    return ""


def _size(sweep: Sweep) -> str:
    run = live.current("transition")
    if run is not None and run.sweep == sweep and run.results.complete and not run.shipped:
        return COMPUTED
    size = live.once("transition:size", sweep, lambda: size_words(sweep))
    return f"{size[0].upper()}{size[1:]}; lrlab reuses stored trials."


def begin(sweep: Sweep) -> None:
    """Run a sweep on a page instead of the previous one; show an error if too many runs are under way."""
    before = live.current("transition")
    run = session.get_run(sweep, get_shared_store(), live.browser_key(), title(sweep))
    try:
        _go_on(run, before)
    except InputError as error:
        show_error(error)
        return
    if before is not None and before is not run and before.alive:
        before.cancel()
    _follow(run)


def resume() -> None:
    """Continue the paused sweep of a page; from a callback."""
    run = live.current("transition")
    try:
        _go_on(run, run)
    except InputError as error:
        st.session_state["transition:refused"] = str(error)


def _go_on(run: SweepRun, replaced: SweepRun | None) -> None:
    if not run.alive:
        get_channel().admit(live.browser_key(), replaced)
    run.go_on()
    get_channel().add_sweep(run)


def look(sweep: Sweep, state: Any) -> None:
    """Show the stored trials of a past sweep, or follow it if it runs."""
    run = session.get_run(sweep, get_shared_store(), live.browser_key(), title(sweep))
    run.look(state)
    _follow(run)


def _follow(run: SweepRun) -> None:
    st.session_state["transition:run"] = run
    live.await_results(run)


def title(sweep: Sweep) -> str:
    """Return the title of a sweep on the list of past ones: the definition's title, or one made of its parts."""
    titled, given = st.session_state.get("transition:title", (None, ""))
    if titled == sweep and given:
        return given
    return f"{sweep.spec.title}: {' and '.join(sweep.grid)}, {', '.join(sweep.titles.values())}"


def caption(sweep: Sweep, table: pd.DataFrame) -> None:
    """Name the sweep of a figure, as widgets may have changed since, and the missing grid points."""
    most = "up to " if sweep.adaptive or sweep.race else ""
    settings = "".join(f"; {name} = {value:g}" for name, value in sweep.settings if name in declared(Limits))
    titles, trials = ", ".join(sweep.titles.values()), f"{most}{counted(sweep.trials, 'trial')} per grid point"
    words = [f"{plain(describe_spec(sweep.spec, without=sweep.decided))}; {titles}; {trials}{plain(settings)}"]
    refused = table["refused"][table["refused"] != ""]
    if len(refused):
        words.append(f":orange[Missing: {counted(len(refused), 'grid point')}.] {plain(refused.iloc[0])}")
    # One element, so that the figure below keeps its place.
    st.caption("  \n".join(words))


def show_past() -> None:
    """Show the sweeps that this browser has run, each with a button that opens it."""
    with st.expander("Past sweeps", key="transition-past", on_change="rerun") as fold:
        if not fold.open:
            return
        try:
            with get_shared_store().open() as store:
                listed = session.past(store, live.browser_key(), most=50)
        except (InputError, RuntimeError) as error:
            show_error(error)
            return
        if refused := st.session_state.get("transition:unopened"):
            show_error(refused)
        if not listed:
            st.caption("Sweeps that you ran are listed here. You can resume them after a reload.")
        for k, past in enumerate(listed):
            with st.container(horizontal=True, vertical_alignment="center", key=f"transition-past-{k}"):
                st.markdown(f"{plain(past.title)}  \n:small[:gray[{progress_of(past)}]]", width="stretch")
                st.button("Open", key=f"transition-open-{k}", on_click=open_past, args=(past,))
                st.button("Forget", key=f"transition-forget-{k}", on_click=forget, args=(past,))


def progress_of(past: Past) -> str:
    """Return the state and progress of a past sweep, and when it last changed."""
    state: str = past.state
    if state == "running":
        try:
            alive = session.under_way(past.sweep, get_shared_store(), past.session) is not None
        except InputError:
            alive = False
        state = "running" if alive else "interrupted"
    age = time.time() - past.changed
    days = f"{counted(round(age / DAY_SECONDS), 'day')} ago"
    when = "just now" if age < 60 else f"{duration(age)} ago" if age < DAY_SECONDS else days
    return f"{state}, {past.done:,} of {counted(past.total, 'trial')}, {when}"


def open_past(past: Past) -> None:
    """Open a past sweep: as it runs, or as the store has it."""
    try:
        sweep = past.sweep
    except InputError as error:
        st.session_state["transition:unopened"] = str(error)
        return
    st.session_state["transition:unopened"] = ""
    open_sweep(sweep, past.title, past.state)


def open_sweep(sweep: Sweep, title: str, state: str = "new") -> None:
    """Let a page show a sweep, with its stored trials."""
    st.session_state["transition:title"] = (sweep, title)
    st.session_state["transition:look"] = state
    permalink.take("transition", sweep_controls.address(sweep))


def forget(past: Past) -> None:
    """Take a sweep off the list."""
    with get_shared_store().open() as store:
        session.forget(store, past.session, past.definition)


def shelf() -> None:
    """Show the sweeps of the library, and a place for definitions from elsewhere."""
    with st.container(horizontal=True, key="transition-library", vertical_alignment="center"):
        st.caption("Ready-made:", width="content")
        for name in library.names():
            known = library.load(name)
            opened = known.sweep, known.title
            st.button(known.title, key=f"transition-{name}", type="tertiary", on_click=open_sweep, args=opened)
        with st.popover("Definition (TOML)", key="transition-define"):
            st.text_area("Definition", key="transition-toml", height=240, placeholder=EXAMPLE)
            st.file_uploader("or a file", key="transition-toml-file", max_upload_size=1)
            st.button("Read", key="transition-read", on_click=read)
            if refused := st.session_state.get("transition:unread"):
                show_error(refused)


def explain(sweep: Sweep | None) -> None:
    """Show the explanation of a sweep that is in the library."""
    # A separate container: plotly would rebuild figures that move to another one.
    with st.container():
        for known in map(library.load, library.names()):
            if known.sweep == sweep:
                st.header(known.title, anchor=False)
                page.reading(known.explanation, known.reference)


def read() -> None:
    """Open the definition that was pasted or given as a file; a mistake in it is shown as one sentence."""
    file = st.session_state.get("transition-toml-file")
    try:
        text = st.session_state["transition-toml"] if file is None else decoded(file.getvalue())
        definition = live.on_worker(titled, text)
    except InputError as error:
        st.session_state["transition:unread"] = str(error)
    else:
        st.session_state["transition:unread"] = ""
        open_sweep(definition.sweep, definition.title)

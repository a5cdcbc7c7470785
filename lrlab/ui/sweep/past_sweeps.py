"""Lists of sweeps to open: past ones of this browser, presets of the library, and definitions as TOML."""

import time

import streamlit as st

from lrlab.parameters import InputError, counted, duration
from lrlab.presets import sweeps as library
from lrlab.store.location import get_shared_store
from lrlab.sweeps import session
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.session import Past
from lrlab.sweeps.toml import decoded, titled
from lrlab.ui.shared import live, page
from lrlab.ui.sweep import sweep_controls
from lrlab.ui.widgets import permalink
from lrlab.ui.widgets.text import plain, show_error

DAY_SECONDS = 86_400.0


def show() -> None:
    """Show the sweeps that this browser has run, each with a button that opens it."""
    fold = st.expander("Past sweeps", key="transition-past", on_change="rerun")
    if not fold.open:
        return
    try:
        with get_shared_store().open() as store:
            listed = session.past(store, live.browser_key(), most=50)
    except (InputError, RuntimeError) as error:
        with fold:
            show_error(error)
        return
    with fold:
        if refused := st.session_state.get("transition:unopened"):
            show_error(refused)
        if not listed:
            st.caption("Sweeps that you ran are listed here. You can resume them after a reload.")
        for k, past in enumerate(listed):
            with st.container(horizontal=True, vertical_alignment="center", key=f"transition-past-{k}"):
                st.markdown(f"{plain(past.title)}  \n:small[:gray[{progress(past)}]]", width="stretch")
                st.button("Open", key=f"transition-open-{k}", on_click=open_past, args=(past,))
                st.button("Forget", key=f"transition-forget-{k}", on_click=forget, args=(past,))


def progress(past: Past) -> str:
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


EXAMPLE = """model = "polynomial-network"
solvers = ["tangent-descent", "ep-rom"]
trials = 20
[spec]
p = 60
[axes]
m = [200, 400, 800]
r = { from = 1, to = 5, steps = 5 }
"""

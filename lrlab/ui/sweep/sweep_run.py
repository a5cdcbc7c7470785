"""A sweep on a page: its buttons, size, progress and failures, the results that figures show, and their caption."""

from contextlib import suppress
from typing import Any

import pandas as pd
import streamlit as st

from lrlab.figures.sweeps import SweepData
from lrlab.parameters import InputError, counted, declared
from lrlab.protocol import Limits
from lrlab.store.location import get_shared_store
from lrlab.sweeps import session
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.results import SweepResults
from lrlab.sweeps.run import size_words
from lrlab.sweeps.session import SweepRun
from lrlab.ui.live.channel import get_channel
from lrlab.ui.shared import live, opening
from lrlab.ui.shared.code import describe_spec
from lrlab.ui.widgets.text import plain, show_error, show_warning

COMPUTED = "Nothing remains to compute: Run shows the stored trials."


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
    if before is None and (shipped := opening.diagram(sweep)):
        _follow(shipped)
        return
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

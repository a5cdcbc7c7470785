"""A sweep on a page: its buttons, what it will cost, how far it is, what failed."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from lrlab.store.location import get_lab
from lrlab.sweeps import adaptive, session
from lrlab.sweeps.cells import cells
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.history import State
from lrlab.sweeps.overview import Overview
from lrlab.sweeps.session import SweepRun
from lrlab.sweeps.tally import Tally
from lrlab.ui.shared import browser, live
from lrlab.ui.sweep import sweep_cost


def current(page: str) -> SweepRun | None:
    """Return the sweep that a page follows."""
    return live.current(page)


def buttons(page: str, asked: Sweep | None) -> None:
    """Show the buttons that start, pause and end a sweep; one that ran before a reload is followed again."""
    browser.store_key()
    if trouble := get_lab().trouble:
        st.warning(trouble)
    if asked and current(page) is None and (lost := session.under_way(asked, get_lab(), browser.browser_key())):
        _follow(page, lost)
    if asked and (state := st.session_state.pop(f"{page}:look", None)):
        look(page, asked, state)
    with st.container(horizontal=True, key=f"{page}-buttons", width="content"):
        run = current(page)
        same = run is not None and asked is not None and run.sweep == asked
        under_way = same and run.alive and not run.ending
        pressed = st.button("Run", type="primary", key=f"{page}-run", disabled=asked is None or under_way)
        wanted = st.session_state.pop(f"{page}:autorun", False)
        paused = run is not None and not run.alive and run.state == "paused"
        if paused:
            st.button("Resume", key=f"{page}-resume", on_click=go_on, args=(page,))
        else:
            idle = run is None or not run.alive or run.ending
            st.button("Pause", key=f"{page}-pause", disabled=idle, on_click=pause, args=(page,))
        over = run is None or not (run.alive or paused)
        st.button("Cancel", key=f"{page}-cancel", disabled=over, on_click=cancel, args=(page,))
    # A place of its own: figures that moved to another one would be drawn from scratch.
    with st.container():
        if asked and not under_way:
            _run(page, asked, wanted=pressed or wanted, known=run if same else None)


def _run(page: str, asked: Sweep, *, wanted: bool, known: SweepRun | None) -> None:
    """Say what a sweep will take, and begin it if that is wanted and allowed."""
    done = known is not None and known.state == "done"
    expected = None if done else sweep_cost.show(page, asked, known.done if known else 0)
    refused = sweep_cost.refusal(expected) if expected and wanted else ""
    if wanted and not refused:
        begin(page, asked)
        st.rerun()


def begin(page: str, asked: Sweep) -> None:
    """Run a sweep on a page, in place of the one that was followed there."""
    before = current(page)
    run = session.get_run(asked, get_lab(), browser.browser_key(), page, title(page, asked))
    if before is not None and before is not run and before.alive:
        before.cancel()
    run.go_on()
    _follow(page, run)


def look(page: str, asked: Sweep, state: State | str) -> None:
    """Show what the store has of a sweep of the past, or follow it where it runs."""
    run = session.get_run(asked, get_lab(), browser.browser_key(), page, title(page, asked))
    run.look(state)
    _follow(page, run)


def _follow(page: str, run: SweepRun) -> None:
    st.session_state[f"{page}:run"], st.session_state[f"{page}:fresh"] = run, True


def go_on(page: str) -> None:
    """Take up again what was paused."""
    current(page).go_on()


def pause(page: str) -> None:
    """Pause the sweep of a page."""
    current(page).pause()


def cancel(page: str) -> None:
    """Cancel the sweep of a page."""
    current(page).cancel()


def title(page: str, asked: Sweep) -> str:
    """Return what a sweep is called on the list of past ones: as its definition says, or by its parts."""
    sweep, known = st.session_state.get(f"{page}:title", (None, ""))
    if sweep == asked and known:
        return known
    return f"{asked.spec.title}: {' and '.join(asked.grid)}, {', '.join(asked.solvers)}"


def seen(page: str) -> bool:
    """Tell whether there is anything to see of the sweep of a page."""
    run = current(page)
    return run is None or run.done > 0 or not run.alive


def progress(page: str) -> None:
    """Show how far a sweep is and how long the rest will take; what it ended with; what failed."""
    # Empty where nothing runs: figures that moved to another place would be drawn from scratch, and lose their zoom.
    run, bar, words = current(page), st.empty(), st.container()
    if run is None:
        return
    if run.alive:
        left = run.seconds_left
        told = f"{run.done:,} of {run.total:,} trials" + (f", about {live.duration(left)} left" if left else "")
        bar.progress(min(1.0, run.done / max(1, run.total)), text=told)
    elif run.state in ("paused", "cancelled"):
        kept = f"{run.done:,} of {run.total:,} trials were computed, and are kept."
        words.caption(f"{run.state.capitalize()}: {kept} Run goes on from there.")
    if run.error:
        words.error(run.error)
    if run.failures:
        sentence = next(iter(run.failures.values()))
        words.error(f"{len(run.failures)} trials could not be computed. {sentence}")


def table(page: str, sweep: Sweep, metric: str) -> pd.DataFrame:
    """Return the table of the cells of a page's sweep, see `Overview.table`; without trials where none was begun."""
    run = current(page)
    if run is None:
        nothing = Tally(sweep.trials)
        return live.once(f"{page}:empty", sweep, lambda: Overview(sweep, cells(sweep), nothing).table(metric))
    overview = live.once(f"{page}:overview", run, lambda: Overview(run.sweep, run.cells, run.tally))
    return _seen(f"{page}:table-{metric}", run, lambda: overview.table(metric))


def picture(page: str, sweep: Sweep) -> pd.DataFrame:
    """Return what is measured and inferred of a page's sweep, see `adaptive.picture`."""
    run, metric = current(page), sweep.contour.metric
    if run is None:
        return live.once(f"{page}:no-picture", sweep, lambda: adaptive.picture(sweep, lambda job: ()))
    return _seen(f"{page}:picture", run, lambda: adaptive.picture(sweep, lambda job: run.tally.values(job, metric)))


def _seen(name: str, run: SweepRun, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    with run.lock:
        return live.once(name, (run, run.changes), make)

"""A sweep on a page: its buttons, its forecast, its progress, its failures, and the results that figures show."""

from typing import Any

import streamlit as st

from lrlab.parameters import InputError, duration
from lrlab.store.location import get_shared_store
from lrlab.sweeps import session
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.forecast import PendingForecast
from lrlab.sweeps.results import Results
from lrlab.sweeps.session import SweepRun
from lrlab.ui.live.channel import get_channel
from lrlab.ui.shared import live, progress
from lrlab.ui.widgets.text import show_error, show_warning

FORECAST_SECONDS = 5.0
"""That Run waits for the forecast, which usually takes one."""
COMPUTED = "Nothing is left to compute: Run shows the stored trials."


def results(page: str, sweep: Sweep | None) -> Results | None:
    """Return the results of the sweep that a page follows, or, before the first one, of this one, without trials."""
    if run := live.current(page):
        return run.results
    if sweep is None:
        # The last one that could be drawn stays where a setting is refused.
        return st.session_state.get(f"{page}:empty", (None, None))[1]
    return live.once(f"{page}:empty", sweep, lambda: Results(sweep))


def buttons(page: str, sweep: Sweep | None) -> None:
    """Show the buttons that start, pause and end a sweep; one that ran before a reload is followed again."""
    if warning := get_shared_store().warning:
        show_warning(warning)
    if (
        sweep
        and live.current(page) is None
        and (lost := session.under_way(sweep, get_shared_store(), live.browser_key()))
    ):
        _follow(page, lost)
    if sweep and (state := st.session_state.pop(f"{page}:look", None)):
        look(page, sweep, state)
    with st.container(horizontal=True, key=f"{page}-buttons", width="content"):
        run, alive = live.current(page), live.alive_as_shown(page)
        same = run is not None and sweep is not None and run.sweep == sweep
        under_way = same and alive and not run.ending
        idle = sweep is None or under_way
        # By its callback, as every button that must not be lost to a run of the script that begins meanwhile.
        st.button("Run", type="primary", key=f"{page}-run", disabled=idle, on_click=live.request, args=(page,))
        wanted = st.session_state.get(f"{page}:autorun", False)
        paused = run is not None and not alive and run.state == "paused"
        if paused:
            st.button("Resume", key=f"{page}-resume", on_click=resume, args=(page,))
        else:
            idle = not alive or run.ending
            st.button("Pause", key=f"{page}-pause", disabled=idle, on_click=run and run.pause)
        over = not (alive or paused)
        st.button("Cancel", key=f"{page}-cancel", disabled=over, on_click=run and run.cancel)
    live.announce(page)
    # A place of its own with a line in every state: figures below it stay where they are.
    begun = False
    with st.container():
        if refused := st.session_state.pop(f"{page}:refused", ""):
            show_error(refused)
        if sweep and under_way:
            st.caption("Every finished trial is stored.")
        elif sweep:
            begun = _run(page, sweep, wanted=wanted, known=run if same else None)
    # At last: a script that another request ends before that leaves the wish to the next one.
    st.session_state.pop(f"{page}:autorun", None)
    if begun:
        live.redraw()


def _run(page: str, sweep: Sweep, *, wanted: bool, known: SweepRun | None) -> bool:
    """Show the forecast of a sweep, begin it if that is wanted and allowed, and return whether it has begun."""
    done = known is not None and known.state == "done"
    forecast = None if done else forecast_of(page, sweep, known.done if known else 0)
    if done:
        st.caption(COMPUTED)
    if forecast and wanted:
        forecast.wait(FORECAST_SECONDS)
    return wanted and not (forecast and forecast.refused) and begin(page, sweep)


def forecast_of(page: str, sweep: Sweep, done: int) -> PendingForecast:
    """Show how long a sweep takes and how much memory, as soon as that is known; return the forecast.

    done: its finished trials; with more of them another forecast is made.
    """
    expected = _pending(page, sweep, done)
    with st.container(key=f"{page}-cost"):
        st.caption(forecast_words(expected))
    live.when_over(page, "forecast", expected)
    return expected


def forecast_words(expected: PendingForecast) -> str:
    """Return how long the remaining trials take, and how much memory, as far as that is known."""
    if expected.refused:
        return f":red[{expected.refused}]"
    if expected.value is None:
        return "Estimating the time that it takes." if expected.alive else ""
    forecast = expected.value
    if not forecast.trials:
        return COMPUTED
    memory = f"{forecast.bytes / 2**20:.0f} MiB" if forecast.bytes < 2**30 else f"{forecast.bytes / 2**30:.1f} GiB"
    return f"About {duration(forecast.seconds)} and {memory} per worker for up to {forecast.trials:,} trials."


def _pending(page: str, sweep: Sweep, done: int) -> PendingForecast:
    name = f"{page}:forecast"
    last: tuple[Sweep, int, PendingForecast] | None = st.session_state.get(name)
    if last is None or last[:2] != (sweep, done):
        if last is not None:
            last[2].cancel()
        last = st.session_state[name] = (sweep, done, PendingForecast(sweep, get_shared_store()))
    return last[2]


def begin(page: str, sweep: Sweep) -> bool:
    """Run a sweep on a page, in place of the one that was followed there; show why where too many are under way."""
    before = live.current(page)
    run = session.get_run(sweep, get_shared_store(), live.browser_key(), page, title(page, sweep))
    try:
        _go_on(run, before)
    except InputError as error:
        show_error(error)
        return False
    if before is not None and before is not run and before.alive:
        before.cancel()
    _follow(page, run)
    return True


def resume(page: str) -> None:
    """Continue the paused sweep of a page; from a callback."""
    run = live.current(page)
    try:
        _go_on(run, run)
    except InputError as error:
        st.session_state[f"{page}:refused"] = str(error)


def _go_on(run: SweepRun, replaced: SweepRun | None) -> None:
    if not run.alive:
        get_channel().admit(live.browser_key(), replaced)
    run.go_on()
    get_channel().add_sweep(run)


def look(page: str, sweep: Sweep, state: Any) -> None:
    """Show what the store has of a sweep of the past, or follow it where it runs."""
    run = session.get_run(sweep, get_shared_store(), live.browser_key(), page, title(page, sweep))
    run.look(state)
    _follow(page, run)


def _follow(page: str, run: SweepRun) -> None:
    st.session_state[f"{page}:run"] = run
    live.await_results(run)


def title(page: str, sweep: Sweep) -> str:
    """Return the title of a sweep on the list of past ones: that of its definition, or one made of its parts."""
    titled, given = st.session_state.get(f"{page}:title", (None, ""))
    if titled == sweep and given:
        return given
    return f"{sweep.spec.title}: {' and '.join(sweep.grid)}, {', '.join(sweep.titles.values())}"


def show_progress(page: str, sweep: Sweep | None) -> None:
    """Show the progress of a sweep and the time that is left; how it ended; which trials failed."""
    run = live.current(page)
    progress.show_batch_progress(run, f"{page}.progress", changed=run is not None and run.sweep != sweep)
    progress.show_failures(_failures(run), page, alive=run is not None and run.alive)


def progress_parts(page: str, run: SweepRun, changed: bool) -> dict[str, str]:
    """Return the live parts of `show_progress`. changed: whether the settings are no longer those of the sweep."""
    failures = progress.failures_html(_failures(run))
    return {f"{page}.progress": progress.batch_bar(run, changed), f"{page}.failures": failures}


def _failures(run: SweepRun | None) -> list[str]:
    failed = list(run.results.failures.values()) if run else []
    return progress.failure_sentences(failed, run.total, run.error) if run else []

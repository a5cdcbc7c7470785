"""What a sweep will take, said beside its buttons before it is run."""

import streamlit as st

from lrlab.store.location import get_lab
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.expectation import Expectation
from lrlab.sweeps.forecast import Forecast
from lrlab.ui.shared import live

PATIENCE = 5.0
"""Seconds that Run waits for the answer, which is there after one."""


def show(page: str, asked: Sweep, done: int) -> Expectation:
    """Say how long a sweep takes and how much memory, as soon as that is known; return what is expected.

    done: trials that it has; more of them ask for another forecast.
    """
    expected = _expected(page, asked, done)
    waits, drawn = not expected.over, False

    def poll() -> None:
        nonlocal drawn
        st.caption(words(expected))
        # Not while the page itself is drawn: what was said of its widgets would be taken back before the browser hears
        # of it, and they would begin at 0.
        if drawn and waits and expected.over:
            st.rerun()
        drawn = True

    # As in `live.follow`: fragments of different pages are not to answer each other's questions.
    poll.__qualname__ = f"cost.{page}"
    st.fragment(poll, run_every=live.POLL_SECONDS if waits else None, key=f"{page}-cost")()
    return expected


def refusal(expected: Expectation) -> str:
    """Return why a sweep is not to be run, or nothing."""
    expected.wait(PATIENCE)
    return expected.refused


def words(expected: Expectation) -> str:
    """Return a forecast for people."""
    if expected.refused:
        return f":red[{expected.refused}]"
    if expected.found is None:
        return "" if expected.over else "How long it takes is being worked out."
    return told(expected.found)


def told(found: Forecast) -> str:
    """Return how long what is left takes, and how much memory."""
    if not found.trials:
        return "All trials have been computed: Run shows them."
    memory = f"{found.bytes / 2**20:.0f} MiB" if found.bytes < 2**30 else f"{found.bytes / 2**30:.1f} GiB"
    return f"About {live.duration(found.seconds)} and {memory} a worker for {found.trials:,} trials at most."


def _expected(page: str, asked: Sweep, done: int) -> Expectation:
    name = f"{page}:expected"
    kept: tuple[Sweep, int, Expectation] | None = st.session_state.get(name)
    if kept is None or kept[:2] != (asked, done):
        if kept is not None:
            kept[2].drop()
        kept = st.session_state[name] = (asked, done, Expectation(asked, get_lab()))
    return kept[2]

"""The forecast of a sweep's time and memory, shown beside its buttons before it is run."""

import streamlit as st

from lrlab.parameters import duration
from lrlab.store.location import get_shared_store
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.forecast import Forecast
from lrlab.sweeps.pending_forecast import PendingForecast
from lrlab.ui.shared import live

COMPUTED = "Nothing is left to compute: Run shows the stored trials."


def show(page: str, sweep: Sweep, done: int) -> PendingForecast:
    """Show how long a sweep takes and how much memory, as soon as that is known; return the forecast.

    done: its finished trials; with more of them another forecast is made.
    """
    expected = _pending(page, sweep, done)
    waits, drawn = not expected.over, False

    def poll() -> None:
        nonlocal drawn
        st.caption(words(expected))
        # Not while the page itself is drawn: the state of its widgets would be lost before the browser gets it.
        if drawn and waits and expected.over:
            live.redraw()
        drawn = True

    # As in `live.follow`: fragments of different pages must not answer each other's requests.
    poll.__qualname__ = f"cost.{page}"
    st.fragment(poll, run_every=live.POLL_SECONDS if waits else None, key=f"{page}-cost")()
    return expected


def words(expected: PendingForecast) -> str:
    """Return a forecast as text."""
    if expected.refused:
        return f":red[{expected.refused}]"
    if expected.value is None:
        return "" if expected.over else "Estimating the time that it takes."
    return describe(expected.value)


def describe(forecast: Forecast) -> str:
    """Return how long the remaining trials take, and how much memory."""
    if not forecast.trials:
        return COMPUTED
    memory = f"{forecast.bytes / 2**20:.0f} MiB" if forecast.bytes < 2**30 else f"{forecast.bytes / 2**30:.1f} GiB"
    return f"About {duration(forecast.seconds)} and {memory} per worker for up to {forecast.trials:,} trials."


def _pending(page: str, sweep: Sweep, done: int) -> PendingForecast:
    name = f"{page}:forecast"
    last: tuple[Sweep, int, PendingForecast] | None = st.session_state.get(name)
    if last is None or last[:2] != (sweep, done):
        if last is not None:
            last[2].drop()
        last = st.session_state[name] = (sweep, done, PendingForecast(sweep, get_shared_store()))
    return last[2]

"""The buttons of a run on *converge*: run, cancel, new data, and runs that start with each change."""

from collections.abc import Sequence

import streamlit as st

from lrlab.engine.engine import get_engine
from lrlab.runs.job import Job
from lrlab.ui.shared import live
from lrlab.ui.widgets.permalink import Permalink

SEEDS = 2**32
ON_CHANGE = "converge-on-change"


def show(link: Permalink, jobs: Sequence[Job]) -> None:
    """Show the buttons; a change of the jobs starts a run where that is wanted."""
    following = live.current("converge")
    if st.session_state.get(ON_CHANGE) and jobs and not (following and is_of(following, jobs)):
        live.request("converge")
    live.buttons("converge", lambda: get_engine().follow(jobs), ready=bool(jobs))
    st.button("New data", key="converge-new", disabled=not jobs, on_click=_new_data, args=(link.key("seed"),))
    st.toggle("Run on change", key=ON_CHANGE, help="start a run whenever a parameter or a solver changes")


def is_of(following: object, jobs: Sequence[Job]) -> bool:
    """Return whether a run is of these jobs."""
    return list(jobs) == [run.job for run in following.runs]  # type: ignore[attr-defined]


def _new_data(seed: str) -> None:
    st.session_state[seed] = (int(st.session_state.get(seed) or 0) + 1) % SEEDS
    live.request("converge")

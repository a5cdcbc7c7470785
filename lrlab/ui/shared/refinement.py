"""Has workers refine what theory says of the jobs on a page, and draws the page once more when it is there."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from lrlab.engine.engine import on_workers
from lrlab.engine.messages import Failure
from lrlab.engine.stream import Collection
from lrlab.runs import theory
from lrlab.runs.job import Job
from lrlab.ui.shared import live

POLL_SECONDS = 1.0
MOST = 40
"""Sizes at which bounds of all methods are computed for one figure: each takes some seconds."""


def refine(page: str, jobs: Sequence[Job], *, bounds: bool = False) -> bool:
    """Begin to refine what is not yet, or take what has arrived; return whether something is still to come.

    What was begun for other jobs ends: the newest of a page count. bounds: of all methods alone.
    """

    def missing() -> list[Any]:
        return theory.missing_bounds(job.spec for job in jobs) if bounds else theory.missing(jobs)

    name, items = f"{page}:theory", missing()
    begun: tuple[list[Any], Collection] | None = st.session_state.get(name)
    if begun and not set(items) <= set(begun[0]):
        begun[1].cancel()
        begun = None
    if not items:
        return False
    if begun is None:
        begun = st.session_state[name] = (items, Collection(on_workers(theory.refined, items)))
    wanted, arriving = begun
    for result in arriving.refresh():
        # What fails here is not known: the limits for large sizes stay.
        theory.remember(result.item, {} if isinstance(result.value, Failure) else result.value)
    return arriving.alive and bool(missing())


def show(page: str, jobs: Sequence[Job], *, bounds: bool = False) -> None:
    """Say that theory is being refined while it is, and draw the page again when it is there."""
    if len(theory.missing_bounds(job.spec for job in jobs)) > MOST:
        st.caption("Theory is shown for large sizes: at so many different sizes it would take minutes.")
        return
    waits, drawn = refine(page, jobs, bounds=bounds), False

    def poll() -> None:
        nonlocal drawn
        still = refine(page, jobs, bounds=bounds) if drawn else waits
        st.caption("Theory at this size is being computed." if still else "")
        # Not while the page itself is drawn: the state of its widgets would be lost before the browser gets it.
        if drawn and waits and not still:
            live.redraw()
        drawn = True

    live.fragment(poll, f"theory.{page}", f"{page}-theory", POLL_SECONDS if waits else None)

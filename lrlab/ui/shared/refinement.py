"""Has workers refine what theory says of the jobs on a page, and draws the page once more when it is there."""

import time
from collections.abc import Sequence
from typing import Any

import streamlit as st

from lrlab.engine.engine import on_workers
from lrlab.engine.messages import Failure
from lrlab.engine.stream import Collection
from lrlab.runs import theory
from lrlab.runs.job import Job
from lrlab.ui.shared import live

POLL_SECONDS, PATIENCE_SECONDS = 1.0, 1.5
"""Between two looks, and before the first piece of work: who moves on at once costs nothing."""
MOST = 40
"""Sizes at which bounds of all methods are computed for one figure: each takes some seconds."""


class _Refinement:
    """Items of `theory.refined` that a page waits for; begun when it has shown the same ones for a while."""

    def __init__(self, items: list[Any]) -> None:
        self.items, self._since = items, time.monotonic()
        self._results: Collection | None = None

    def arriving(self) -> Collection | None:
        """Return what arrives; None while it is not begun."""
        if self._results is None and time.monotonic() > self._since + PATIENCE_SECONDS:
            self._results = Collection(on_workers(theory.refined, self.items))
        return self._results

    def end(self) -> None:
        """End what was begun."""
        if self._results is not None:
            self._results.cancel()


def refine(page: str, jobs: Sequence[Job], *, bounds: bool = False) -> bool:
    """Begin to refine what is not yet, or take what has arrived; return whether something is still to come.

    What was begun for other jobs ends: the newest of a page count. bounds: of all methods alone.
    """

    def missing() -> list[Any]:
        return theory.missing_bounds(job.spec for job in jobs) if bounds else theory.missing(jobs)

    name, items = f"{page}:theory", missing()
    pending: _Refinement | None = st.session_state.get(name)
    if pending and not set(items) <= set(pending.items):
        pending.end()
        pending = None
    if not items:
        return False
    if pending is None:
        pending = st.session_state[name] = _Refinement(items)
    arriving = pending.arriving()
    if arriving is None:
        return True
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

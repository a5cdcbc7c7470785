"""Has workers refine what theory says of the jobs on a page, and draws the page once more when it is there."""

import time
from collections.abc import Sequence
from typing import Any

import streamlit as st

from lrlab.engine.engine import on_workers
from lrlab.engine.messages import Failure
from lrlab.engine.results import Results
from lrlab.runs import theory
from lrlab.runs.job import Job
from lrlab.ui.shared import live

MOST = 40
"""Number of sizes with a bound on all methods in one figure: each bound takes some seconds."""


class Refinement:
    """Items of `theory.exact` that a page waits for; begun when it has shown the same ones for a while."""

    def __init__(self, items: list[Any]) -> None:
        self.items, self._since = items, time.monotonic()
        self._results: Results | None = None

    @property
    def alive(self) -> bool:
        """Whether something is still to come."""
        return self._results is None or self._results.alive

    @property
    def version(self) -> int:
        """A number that grows with what arrives."""
        return self._results.done if self._results else 0

    def refresh(self) -> None:
        """Begin once the page has been visible for a while, and take the results that have arrived."""
        if self._results is None:
            # A page that somebody leaves at once costs nothing.
            if time.monotonic() > self._since + 1.5:
                self._results = on_workers(theory.exact, self.items)
            return
        for result in self._results.refresh():
            # If this fails, the asymptotic limits stay.
            theory.cache(result.item, {} if isinstance(result.value, Failure) else result.value)

    def cancel(self) -> None:
        """Cancel the calculations."""
        if self._results is not None:
            self._results.cancel()


TOO_LONG = "The theory shown is asymptotic: at so many different sizes it would take minutes."


def show(page: str, jobs: Sequence[Job], *, bounds: bool = False) -> None:
    """Have theory refined at the sizes of jobs, say so while it is, and have the page drawn again when it is there.

    Calculations for other jobs end: the newest of a page count. bounds: only of all methods.
    """
    specs = theory.not_cached(job.spec for job in jobs)
    items = specs if bounds else [*specs, *theory.missing_draws(jobs)]
    if len(specs) > MOST:
        st.caption(TOO_LONG)
    else:
        _follow(page, items)


def _follow(page: str, items: list[Any]) -> None:
    pending: Refinement | None = st.session_state.get(f"{page}:theory")
    if pending and not set(items) <= set(pending.items):
        pending.cancel()
        pending = None
    if items and (pending is None or pending.alive):
        pending = pending or Refinement(items)
        st.session_state[f"{page}:theory"] = pending
        live.when_over(page, "theory", pending)
        st.caption("lrlab is computing the finite-size theory.")

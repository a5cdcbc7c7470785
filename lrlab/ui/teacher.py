"""The teacher's page: its password; sessions, queue, workers, memory, and all runs, each with a button that ends it."""

import hashlib
import math
import os
import resource
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from lrlab.engine.engine import get_engine
from lrlab.parameters import InputError
from lrlab.settings import is_teacher
from lrlab.sweeps.session import SweepRun, all_under_way
from lrlab.ui.live.channel import get_channel
from lrlab.ui.widgets.text import show_error

POLL_SECONDS = 3.0
WRONG_SECONDS, MOST_WRONG_SECONDS = 1.0, 60.0
"""For how long no password is heard after a wrong one: twice as long as after the one before, up to so long."""
OPENED = "teacher:opened"
MIB = 2**20


class Guesses:
    """Wrong passwords since the last right one, of all who open the page of this server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock, self._clock, self._wrong, self._deaf_until = threading.Lock(), clock, 0, -math.inf

    def is_right(self, given: str) -> bool:
        """Return whether this is the password; InputError while none is heard, or where the setting is too short."""
        with self._lock:
            now = self._clock()
            if now < self._deaf_until:
                words = f"given {math.ceil(self._deaf_until - now)} s from now, since one before was wrong"
                raise InputError("password", words, "one now", "wait, then try again")
            if is_teacher(given):
                self._wrong = 0
                return True
            self._deaf_until = now + min(WRONG_SECONDS * 2.0 ** min(self._wrong, 10), MOST_WRONG_SECONDS)
            self._wrong += 1
            return False


guesses = Guesses()


def opened() -> bool:
    """Return whether this tab has given the password; ask for it where it has not."""
    if not os.environ.get("LRLAB_TEACHER_PASSWORD"):
        st.info("This page is off: set LRLAB_TEACHER_PASSWORD where the server is started.")
        return False
    if st.session_state.get(OPENED):
        return True
    with st.form("teacher-form", width=400, border=False):
        given = st.text_input("Password", type="password", key="teacher-password")
        pressed = st.form_submit_button("Open")
    try:
        if pressed and guesses.is_right(given):
            st.session_state[OPENED] = True
            st.rerun()
    except InputError as error:
        show_error(error)
        return False
    if pressed:
        show_error("password must be the one that the server was given, got another one: try again")
    return False


class Row(NamedTuple):
    """A run: its page, a mark of its browser, what it computes, how far it is, and how it is ended."""

    page: str
    browser: str
    what: str
    progress: str
    end: Callable[[], Any]


def rows() -> list[Row]:
    """Return all runs that are under way."""
    runs = [Row(run.page, mark(run.browser), *described(run.running)) for run in get_channel().under_way()]
    return runs + [Row("sweep", mark(run.session), *described(run)) for run in all_under_way()]


def mark(browser: str) -> str:
    """Return a short mark that tells browsers apart, and does not give their keys away."""
    return hashlib.sha256(browser.encode()).hexdigest()[:4]


def described(running: Any) -> tuple[str, str, Callable[[], Any]]:
    """Return what a run computes, how far it is, and how it is ended."""
    if isinstance(running, SweepRun):
        return running.title, f"{running.done:,} of {running.total:,} trials", running.cancel
    if not hasattr(running, "runs"):
        return "trials", f"{running.done:,} of {running.total:,}", running.cancel
    solvers = ", ".join(run.job.solver for run in running.runs)
    over = sum(run.over for run in running.runs)
    return f"{running.runs[0].job.spec.model}: {solvers}", f"{over} of {len(running.runs)} done", running.cancel


def server_memory() -> int:
    """Return the bytes of this process; where the system does not say, the most that it has had."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def show() -> None:
    """Show the overview, anew every few seconds."""

    @st.fragment(run_every=POLL_SECONDS, key="teacher-live")
    def draw() -> None:
        numbers()
        table()

    draw()


def numbers() -> None:
    """Show counts and memory."""
    try:
        state = get_engine().overview()
    except InputError as error:
        show_error(error)
        state = None
    figures: dict[str, object] = {"open tabs": get_channel().open_tabs}
    figures["memory of the server"] = f"{server_memory() / MIB:.0f} MiB"
    if state is not None:
        figures |= {"workers": len(state.memory), "tasks under way": state.running, "runs that wait": state.waiting}
        figures["memory of workers"] = f"{sum(state.memory.values()) / MIB:.0f} MiB"
    for column, (name, value) in zip(st.columns(len(figures)), figures.items(), strict=True):
        column.metric(name, str(value))


def table() -> None:
    """Show a line for each run."""
    known = rows()
    if not known:
        st.caption("Nothing runs.")
    for number, row in enumerate(known):
        columns = st.columns([1, 1, 5, 2, 1], vertical_alignment="center")
        for column, text in zip(columns, row[:-1], strict=False):
            # As text: titles of sweeps are people's own.
            column.text(text)
        columns[-1].button("End", key=f"teacher-end-{number}", on_click=row.end)

"""Follows the runs of all open tabs: draws a tab again when there is something new, and ends the runs of closed tabs.

No tab asks. One thread looks at all runs ten times a second and has the fragment of a page run anew where its run has
news, twice a second at most and, where many tabs have news, only so often that drawing takes half of the interpreter:
clicks are answered meanwhile. Runs whose tab is gone end after a few seconds, or continue in the tab that takes them
over, as after a reload.
"""

import gc
import logging
import threading
import time
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakSet

from streamlit import runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

from lrlab.parameters import InputError
from lrlab.settings import number
from lrlab.ui.shared import turns

TICK_SECONDS = 0.1
REDRAW_SECONDS = 0.5
"""Least time between two drawings of a tab."""
DRAWING_SHARE = 0.5
"""Of the interpreter's time; the rest is for clicks."""
OVERHEAD_SECONDS = 0.006
"""Of a run of a fragment, beside the drawing itself."""
LEAVE_SECONDS = 5.0
"""After how long without its tab a run ends: a reload or a lost connection takes less."""
KEEP_SECONDS = 120.0
"""For how long the results of a closed tab can be taken over; Streamlit keeps a session as long."""
PATIENCE_SECONDS = 2.0
"""How long clicks that wait come before the drawing of a tab."""
REST_SECONDS = 10.0
"""After how long without a drawing what was allocated meanwhile is collected."""


@dataclass
class Followed:
    """A run of a page in a session, with the fragment that draws it. shown: the version of the run on the page."""

    session: str
    browser: str
    page: str
    running: Any
    about: Any
    fragment: str = ""
    shown: Any = None
    drawn_at: float = 0.0
    left_at: float = 0.0


class Followers:
    """All followed runs of a server."""

    def __init__(self) -> None:
        """Follow nothing."""
        self._runs: dict[tuple[str, str], Followed] = {}
        self._sweeps: WeakSet[Any] = WeakSet()
        self._lock, self._wanted = threading.RLock(), threading.Event()
        self._cost, self._free_at, self._drawn_at, self._frozen = 0.02, 0.0, 0.0, False
        threading.Thread(target=self._serve, name="lrlab-followers", daemon=True).start()

    def hold(self, browser: str, page: str, running: Any, about: Any) -> None:
        """Take note of the run of this session's page."""
        session = session_id()
        if session:
            with self._lock:
                self._runs[session, page] = Followed(session, browser, page, running, about)

    def add_sweep(self, sweep: Any) -> None:
        """Count a sweep, which belongs to the server and not to a tab, while it runs."""
        with self._lock:
            self._sweeps.add(sweep)

    def admit(self, browser: str, replaced: Any) -> None:
        """Raise InputError where this browser, or all together, have as many runs as they may; `replaced` is to end."""
        with self._lock:
            pairs = [(run.browser, run.running) for run in self._runs.values() if run.browser]
            pairs += [(sweep.session, sweep) for sweep in self._sweeps]
        alive = [owner for owner, running in pairs if running.alive and running is not replaced]
        own, all_of_them = alive.count(browser), len(alive)
        if own >= (most := number("LRLAB_BROWSER_RUNS")):
            raise InputError("runs", f"fewer than {most:g} in this browser", own, "cancel one, or close its tab")
        if all_of_them >= (most := number("LRLAB_SERVER_RUNS")):
            raise InputError("runs", f"fewer than {most:g} on this server", all_of_them, "wait until some have ended")

    def under_way(self) -> list[Followed]:
        """Return the runs of pages that are alive; sweeps belong to the server and are not among them."""
        with self._lock:
            return [run for run in self._runs.values() if run.browser and run.running.alive]

    def take_over(self, browser: str, page: str) -> Followed | None:
        """Give this session the newest run of a page of the same browser whose tab is gone, if there is one."""
        with self._lock:
            gone = [run for run in self._runs.values() if (run.browser, run.page) == (browser, page) and not here(run)]
            if not gone or not session_id():
                return None
            followed = max(gone, key=lambda run: run.drawn_at)
            del self._runs[followed.session, page]
            self._runs[session_id(), page] = followed
            followed.session, followed.fragment, followed.left_at = session_id(), "", 0.0
            return followed

    def watch(self, page: str, running: Any) -> None:
        """Have the fragment from which this is called run anew whenever its run has news; None: no more."""
        session = session_id()
        if not session:
            return
        with self._lock:
            followed = self._runs.get((session, page))
            if running is None:
                if followed is not None:
                    followed.fragment = ""
                return
            if followed is None or followed.running is not running:
                # Sweeps belong to the server: they are drawn, and do not end with their tab.
                followed = self._runs[session, page] = Followed(session, "", page, running, None)
            followed.fragment = ThreadState.get().fragment_id or ""
        self._wanted.set()

    def drawn(self, page: str, version: Any, seconds: float) -> None:
        """Take note of a drawing: of which version, and how long it took."""
        with self._lock:
            self._cost = 0.8 * self._cost + 0.2 * (seconds + OVERHEAD_SECONDS)
            self._drawn_at = time.monotonic()
            if followed := self._runs.get((session_id(), page)):
                followed.shown, followed.drawn_at = version, self._drawn_at

    def _serve(self) -> None:
        while True:
            self._wanted.wait()
            # Where nothing runs, only tabs that leave are waited for.
            time.sleep(TICK_SECONDS if self._any_alive() else 10 * TICK_SECONDS)
            try:
                self._tick(time.monotonic())
            except Exception:
                # One run that fails must not end the following of all others.
                logging.getLogger(__name__).exception("the followed runs could not be looked at")

    def _tick(self, now: float) -> None:
        with self._lock:
            if not runtime.exists():
                # Pages that tests run without a server.
                self._runs.clear()
            self._end_abandoned(now)
            self._draw(now)
            self._collect(now)
            if not self._runs and not self._drawn_at:
                self._wanted.clear()

    def _any_alive(self) -> bool:
        with self._lock:
            return any(run.running.alive for run in self._runs.values())

    def _draw(self, now: float) -> None:
        pause = PATIENCE_SECONDS if turns.waiting() else REDRAW_SECONDS
        due = [run for run in self._runs.values() if run.fragment and now >= run.drawn_at + pause]
        for run in sorted(due, key=lambda run: run.drawn_at):
            if now < self._free_at:
                return
            if run.running.version != run.shown and (session := runtime.get_instance().get_app_session(run.session)):
                run.drawn_at = now
                self._free_at = max(now, self._free_at) + self._cost / DRAWING_SHARE
                session._call_soon_on_event_loop(partial(run_fragment, session, run))

    def _end_abandoned(self, now: float) -> None:
        for key, run in list(self._runs.items()):
            if here(run):
                run.left_at = 0.0
                continue
            run.left_at = run.left_at or now
            if not run.browser or now > run.left_at + KEEP_SECONDS:
                del self._runs[key]
            elif now > run.left_at + LEAVE_SECONDS and run.running.alive:
                run.running.cancel()
                run.running.refresh()

    def _collect(self, now: float) -> None:
        # Streamlit's own collection after every run of a script is off (.streamlit/config.toml).
        if self._drawn_at and now > self._drawn_at + REST_SECONDS:
            self._drawn_at = 0.0
            gc.collect()
            if not self._frozen:
                # What the first run has imported and cached stays for good.
                gc.freeze()
                self._frozen = True


def session_id() -> str:
    """Return the session of this run of a script; nothing outside of a server."""
    context = get_script_run_ctx()
    return context.session_id if context is not None and runtime.exists() else ""


def here(run: Followed) -> bool:
    """Return whether the tab of a run is connected."""
    return runtime.get_instance().is_active_session(run.session)


def run_fragment(session: AppSession, run: Followed) -> None:
    """Run the fragment of a session that draws a run, unless its script runs now: then it is tried again."""
    if session._scriptrunner is not None:
        return
    if not session.has_fragment(run.fragment):
        # The session shows another page.
        run.fragment = ""
        return
    # Without states of widgets: those that the session has are newer than any that could be sent here.
    state = session._client_state
    session._create_scriptrunner(
        RerunData(
            query_string=state.query_string, page_script_hash=state.page_script_hash, page_name=state.page_name,
            fragment_id_queue=[run.fragment], is_auto_rerun=True,
            context_info=state.context_info if state.HasField("context_info") else None,
        )
    )  # fmt: skip


_followers: Followers | None = None
_starting = threading.Lock()


def get_followers() -> Followers:
    """Return the followers of this server."""
    global _followers
    with _starting:
        if _followers is None:
            _followers = Followers()
        return _followers

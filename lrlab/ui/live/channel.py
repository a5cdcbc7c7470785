"""All open tabs of a server and the runs that they follow: sends news, and ends the runs of tabs that are gone.

One thread looks at the followed runs eighty times per second and builds their news, at most twenty-five times per
second for each. If many tabs have news, it builds less often, so that building takes half of the interpreter: clicks
are answered meanwhile. Tabs without a connection are gone: their runs end after a few seconds, or continue in the tab
that takes them over, as after a reload.
"""

import asyncio
import gc
import logging
import secrets
import threading
import time
from typing import Any
from weakref import WeakSet

from lrlab.parameters import InputError
from lrlab.settings import number
from lrlab.ui.live.tabs import Connection, Stream, Subscription, Tab, View

LOG = logging.getLogger("lrlab.live")
TICK_SECONDS, IDLE_SECONDS = 0.0125, 0.5
SEND_SECONDS = 0.04
"""Least time between two messages of a run."""
BUILDING_SHARE, OWN_SHARE = 0.5, 0.4
"""Fractions of the interpreter's time, for all runs and for one; the rest is for clicks."""
LEAVE_SECONDS = 20.0
"""Seconds until a run without its tab ends: a reload takes less, also on a slow machine."""
KEEP_SECONDS = 120.0
"""Seconds that the results of a closed tab wait for another tab; Streamlit keeps a session as long."""
REST_SECONDS = 10.0
"""Seconds without a run before garbage is collected."""


class Channel:
    """All tabs and followed runs of a server."""

    def __init__(self) -> None:
        """Follow nothing.

        serving: whether tabs can connect, which a page that is run by itself does not have. loop: of the server.
        """
        self.serving = False
        self.loop: asyncio.AbstractEventLoop | None = None
        self._tabs: dict[str, Tab] = {}
        self._runs: dict[tuple[str, str], Subscription] = {}
        self._sweeps: WeakSet[Any] = WeakSet()
        self._lock, self._begun = threading.RLock(), threading.Event()
        self._cost = 0.004
        self._free_at = self._used_at = self._looked_at = 0.0
        threading.Thread(target=self._serve, name="lrlab-live", daemon=True).start()

    def open_tab(self, token: str, browser: str, cookie: str, page: str) -> Tab:
        """Take note of a tab of a browser and of the page that it shows."""
        with self._lock:
            tab = self._tabs.setdefault(token, Tab(token, browser, cookie))
            tab.watched = set()
            if tab.page != page:
                tab.page, tab.previews = page, {}
            self._used_at = time.monotonic()
        self._begun.set()
        return tab

    def connect(self, token: str, cookie: str, connection: Connection) -> Tab | None:
        """Return the tab of a token, from now on with this connection; None if it isn't one of this browser."""
        with self._lock:
            if not self.has_tab(token, cookie):
                return None
            self._tabs[token].connections.add(connection)
            return self._tabs[token]

    def has_tab(self, token: str, cookie: str) -> bool:
        """Return whether a token names a tab of the browser with this cookie."""
        with self._lock:
            tab = self._tabs.get(token)
            return tab is not None and secrets.compare_digest(tab.cookie.encode(), cookie.encode())

    def disconnect(self, tab: Tab, connection: Connection) -> None:
        """Take note that a connection is closed."""
        with self._lock:
            tab.connections.discard(connection)
            tab.left_at = time.monotonic()

    def streams(self, tab: Tab) -> list[Stream]:
        """Return the streams of the page that a tab shows."""
        with self._lock:
            return [run.stream for run in self._runs.values() if run.stream.token in tab.watched]

    def register(self, tab: Tab, page: str, running: Any, about: Any) -> None:
        """Replace the run of a tab's page; it ends with its tab."""
        if not self.serving:
            return
        with self._lock:
            self._runs[tab.token, page] = Subscription(tab.token, tab.browser, page, running, about)

    def add_sweep(self, sweep: Any) -> None:
        """Count a sweep, which belongs to the server and not to a tab, while it runs."""
        with self._lock:
            self._sweeps.add(sweep)

    def admit(self, browser: str, replaced: Any) -> None:
        """Raise InputError if this browser, or the server, has reached its limit of runs; `replaced` is to end."""
        with self._lock:
            pairs = [(run.browser, run.running) for run in self._runs.values() if run.owned]
            pairs += [(sweep.session, sweep) for sweep in self._sweeps]
        alive = [owner for owner, running in pairs if running.alive and running is not replaced]
        own, all_of_them = alive.count(browser), len(alive)
        if own >= (most := number("LRLAB_BROWSER_RUNS")):
            raise InputError("runs", f"fewer than {most:g} in this browser", own, "cancel one, or close its tab")
        if all_of_them >= (most := number("LRLAB_SERVER_RUNS")):
            raise InputError("runs", f"fewer than {most:g} on this server", all_of_them, "wait until some have ended")

    def adopt(self, tab: Tab, page: str) -> Subscription | None:
        """Give a tab the newest run of a page of the same browser whose tab is gone, if there is one."""
        with self._lock:
            same = [run for run in self._runs.values() if (run.browser, run.page) == (tab.browser, page) and run.owned]
            gone = [run for run in same if not self._is_open(run.tab)]
            if not gone:
                return None
            followed = max(gone, key=lambda run: run.sent_at)
            del self._runs[followed.tab, page]
            self._runs[tab.token, page] = followed
            followed.tab, followed.view, followed.shown = tab.token, None, None
            return followed

    def subscribe(self, tab: Tab, page: str, running: Any, view: View) -> Subscription:
        """Send the news of a page's run, as `view` shows it, until the run ends."""
        with self._lock:
            run = self._runs.get((tab.token, page))
            if run is None or run.running is not running:
                run = Subscription(tab.token, tab.browser, page, running, owned=False)
                self._runs[tab.token, page] = run
            run.view, run.shown, run.stream.page = view, None, tab.page
            tab.watched.add(run.stream.token)
        self._begun.set()
        return run

    def _serve(self) -> None:
        while True:
            # If nothing runs, the loop only waits for tabs that leave.
            known = self._used_at or self._tabs
            self._begun.wait(TICK_SECONDS if self._any_alive() else IDLE_SECONDS if known else None)
            self._begun.clear()
            try:
                self._tick(time.monotonic())
            except Exception:
                # One run that fails must not end the following of all others.
                LOG.exception("the followed runs could not be read")

    def _tick(self, now: float) -> None:
        with self._lock:
            if not self.serving:
                self._tabs.clear()
                self._runs.clear()
            self._end_abandoned(now)
            runs, tabs = list(self._runs.values()), dict(self._tabs)
        pairs = [(run, tabs[run.tab]) for run in runs if run.view and run.tab in tabs]
        for run, tab in sorted(pairs, key=lambda pair: pair[0].sent_at):
            # Clicks are answered meanwhile.
            time.sleep(max(0.0, self._free_at - time.monotonic()))
            if run.stream.token in tab.watched and now >= run.sent_at + max(SEND_SECONDS, run.cost / OWN_SHARE):
                self._send(run, tab)
        self._collect(now)

    def _send(self, run: Subscription, tab: Tab) -> None:
        began = time.thread_time()
        try:
            message = run.new_message()
        except Exception:
            # The figures stay as they are, and the tab still learns of the end.
            LOG.exception("the news of a run could not be shown")
            run.view, message = dict, None
        tab.send(message)
        if message:
            now, run.cost = time.monotonic(), time.thread_time() - began
            self._cost = 0.8 * self._cost + 0.2 * run.cost
            self._free_at = now + self._cost * (1.0 / BUILDING_SHARE - 1.0)
            self._used_at = run.sent_at = now

    def _any_alive(self) -> bool:
        with self._lock:
            # The newest first: they are alive most often. A class goes on when the tabs that followed it are gone.
            runs = reversed(self._runs.values())
            return any(run.running.alive for run in runs if run.owned or self._is_open(run.tab))

    def _is_open(self, token: str) -> bool:
        tab = self._tabs.get(token)
        return tab is not None and bool(tab.connections)

    def _end_abandoned(self, now: float) -> None:
        if now < self._looked_at + IDLE_SECONDS:
            return
        self._looked_at = now
        gone = {token: tab.left_at for token, tab in self._tabs.items() if not tab.connections}
        for key, run in list(self._runs.items()):
            if now > gone.get(run.tab, now) + KEEP_SECONDS:
                del self._runs[key]
            elif now > gone.get(run.tab, now) + LEAVE_SECONDS and run.owned and run.running.alive:
                run.running.cancel()
                with run.lock:
                    run.running.refresh()
        for token, left_at in gone.items():
            if now > left_at + KEEP_SECONDS:
                del self._tabs[token]

    def _collect(self, now: float) -> None:
        # Streamlit's own collection after every run of a script is off (.streamlit/config.toml).
        if self._used_at and now > self._used_at + REST_SECONDS:
            self._used_at = 0.0
            gc.collect()


_channel: Channel | None = None
_starting = threading.Lock()


def get_channel() -> Channel:
    """Return the channel of this server."""
    global _channel
    with _starting:
        if _channel is None:
            _channel = Channel()
        return _channel

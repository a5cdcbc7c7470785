"""A channel of a test's own, whose tabs can connect."""

import secrets

import pytest

from lrlab.ui.live import channel


class Run:
    """A run that a page follows; another `version` is something new."""

    def __init__(self):
        self.version, self.alive, self.cancelled = 0, True, 0

    def refresh(self):
        """Read nothing."""

    def cancel(self):
        """End because a person or the channel wants it."""
        self.cancelled += 1
        self.alive = False

    def view(self):
        """Return the state that is shown."""
        return {"words": f"version {self.version}"}


@pytest.fixture
def live(monkeypatch):
    own = channel.Channel()
    own.serving = True
    monkeypatch.setattr(channel, "_channel", own)
    yield own
    own.serving = False


@pytest.fixture
def followed(live):
    """Return what begins a run in a new tab: (tab, run)."""

    def begin(browser="browser", cookie="", page="converge"):
        tab, run = live.open_tab(secrets.token_urlsafe(16), browser, cookie, page), Run()
        live.register(tab, page, run, None)
        live.subscribe(tab, page, run, run.view)
        return tab, run

    return begin

"""Tabs of browsers, and the runs that they follow."""

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from lrlab.ui.live.slider_previews import SliderPreview
from lrlab.ui.live.stream import Message, Parts, Stream

ARRIVE_SECONDS = 20.0
"""For how long a tab may not have connected yet."""

View = Callable[[], Parts]


class Connection(Protocol):
    """An open connection to a tab."""

    def send(self, message: Message) -> None:
        """Send a message, from any thread; never waits."""


@dataclass
class Tab:
    """A tab of a browser. cookie: the cookie of its connections, "" if the browser sends none, as in a foreign frame.

    watched: tokens of the streams of the page that it shows; left_at: since when it has no connection; previews: by
    slider; pushed: what `push` has sent.
    """

    token: str
    browser: str
    cookie: str = ""
    page: str = ""
    connections: set[Connection] = field(default_factory=set)
    watched: set[str] = field(default_factory=set)
    previews: dict[str, SliderPreview] = field(default_factory=dict)
    pushed: Stream = field(default_factory=lambda: Stream(secrets.token_urlsafe(16)))
    left_at: float = field(default_factory=lambda: time.monotonic() + ARRIVE_SECONDS)

    def push(self, parts: Parts) -> None:
        """Send live parts of the page that a script which is to draw other elements changes."""
        self.send(self.pushed.push(parts))

    def send(self, message: Message | None) -> None:
        """Send a message to the tab, if there is one."""
        if message:
            for connection in list(self.connections):
                connection.send(message)


@dataclass
class Subscription:
    """A run of a page in a tab. owned: whether it ends with its tab; shown: the version of the run that was sent.

    cost: seconds that the last message took to build.
    """

    tab: str
    browser: str
    page: str
    running: Any
    about: Any = None
    owned: bool = True
    view: View | None = None
    shown: Any = None
    sent_at: float = 0.0
    cost: float = 0.0
    stream: Stream = field(default_factory=lambda: Stream(secrets.token_urlsafe(16)))
    lock: threading.RLock = field(default_factory=threading.RLock)

    def new_message(self) -> Message | None:
        """Return the news, and at last that the run is over; None if nothing is new."""
        # If a script draws the run just now, its turn comes again: other runs do not wait for it.
        if not self.lock.acquire(blocking=False):
            return None
        try:
            if self.view is None:
                return None
            version = self.running.version
            self.running.refresh()
            if not self.running.alive:
                self.view = None
                return self.stream.end()
            if version == self.shown:
                return None
            self.shown = version
            return self.stream.push(self.view())
        finally:
            self.lock.release()

"""Tabs of browsers, the runs that they follow, the sliders that move in them, and the messages about both."""

import json
import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lrlab.figures.build import Figure
from lrlab.parameters import InputError
from lrlab.ui.live import script_queue

Parts = Mapping[str, Any]
"""Live parts of a page by name, each a `Figure` or HTML."""
ARRIVE_SECONDS = 20.0
"""For how long a tab may not have connected yet."""


class Message(NamedTuple):
    """Parts of a stream as JSON, by name, and when they were pushed.

    page: the page to draw anew because the stream has ended, or None.
    """

    stream: str
    at: float
    parts: dict[str, str]
    page: str | None = None

    def after(self, before: "Message | None") -> "Message":
        """Return this message with the parts of an earlier one that was not sent."""
        return self if before is None else self._replace(parts=before.parts | self.parts)

    @property
    def text(self) -> str:
        """The message as JSON."""
        parts = ", ".join(f"{json.dumps(name)}: {part}" for name, part in self.parts.items())
        head = json.dumps({"stream": self.stream, "at": self.at, "page": self.page})
        return f'{head[:-1]}, "parts": {{{parts}}}}}'


class Stream:
    """The state of a run or a slider. token: its name in messages; page: the page to draw when it ends."""

    def __init__(self) -> None:
        # Nobody guesses the name of another tab's stream.
        self.token, self.page = secrets.token_urlsafe(16), ""
        self._parts = dict[str, str]()
        # A new connection must not override later drawings, so messages keep the time of the last push.
        self._at, self._over = 0.0, False
        self._lock = threading.Lock()

    def push(self, parts: Parts) -> Message | None:
        """Return a message with the parts that changed, or None if no part did."""
        texts = {name: encoded(part) for name, part in parts.items()}
        with self._lock:
            changed = {name: text for name, text in texts.items() if self._parts.get(name) != text}
            # A paused sweep may continue.
            self._parts, self._at, self._over = self._parts | changed, time.time(), False
            return Message(self.token, self._at, changed) if changed else None

    def end(self) -> Message:
        """Return the message that ends the stream: the tab draws its page anew."""
        self._over = True
        return Message(self.token, time.time(), {}, self.page)

    def all(self) -> Message | None:
        """Return a message with all parts, for a new connection; None if there are none yet."""
        with self._lock:
            if not (self._parts or self._over):
                return None
            return Message(self.token, self._at, self._parts, self.page if self._over else None)


def encoded(part: Figure | str) -> str:
    """Return a live part as JSON, without the template that the browser already has."""
    return part.to_json(template=False) if isinstance(part, Figure) else json.dumps(part)


# Each thread waits for a worker most of its time.
_pool = ThreadPoolExecutor(32, thread_name_prefix="lrlab-drag")


class SliderPreview:
    """Answers positions of a slider while it is dragged: the newest one counts, older ones are dropped.

    show: returns the live parts of the page at a position, 0, 1, ...; InputError if lrlab rejects it.
    """

    def __init__(self) -> None:
        self.show: Callable[[int], Parts] = lambda position: {}
        self.stream = Stream()
        self._lock = threading.Lock()
        self._newest: tuple[int, Callable[[Message | None], None]] | None = None
        self._busy = False

    def move(self, position: int, send: Callable[[Message | None], None]) -> None:
        """Answer a position by `send`, after the one that is computed now, unless a newer one comes before."""
        with self._lock:
            self._newest = (position, send)
            if self._busy:
                return
            self._busy = True
        _pool.submit(self._answer)

    def _answer(self) -> None:
        with self._lock:
            newest, self._newest = self._newest, None
            if newest is None:
                self._busy = False
                return
        position, send = newest
        try:
            with script_queue.turn(script=False):
                send(self.stream.push(self.show(position)))
        except (InputError, IndexError):
            # The page shows the sentence when the slider rests; until then the last figure stays.
            pass
        except Exception:
            logging.getLogger("lrlab.live").exception("a position of a slider could not be shown")
        # The next position waits behind the positions of other sliders.
        _pool.submit(self._answer)


View = Callable[[], Parts]
Connection = Callable[[Message], None]
"""Sends a message to a tab, from any thread; never waits."""


@dataclass
class Tab:
    """A tab of a browser. cookie: the cookie of its connections, "" if the browser sends none, as in a foreign frame.

    watched: tokens of the streams of the page that it shows; left_at: since when it has no connection; previews: by
    slider.
    """

    token: str
    browser: str
    cookie: str = ""
    page: str = ""
    connections: set[Connection] = field(default_factory=set)
    watched: set[str] = field(default_factory=set)
    previews: dict[str, SliderPreview] = field(default_factory=dict)
    left_at: float = field(default_factory=lambda: time.monotonic() + ARRIVE_SECONDS)

    def send(self, message: Message | None) -> None:
        """Send a message to the tab, if there is one."""
        if message:
            for connection in list(self.connections):
                connection(message)


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
    stream: Stream = field(default_factory=Stream)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def new_message(self) -> Message | None:
        """Return the news, and at last that the run is over; None if nothing is new."""
        # If a script draws the run just now, its turn comes again: other runs do not wait for it.
        if not self.lock.acquire(blocking=False):
            return None
        try:
            if self.view is None:
                return None
            self.running.refresh()
            if not self.running.alive:
                self.view = None
                return self.stream.end()
            if self.running.version == self.shown:
                return None
            self.shown = self.running.version
            return self.stream.push(self.view())
        finally:
            self.lock.release()

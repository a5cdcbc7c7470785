"""The latest live parts of one run or one dragged slider, as the messages that a tab receives."""

import json
import threading
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from lrlab.figures.build import Figure

Parts = Mapping[str, Any]
"""Live parts of a page by name, each a `Figure` or HTML."""


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

    def __init__(self, token: str) -> None:
        self.token, self.page = token, ""
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

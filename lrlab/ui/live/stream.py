"""What one run or one dragged slider sends to a tab: its state so far, as numbered messages of what is new."""

import json
import threading
import time
from collections import deque

from lrlab.ui.live import changes
from lrlab.ui.live.changes import State

MOST_MESSAGES = 256
"""Messages that a tab can still be sent after its connection was lost; after more it gets the whole state."""


class Stream:
    """Messages with the changes of a state. token: names the stream in them; number: of the last one.

    page: the one that shows it, which is to be drawn at its end; that of a distant browser may still come.
    """

    def __init__(self, token: str) -> None:
        self.token, self.number, self.page = token, 0, ""
        self._state: State = {}
        self._over = False
        self._messages = deque[str](maxlen=MOST_MESSAGES)
        self._lock = threading.Lock()

    def push(self, state: State) -> str:
        """Return the message of what is new; an empty one where nothing is."""
        with self._lock:
            changed = changes.between(self._state, state)
            # A sweep that was paused may go on.
            self._state, self._over = {**self._state, **state}, False
            return self._message({"parts": changed}) if changed else ""

    def end(self) -> str:
        """Return the message that nothing more will come: the page is to be drawn anew."""
        with self._lock:
            self._over = True
            return self._message({"end": True, "page": self.page})

    def since(self, number: int) -> list[str]:
        """Return the messages after a number; in one message all so far, where they are no longer there."""
        with self._lock:
            late = self.number - number
            if 0 <= late <= len(self._messages) and number:
                return list(self._messages)[len(self._messages) - late :]
            if not self.number:
                return []
            content = {"parts": changes.whole(self._state), "all": True, "end": self._over, "page": self.page}
            return [self._text(content)]

    def _message(self, content: dict[str, object]) -> str:
        self.number += 1
        text = self._text(content)
        self._messages.append(text)
        return text

    def _text(self, content: dict[str, object]) -> str:
        # The time decides between these parts and those that a run of the page's script has drawn.
        head = {"stream": self.token, "number": self.number, "at": time.time()}
        return json.dumps({**head, **content}, allow_nan=False)

"""Answers positions of a slider while it is dragged: the newest one counts, older ones are dropped."""

import logging
import secrets
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from lrlab.parameters import InputError
from lrlab.ui.live.stream import Message, Parts, Stream

PATIENCE_SECONDS = 0.5
"""Seconds before a slow answer stops blocking others."""

# Each thread waits for a worker most of its time.
_pool = ThreadPoolExecutor(32, thread_name_prefix="lrlab-drag")


class _Thread(threading.local):
    """Whether this thread holds the turn."""

    held = False


_own, _computes = _Thread(), threading.Lock()
"""Held by the thread that computes an answer: many that compete for the interpreter are slower than one by one. Scripts
of pages have another queue, `script_queue.py`, which also merges requests of their sessions while they wait."""


@contextmanager
def _turn() -> Iterator[None]:
    _own.held = _computes.acquire(timeout=PATIENCE_SECONDS)
    try:
        yield
    finally:
        if _own.held:
            _own.held = False
            _computes.release()


@contextmanager
def waiting() -> Iterator[None]:
    """Let other answers run during the block, while an answer or a page waits for workers."""
    held, _own.held = _own.held, False
    if held:
        _computes.release()
    try:
        yield
    finally:
        _own.held = held and _computes.acquire(timeout=PATIENCE_SECONDS)


class SliderPreview:
    """A slider. show: returns the live parts of the page at a position, 0, 1, ...; InputError if lrlab rejects it."""

    def __init__(self) -> None:
        self.show: Callable[[int], Parts] = lambda position: {}
        self.stream = Stream(secrets.token_urlsafe(16))
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
            with _turn():
                message = self.stream.push(self.show(position))
            send(message)
        except (InputError, IndexError):
            # The page shows the sentence when the slider rests; until then the last figure stays.
            pass
        except Exception:
            logging.getLogger("lrlab.live").exception("a position of a slider could not be shown")
        # The next position waits behind the positions of other sliders.
        _pool.submit(self._answer)

"""Bounds the uploaded files that the server holds for a session, and for all: LRLAB_UPLOAD_MIB.

Streamlit keeps whatever a client puts under `/_stcore/upload_file/SESSION/FILE`, also what no widget asked for, until
the session ends. What is too much is answered by 413, while it arrives.
"""

import time

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lrlab.settings import number
from lrlab.ui.live.headers import base

SESSIONS = 8
"""All sessions together may have as much as so many."""
FILE_BYTES = 4096
"""Counted for a file in any case: an empty one takes memory, too."""
ENDED, TOO_LARGE = 400, 413
"""Status of an upload for a session without a connection; of one that is too large."""
ENDLESS = b"9" * 18
KEPT_SECONDS = 150.0
"""For how long files are counted after the connection of their tab has ended: Streamlit keeps them for 120 s."""


class Held:
    """Bytes that are held: of each session by its files, and of all."""

    def __init__(self) -> None:
        self.all = 0
        self.sizes: dict[str, int] = {}
        self._files: dict[str, dict[object, int]] = {}
        self._ended_at: dict[str, float] = {}

    def count(self, session: str, file: object, size: int) -> None:
        """Count a file of such a size in place of what it had; 0 where it is there no more."""
        files = self._files.setdefault(session, {})
        change = size - files.pop(file, 0)
        if size:
            files[file] = size
        self.all, self.sizes[session] = self.all + change, self.sizes.get(session, 0) + change
        if not files:
            self.forget(session)

    def forget(self, session: str) -> None:
        """Count nothing of a session any more."""
        self.all -= self.sizes.pop(session, 0)
        self._files.pop(session, None)
        self._ended_at.pop(session, None)

    def connected(self, session: str, is_there: bool) -> None:
        """Take note of whether the tab of a session is there; one that has been gone for long has no files."""
        if is_there:
            self._ended_at.pop(session, None)
        elif time.monotonic() > self._ended_at.setdefault(session, time.monotonic()) + KEPT_SECONDS:
            self.forget(session)


class BoundUploads:
    """Counts the bytes of uploaded files, and refuses what is beyond the bounds."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application; InputError where the setting is wrong."""
        self.app, self.held, self._prefix = app, Held(), f"{base()}/_stcore/upload_file/"
        self.most = int(number("LRLAB_UPLOAD_MIB") * 2**20)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        path, method = str(scope.get("path", "")), scope.get("method")
        session, _, file = path.removeprefix(self._prefix).partition("/")
        if method == "PUT" and path.startswith(self._prefix):
            await self._put(session, file, scope, receive, send)
        elif method == "DELETE" and path.startswith(self._prefix):
            if await self._status(scope, receive, send) < ENDED:
                self.held.count(session, file, 0)
        else:
            await self.app(scope, receive, send)

    async def _put(self, session: str, file: str, scope: Scope, receive: Receive, send: Send) -> None:
        # Until it has replaced another, what arrives is there beside it.
        arriving, size = object(), FILE_BYTES

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            self.held.count(session, arriving, size)
            if self.held.sizes[session] > self.most or self.held.all > SESSIONS * self.most:
                raise _TooMuchError
            return message

        for known in [*self.held.sizes]:
            self.held.connected(known, await self._is_there(known, scope))
        try:
            if await self._status(scope, counted, send) < ENDED:
                self.held.count(session, file, size)
        except _TooMuchError:
            words = f"a tab may keep {self.most / 2**20:g} MiB of files here, all tabs {SESSIONS} times as much"
            await PlainTextResponse(f"{words}: remove some, or reload the page", TOO_LARGE)(scope, receive, send)
        finally:
            self.held.count(session, arriving, 0)

    async def _is_there(self, session: str, scope: Scope) -> bool:
        """Ask Streamlit, with the rights of the request in hand, by an upload that is too large to be read."""
        path = f"{self._prefix}{session}/none"
        headers = [pair for pair in scope["headers"] if pair[0] != b"content-length"] + [(b"content-length", ENDLESS)]
        asked = {**scope, "path": path, "raw_path": path.encode(), "headers": headers}
        return await self._status(asked, _nothing, _ignore) != ENDED

    async def _status(self, scope: Scope, receive: Receive, send: Send) -> int:
        """Let the application answer, and return the status."""
        status = 500

        async def heard(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        await self.app(scope, receive, heard)
        return status


class _TooMuchError(Exception):
    """More has arrived than may be kept."""


async def _nothing() -> Message:
    return {"type": "http.disconnect"}


async def _ignore(message: Message) -> None:
    pass

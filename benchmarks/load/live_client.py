"""The tab's end of the live channel, as `assets/files/live.js` is in a browser."""

import asyncio
import json
import time
import zlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

Take = Callable[[str, dict[str, Any], float, bool], Awaitable[None]]
MESSAGE_BYTES = 2**26
RETRY_SECONDS = 0.25
HELD_SECONDS = 0.1
"""For how long a position of a slider waits for the answer to the one before."""


@dataclass
class LiveClient:
    """One WebSocket, which opens again after it closes. `take` gets a stream, its parts, their time, and its end.

    arrived: when the messages of each stream came, in `time.monotonic()`. bytes: received, deflated.
    """

    take: Take
    arrived: dict[str, list[float]] = field(default_factory=dict)
    bytes: int = 0
    _held: dict[str, Any] | None = None
    _dragged: str = ""
    _waits: asyncio.TimerHandle | None = None
    _socket: ClientConnection | None = None
    _address: str = ""
    receiver: asyncio.Task[None] | None = None

    def follow(self, address: str, cookie: str) -> None:
        """Connect, unless this address is followed already."""
        if address != self._address:
            self._address = address
            self.receiver = asyncio.create_task(self._receive(address, cookie))

    async def act(self) -> None:
        """Tell that somebody clicks, or presses a key, in the tab."""
        if self._socket:
            await self._socket.send(json.dumps({"act": 1000 * time.monotonic()}))

    async def drag(self, stream: str, position: int) -> None:
        """Tell that a slider is at a position, once the one before is answered."""
        self._held, self._dragged = {"drag": stream, "value": position}, stream
        if not self._waits:
            await self._tell()

    async def _tell(self) -> None:
        if self._waits:
            self._waits.cancel()
        held, self._held, self._waits = self._held, None, None
        if held and self._socket:
            loop = asyncio.get_running_loop()
            self._waits = loop.call_later(HELD_SECONDS, lambda: loop.create_task(self._tell()))
            await self._socket.send(json.dumps(held))

    async def close(self) -> None:
        """Close the connection; `follow` opens another one."""
        if self.receiver:
            self.receiver.cancel()
            await asyncio.gather(self.receiver, return_exceptions=True)
        if self._socket:
            await self._socket.close()
        self._socket, self.receiver, self._address = None, None, ""

    async def _receive(self, address: str, cookie: str) -> None:
        headers = {"Cookie": cookie} if cookie else None
        # Until a connection fails, for example because the server has ended.
        with suppress(InvalidStatus, OSError):
            while True:
                self._socket = await connect(
                    address, additional_headers=headers, max_size=MESSAGE_BYTES, open_timeout=60, compression=None
                )
                with suppress(ConnectionClosed):
                    inflated = zlib.decompressobj(-zlib.MAX_WBITS)
                    async for data in self._socket:
                        self.bytes += len(data)
                        assert isinstance(data, bytes)
                        for text in inflated.decompress(data).splitlines():
                            await self._read(json.loads(text))
                await asyncio.sleep(RETRY_SECONDS)

    async def _read(self, message: dict[str, Any]) -> None:
        stream = message["stream"]
        if stream == self._dragged:
            await self._tell()
        self.arrived.setdefault(stream, []).append(time.monotonic())
        await self.take(stream, message["parts"], message["at"], message["page"] is not None)

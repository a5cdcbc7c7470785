"""A client of the live channel in this process, in the role of a browser or a stranger."""

import asyncio
import zlib
from contextlib import asynccontextmanager

from starlette.websockets import WebSocket

from lrlab.ui.live import routes
from tests.waiting import PATIENCE

HOST = "lab.example"


class Client:
    """sent: messages of the server. accepted: whether the connection was; closed: the code, None while it is open."""

    def __init__(self):
        self.sent, self.accepted, self.closed = [], False, None
        self._inflated = zlib.decompressobj(-zlib.MAX_WBITS)
        self._frames = asyncio.Queue()
        self._free = asyncio.Event()
        self._free.set()

    async def send(self, frame):
        """Send a frame as the protocol has it."""
        self._frames.put_nowait({"type": "websocket.receive", **frame})

    def stop_reading(self):
        """Stop reading, so that messages of the server wait."""
        self._free.clear()

    def read_on(self):
        """Read the waiting messages and all later ones."""
        self._free.set()

    async def until(self, condition, seconds=PATIENCE):
        """Return once the condition holds."""
        async with asyncio.timeout(seconds):
            while not condition():
                await asyncio.sleep(0.005)

    async def take(self, message):
        """Take a message of the server."""
        if message["type"] == "websocket.accept":
            self.accepted = True
        elif message["type"] == "websocket.send":
            await self._free.wait()
            self.sent += self._inflated.decompress(message["bytes"]).decode().splitlines()
        else:
            self.closed = message["code"]


@asynccontextmanager
async def connected(token, cookie="", origin=f"http://{HOST}"):
    """Open a connection and close it, as the network does."""
    headers = [("host", HOST), ("origin", origin), ("cookie", cookie)]
    scope = {
        "type": "websocket", "path": f"/live/{token}", "path_params": {"token": token}, "query_string": b"",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers if value],
    }  # fmt: skip
    client = Client()
    client._frames.put_nowait({"type": "websocket.connect"})
    task = asyncio.create_task(routes.serve(WebSocket(scope, client._frames.get, client.take)))
    await client.until(lambda: client.accepted or client.closed is not None or task.done())
    try:
        yield client
    finally:
        client._frames.put_nowait({"type": "websocket.disconnect", "code": 1001})
        client.read_on()
        await asyncio.wait_for(task, PATIENCE)

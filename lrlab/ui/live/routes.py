"""The server's end of the live channel: one WebSocket a tab, with the address `/live/TOKEN`; PDF files; headers.

The server sends the messages of `tabs.Stream`, one per line of a deflated stream: at first all that the page shows,
then what changes. A slow connection gets fewer messages, each with the latest parts. A tab sends one JSON object per
frame:

    {"drag": stream, "value": number}   a slider is at this position, 0, 1, ...
    {"act": milliseconds}               a click or a key; the browser may then request a script

Whatever else arrives, and whatever comes faster than a person moves a slider, ends the connection. A posted figure
(`/live/TOKEN/pdf?title=...`, an SVG, see `pdf.py`) becomes a PDF on a worker, under its limits of memory and time.

Headers of every answer say from where a page may load, which sites may frame it (LRLAB_EMBED names them, separated by
spaces), and give each browser its key in a cookie.
"""

import asyncio
import json
import logging
import os
import re
import secrets
import sys
import time
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as ServerMessage
from starlette.websockets import WebSocket, WebSocketDisconnect

from lrlab.engine.engine import close_engines, get_engine
from lrlab.engine.results import collect
from lrlab.parameters import InputError
from lrlab.ui.live import pdf, script_queue
from lrlab.ui.live.channel import get_channel
from lrlab.ui.live.tabs import Message, Tab

MOST_BYTES = 16 * 2**20
"""Limit of a posted figure; the largest heat maps of the pages have 3 MiB as SVG."""
MOST_CHARACTERS = 2000
"""Limits of a frame that a tab sends."""
MOST_A_SECOND = 200
"""Frames that a tab may send, on average of some seconds: a mouse moves 60 to 120 times a second."""
SWITCH_SECONDS = 0.0005
"""After which a thread that waits for the interpreter gets it: with the usual 5 ms clicks of a class would wait for its
longest script, with 0.2 ms the threads of sixty tabs would take a tenth more time, to hand it over twice as often."""
REFUSED, BAD_FRAME = 1008, 1003
"""Codes of the protocol: the policy is violated; data of a kind that is not accepted."""
SCRIPTS = Path(__file__).parents[1] / "assets" / "files"
DOCUMENTATION = Path(__file__).parents[3] / "docs" / "_build" / "html"
"""Folder of the documentation, which `make docs` builds in a checkout."""
LOG = logging.getLogger("lrlab.live")
COOKIE = "lrlab"
YEAR = 31_536_000
"""Lifetime of the cookie and of scripts in browsers, in seconds."""
KEY = re.compile(r"[0-9a-f]{32}")
SITE = re.compile(r"https?://[\w.-]+(:\d+)?")
# Streamlit compiles formats of numbers and components at run time; plotly draws pictures as data.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' ws: wss:; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'self'; frame-ancestors 'self'"
)


def embedding_sites() -> list[str]:
    """Return the sites that LRLAB_EMBED names; InputError if one is invalid."""
    sites = os.environ.get("LRLAB_EMBED", "").split()
    for site in sites:
        if not SITE.fullmatch(site):
            expected = "addresses like https://course.example, separated by spaces"
            raise InputError("LRLAB_EMBED", expected, site, "write only the scheme and the host")
    return sites


def library() -> str:
    """Return the address of plotly's script; another version has another one."""
    return f"{base()}/plotly/plotly.min.js?{version('plotly')}"


class AddHeaders:
    """Adds the headers, and to a page of a browser without a key the cookie with a new one.

    A page names plotly's script first, the largest one, so that it comes while the script of the page runs; browsers
    keep it, and lrlab's own ones, by their address, which names the version.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application."""
        self.app, sites = app, embedding_sites()
        self._headers = {
            "content-security-policy": " ".join([POLICY, *sites]),
            "x-content-type-options": "nosniff",
            "referrer-policy": "same-origin",
        }
        # It cannot name sites: with some of them only the policy says who may frame a page.
        if not sites:
            self._headers["x-frame-options"] = "SAMEORIGIN"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        key = "" if KEY.fullmatch(HTTPConnection(scope).cookies.get(COOKIE, "")) else secrets.token_hex(16)

        async def send_with_headers(message: ServerMessage) -> None:
            if message["type"] == "http.response.start":
                answered = MutableHeaders(scope=message)
                answered.update(self._headers)
                if answered.get("content-type", "").startswith("text/html"):
                    answered.append("link", f"<{library()}>; rel=modulepreload")
                    if key:
                        cookie = f"{COOKIE}={key}; Path=/; Max-Age={YEAR}; HttpOnly; SameSite=Lax"
                        answered.append("set-cookie", cookie)
                elif message["status"] == 200 and scope["query_string"] and scope["path"].endswith(".js"):
                    answered["cache-control"] = f"public, immutable, max-age={YEAR}"
            await send(message)

        await self.app(scope, receive, send_with_headers)


MIDDLEWARE = [Middleware(AddHeaders)]


def base() -> str:
    """Return the path below which the server is, as `/lab`; "" if it has the whole host."""
    path = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{path}" if path else ""


def same_origin(connection: HTTPConnection) -> bool:
    """Return whether a request comes from a page of this server; programs other than browsers name no origin."""
    origin = connection.headers.get("origin", "")
    return not origin or urlsplit(origin).netloc == connection.headers.get("host", "")


async def make_pdf(request: Request) -> Response:
    """Return the PDF; 403: no tab of this browser; 413, 422: the content isn't a figure, or is too large."""
    known = get_channel().has_tab(request.path_params["token"], request.cookies.get(COOKIE, ""))
    if not (known and same_origin(request)):
        return PlainTextResponse("this tab is not known here", 403)
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > MOST_BYTES:
            return PlainTextResponse(f"the figure has more than {MOST_BYTES // 2**20} MiB", 413)
    title = request.query_params.get("title", "")[:500]
    try:
        file = await run_in_threadpool(_written, (bytes(content), title))
    except (InputError, RuntimeError) as error:
        return PlainTextResponse(str(error).rstrip("."), 422)
    return Response(file, media_type="application/pdf")


def _written(posted: tuple[bytes, str]) -> bytes:
    [file] = collect(get_engine().map(pdf.write, [posted], item_seconds=30.0))
    return bytes(file)


class TabConnection:
    """One open connection, which sends the latest of each part that waits."""

    def __init__(self, socket: WebSocket) -> None:
        self.socket, self._loop = socket, asyncio.get_running_loop()
        self._waiting, self._any_waiting = dict[str, Message](), asyncio.Event()

    def send(self, message: Message) -> None:
        """Send a message, from any thread; never waits."""
        self._loop.call_soon_threadsafe(self.put, message)

    def put(self, message: Message) -> None:
        """Send a message, from the thread of the event loop."""
        self._waiting[message.stream] = message.after(self._waiting.get(message.stream))
        self._any_waiting.set()

    async def forward(self) -> None:
        """Send each message that is put, until the connection closes."""
        # One window over all messages, so that repetitions cost few bytes; uvicorn's own has 4 kB only.
        compressor = zlib.compressobj(1, wbits=-zlib.MAX_WBITS)
        while await self._any_waiting.wait():
            waiting, self._waiting = self._waiting, {}
            self._any_waiting.clear()
            for message in waiting.values():
                data = compressor.compress(f"{message.text}\n".encode()) + compressor.flush(zlib.Z_SYNC_FLUSH)
                await self.socket.send_bytes(data)


async def serve(socket: WebSocket) -> None:
    """Accept the connection of a tab, and serve it until it closes; 403 if it is a foreign one."""
    connection, channel = TabConnection(socket), get_channel()
    tab = None
    if same_origin(socket):
        tab = channel.connect(socket.path_params["token"], socket.cookies.get(COOKIE, ""), connection.send)
    if tab is None:
        # Before it is accepted, this is answered by status 403.
        await socket.close(REFUSED)
        return
    await socket.accept()
    for stream in channel.streams(tab):
        if message := stream.all():
            connection.put(message)
    sender = asyncio.create_task(connection.forward())
    try:
        await _receive(socket, tab)
    except WebSocketDisconnect:
        pass
    finally:
        channel.disconnect(tab, connection.send)
        sender.cancel()


async def _receive(socket: WebSocket, tab: Tab) -> None:
    allowed, last = float(MOST_A_SECOND), time.monotonic()
    while True:
        frame = await socket.receive()
        if frame["type"] == "websocket.disconnect":
            return
        now = time.monotonic()
        allowed = min(float(MOST_A_SECOND), allowed + (now - last) * MOST_A_SECOND) - 1.0
        last = now
        text = frame.get("text") or ""
        try:
            if allowed < 0.0 or not 0 < len(text) <= MOST_CHARACTERS:
                raise ValueError("too many frames" if allowed < 0.0 else "a frame that isn't a short text")
            answer(json.loads(text), tab)
        except (ValueError, TypeError, AttributeError, KeyError, OverflowError, RecursionError) as error:
            LOG.warning("a tab sent an invalid frame and was disconnected: %s", error)
            await socket.close(BAD_FRAME)
            return


def answer(frame: dict[str, Any], tab: Tab) -> None:
    """Serve the request of a tab's frame; ValueError, TypeError or KeyError if it is not one of those above."""
    [(kind, content), *rest] = frame.items()
    previews = {preview.stream.token: preview for preview in list(tab.previews.values())}
    if kind == "drag" and [name for name, _ in rest] == ["value"]:
        position = rest[0][1]
        if type(position) is not int or position < 0:
            raise ValueError("a slider at an invalid position")
        if preview := previews.get(content):
            preview.move(position, tab.send)
    elif kind == "act" and not rest:
        if type(content) not in (int, float):
            raise ValueError("an act at no time")
        script_queue.hurry(tab.token)
    else:
        raise ValueError("a frame of no known kind")


@asynccontextmanager
async def lifespan(app: object) -> AsyncIterator[None]:
    """Let pages be followed while the server runs, and end its engine with it."""
    # Before the first session: else Streamlit takes the folder pages/ for the navigation, and serves who comes first to
    # one of them its file alone, without app.py. Outside of a session that is all that this does, but for a warning.
    logging.disable(logging.WARNING)
    st.navigation([st.Page(lambda: None, title="lrlab")], position="hidden")
    logging.disable(logging.NOTSET)
    # The server's thread waits so long for the interpreter where a page is being drawn, with Python's own event loop
    # at each message that it sends.
    sys.setswitchinterval(SWITCH_SECONDS)
    channel = get_channel()
    channel.serving, channel.loop = True, asyncio.get_running_loop()
    yield
    channel.serving, channel.loop = False, None
    # A server that a signal ends does not run its exit handlers.
    await asyncio.to_thread(close_engines)


def routes() -> list[BaseRoute]:
    """Return the routes other than the pages."""
    tab = f"{base()}/live/{{token}}"
    return [
        WebSocketRoute(tab, serve),
        Route(f"{tab}/pdf", make_pdf, methods=["POST"]),
        Mount(f"{base()}/scripts", StaticFiles(directory=SCRIPTS)),
        Mount(f"{base()}/plotly", StaticFiles(packages=[("plotly", "package_data")])),
        Mount(f"{base()}/docs", StaticFiles(directory=DOCUMENTATION, check_dir=False)),
    ]

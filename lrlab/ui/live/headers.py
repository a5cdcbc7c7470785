"""Headers of every answer: sources that a page may load, sites that may frame it, and the key of a browser in a cookie.

LRLAB_EMBED names the sites, separated by spaces, that may show pages in a frame.
"""

import os
import re
import secrets
from importlib.metadata import version
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lrlab.parameters import InputError

COOKIE = "lrlab"
YEAR = 31_536_000
"""Seconds for which browsers keep the cookie and scripts."""
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


def headers() -> dict[str, str]:
    """Return the headers of every answer."""
    sites = embedding_sites()
    fixed = {
        "content-security-policy": " ".join([POLICY, *sites]),
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
    }
    # It cannot name sites: with some of them only the policy says who may frame a page.
    return fixed if sites else fixed | {"x-frame-options": "SAMEORIGIN"}


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
        self.app, self._headers = app, headers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        key = "" if KEY.fullmatch(HTTPConnection(scope).cookies.get(COOKIE, "")) else secrets.token_hex(16)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered = MutableHeaders(scope=message)
                answered.update(self._headers)
                if answered.get("content-type", "").startswith("text/html"):
                    answered.append("link", f"<{library()}>; rel=preload; as=script")
                    if key:
                        cookie = f"{COOKIE}={key}; Path=/; Max-Age={YEAR}; HttpOnly; SameSite=Lax"
                        answered.append("set-cookie", cookie)
                elif message["status"] == 200 and scope["query_string"] and scope["path"].endswith(".js"):
                    answered["cache-control"] = f"public, immutable, max-age={YEAR}"
            await send(message)

        await self.app(scope, receive, send_with_headers)


def base() -> str:
    """Return the path below which the server is, as `/lab`; "" if it has the whole host."""
    path = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{path}" if path else ""


def same_origin(connection: HTTPConnection) -> bool:
    """Return whether a request comes from a page of this server; programs other than browsers name no origin."""
    origin = connection.headers.get("origin", "")
    return not origin or urlsplit(origin).netloc == connection.headers.get("host", "")

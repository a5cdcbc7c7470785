"""The WebSocket of a tab, PDFs of its figures, headers of answers, and who gets none of them."""

import asyncio
import functools
import json
import logging
import re
import zlib
from contextlib import asynccontextmanager
from urllib.parse import urlencode

import pytest
from starlette.requests import Request
from starlette.websockets import WebSocket

from lrlab.parameters import InputError
from lrlab.ui.live import pdf, routes
from tests.waiting import PATIENCE, aside

HOST, COOKIE = "lab.example", "0123456789abcdef" * 2


class Client:
    """A client in this process, in the role of a browser or a stranger.

    sent: messages of the server. accepted: whether the connection was; closed: the code, None while it is open.
    """

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


def in_loop(test):
    """Run an asynchronous test in a new event loop."""

    @functools.wraps(test)
    def run(**given):
        aside(asyncio.run, test(**given))

    return run


@in_loop
async def test_a_tab_follows_its_run_to_the_end_by_all_its_connections(followed):
    tab, run = followed()
    async with connected(tab.token) as client:
        await client.until(lambda: client.sent)
        run.version += 1
        await client.until(lambda: any("version 1" in text for text in client.sent))
    run.version += 1
    [stream] = routes.get_channel().streams(tab)
    # Nothing new comes after this, but the latest does.
    await client.until(lambda: "version 2" in stream.all().text)
    async with connected(tab.token) as first, connected(tab.token) as second:
        for client in (first, second):
            await client.until(lambda: any("version 2" in text for text in client.sent))  # noqa: B023
        run.alive = False
        for client in (first, second):
            await client.until(lambda: json.loads(client.sent[-1])["page"] is not None)  # noqa: B023
    assert not tab.connections


@pytest.mark.attempt("the live channel of another browser, with a foreign token or from another origin", "403")
@pytest.mark.parametrize(
    ("token", "cookie", "origin"),
    [
        ("another", f"lrlab={COOKIE}", "http://lab.example"),
        ("", f"lrlab={COOKIE[::-1]}", "http://lab.example"),
        ("", "", "http://lab.example"),
        ("", "lrlab=\xe9", "http://lab.example"),
        ("", f"lrlab={COOKIE}", "https://elsewhere.example"),
        ("", f"lrlab={COOKIE}", "http://lab.example:8080"),
        ("", f"lrlab={COOKIE}", "null"),
    ],
    ids=["token", "cookie", "no cookie", "cookie that is no text", "origin", "port", "opaque origin"],
)
@in_loop
async def test_others_are_refused_and_get_no_pdf(followed, token, cookie, origin):
    tab, _ = followed(cookie=COOKIE)
    async with connected(token or tab.token, cookie, origin) as client:
        assert (client.accepted, client.closed) == (False, routes.REFUSED)
    assert not tab.connections
    assert (await posted(token or tab.token, SVG.encode(), cookie, origin)).status_code == 403


FRAMES = {
    "no JSON": {"text": "{"},
    "bytes": {"bytes": b"{}"},
    "an unknown kind": {"text": '{"run": 1}'},
    "a position that is text": {"text": '{"drag": "x", "value": "3"}'},
    "a position below 0": {"text": '{"drag": "x", "value": -1}'},
    "an act at no time": {"text": '{"act": "now"}'},
    "length": {"text": json.dumps({"drag": "x" * 2000, "value": 1})},
}


@pytest.mark.attempt(
    "broken frames, wrong types, depth and length on the live channel",
    "the connection ends, one line in the log",
)
@pytest.mark.parametrize("frame", list(FRAMES.values()), ids=list(FRAMES))
@in_loop
async def test_what_is_not_understood_ends_the_connection_with_one_line(followed, caplog, frame):
    tab, _ = followed()
    with caplog.at_level(logging.WARNING, "lrlab.live"):
        async with connected(tab.token) as client:
            await client.send(frame)
            await client.until(lambda: client.closed is not None)
            assert client.closed == routes.BAD_FRAME
    assert len(caplog.records) == 1 and not caplog.records[0].exc_info
    assert "\n" not in caplog.records[0].getMessage()
    assert not tab.connections


@pytest.mark.attempt("more frames than a user sends", "the connection ends")
@in_loop
async def test_more_frames_than_a_person_sends_end_the_connection(followed, monkeypatch, caplog):
    monkeypatch.setattr(routes, "MOST_A_SECOND", 2)
    tab, _ = followed()
    async with connected(tab.token) as client:
        while client.closed is None:
            await client.send({"text": '{"drag": "a slider of another page", "value": 1}'})
            await asyncio.sleep(0.001)
    assert [record.name for record in caplog.records] == ["lrlab.live"]


@in_loop
async def test_a_slow_connection_receives_the_latest_alone(followed):
    tab, run = followed()
    [stream] = routes.get_channel().streams(tab)
    async with connected(tab.token) as client:
        await client.until(lambda: client.sent)
        client.stop_reading()
        for k in range(1, 9):
            run.version += 1
            await client.until(lambda: f"version {k}" in (stream.all().text if stream.all() else ""))  # noqa: B023
        client.read_on()
        await client.until(lambda: any("version 8" in text for text in client.sent))
        assert len(client.sent) < 5


def answered(kind="text/html", cookie="", path="/", query=b"", status=200):
    """Return the headers of the answer to a request for a page or a file."""

    async def page(scope, receive, send):
        start = {"type": "http.response.start", "status": status, "headers": [(b"content-type", kind.encode())]}
        await send(start)

    sent = []

    async def send(message):
        sent.extend(message["headers"])

    scope = {"type": "http", "headers": [(b"cookie", cookie.encode())] if cookie else []}
    scope |= {"path": path, "query_string": query}
    aside(asyncio.run, routes.AddHeaders(page)(scope, None, send))
    return {name.decode(): value.decode() for name, value in sent}


def test_every_answer_says_what_a_page_may_load(monkeypatch):
    monkeypatch.delenv("LRLAB_EMBED", raising=False)
    for kind in ("text/html", "application/json", "text/javascript"):
        shown = answered(kind)
        assert shown["x-content-type-options"] == "nosniff" and shown["referrer-policy"] == "same-origin"
        assert shown["x-frame-options"] == "SAMEORIGIN"
        policy = dict(part.strip().split(" ", 1) for part in shown["content-security-policy"].split(";"))
        assert policy["default-src"] == policy["frame-ancestors"] == "'self'" and policy["object-src"] == "'none'"
        assert "http" not in shown["content-security-policy"], "nothing of other servers"


def test_a_browser_without_a_key_gets_one_with_its_page(monkeypatch):
    shown = answered("text/html; charset=utf-8")["set-cookie"]
    assert re.fullmatch(r"lrlab=[0-9a-f]{32}; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax", shown)
    assert answered()["set-cookie"] != shown
    assert "set-cookie" not in answered("text/javascript")
    assert "set-cookie" not in answered(cookie=f"a=1; lrlab={COOKIE}")
    for wrong in ("lrlab=", f"lrlab={COOKIE[1:]}", f"lrlab={COOKIE.upper()}", 'lrlab=";', "é=1", f"other={COOKIE}"):
        assert "set-cookie" in answered(cookie=wrong)


def test_a_browser_loads_plotly_with_the_page_and_keeps_scripts_of_a_version():
    script = re.fullmatch(r"<(\S+)[?]\S+>; rel=modulepreload", answered()["link"])[1]
    [files] = [route.app for route in routes.routes() if script.startswith(f"{route.path}/")]
    assert files.lookup_path(script.removeprefix("/plotly/"))[1].st_size > 1e6
    kept = answered("text/javascript", path="/scripts/plot.js", query=b"1a2b")["cache-control"]
    assert kept == "public, immutable, max-age=31536000"
    assert "cache-control" not in answered("text/javascript", path="/scripts/plot.js")
    assert "cache-control" not in answered("text/plain", path="/scripts/plot.js", query=b"1a2b", status=404)
    assert "cache-control" not in answered(query=b"n=3") and "link" not in answered("application/json")


def test_sites_that_are_named_may_show_pages(monkeypatch):
    monkeypatch.setenv("LRLAB_EMBED", "https://course.example http://127.0.0.1:8000")
    shown = answered()
    assert shown["content-security-policy"].endswith(
        "frame-ancestors 'self' https://course.example http://127.0.0.1:8000"
    )
    assert "x-frame-options" not in shown


@pytest.mark.parametrize("wrong", ["course.example", "https://course.example/page", "*", "https://a; script-src *"])
def test_what_is_no_site_is_refused_with_a_sentence(monkeypatch, wrong):
    monkeypatch.setenv("LRLAB_EMBED", wrong)
    with pytest.raises(InputError, match="LRLAB_EMBED must be addresses like https://course.example"):
        routes.embedding_sites()


HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="85mm" height="60mm" '
TEXT = '<text x="9" y="99" font-family="Source Sans Pro">‖b̂ − b‖, 10⁻³</text>'
SVG = f'{HEAD} viewBox="0 0 321 227"><path d="M0,0L9,9" stroke="red"/>{TEXT}</svg>'


def expanded(content):
    """Return a PDF with its streams as they were before they were packed."""
    parts = [content]
    for stream in re.finditer(rb"stream\r?\n(.*?)\r?\nendstream", content, re.S):
        try:
            parts.append(zlib.decompress(stream[1]))
        except zlib.error:
            continue
    return b"\n".join(parts)


def size_of(content):
    """Return width and height of the page of a PDF, in millimeters."""
    box = re.search(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)", expanded(content))
    return [float(points) / 72 * 25.4 for points in box.groups()]


@pytest.mark.attempt(
    "what is no figure, sent to be made a PDF: entities, references to files and addresses, bombs",
    "one sentence",
)
@pytest.mark.parametrize(
    "svg",
    [
        b"",
        b"<svg",
        b"\xff\xfe",
        b"<html></html>",
        f'{HEAD}><image xlink:href="/etc/passwd" width="9" height="9"/></svg>'.encode(),
        f'{HEAD}><image href="http://127.0.0.1:9/x.png" width="9" height="9"/></svg>'.encode(),
        b'<!DOCTYPE s [<!ENTITY a "xxxxxxxxxx"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;">'
        b'<!ENTITY d "&c;&c;&c;&c;&c;&c;"><!ENTITY e "&d;&d;&d;&d;&d;&d;">]><svg><text>&e;&e;&e;&e;&e;</text></svg>',
    ],
    ids=["nothing", "cut", "bytes", "HTML", "file", "address", "bomb"],
)
def test_what_is_no_figure_is_one_sentence(svg):
    with pytest.raises(InputError, match="figure must be an SVG"):
        pdf.write((svg, ""))


async def posted(token, content, cookie=f"lrlab={COOKIE}", origin=f"http://{HOST}"):
    """Return the answer to a POST request."""
    headers = [("host", HOST), ("origin", origin), ("cookie", cookie)]
    scope = {
        "type": "http", "method": "POST", "path": f"/live/{token}/pdf", "path_params": {"token": token},
        "query_string": urlencode({"title": "Errors <b>&amp;</b> #panic()"}).encode(),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
    }  # fmt: skip
    parts = [{"type": "http.request", "body": part, "more_body": k < 1} for k, part in enumerate((content, b""))]

    async def receive():
        return parts.pop(0)

    return await routes.make_pdf(Request(scope, receive))


@pytest.mark.usefixtures("engine")
@in_loop
async def test_a_tab_gets_the_pdf_of_its_figure_with_its_size_and_text(followed, monkeypatch):
    tab, _ = followed(cookie=COOKIE)
    answer = await posted(tab.token, SVG.encode())
    assert (answer.status_code, answer.media_type) == (200, "application/pdf")
    assert answer.body.startswith(b"%PDF") and size_of(answer.body) == pytest.approx([85, 60], abs=0.1)
    parts = expanded(answer.body)
    assert b"SourceSansPro" in parts and b"/ToUnicode" in parts, "letters can be searched and copied"
    assert b"/Subtype /Image" not in parts and b"/Subtype/Image" not in parts
    refused = await posted(tab.token, b"<svg")
    assert refused.status_code == 422 and b"figure must be an SVG" in refused.body
    monkeypatch.setattr(routes, "MOST_BYTES", 100)
    assert (await posted(tab.token, SVG.encode())).status_code == 413

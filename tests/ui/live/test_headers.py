"""Headers of answers, the cookie of a browser, and who may show pages in a frame."""

import asyncio
import re

import pytest

from lrlab.parameters import InputError
from lrlab.ui.live import headers
from tests.waiting import aside

KEY = "0123456789abcdef" * 2


def answered(kind="text/html", cookie=""):
    """Return the headers of the answer to a request for a page."""

    async def page(scope, receive, send):
        start = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind.encode())]}
        await send(start)

    sent = []

    async def send(message):
        sent.extend(message["headers"])

    scope = {"type": "http", "headers": [(b"cookie", cookie.encode())] if cookie else []}
    aside(asyncio.run, headers.AddHeaders(page)(scope, None, send))
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
    assert "set-cookie" not in answered(cookie=f"a=1; lrlab={KEY}")
    for wrong in ("lrlab=", f"lrlab={KEY[1:]}", f"lrlab={KEY.upper()}", 'lrlab=";', "é=1", f"other={KEY}"):
        assert "set-cookie" in answered(cookie=wrong)


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
        headers.embedding_sites()

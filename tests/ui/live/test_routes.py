"""The WebSocket of a tab: permission, accepted frames, and messages after a lost connection."""

import asyncio
import functools
import json
import logging

import pytest

from lrlab.ui.live import routes
from tests.ui.live.asgi import connected
from tests.waiting import aside

COOKIE = "0123456789abcdef" * 2


def in_loop(test):
    """Run an asynchronous test in a new event loop."""

    @functools.wraps(test)
    def run(**given):
        aside(asyncio.run, test(**given))

    return run


@in_loop
async def test_a_tab_follows_its_run_to_the_end(followed):
    tab, run = followed()
    async with connected(tab.token) as client:
        await client.until(lambda: client.sent)
        run.add()
        await client.until(lambda: any("version 1" in text for text in client.sent))
        run.end()
        await client.until(lambda: client.messages()[-1]["page"] is not None)


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
async def test_others_are_refused(followed, token, cookie, origin):
    tab, _ = followed(cookie=COOKIE)
    async with connected(token or tab.token, cookie, origin) as client:
        assert (client.accepted, client.closed) == (False, routes.REFUSED)
    assert not tab.connections


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
            await client.say({"drag": "a slider of another page", "value": 1})
            await asyncio.sleep(0.001)
    assert [record.name for record in caplog.records] == ["lrlab.live"]


@in_loop
async def test_a_connection_that_was_lost_receives_the_latest(followed):
    tab, run = followed()
    async with connected(tab.token) as client:
        await client.until(lambda: client.sent)
    run.add()
    async with connected(tab.token) as client:
        await client.until(lambda: any("version 1" in text for text in client.sent))


@in_loop
async def test_a_slow_connection_receives_the_latest_alone(followed):
    tab, run = followed()
    [stream] = routes.get_channel().streams(tab)
    async with connected(tab.token) as client:
        await client.until(lambda: client.sent)
        client.stop_reading()
        for k in range(1, 9):
            run.add()
            await client.until(lambda: f"version {k}" in (stream.all().text if stream.all() else ""))  # noqa: B023
        client.read_on()
        await client.until(lambda: any("version 8" in text for text in client.sent))
        assert len(client.sent) < 5


@in_loop
async def test_two_connections_of_a_tab_are_both_served(followed):
    tab, run = followed()
    async with connected(tab.token) as first, connected(tab.token) as second:
        run.add()
        await first.until(lambda: first.sent and second.sent)
    assert not tab.connections

"""A small class at a real server, and tabs that close, reload or lose the network; `python -m tests.load` measures."""

import asyncio
import secrets
import time

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from lrlab.ui.live import channel
from lrlab.ui.live.fragments import SENT_SECONDS
from tests.load.classroom import attend
from tests.load.predicting import predict
from tests.load.server import serve
from tests.load.visitor import Visitor
from tests.thorough import but
from tests.waiting import aside

LONG = "solvers=pairwise-moment&tol=0&max_iter=1000000&p=200"
"""A run that goes on until its time limit of 60 s."""
LEAVE_SECONDS = 30.0
"""Longest wait for the end of a closed tab's run on a busy machine."""


@pytest.fixture(scope="module")
def server():
    with serve() as server:
        yield server


def test_pages_of_other_servers_do_not_reach_it(server):
    """A proxy passes on the host name of the request, which must be the name of the page."""

    async def status(origin: str) -> int:
        port = int(server.address.rpartition(":")[2])
        address = "ws://lab.example.org/_stcore/stream"
        try:
            async with connect(address, host="127.0.0.1", port=port, subprotocols=["streamlit"], origin=origin):
                return 101
        except InvalidStatus as refused:
            return refused.response.status_code

    assert aside(asyncio.run, status("https://lab.example.org")) == 101
    assert aside(asyncio.run, status("https://elsewhere.example.org")) == 403


@pytest.mark.soak
@pytest.mark.slow
def test_a_small_class_runs_and_follows(server):
    outcome = aside(asyncio.run, attend(server.address, 4, seeds=[0, 0, 1, 2], touching=1))
    assert len(outcome.over) == len(outcome.first) == 4, outcome.stuck
    assert len(outcome.answers) == 3


@pytest.mark.slow
@pytest.mark.parametrize("students", but([6], [6, 30]))
def test_students_predict_are_counted_and_see_the_truth_in_each_round(server, students):
    outcome = aside(asyncio.run, predict(server.address, students))
    assert len(outcome.counted) == outcome.right == 2 * students, outcome


def browser() -> str:
    """Return the cookie of a new browser."""
    return f"lrlab={secrets.token_hex(16)}"


async def running(visitor: Visitor) -> Visitor:
    """Open a page and run it until the first iterate is shown."""
    await visitor.open()
    await visitor.press("converge-run")
    await visitor.until(lambda: visitor.first_at)
    return visitor


async def finds_again(left_at: float, visitor: Visitor) -> bool:
    """Check that the visitor sees the run go on, and cancel it; return False if the page came too late.

    The run of a closed tab ends after some seconds, and a page of a busy machine may take longer than that.
    """
    try:
        await visitor.until(lambda: visitor.first_at)
        in_time = time.monotonic() < left_at + channel.LEAVE_SECONDS
        if in_time:
            assert "Running." in visitor.cards, "it goes on"
            await visitor.press("converge-cancel")
            await visitor.until(lambda: visitor.over_at)
        return in_time
    finally:
        await visitor.close()


def in_one_of_three(tries) -> None:
    """Run `tries(seed)` with up to three seeds until the machine was fast enough."""
    assert any(aside(asyncio.run, tries(seed)) for seed in (11, 21, 31)), "the machine is too slow for this test"


def test_a_reload_finds_its_run_again_and_cancels_it(server):
    async def reload(seed: int) -> bool:
        cookie = browser()
        before = await running(Visitor(server.address, query=f"{LONG}&seed={seed}", cookie=cookie))
        # The server counts from the moment it notices, before the tab has closed both connections.
        left_at = time.monotonic()
        await before.close()
        after = Visitor(server.address, query=f"{LONG}&seed={seed}", cookie=cookie)
        await after.open()
        return await finds_again(left_at, after)

    in_one_of_three(reload)


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.parametrize(("page", "query"), [("spectrum", "n=20000&p=200&trials=100"), ("papers", "paper=yi2015-fig3")])
def test_a_reload_finds_the_run_of_other_pages(server, page, query):
    def shows(visitor: Visitor, words: str) -> bool:
        return any(words in text for text in visitor.texts.values())

    async def reload() -> None:
        cookie = browser()
        before = Visitor(server.address, page=page, query=query, cookie=cookie)
        await before.open()
        await before.press(f"{page}-run")
        await before.until(lambda: shows(before, " trials, about "))
        await before.close()
        after = Visitor(server.address, page=page, query=query, cookie=cookie)
        await after.open()
        await after.until(lambda: shows(after, " trials, about "))
        await after.press(f"{page}-cancel")
        await after.until(lambda: shows(after, "Cancelled: "))
        await after.close()

    aside(asyncio.run, reload())


@pytest.mark.soak
def test_buttons_and_the_end_of_a_run_draw_their_part_of_the_page_alone(server):
    async def press() -> None:
        visitor = Visitor(server.address, query=LONG.replace("p=200", "max_seconds=0.5&seed=15"))
        await visitor.open()
        # A click before the browser surely has the page draws the whole page again.
        await asyncio.sleep(2 * SENT_SECONDS)
        for number in (1, 2):
            await visitor.press("converge-run")
            # One for the button, one for the end.
            await visitor.until(lambda: visitor.over_at and visitor.parts == 2 * number)  # noqa: B023
        assert visitor.full_runs == 1
        # The seed is among the controls, which are not of that part.
        await visitor.press("converge-new")
        await visitor.until(lambda: visitor.full_runs == 2)
        assert "seed=16" in visitor.query
        await visitor.close()

    aside(asyncio.run, press())


@pytest.mark.soak
def test_a_second_tab_and_another_browser_begin_anew(server):
    async def tabs() -> None:
        cookie = browser()
        first = await running(Visitor(server.address, query=f"{LONG}&seed=12", cookie=cookie))
        for other_cookie in (cookie, browser()):
            other = Visitor(server.address, query=f"{LONG}&seed=12", cookie=other_cookie)
            await other.open()
            assert not other.cards, "the run belongs to the tab that is open"
            await other.close()
        shown = first.cards
        await first.until(lambda: first.cards != shown)
        await first.press("converge-cancel")
        await first.until(lambda: first.over_at)
        await first.close()

    aside(asyncio.run, tabs())


@pytest.mark.soak
def test_a_lost_connection_is_resumed(server):
    async def resume(seed: int) -> bool:
        visitor = await running(Visitor(server.address, query=f"{LONG}&seed={seed}"))
        await visitor.close()
        left_at = time.monotonic()
        visitor.cards, visitor.first_at, visitor.full_runs = "", 0.0, 0
        await visitor.open(session=visitor.session)
        return await finds_again(left_at, visitor)

    in_one_of_three(resume)


@pytest.mark.soak
@pytest.mark.slow
def test_the_run_of_a_closed_tab_ends(server):
    async def leave() -> None:
        cookie = browser()
        gone = await running(Visitor(server.address, query=f"{LONG}&seed=14", cookie=cookie))
        await gone.close()
        # Longer than a reload takes.
        await asyncio.sleep(7.0)
        back = Visitor(server.address, query=f"{LONG}&seed=14", cookie=cookie)
        await back.open()
        await back.until(lambda: back.over_at, LEAVE_SECONDS)
        assert "Cancelled" in back.cards, "its results so far are shown"
        await back.close()

    aside(asyncio.run, leave())


@pytest.mark.soak
@pytest.mark.slow
def test_a_run_is_followed_where_its_place_on_the_page_has_changed(server):
    async def move() -> None:
        visitor = await running(Visitor(server.address, query=f"{LONG}&seed=15"))
        # A wrong number adds a sentence above the figures, and takes it away again.
        for n in (-1, 3000, -1, 3000):
            await visitor.touch("one-bit-sensing.n", n)
            shown = visitor.cards
            await visitor.until(lambda: visitor.cards != shown)  # noqa: B023
        await visitor.press("converge-cancel")
        await visitor.until(lambda: visitor.over_at)
        await visitor.close()

    aside(asyncio.run, move())


@pytest.mark.slow
def test_a_setting_that_changes_beside_a_run_draws_the_settings_alone(server):
    async def change() -> None:
        visitor = await running(Visitor(server.address, query=f"{LONG}&seed=16"))
        # A change that comes sooner draws the whole page.
        await asyncio.sleep(2 * SENT_SECONDS)
        pages, parts = visitor.full_runs, visitor.parts
        for n in (2001, 2002):
            await visitor.touch("one-bit-sensing.n", n)
        assert (visitor.full_runs, visitor.parts) == (pages, parts + 2)
        assert "n=2002" in visitor.query
        # Not what nobody can run.
        await visitor.touch("one-bit-sensing.n", -1)
        assert visitor.full_runs == pages + 1
        await visitor.touch("one-bit-sensing.n", 2002)
        await visitor.press("converge-cancel")
        await visitor.until(lambda: visitor.over_at)
        assert "<mark>" in visitor.texts["converge.changed"]
        await visitor.touch("one-bit-sensing.n", 3000)
        await visitor.until(lambda: "<mark>" not in visitor.texts["converge.changed"], 5.0)
        await visitor.close()

    aside(asyncio.run, change())

"""A small class at a real server, and a tab that reloads or loses the network; `python -m tests.load` measures."""

import asyncio
import secrets
import time

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from lrlab.ui.live import channel
from lrlab.ui.live.fragments import SENT_SECONDS
from tests.load.classroom import attend, predict
from tests.load.visitor import Visitor
from tests.waiting import aside

LONG = "solvers=pairwise-moment&tol=0&max_iter=1000000&p=200"
"""A run that goes on until its time limit of 60 s."""


def test_pages_of_other_servers_do_not_reach_it(address):
    """A proxy passes on the host name of the request, which must be the name of the page."""

    async def status(origin: str) -> int:
        port, there = int(address.rpartition(":")[2]), "ws://lab.example.org/_stcore/stream"
        try:
            async with connect(there, host="127.0.0.1", port=port, subprotocols=["streamlit"], origin=origin):
                return 101
        except InvalidStatus as refused:
            return refused.response.status_code

    assert aside(asyncio.run, status("https://lab.example.org")) == 101
    assert aside(asyncio.run, status("https://elsewhere.example.org")) == 403


@pytest.mark.slow
def test_a_class_runs_and_predicts_and_sees_the_answer_in_each_round(address):
    waited = aside(asyncio.run, attend(address, 4, touching=1))
    assert {name: len(values) for name, values in waited.items()} == {
        "answer to a change": 2, "first iterate": 4, "end": 4,
    }  # fmt: skip
    waited = aside(asyncio.run, predict(address, 6))
    assert [len(values) for values in waited.values()] == [2, 2 * 7]


async def running(visitor: Visitor) -> Visitor:
    """Open a page and run it until the first iterate is shown."""
    await visitor.open()
    await visitor.press("converge-run")
    await visitor.until(lambda: visitor.first_at)
    return visitor


async def returns(address: str, seed: int, reload: bool) -> bool:
    """Run, leave, and come back as a new page or in the session before; then the run goes on, and can be cancelled.

    Return False if the page came too late: the run of a closed tab ends after some seconds.
    """
    cookie, query = f"lrlab={secrets.token_hex(16)}", f"{LONG}&seed={seed}"
    visitor = await running(Visitor(address, query=query, cookie=cookie))
    # The server counts from the moment it notices, before the tab has closed both connections.
    left_at = time.monotonic()
    await visitor.close()
    if reload:
        visitor = Visitor(address, query=query, cookie=cookie)
    visitor.cards, visitor.first_at, visitor.full_runs = "", 0.0, 0
    await visitor.open(session="" if reload else visitor.session)
    try:
        await visitor.until(lambda: visitor.first_at)
        in_time = time.monotonic() < left_at + channel.LEAVE_SECONDS
        if in_time:
            assert "Running." in visitor.cards
            await visitor.press("converge-cancel")
            await visitor.until(lambda: visitor.over_at)
        return in_time
    finally:
        await visitor.close()


@pytest.mark.parametrize("reload", [True, pytest.param(False, marks=pytest.mark.soak)], ids=["reload", "network"])
def test_a_tab_that_comes_back_finds_its_run_and_cancels_it(address, reload):
    tries = (aside(asyncio.run, returns(address, seed, reload)) for seed in (11, 21, 31))
    assert any(tries), "the machine is too slow for this test"


@pytest.mark.slow
def test_a_setting_that_changes_beside_a_run_draws_the_settings_alone(address):
    async def change() -> None:
        visitor = await running(Visitor(address, query=f"{LONG}&seed=16"))
        # A change that comes sooner draws the whole page.
        await asyncio.sleep(2 * SENT_SECONDS)
        pages, parts = visitor.full_runs, visitor.parts
        for n in (2001, 2002):
            await visitor.touch("one-bit-sensing.n", n)
        assert (visitor.full_runs, visitor.parts) == (pages, parts + 2)
        assert "n=2002" in visitor.query
        # A refused value draws the whole page, and its sentence moves the figures.
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

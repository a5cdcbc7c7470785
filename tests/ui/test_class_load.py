"""A small class at a real server; `python -m benchmarks.load` measures larger ones."""

import asyncio

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from benchmarks.load.classroom import attend, predict
from tests.waiting import aside


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

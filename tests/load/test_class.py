"""A short class at a real server; `python -m tests.load` measures a long one."""

import asyncio

import pytest

from tests.load.classroom import attend
from tests.load.server import serve


@pytest.fixture(scope="module")
def server():
    with serve() as server:
        yield server


def test_a_small_class_runs_and_follows(server):
    outcome = asyncio.run(attend(server.address, 4, seeds=[0, 0, 1, 2], touching=1))
    assert len(outcome.over) == len(outcome.first) == 4, outcome
    assert len(outcome.answers) == 3

"""One kill of the server during a sweep; `python -m tests.faults`, which soak runs, kills workers and servers often."""

import asyncio
import secrets

import pytest

from tests.faults.kills import kill, run
from tests.load.server import Server, serve
from tests.load.visitor import Visitor
from tests.waiting import aside


@pytest.mark.attempt("`kill -9` of workers and servers at random moments", "nothing stored is lost or doubled")
@pytest.mark.slow
def test_nothing_stored_is_lost_or_doubled_where_workers_and_servers_are_killed(tmp_path):
    # tests/engine kills workers. A fast machine may end a sweep before the kill: then the next one is another sweep.
    outcome = aside(run, tmp_path / "trials.sqlite", worker_kills=0, server_kills=1, trials=100, seed=7)
    assert outcome.trials in (4 * 100, 2 * 4 * 100)


@pytest.mark.soak
@pytest.mark.slow
def test_a_run_of_converge_is_gone_after_a_restart_and_its_tab_runs_it_again():
    query, cookie = "solvers=pairwise-moment&seed=2011", f"lrlab={secrets.token_hex(16)}"

    async def killed(server: Server) -> str:
        visitor = Visitor(server.address, query=f"{query}&tol=0&max_iter=1000000", cookie=cookie)
        await visitor.open()
        await visitor.press("converge-run")
        await visitor.until(lambda: visitor.first_at)
        await asyncio.to_thread(kill, server)
        await visitor.close()
        return visitor.session

    async def opened(server: Server, session: str) -> None:
        # A browser reconnects by itself, with a session that the new server does not know.
        visitor = Visitor(server.address, query=query, cookie=cookie)
        await visitor.open(session=session)
        assert not visitor.cards and visitor.session != session
        await visitor.press("converge-run")
        await visitor.until(lambda: visitor.over_at)
        await visitor.close()

    with serve() as server:
        session = aside(asyncio.run, killed(server))
    with serve() as server:
        aside(asyncio.run, opened(server, session))

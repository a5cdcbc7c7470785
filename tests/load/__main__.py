"""Measures a class at one server: python -m tests.load [--sessions 10 20 30 60] [--same-seed] [--idle].

Loopback only; at most 200 sessions, and 300 s a class.
"""

import argparse
import asyncio
import os
import time

from tests.load.classroom import attend
from tests.load.dragging import drag, watch
from tests.load.predicting import predict
from tests.load.server import Server, serve
from tests.load.visitor import Visitor

SETTLE_SECONDS = 20.0
IDLE_SECONDS = 10.0
REST_SECONDS = 150.0
"""Longer than the server keeps a session that has left, for a reload."""

SWEEP = "model=one-bit-sensing&x-axis=ratio&y-axis=none&n=20000&p=200&trials=1000&solvers=pairwise-moment"


async def rest(server: Server, sessions: int) -> None:
    """Print the processor time of open tabs without a run."""
    visitors = [Visitor(server.address) for _ in range(sessions)]
    for visitor in visitors:
        await visitor.open()
    await asyncio.sleep(5.0)
    share = await asyncio.to_thread(server.share_of_a_core, IDLE_SECONDS)
    print(f"{sessions} idle tabs: {100 * share:.2f}% of a core", flush=True)
    await asyncio.gather(*(visitor.close() for visitor in visitors))


async def beside_long_work(server: Server) -> None:
    """Print how soon *converge* draws while one session runs a long paper and another a long sweep."""
    paper = Visitor(server.address, page="papers", query="paper=qiu2017-table1")
    sweep = Visitor(server.address, page="transition", query=SWEEP)
    for visitor, key in ((paper, "papers-run"), (sweep, "transition-run")):
        await visitor.open()
        await visitor.press(key)
    await asyncio.sleep(10.0)
    first = []
    for k in range(10):
        outcome = await attend(server.address, 1, seeds=[9000 + k], seconds=60.0)
        first += outcome.first
    print(f"load {os.getloadavg()[0]:.1f} | beside a paper and a sweep: {len(first)} of 10 draw, first iterate "
          f"{', '.join(f'{seconds:.2f}' for seconds in first)} s", flush=True)  # fmt: skip
    print(
        "under way:", *(text for one in (paper, sweep) for text in one.texts.values() if "trials" in text), sep="\n  "
    )
    await asyncio.gather(paper.close(), sweep.close())


async def visits(server: Server, sessions: int) -> None:
    """Print the memory at rest after twenty sessions, and after so many more that come, run and leave."""
    for number in (20, sessions):
        for first in range(0, number, 10):
            await attend(server.address, min(10, number - first), seconds=120.0)
        await asyncio.sleep(REST_SECONDS)
        print(f"after {number} sessions, at rest: {server.memory_bytes() / 2**20:.0f} MiB", flush=True)


def main() -> None:
    """Read the arguments, start a server, and print one line a class."""
    parser = argparse.ArgumentParser(prog="python -m tests.load", description=__doc__)
    parser.add_argument("--sessions", type=int, nargs="*", default=[10, 20, 30, 60])
    parser.add_argument("--same-seed", action="store_true", help="everybody runs the same job")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long a class may take")
    parser.add_argument("--touching", type=int, default=10, help="how many sessions touch a widget meanwhile")
    parser.add_argument("--query", default="solvers=pairwise-moment", help="the address of the page")
    parser.add_argument("--idle", type=int, default=0, help="tabs whose cost without a run is measured, too")
    parser.add_argument("--live", type=int, default=0, help="tabs that follow runs of seconds, and that drag sliders")
    parser.add_argument("--predict", type=int, default=0, help="students of a class that predicts, for three rounds")
    parser.add_argument("--beside", action="store_true", help="converge beside a long paper and a long sweep")
    parser.add_argument("--visits", type=int, default=0, help="sessions after which the memory is measured")
    parser.add_argument("--script", default="app.py", help="what streamlit runs")
    given = parser.parse_args()
    with serve(script=given.script) as server:
        asyncio.run(attend(server.address, 1, seconds=30.0))
        first = 1000
        for sessions in given.sessions:
            seeds = [] if given.same_seed else range(first, first + sessions)
            first += sessions if not given.same_seed else 0
            load, before = os.getloadavg()[0], server.cpu_seconds()
            outcome = asyncio.run(
                attend(
                    server.address,
                    sessions,
                    seconds=given.seconds,
                    seeds=seeds,
                    query=given.query,
                    touching=given.touching,
                )  # fmt: skip
            )
            cost = server.cpu_seconds() - before
            print(f"load {load:.1f} | {outcome}; server {cost:.1f} s of CPU", flush=True)
        for words, measured in (("updates", watch), ("answers to a dragged slider", drag)) if given.live else ():
            before = server.cpu_seconds()
            rates = asyncio.run(measured(server.address, given.live))
            load, cost = os.getloadavg()[0], server.cpu_seconds() - before
            print(f"load {load:.1f} | {given.live} tabs: {words} {rates}; server {cost:.1f} s of CPU", flush=True)
        if given.predict:
            print(f"load {os.getloadavg()[0]:.1f} | {asyncio.run(predict(server.address, given.predict, 3))}")
        if given.beside:
            asyncio.run(beside_long_work(server))
        if given.visits:
            asyncio.run(visits(server, given.visits))
        if given.idle:
            asyncio.run(rest(server, given.idle))
        time.sleep(SETTLE_SECONDS)
        share = server.share_of_a_core(IDLE_SECONDS)
        print(f"20 s after all closed: {100 * share:.2f}% of a core, {server.memory_bytes() / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()

"""The app as one visitor meets it: imports, server, first page, first iterate, live updates, first point of a map.

python -m benchmarks.app [--repeats 5] [--write]

Each repeat starts a server of its own and speaks to it as a browser does (`benchmarks.load`). Seconds by the clock
stand beside processor seconds of the server and its workers; --write puts medians into benchmarks/RESULTS.md.
"""

import argparse
import asyncio
import os
import re
import resource
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence

import psutil

from benchmarks.load.visitor import Visitor
from benchmarks.peers.report import machine, write_section
from tests.server import Server, serve

IMPORTS = "import lrlab", "import lrlab; lrlab.spec", "import lrlab; lrlab.solve"
LONG = "solvers=pairwise-moment&n=400000&p=50&tol=0&max_iter=10000"
"""A run that is followed for some seconds."""
TRIALS = re.compile(r"([\d,]+) of [\d,]+ trials")
Rows = dict[str, list[Sequence[float]]]


def imported(statement: str) -> tuple[float, float]:
    """Return the clock and processor seconds of a new interpreter with this statement, its start included."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - began, used


def used(server: Server) -> float:
    """Return the processor seconds of the server and all its processes."""
    this = psutil.Process(server.process.pid)
    return float(sum(sum(p.cpu_times()[:2]) for p in [this, *this.children(recursive=True)]))


def updates(visitor: Visitor) -> int:
    """Return how many live updates a visitor has received."""
    return sum(map(len, visitor.live.arrived.values()))


async def visit(server: Server, began: float, rows: Rows, sent: list[float]) -> None:
    """Load pages, press their buttons, and take the times."""

    def note(what: str, since: float, before: float) -> None:
        rows[what].append((time.monotonic() - since, used(server) - before))

    visitor = Visitor(server.address, query="solvers=pairwise-moment")
    await visitor.open()
    note("from the start of the server to the first page (*converge*)", began, 0.0)
    await asyncio.sleep(5.0)
    for what in ("first iterate after the first press of Run", "first iterate after a later press, another problem"):
        since, before = time.monotonic(), used(server)
        await visitor.press("converge-run")
        await visitor.until(lambda: visitor.first_at)
        note(what, since, before)
        await visitor.until(lambda: visitor.over_at, 120.0)
        await visitor.touch("one-bit-sensing.n", 3001)
    await visitor.close()
    follower = Visitor(server.address, query=LONG)
    await follower.open()
    await follower.press("converge-run")
    await follower.until(lambda: follower.first_at)
    before_bytes, before_updates = follower.live.bytes, updates(follower)
    await follower.until(lambda: follower.over_at, 120.0)
    sent.append((follower.live.bytes - before_bytes) / max(updates(follower) - before_updates, 1))
    await follower.close()
    page = Visitor(server.address, page="transition")
    since, before = time.monotonic(), used(server)
    await page.open()
    note("a further page (*transition*)", since, before)
    since, before = time.monotonic(), used(server)
    await page.press("transition-run")
    await page.until(lambda: any((m := TRIALS.match(text)) and m[1] != "0" for text in page.texts.values()))
    note("first trials of a map after Run", since, before)
    await page.close()


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    rows, sent, load = defaultdict[str, list[Sequence[float]]](list), list[float](), os.getloadavg()[0]
    for _ in range(given.repeats):
        for statement in IMPORTS:
            rows[f"`{statement}`, with the start of Python"].append(imported(statement))
        began = time.monotonic()
        with serve() as server:
            asyncio.run(visit(server, began, rows, sent))
    lines = []
    for what, times in rows.items():
        clock, processor = (statistics.median(column) for column in zip(*times, strict=True))
        lines.append(f"- {what}: {clock:.2f} s, processor time {processor:.2f} s")
    words = (
        f"`python -m benchmarks.app`: medians of {given.repeats} servers, one visitor, load average {load:.1f} at the"
        f" start. A live update of a run sends {statistics.median(sent) / 1e3:.1f} kB."
        f" {machine(('streamlit',))}"
    )
    print(*lines, words, sep="\n")
    if given.write:
        write_section("The app", "\n\n".join([words, "\n".join(lines)]))


if __name__ == "__main__":
    main()

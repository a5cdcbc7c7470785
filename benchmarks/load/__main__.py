"""Measures classes at one server.

python -m benchmarks.load [--sessions 30 60] [--live 30] [--predict 30] [--visits 200]
"""

import argparse
import asyncio
import os
import statistics
import time
from collections.abc import Coroutine

from benchmarks.load.classroom import Measured, attend, drag, follow, predict
from tests.server import Server, serve

REST_SECONDS = 150.0
"""Longer than the server keeps a session that has left, for a reload."""


def measure(server: Server, words: str, work: Coroutine[None, None, Measured]) -> None:
    """Print what a class measured, with the load of the machine and the processor time of the server."""
    load, before = os.getloadavg()[0], server.cpu_seconds()
    parts = [f"load {load:.1f} | {words}"]
    for name, values in asyncio.run(work).items():
        middle = statistics.median(values)
        parts.append(f"{name}: {len(values)}, least {min(values):.2f}, median {middle:.2f}, most {max(values):.2f}")
    print(*parts, f"server {server.cpu_seconds() - before:.1f} s of CPU", sep="; ", flush=True)


def main() -> None:
    """Read the arguments, start a server, and print one line per class."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--sessions", type=int, nargs="*", default=[30, 60], help="sizes of classes that run")
    parser.add_argument("--live", type=int, default=30, help="tabs that follow long runs, and that drag sliders")
    parser.add_argument("--predict", type=int, default=30, help="students of a class that predicts")
    parser.add_argument("--visits", type=int, default=200, help="sessions after which the memory is measured")
    given = parser.parse_args()
    with serve() as server:
        asyncio.run(attend(server.address, 1))
        for number, sessions in enumerate(given.sessions, 1):
            measure(server, f"{sessions} run", attend(server.address, sessions, 1000 * number))
        if given.live:
            measure(server, f"{given.live} follow", follow(server.address, given.live))
            measure(server, f"{given.live} drag", drag(server.address, given.live))
        if given.predict:
            measure(server, f"{given.predict} predict", predict(server.address, given.predict))
        for sessions in (20, given.visits) if given.visits else ():
            for _ in range(0, sessions, 10):
                asyncio.run(attend(server.address, 10))
            time.sleep(REST_SECONDS)
            print(f"after {sessions} sessions, at rest: {server.memory_bytes() / 2**20:.0f} MiB", flush=True)


if __name__ == "__main__":
    main()

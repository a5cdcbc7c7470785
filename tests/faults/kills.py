"""Kills workers and servers (kill -9) at random points of a sweep with a store, and checks store and processes.

After each kill the stored trials are unchanged, a killed server leaves no process, and the sweep goes on. Finally the
store has every trial once, with the numbers that this process computes.
"""

import asyncio
import os
import random
import sqlite3
import time
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from lrlab import spec
from lrlab.runs.trial import Trial, run_trial
from lrlab.store.store import Store
from lrlab.sweeps.definition import Sweep
from tests.load.server import Server, serve
from tests.load.visitor import Visitor
from tests.waiting import PATIENCE, stored_trials, until

STILL_SECONDS = 10.0
FOLDERS = ("lrlab-", "pymp-", "dask-")
"""First letters of the names of an engine's temporary folders."""
QUERY = "model=one-bit-sensing&solvers=sir&p=40&x-axis=n&x-from=1000&x-to=4000&x-points=4&x-spacing=linear"
QUERY += "&y-axis=none&rule.metric=none"
GRID = {"n": [1000.0, 2000.0, 3000.0, 4000.0]}
Rows = dict[tuple[int, int], tuple[object, ...]]


@dataclass
class Outcome:
    """Seconds after a kill until the sweep went on, the page was back, and all processes of the server had ended."""

    resumed: list[float] = field(default_factory=list)
    restarted: list[float] = field(default_factory=list)
    gone: list[float] = field(default_factory=list)
    trials: int = 0

    def __str__(self) -> str:
        """Return it in lines."""
        lines = []
        for words, values in (
            ("kills of workers: the next trial stored after", self.resumed),
            ("kills of the server: page back after", self.restarted),
            ("kills of the server: its last process gone after", self.gone),
        ):
            if values:
                middle = sorted(values)[len(values) // 2]
                lines.append(f"{len(values)} {words} {middle:.2f} s (median), {max(values):.2f} s (worst)")
        return "\n".join([*lines, f"{self.trials} trials stored, each once, none lost"])


def stored(path: Path) -> Rows:
    """Return all trials of a store by cell and number; AssertionError if the file is not sound."""
    if not path.exists():
        return {}
    with closing(sqlite3.connect(path, timeout=PATIENCE)) as connection:
        connection.execute("BEGIN")
        rows = connection.execute("SELECT cell, trial, seed, stop, iterations, metrics FROM trials").fetchall()
        assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
    found: Rows = {(cell, trial): tuple(rest) for cell, trial, *rest in rows}
    assert len(found) == len(rows), "a trial is there twice"
    return found


def workers(server: Server) -> list[psutil.Process]:
    """Return the worker processes of a server: those that the engine's process has forked."""
    hosts = [
        process for process in psutil.Process(server.process.pid).children() if "host.py" in " ".join(process.cmdline())
    ]
    return [worker for host in hosts for fork in host.children() for worker in fork.children()]


class Page:
    """The page *sweep* of one browser, whose sweep runs until it is closed or complete."""

    def __init__(self, server: Server, seed: int, trials: int) -> None:
        """Open no connection yet."""
        self.visitor = Visitor(
            server.address, page="transition", query=f"{QUERY}&seed={seed}&trials={trials}", cookie=COOKIE
        )

    async def run(self) -> None:
        """Load the page and press Run."""
        await self.visitor.open()
        await self.visitor.press("transition-run")


COOKIE = "lrlab=" + "5" * 32


def check_progress(path: Path, before: Rows) -> Rows:
    """Return the stored trials; AssertionError if one from before is gone or different."""
    now = stored(path)
    assert before.items() <= now.items(), "stored trials are gone or different"
    return now


def check_numbers(path: Path, seed: int, trials: int) -> int:
    """Return how many trials are stored: all of the sweep, the first ones with the numbers that are computed here."""
    sweep = Sweep(spec=spec("one-bit-sensing", p=40, seed=seed), axes=GRID, solvers=["sir"], trials=trials)
    total = 0
    with Store(path) as store:
        for job in sweep.jobs:
            results = store.results(job, trials)
            assert list(results) == list(range(trials))
            # As text, because nan does not equal itself.
            assert str(results[0].scores) == str(run_trial(Trial(job, 0)).scores)
            total += len(results)
    return total


async def kill_workers(server: Server, path: Path, kills: int, seed: int, trials: int, outcome: Outcome) -> None:
    """Kill workers while a sweep runs, until there were so many kills or it has ended, and let it end."""
    chance, page = random.Random(seed), Page(server, seed, trials)
    await page.run()
    total = len(GRID["n"]) * trials
    before = stored(path)
    goal = len(before) + total
    await asyncio.to_thread(until, lambda: stored_trials(path) > len(before))
    while len(outcome.resumed) < kills and len(before) < goal:
        await asyncio.sleep(chance.uniform(0.0, 0.5))
        before = check_progress(path, before)
        if there := workers(server):
            chance.choice(there).kill()
        began, count = time.monotonic(), len(before)
        await asyncio.to_thread(until, lambda count=count: stored_trials(path) > min(count, goal - 1))
        outcome.resumed.append(time.monotonic() - began)
    while len(before) < goal:
        # Only the next Run computes a trial that lost two workers.
        count = len(before)
        with suppress(AssertionError):
            await asyncio.to_thread(until, lambda: stored_trials(path) >= goal, STILL_SECONDS)
        before = check_progress(path, before)
        if len(before) == count:
            await page.visitor.press("transition-run")
    outcome.trials += check_numbers(path, seed, trials)
    await page.visitor.close()


def kill(server: Server) -> float:
    """Kill a server, and return the seconds until all of its processes had ended."""
    others = psutil.Process(server.process.pid).children(recursive=True)
    server.process.kill()
    server.process.wait()
    return until(lambda: not any(map(runs, others)))


def runs(process: psutil.Process) -> bool:
    """Return whether a process runs."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def kill_servers(server: Server, path: Path, kills: int, seed: int, trials: int, outcome: Outcome) -> None:
    """Kill so many servers while sweeps run, each time starting the next one with the same store; let the last end."""
    chance, before, total = random.Random(seed), stored(path), len(GRID["n"]) * trials
    goal = len(before) + total
    for k in range(kills + 1):
        began = time.monotonic()
        with serve(environment(path)) if k else nullcontext(server) as server, asyncio.Runner() as runner:
            page = Page(server, seed, trials)
            runner.run(page.run())
            if k:
                outcome.restarted.append(time.monotonic() - began)
            if k == kills:
                until(lambda: stored_trials(path) >= goal, 10 * PATIENCE)  # noqa: B023
            else:
                # Every second one while trials are stored, the others while the engine starts as well.
                if k % 2 == 0:
                    until(lambda: stored_trials(path) > len(before))  # noqa: B023
                time.sleep(chance.uniform(0.0, 2.0))
                outcome.gone.append(kill(server))
            with suppress(ConnectionError):
                runner.run(page.visitor.close())
        before = check_progress(path, before)
        if len(before) == goal:
            outcome.trials += check_numbers(path, seed, trials)
            goal, seed = goal + total, seed + 1
    assert k == kills and len(before) == goal - total


def environment(path: Path) -> dict[str, str]:
    """Return the environment of a server whose files all lie next to the store."""
    return {"LRLAB_STORE": str(path), "TMPDIR": str(path.parent)}


def run(path: Path, worker_kills: int, server_kills: int, trials: int, seed: int) -> Outcome:
    """Kill workers, and then servers, at points that follow from the seed."""
    outcome = Outcome()
    with serve(environment(path)) as server:
        while len(outcome.resumed) < worker_kills:
            asyncio.run(kill_workers(server, path, worker_kills, seed, trials, outcome))
            seed += 1
        if server_kills:
            kill_servers(server, path, server_kills, seed, trials, outcome)
    assert not [name for name in os.listdir(path.parent) if name.startswith(FOLDERS)], os.listdir(path.parent)
    return outcome

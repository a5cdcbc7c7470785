"""A dask cluster whose scheduler and workers are separate processes."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from tests.waiting import PATIENCE, address_in, until

START = """
import json, os, sys
from dask.__main__ import main
import distributed.cli.dask_scheduler, distributed.cli.dask_worker
for command in json.loads(sys.argv[1]):
    child = os.fork()
    if not child:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        sys.argv = ["dask", *command]
        main()
        os._exit(0)
    print(child, flush=True)
for _ in json.loads(sys.argv[1]):
    os.wait()
"""
"""Starts processes of dask as forks of one that has imported the library, and ends when they have ended."""


class Cluster(NamedTuple):
    """A scheduler by its address, and the processes of its workers and of itself."""

    address: str
    workers: list[psutil.Process]
    scheduler: psutil.Process


@contextmanager
def cluster(folder: Path, workers: Sequence[Sequence[str]], *options: str) -> Iterator[Cluster]:
    """Start a scheduler and workers on this machine, and end them.

    workers: the options of each process of workers. options: of all processes.
    """
    file = folder / "scheduler.json"
    common = ["--host", "127.0.0.1", "--scheduler-file", str(file), "--no-dashboard", *options]
    commands = [["scheduler", "--port", "0", *common]]
    commands += [["worker", "--nthreads", "1", "--local-directory", str(folder), *own, *common] for own in workers]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with (folder / "log").open("wb") as log:
        start = subprocess.Popen(
            [sys.executable, "-c", START, json.dumps(commands)], stdout=subprocess.PIPE, stderr=log, env=environment
        )
    assert start.stdout is not None
    started = [psutil.Process(int(start.stdout.readline())) for _ in commands]
    start.stdout.close()
    try:
        until(lambda: address_in(file) != "")
        yield Cluster(address_in(file), started[1:], started[0])
    finally:
        # With SIGTERM, a worker that has lost its scheduler searches for it for minutes.
        for process, command in reversed([*zip(started, commands, strict=True)]):
            with suppress(psutil.NoSuchProcess):
                process.kill() if "--no-nanny" in command else process.terminate()
            process.wait(PATIENCE)
        start.wait(PATIENCE)

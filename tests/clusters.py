"""A dask cluster whose scheduler and workers are processes of their own."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.waiting import PATIENCE, address_in, until


class Cluster(NamedTuple):
    """A scheduler by its address, and its workers' processes."""

    address: str
    workers: list[subprocess.Popen[bytes]]


@contextmanager
def cluster(folder: Path, workers: Sequence[Sequence[str]], *options: str) -> Iterator[Cluster]:
    """Start a scheduler and workers on this machine, and end them.

    workers: the options of each process of workers. options: of all processes.
    """
    file = folder / "scheduler.json"
    common = ["--host", "127.0.0.1", "--scheduler-file", str(file), *options]
    commands = [["scheduler", "--port", "0", *common]]
    commands += [["worker", "--nthreads", "1", "--local-directory", str(folder), *own, *common] for own in workers]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    started: list[subprocess.Popen[bytes]] = []
    try:
        with (folder / "log").open("wb") as log:
            for command in commands:
                dask = [sys.executable, "-m", "dask", *command, "--no-dashboard"]
                started.append(subprocess.Popen(dask, stdout=log, stderr=log, env=environment))
        until(lambda: address_in(file) != "")
        yield Cluster(address_in(file), started[1:])
    finally:
        # With SIGTERM, a worker that has lost its scheduler searches for it for minutes.
        for process in reversed(started):
            process.kill() if "--no-nanny" in process.args else process.terminate()
            process.wait(PATIENCE)

"""A dask cluster whose scheduler and workers are separate processes."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil

from tests.waiting import PATIENCE, address_in, until


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
        starts = [[sys.executable, "-m", "dask", *command] for command in commands]
        started = [psutil.Popen(start, stdout=log, stderr=log, env=environment) for start in starts]
    try:
        until(lambda: address_in(file) != "")
        yield Cluster(address_in(file), started[1:], started[0])
    finally:
        # With SIGTERM, a worker that has lost its scheduler searches for it for minutes.
        for process, command in reversed([*zip(started, commands, strict=True)]):
            process.kill() if "--no-nanny" in command else process.terminate()
            process.wait(PATIENCE)

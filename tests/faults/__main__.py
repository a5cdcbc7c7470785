"""Kills workers and servers at random points: python -m tests.faults [--workers 100] [--servers 20] [--seed 0]."""

import argparse
import os
import tempfile
from pathlib import Path

from tests.faults.kills import run

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--workers", type=int, default=100, help="kills of workers")
    parser.add_argument("--servers", type=int, default=20, help="kills of the server")
    parser.add_argument("--trials", type=int, default=4000, help="trials of each of four cells")
    parser.add_argument("--seed", type=int, default=0, help="of the points at which they come")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(f"load {os.getloadavg()[0]:.1f}")
        print(run(Path(folder) / "trials.sqlite", given.workers, given.servers, given.trials, given.seed))

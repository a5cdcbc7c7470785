"""Sweeps on a thousand workers, which are simulated.

python -m benchmarks.scale [WORKERS,CELLS,TRIALS,SECONDS,SPREAD ...] [--write]

TRIALS: of each cell. SECONDS: of a trial, on average. SPREAD: how much cells differ (standard deviation of the
logarithm). Simulated are workers, network, scheduler and clock (`tests.simulated`). --write puts the table into
benchmarks/RESULTS.md. `benchmarks.scale_workers` does the same with real workers.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import lrlab
from benchmarks.peers.report import machine, write_section
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.run import run
from tests.simulated.cluster import SimulatedCluster
from tests.simulated.store import CountedStore, TimedStore, drawn_durations

TITLE = "Scale: a thousand workers"
CASES = "1000,2500,400,1,0.5 1000,2500,400,0.5,0.5 1000,2500,40,10,0.5 100,2500,40,0.2,0.5"
ABOUT = (
    "`python -m benchmarks.scale`: sweeps whose trials are handed out, collected and stored in a file by the package's"
    " own code. Simulated are workers, network, clock and a scheduler that takes 2.5 ms for a task (400 a second); the"
    " store takes 9 ms for a commit and 1/3,600 s for each trial of it, and shares one core with the engine. Trials and"
    " cells are drawn from log-normal laws. Ideal: the time of all trials, divided by the workers. The last column is"
    " the processor time of the package's own code and of the simulation together."
)
MODEL, SOLVER = "one-bit-sensing", "pairwise-moment"
COMMON = "| workers | trials | s of a trial | spread of cells | pieces | messages a second"
ENDING = "| commits | trials of a commit | ideal | end | ideal / end |"
HEAD = f"{COMMON}: mean, most | scheduler's time | its queue, most {ENDING} processor time |"


class Case(NamedTuple):
    """A sweep: workers, cells, trials of each, seconds that a trial takes on average, and how much cells differ."""

    workers: int
    cells: int
    trials: int
    seconds: float
    spread: float

    @classmethod
    def of(cls, text: str) -> "Case":
        """Return what numbers between commas say."""
        workers, cells, trials, seconds, spread = text.split(",")
        return cls(int(workers), int(cells), int(trials), float(seconds), float(spread))

    @property
    def words(self) -> str:
        """The first cells of its row."""
        return f"| {self.workers:,} | {self.sweep.total:,} | {self.seconds:g} | {self.spread:g}"

    @property
    def sweep(self) -> Sweep:
        """Its definition."""
        side = round(self.cells**0.5)
        axes = {"noise": [0.01 * k for k in range(side)], "p": [5 + k for k in range(side)]}
        return Sweep(spec=lrlab.spec(MODEL, n=200), axes=axes, solvers=[SOLVER], trials=self.trials)


def simulated(case: Case) -> str:
    """Return a row of the table of simulated sweeps; the store is a file."""
    began = time.process_time()
    workers = SimulatedCluster(case.workers, drawn_durations(case.seconds, case.spread))
    with tempfile.TemporaryDirectory() as folder, TimedStore(workers.work, Path(folder) / "trials.sqlite") as store:
        results = run(case.sweep, store, workers.start)
    counts, used = workers.counts(store.commits), time.process_time() - began
    assert results.complete and results.computed == sum(store.commits) == case.sweep.total
    return (
        f"{case.words} | {counts.tasks:,} | {counts.messages:.0f}, {counts.busiest} | {counts.busy:.0%}"
        f" | {counts.queue} | {commits(store)} | {counts.ideal:.0f} s | {counts.seconds:.0f} s"
        f" | {counts.efficiency:.3f} | {used:.0f} s |"
    )


def commits(store: CountedStore) -> str:
    """Return two cells of a table: how many commits, and how many trials each had."""
    return f"{len(store.commits):,} | {statistics.median(store.commits):.0f}"


def ruled(head: str) -> str:
    """Return the line below the head of a table."""
    return "|---" * head.count(" |") + "|"


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", type=Case.of, default=[*map(Case.of, CASES.split())])
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    lines = [HEAD, ruled(HEAD)]
    for case in given.cases:
        lines.append(simulated(case))
        print(lines[-1], flush=True)
    if given.write:
        write_section(TITLE, "\n".join([f"{ABOUT} {machine(['distributed'])}", "", *lines]))


if __name__ == "__main__":
    main()

"""A sweep on many workers: a thousand that are simulated, and sixteen real ones on this machine.

python -m benchmarks.scale [--simulated WORKERS,CELLS,TRIALS,SECONDS,SPREAD ...] [--real ...] [--write]

TRIALS: of each cell. SECONDS: of a trial, on average. SPREAD: how much cells differ (standard deviation of the
logarithm). Simulated are workers, network, scheduler and clock (`tests.simulated`); the real workers are processes of
`dask worker` at a `dask scheduler`. Their trials sleep as long as they are drawn to take, so that two cores suffice for
sixteen of them; then they compute real ones. --write puts the tables into benchmarks/RESULTS.md.
"""

import argparse
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil
from distributed import Client

import lrlab
from benchmarks.peers.report import machine, write_section
from lrlab.engine.engine import Engine
from lrlab.engine.stream import collect
from lrlab.engine.worker_stream import WorkerStream
from lrlab.runs.trial import Trial, TrialResult, run_trial, trial_spec
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.run import run
from tests.clusters import Cluster, cluster
from tests.simulated.cluster import SimulatedCluster
from tests.simulated.store import CountedStore, TimedStore, drawn_durations, made_up
from tests.waiting import until

TITLE = "Scale: a thousand workers"
SIMULATED = "1000,2500,400,1,0.5 1000,2500,400,1,1 1000,2500,400,0.5,0.5 1000,2500,40,10,0.5 100,2500,40,0.2,0.5"
REAL = "16,400,20,0.05,0.5"
ASK_SECONDS = 0.2
ABOUT = (
    "`python -m benchmarks.scale`: sweeps whose trials are handed out, collected and stored in a file by the package's"
    " own code. First on workers that are simulated, with network, clock and a scheduler that takes 2.5 ms for a task"
    " (400 a second); there the store takes 9 ms for a commit and 1/3,600 s for each trial of it, and shares one core with"
    " the engine. Ideal: the time of all trials, divided by the workers. Then on real workers whose trials sleep."
)
MODEL, SOLVER = "one-bit-sensing", "pairwise-moment"
COMMON = "| workers | trials | s of a trial | spread of cells | pieces | messages a second"
ENDING = "| commits | trials of a commit | ideal | end | ideal / end |"
SIMULATED_HEAD = f"{COMMON}: mean, most | scheduler's time | its queue, most {ENDING} processor time of the rest |"
REAL_HEAD = f"{COMMON} | scheduler's time | its answer: median, latest {ENDING}"


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


def slept(trial: Trial, case: Case) -> TrialResult:
    """Sleep as long as a trial is drawn to take, and return a made-up result."""
    cell, own = (np.random.default_rng(spec.seed) for spec in (trial_spec(trial.job.spec, -1), trial.seeded.spec))
    mean = case.seconds * cell.lognormal(-(case.spread**2) / 2.0, case.spread)
    seconds = float(mean * own.lognormal(-0.045, 0.3))
    time.sleep(seconds)
    return made_up(trial, seconds)


class Streams:
    """Starts streams on an engine, and remembers them; function: computes items in the place of what it is given."""

    def __init__(self, engine: Engine, function: Callable[[Any], Any] | None = None) -> None:
        self._engine, self._function, self.started = engine, function, list[WorkerStream]()

    def start(self, function: Callable[[Any], Any], items: Iterable[Any]) -> WorkerStream:
        """Start a stream."""
        self.started.append(self._engine.map(self._function or function, items))
        return self.started[-1]


@contextmanager
def answers(address: str) -> Iterator[list[float]]:
    """Yield a list that gets the seconds that the scheduler takes to answer, five times a second."""
    seconds, over = list[float](), threading.Event()

    def ask() -> None:
        with Client(address, set_as_default=False) as client:
            while not over.wait(ASK_SECONDS):
                asked = time.perf_counter()
                client.sync(client.scheduler.echo)
                seconds.append(time.perf_counter() - asked)

    thread = threading.Thread(target=ask)
    thread.start()
    yield seconds
    over.set()
    thread.join()


def used(process: psutil.Process) -> float:
    """Return the processor time of a process."""
    times = process.cpu_times()
    return times.user + times.system


def really(case: Case, started: Cluster, engine: Engine) -> str:
    """Return a row of the table of real workers."""
    streams = Streams(engine, lambda trial: slept(trial, case))
    with tempfile.TemporaryDirectory() as folder, CountedStore(Path(folder) / "trials.sqlite") as store:
        with answers(started.address) as asked:
            before, began = used(started.scheduler), time.monotonic()
            results = run(case.sweep, store, streams.start)
            seconds, scheduler = time.monotonic() - began, used(started.scheduler) - before
    ideal = sum(results.values(job, "seconds").sum() for job in case.sweep.jobs) / case.workers
    # Each task is two events, and two messages more: that it is to be done, and that it is.
    messages = 2 * sum(stream.version for stream in streams.started)
    return (
        f"{case.words} | {messages // 4:,} | {messages / seconds:.0f} | {scheduler / seconds:.0%}"
        f" | {1e3 * statistics.median(asked):.1f}, {1e3 * max(asked):.0f} ms | {commits(store)} | {ideal:.1f} s"
        f" | {seconds:.1f} s | {ideal / seconds:.3f} |"
    )


def computing(case: Case, started: Cluster, engine: Engine) -> str:
    """Return a sentence on the processor time of real trials on real workers."""
    processes = {"workers": started.workers, "scheduler": [started.scheduler], "this process": [psutil.Process()]}
    with tempfile.TemporaryDirectory() as folder, CountedStore(Path(folder) / "trials.sqlite") as store:
        before = {name: sum(map(used, own)) for name, own in processes.items()}
        results = run(case.sweep, store, engine.map)
        after = {name: sum(map(used, own)) - before[name] for name, own in processes.items()}
    trials = sum(results.values(job, "seconds").sum() for job in case.sweep.jobs)
    words = ", ".join(f"{seconds:.1f} s in {name}" for name, seconds in after.items())
    return (
        f"{results.computed:,} real trials of `{SOLVER}` (n = 200) on the same workers: {trials:.1f} s of processor"
        f" time in solvers; in all {words}; {len(store.commits)} commits."
    )


def measured(case: Case) -> Iterator[str]:
    """Yield the lines on real workers."""
    # They have imported all they need before they are there.
    options = ["--no-nanny", "--preload", "lrlab.engine.worker"]
    with tempfile.TemporaryDirectory() as folder, cluster(Path(folder), [options] * case.workers) as started:
        engine = Engine(started.address)
        until(lambda: (now := engine.overview()) and len(now.memory) == case.workers)
        trials = [Trial(case.sweep.jobs[0], number) for number in range(20 * case.workers)]
        collect(engine.map(run_trial, trials, chunk_seconds=1e-4))
        yield from (REAL_HEAD, ruled(REAL_HEAD), really(case, started, engine), "", computing(case, started, engine))
        engine.close()


def ruled(head: str) -> str:
    """Return the line below the head of a table."""
    return "|---" * head.count(" |") + "|"


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulated", nargs="*", type=Case.of, default=[*map(Case.of, SIMULATED.split())])
    parser.add_argument("--real", nargs="*", type=Case.of, default=[*map(Case.of, REAL.split())])
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    lines = list[str]()
    head = [SIMULATED_HEAD, ruled(SIMULATED_HEAD)]
    for line in chain(head, map(simulated, given.simulated), [""], *map(measured, given.real)):
        lines.append(line)
        print(line, flush=True)
    if given.write:
        write_section(TITLE, "\n".join([f"{ABOUT} {machine(['distributed'])}", "", *lines]))


if __name__ == "__main__":
    main()

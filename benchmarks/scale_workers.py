"""A sweep on sixteen real workers of this machine: how long it takes beside the ideal, and what scheduling costs.

python -m benchmarks.scale_workers [WORKERS,CELLS,TRIALS,SECONDS,SPREAD ...] [--write]

TRIALS: of each cell. SECONDS: of a trial, on average. SPREAD: how much cells differ (standard deviation of the
logarithm). Scheduler and workers are processes of `dask scheduler` and `dask
worker`. Trials sleep as long as they are drawn to take, so that two cores suffice for sixteen workers; then real ones
are computed. --write puts the table into benchmarks/RESULTS.md.
"""

import argparse
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil
from distributed import Client

import lrlab
from benchmarks.peers.report import machine, write_section
from lrlab.engine.engine import Engine
from lrlab.engine.results import WorkerResults, collect
from lrlab.runs.run import Trial, TrialResult, run_trial, trial_spec
from lrlab.store.store import Store
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.run import run
from tests.clusters import Cluster, cluster

TITLE = "Scale: sixteen workers"
CASES = "16,400,40,0.05,0.5"
SETTINGS = Path(__file__).parents[1] / "docs" / "clusters" / "dask.yaml"
ASK_SECONDS = 0.2
ABOUT = (
    "`python -m benchmarks.scale_workers`: sweeps on workers that are processes, with a scheduler of `dask scheduler`"
    " and the settings of `docs/clusters/dask.yaml`. Trials sleep as long as they are drawn to take (log-normal)."
    " Ideal: the time of all trials, divided by the workers."
)
MODEL, SOLVER = "one-bit-sensing", "pairwise-moment"
COMMON = "| workers | trials | s of a trial | spread of cells | pieces | messages a second"
ENDING = "| commits | trials of a commit | ideal | end | ideal / end |"
HEAD = f"{COMMON} | scheduler's time | its answer: median, latest {ENDING}"


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


class CountedStore(Store):
    """A store that counts its commits: the trials of each."""

    def __init__(self, path: Path | None = None) -> None:
        super().__init__(path)
        self.commits = list[int]()

    def add(self, results: Mapping[Trial, TrialResult]) -> None:
        """Store trials."""
        super().add(results)
        self.commits.append(len(results))


def made_up(trial: Trial, seconds: float) -> TrialResult:
    """Return a made-up result of a trial."""
    scores = {"objective": 0.5, "residual": 1e-9, "error": 0.1, "overlap": 0.9, "misfit": 0.3}
    return TrialResult(trial.number, "CONVERGED", 50, seconds, scores)


def slept(trial: Trial, case: Case) -> TrialResult:
    """Sleep as long as a trial is drawn to take, and return a made-up result with the time that it took."""
    cell, own = (np.random.default_rng(spec.seed) for spec in (trial_spec(trial.job.spec, -1), trial.seeded.spec))
    mean = case.seconds * cell.lognormal(-(case.spread**2) / 2.0, case.spread)
    began = time.perf_counter()
    time.sleep(float(mean * own.lognormal(-0.045, 0.3)))
    return made_up(trial, time.perf_counter() - began)


class Streams:
    """Starts streams on an engine, and counts its tasks; function: computes items instead of the given one."""

    def __init__(self, engine: Engine, function: Callable[[Any], Any] | None = None) -> None:
        self._engine, self._function, self.tasks, send = engine, function, 0, engine._send

        def counted(call: Any) -> None:
            self.tasks += 1
            send(call)

        vars(engine)["_send"] = counted

    def start(self, function: Callable[[Any], Any], items: Iterable[Any]) -> WorkerResults:
        """Start a stream."""
        return self._engine.map(self._function or function, items)


@contextmanager
def answers(address: str) -> Iterator[list[float]]:
    """Yield a list that gets the seconds that the scheduler takes to answer, five times a second."""
    seconds, over = list[float](), threading.Event()

    def ask() -> None:
        with Client(address, set_as_default=False) as client:
            while not over.wait(ASK_SECONDS):
                began = time.perf_counter()
                client.sync(client.scheduler.echo)
                seconds.append(time.perf_counter() - began)

    thread = threading.Thread(target=ask)
    thread.start()
    yield seconds
    over.set()
    thread.join()


def used(process: psutil.Process) -> float:
    """Return the processor time of a process."""
    times = process.cpu_times()
    return times.user + times.system


def commits(store: CountedStore) -> str:
    """Return two cells of a table: how many commits, and how many trials each had."""
    return f"{len(store.commits):,} | {statistics.median(store.commits):.0f}"


def ruled(head: str) -> str:
    """Return the line below the head of a table."""
    return "|---" * head.count(" |") + "|"


def really(case: Case, started: Cluster, engine: Engine) -> str:
    """Return a row of the table of real workers."""
    streams = Streams(engine, lambda trial: slept(trial, case))
    with tempfile.TemporaryDirectory() as folder, CountedStore(Path(folder) / "trials.sqlite") as store:
        with answers(started.address) as waits:
            before, began = used(started.scheduler), time.monotonic()
            results = run(case.sweep, store, streams.start)
            seconds, scheduler = time.monotonic() - began, used(started.scheduler) - before
    ideal = float(np.nansum(results.matrix("seconds"))) / case.workers
    # Each task is two events, and two messages more: that it is to be done, and that it is.
    messages = 4 * streams.tasks
    return (
        f"{case.words} | {messages // 4:,} | {messages / seconds:.0f} | {scheduler / seconds:.0%}"
        f" | {1e3 * statistics.median(waits):.1f}, {1e3 * max(waits):.0f} ms | {commits(store)} | {ideal:.1f} s"
        f" | {seconds:.1f} s | {ideal / seconds:.3f} |"
    )


def computing(case: Case, started: Cluster, engine: Engine) -> str:
    """Return a sentence on the processor time of real trials on real workers."""
    processes = {"workers": started.workers, "scheduler": [started.scheduler], "this process": [psutil.Process()]}
    with tempfile.TemporaryDirectory() as folder, CountedStore(Path(folder) / "trials.sqlite") as store:
        before = {name: sum(map(used, own)) for name, own in processes.items()}
        results = run(case.sweep, store, engine.map)
        after = {name: sum(map(used, own)) - before[name] for name, own in processes.items()}
    trials = float(np.nansum(results.matrix("seconds")))
    words = ", ".join(f"{seconds:.1f} s in {name}" for name, seconds in after.items())
    return (
        f"{results.computed:,} real trials of `{SOLVER}` (n = 200) on the same workers, in processor time: {words}; the"
        f" solvers alone {trials:.1f} s; {len(store.commits)} commits."
    )


def measured(case: Case) -> Iterator[str]:
    """Yield a row of the table, and a sentence."""
    # They have imported all they need before they are there.
    options = ["--no-nanny", "--preload", "lrlab.engine.worker"]
    with tempfile.TemporaryDirectory() as folder, cluster(Path(folder), [options] * case.workers) as started:
        engine = Engine(started.address)
        with Client(started.address, set_as_default=False) as client:
            client.wait_for_workers(case.workers)
        trials = [Trial(case.sweep.jobs[0], number) for number in range(20 * case.workers)]
        collect(engine.map(run_trial, trials, batch_seconds=1e-4))
        yield from (really(case, started, engine), computing(case, started, engine))
        engine.close()


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", type=Case.of, default=[*map(Case.of, CASES.split())])
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    os.environ["DASK_CONFIG"] = str(SETTINGS)
    rows, sentences = list[str](), list[str]()
    for case in given.cases:
        for line, lines in zip(measured(case), (rows, sentences), strict=True):
            lines.append(line)
            print(line, flush=True)
    if given.write:
        about = f"{ABOUT} {machine(['distributed'])}"
        write_section(TITLE, "\n".join([about, "", HEAD, ruled(HEAD), *rows, "", *sentences]))


if __name__ == "__main__":
    main()

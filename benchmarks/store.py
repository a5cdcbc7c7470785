"""What the store costs: keeping trials, opening, listing, looking up, summing up, exporting; and a sweep's overhead.

python benchmarks/store.py [TRIALS] [--sweep]

TRIALS (default 100,000) are made up, 20 a cell. With --sweep also real sweeps, alone on the machine: the time of two
workers and of all processes, against that of the same trials in this process.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil

import lrlab
from lrlab.engine.engine import Engine
from lrlab.engine.results import LocalResults
from lrlab.runs.job import Job, make_job
from lrlab.runs.trial import Trial, TrialResult
from lrlab.store.store import Store, export
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.run import read, run
from lrlab.sweeps.tables import cell_rows

A_CELL, A_BATCH = 20, 40
"""Trials of a cell, and those that arrive together (two batches of 0.2 s at 10 ms)."""


def seconds(work: Callable[[], object]) -> float:
    """Return how long something takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def jobs(number: int) -> Iterator[Job]:
    """Yield cells."""
    job = make_job(lrlab.spec("one-bit-sensing", n=100), "pairwise-moment")
    for k in range(number):
        yield job.on(job.spec.replace(n=100 + k % 1000, noise=k // 1000 / 1000))


def batches(trials: int) -> Iterator[dict[Trial, TrialResult]]:
    """Yield made up trials as they would arrive."""
    rng, batch = np.random.default_rng(0), dict[Trial, TrialResult]()
    for job in jobs(trials // A_CELL):
        for number in range(A_CELL):
            scores = dict(zip(("objective", "residual", "error", "overlap", "misfit"), rng.random(5), strict=True))
            batch[Trial(job, number)] = TrialResult(number, "CONVERGED", 50, 0.01, scores)
        if len(batch) >= A_BATCH:
            yield batch
            batch = {}
    yield batch


def measure(path: Path, trials: int) -> None:
    """Print what each operation takes."""
    spent, number = 0.0, 0
    with Store(path) as store:
        for batch in batches(trials):
            spent += seconds(lambda batch=batch: store.add(batch))
            number += 1
        print(
            f"keep: {trials / spent:,.0f} trials/s, {1000 * spent / number:.2f} ms a batch of {A_BATCH} (synchronised)"
        )
    print(f"file: {path.stat().st_size / trials:.0f} bytes a trial")
    print(f"open: {seconds(lambda: Store(path).close()):.3f} s")
    with Store(path) as store:
        print(f"list: {seconds(store.groups):.3f} s")
        cells = list(jobs(trials // A_CELL))
        print(f"find what is missing: {seconds(lambda: [store.finished(job, A_CELL) for job in cells]):.2f} s")
        print(f"read all cells: {seconds(lambda: sum(len(store.results(job, A_CELL)) for job in cells)):.2f} s")
        for name in ("all.csv", "all.parquet"):
            print(f"export {name}: {seconds(lambda name=name: export(store, path.with_name(name))):.1f} s")
    print(f"memory: at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


def overhead(folder: Path) -> None:
    """Print the share of two workers' time, and of all processor time, that is not that of the trials themselves."""
    engine = Engine(workers=2)
    engine.warm()
    for ratio, trials in ((20, 2000), (100, 500), (400, 100)):
        sweep = Sweep(
            spec=lrlab.spec("one-bit-sensing", p=60), axes={"ratio": [ratio], "noise": [0.1, 0.2, 0.3, 0.4]},
            solvers=["pairwise-moment"], trials=trials,
        )  # fmt: skip
        few = replace(sweep, trials=max(5, trials // 10))
        with Store() as before, Store(folder / f"{ratio}.sqlite") as store, Store() as after:
            here = _here(few, before)
            used = processor_time()
            wall = seconds(lambda sweep=sweep, store=store: run(sweep, store, engine.map))
            used = processor_time() - used
            again = seconds(lambda sweep=sweep, store=store: cell_rows(read(sweep, store)))
            # Before and after, for what else the machine does changes too.
            alone = (here + _here(few, after)) / 2 / few.total * sweep.total
        print(
            f"{1000 * alone / sweep.total:.1f} ms a trial here: {sweep.total} trials in {wall:.1f} s, overhead "
            f"{1 - alone / (2 * wall):.1%} of two workers' time, {1 - alone / used:.1%} of processor time, "
            f"table {again:.2f} s"
        )
    engine.close()


def processor_time() -> float:
    """Return the processor time of this process and of those that it has started, in seconds."""
    me = psutil.Process()
    times = [process.cpu_times() for process in (me, *me.children(recursive=True))]
    return sum(t.user + t.system for t in times)


def _here(sweep: Sweep, store: Store) -> float:
    used = time.process_time()
    run(sweep, store, LocalResults)
    return time.process_time() - used


def main() -> None:
    """Measure in a folder that is then removed."""
    numbers = [int(text) for text in sys.argv[1:] if text.isdigit()]
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder) / "store.sqlite", numbers[0] if numbers else 100_000)
        if "--sweep" in sys.argv:
            overhead(Path(folder))


if __name__ == "__main__":
    main()

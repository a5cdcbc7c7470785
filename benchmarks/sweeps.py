"""Sweeps of 2,000 small trials on all cores beside a loop of `lrlab.solve`, and beside plain processes, one per core.

python -m benchmarks.sweeps [SOLVER...] [--trials 2000] [--repeats 3] [--write]

All do the same trials; the sweep stores them, too. A plain process computes its share of the trials just as a worker
does, one by one, and nothing else: what the sweep takes beyond is the overhead of engine and store. Time is processor
time, of all processes of the engine and of this one together; where nothing else runs the clock shows it divided by the
cores. --write puts the table into benchmarks/RESULTS.md.
"""

import argparse
import multiprocessing
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from typing import Any

import psutil
from threadpoolctl import threadpool_limits

import lrlab
from benchmarks.peers.report import cores, machine, write_section
from lrlab.engine.engine import Engine
from lrlab.engine.results import collect
from lrlab.runs.run import Trial, run_trial, trial_spec
from lrlab.store.store import Store, key_of
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.run import run

CELLS, SIZES = 20, (200, 3000)
MODEL, SOLVERS = "one-bit-sensing", ("pairwise-moment", "marginal-mean", "logistic", "probit", "gamp")
HEAD = (
    "| solver | n | ms of a trial in the loop | sweep / loop | divided by the cores | sweep / plain processes |\n"
    "|---|---|---|---|---|---|"
)


def processor() -> float:
    """Return the processor seconds of this process and all below it."""
    this = psutil.Process()
    return sum(sum(p.cpu_times()[:2]) for p in [this, *this.children(recursive=True)])


def timed(work: Callable[[], object]) -> float:
    """Return the processor seconds of some work."""
    used = processor()
    work()
    return processor() - used


def one_by_one(function: Callable[[Any], object], items: Sequence[Any]) -> float:
    """Call a function of each item, and return the processor seconds of it."""
    with threadpool_limits(1):
        function(items[0])
        started = time.process_time()
        for item in items:
            function(item)
        return time.process_time() - started


def measure(engine: Engine, pool: Executor, name: str, n: int, trials: int) -> tuple[float, float, float]:
    """Return of a solver at a size the milliseconds of a trial in the loop, and sweep over loop and plain processes."""
    axes = {"noise": [0.01 * k for k in range(CELLS)]}
    sweep = Sweep(spec=lrlab.spec(MODEL, n=n, p=20), axes=axes, solvers=[name], trials=max(1, trials // CELLS))
    each = [Trial(job, number) for job in sweep.jobs for number in range(sweep.trials)]

    def looped() -> float:
        return one_by_one(lambda trial: lrlab.solve(trial_spec(trial.job.spec, trial.number), name), each)

    def plain() -> float:
        shares = [each[part :: cores()] for part in range(cores())]
        return sum(pool.map(one_by_one, [run_trial] * cores(), shares))

    # All workers and this process read files and make tables at the first trial of a solver.
    collect(engine.map(run_trial, each[: 20 * cores()], batch_seconds=1e-4))
    key_of(each[0].job)
    # Before and after, for the machine may change its pace.
    loop, apart = looped(), plain()
    with threadpool_limits(1), Store() as store:
        swept = timed(lambda: run(sweep, store, engine.map))
    loop, apart = (loop + looped()) / 2.0, (apart + plain()) / 2.0
    return 1e3 * loop / len(each), swept / loop, swept / apart


def row(name: str, n: int, repeats: Sequence[tuple[float, float, float]]) -> str:
    """Return a line of the table: medians, with the range of the share that is asked for."""
    own, ratio, apart = (statistics.median(part) for part in zip(*repeats, strict=True))
    shares = [part[1] / cores() for part in repeats]
    spread = f"{ratio / cores():.3f} ({min(shares):.3f} to {max(shares):.3f})"
    return f"| {name} | {n:,} | {own:.3g} | {ratio:.3f} | {spread} | {apart:.3f} |"


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("solvers", nargs="*", default=SOLVERS)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    engine = Engine()
    engine.warm()
    rows = [HEAD]
    print(HEAD)
    with ProcessPoolExecutor(cores(), multiprocessing.get_context("spawn")) as pool:
        for name in given.solvers:
            for n in SIZES:
                repeats = [measure(engine, pool, name, n, given.trials) for _ in range(given.repeats)]
                rows.append(row(name, n, repeats))
                print(rows[-1], flush=True)
    engine.close()
    if given.write:
        head = (
            f"`python -m benchmarks.sweeps`: {given.trials:,} trials at p = 20 on {cores()} cores, stored, beside"
            " a loop of `lrlab.solve` over the same trials in one process, and beside one plain process per core that"
            f" computes its share as a worker does. Processor time of all processes, medians of {given.repeats}."
        )
        write_section("Sweeps", f"{head} {machine(())}\n\n" + "\n".join(rows))


if __name__ == "__main__":
    main()

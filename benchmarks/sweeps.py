"""Sweeps of 2,000 small trials on all cores beside a loop of `lrlab.solve`, and beside plain processes, one per core.

python -m benchmarks.sweeps [SOLVER...] [--trials 2000] [--write]

All do the same trials; the sweep stores them, too. A plain process computes its share of the trials just as a worker
does, one by one, and nothing else: what the sweep takes beyond is the overhead of engine and store. Time is processor
time, of all processes of the engine and of this one together; where nothing else runs the clock shows it divided by the
cores. --write puts the table into benchmarks/RESULTS.md.
"""

import argparse
import multiprocessing
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from typing import Any

import psutil
from threadpoolctl import threadpool_limits

import lrlab
from benchmarks.peers.report import cores, machine, write_section
from lrlab.engine.engine import Engine
from lrlab.engine.stream import collect
from lrlab.runs.trial import Trial, run_trial, trial_spec
from lrlab.store import code_version
from lrlab.store.store import Store
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


def measure(engine: Engine, pool: Executor, name: str, n: int, trials: int) -> str:
    """Return the row of a solver at a size."""
    axes = {"noise": [0.01 * k for k in range(CELLS)]}
    sweep = Sweep(spec=lrlab.spec(MODEL, n=n, p=20), axes=axes, solvers=[name], trials=max(1, trials // CELLS))
    each = [Trial(job, number) for job in sweep.jobs for number in range(sweep.trials)]

    def plain() -> float:
        shares = [each[part :: cores()] for part in range(cores())]
        return sum(pool.map(one_by_one, [run_trial] * cores(), shares))

    # All workers and this process read files and make tables at the first trial of a solver.
    collect(engine.map(run_trial, each[: 20 * cores()], chunk_seconds=1e-4))
    code_version.key(each[0].job)
    loop = one_by_one(lambda trial: lrlab.solve(trial_spec(trial.job.spec, trial.number), name), each)
    # Before and after, for the machine may change its pace.
    before = plain()
    with threadpool_limits(1), Store() as store:
        swept = timed(lambda: run(sweep, store, engine.map))
    ratio = 2.0 * swept / (before + plain())
    times = f"{1e3 * loop / len(each):.3g} | {swept / loop:.3f} | {swept / loop / cores():.3f}"
    return f"| {name} | {n:,} | {times} | {ratio:.3f} |"


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("solvers", nargs="*", default=SOLVERS)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    engine = Engine()
    engine.warm()
    rows = [HEAD]
    print(HEAD)
    with ProcessPoolExecutor(cores(), multiprocessing.get_context("spawn")) as pool:
        for name in given.solvers:
            for n in SIZES:
                rows.append(measure(engine, pool, name, n, given.trials))
                print(rows[-1], flush=True)
    engine.close()
    if given.write:
        head = (
            f"`python -m benchmarks.sweeps`: {given.trials:,} trials at p = 20 on {cores()} cores, stored, beside"
            " a loop of `lrlab.solve` over the same trials in one process, and beside one plain process per core that"
            " computes its share as a worker does. Processor time of all processes."
        )
        write_section("Speed: sweeps", f"{head} {machine(())}\n\n" + "\n".join(rows))


if __name__ == "__main__":
    main()

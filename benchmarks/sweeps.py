"""Sweeps of 2,000 small trials on all cores beside a plain loop of `lrlab.solve` in one process.

python -m benchmarks.sweeps [SOLVER...] [--trials 2000] [--write]

Both do the same trials; the sweep stores them, too. Time is processor time, of all processes of the engine and of this
one together; where nothing else runs the clock shows it divided by the cores. --write puts the table into
benchmarks/RESULTS.md.
"""

import argparse
from collections.abc import Callable

import psutil
from threadpoolctl import threadpool_limits

import lrlab
from benchmarks.peers.report import cores, machine, write_section
from lrlab.engine.engine import Engine
from lrlab.runs.trial import trial_spec
from lrlab.store.store import Store
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.run import run

CELLS, SIZES = 20, (200, 3000)
MODEL, SOLVERS = "one-bit-sensing", ("pairwise-moment", "marginal-mean", "logistic", "probit", "gamp")
HEAD = "| solver | n | ms of a trial in the loop | sweep / loop | divided by the cores |\n|---|---|---|---|---|"


def processor() -> float:
    """Return the processor seconds of this process and all below it."""
    this = psutil.Process()
    return sum(sum(p.cpu_times()[:2]) for p in [this, *this.children(recursive=True)])


def timed(work: Callable[[], object]) -> float:
    """Return the processor seconds of some work."""
    used = processor()
    work()
    return processor() - used


def measure(engine: Engine, name: str, n: int, trials: int) -> str:
    """Return the row of a solver at a size."""
    axes = {"noise": [0.01 * k for k in range(CELLS)]}
    sweep = Sweep(spec=lrlab.spec(MODEL, n=n, p=20), axes=axes, solvers=[name], trials=max(1, trials // CELLS))
    specs = [trial_spec(job.spec, number) for job in sweep.jobs for number in range(sweep.trials)]
    with threadpool_limits(1), Store() as store:
        loop = timed(lambda: [lrlab.solve(spec, name) for spec in specs])
        ratio = timed(lambda: run(sweep, store, engine.map)) / loop
    return f"| {name} | {n:,} | {1e3 * loop / len(specs):.3g} | {ratio:.3f} | {ratio / cores():.3f} |"


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
    for name in given.solvers:
        for n in SIZES:
            rows.append(measure(engine, name, n, given.trials))
            print(rows[-1], flush=True)
    engine.close()
    if given.write:
        head = (
            f"`python -m benchmarks.sweeps`: {given.trials:,} trials at p = 20 on {cores()} cores, stored, beside"
            " a loop of `lrlab.solve` over the same trials in one process. Processor time of all processes."
        )
        write_section("Speed: sweeps", f"{head} {machine(())}\n\n" + "\n".join(rows))


if __name__ == "__main__":
    main()

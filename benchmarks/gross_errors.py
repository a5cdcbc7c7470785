"""Matrices of low rank whose measurements are wrong or uneven: python -m benchmarks.gross_errors [--uneven].

Counts the problems that each solver recovers, and writes them into benchmarks/RESULTS.md. Some minutes of one core.
"""

import itertools
import sys
import time
from collections.abc import Iterator
from typing import Any

import lrlab
from benchmarks.peers.report import machine, write_section
from lrlab import catalog
from lrlab.parameters import InputError
from lrlab.protocol import Spec
from lrlab.runs.job import make_job
from lrlab.runs.run import blas_threads, run_job

SEED, MOST_SECONDS = 51000, 2.0
SIZES, RANKS, SEEDS, SHARES = (20, 40, 60), (1, 3, 5), 1, (0.0, 0.1, 0.2, 0.3)
LEAST = 2.5
"""Measurements per degree of freedom: problems with fewer are left out."""
TABLE: dict[str, Any] = {"features": "canonical"}
BASES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("whole tables", "inductive-completion", {**TABLE, "observed": 1.0}),
    ("half of a table", "inductive-completion", {**TABLE, "observed": 0.5}),
    ("4 rank-one measurements per unknown", "rank-one-sensing", {}),
)
SOLVERS = "gauss-newton", "matrix-irls", "soft-impute", "trimmed-gauss-newton"
TRIALS, UNEVEN_SOLVERS = 5, ("matrix-irls", "soft-impute")
UNEVEN: list[tuple[str, dict[str, Any]]] = [
    (
        f"coherence {alpha:g}, {share:.0%} observed, places {places}",
        {"coherence": alpha, "observed": share, "places": places},
    )
    for alpha in (0.0, 0.5, 1.0)
    for share in (0.15, 0.25)
    for places in ("alike", "leverage")
]
UNEVEN += [
    (
        f"a block of {share:.0%} of each side missing, 40% of the rest observed",
        {"block": share, "observed": 0.4 * (1 - share**2)},
    )
    for share in (0.0, 0.5, 0.8)
]


def problems(model: str, base: dict[str, Any], share: float) -> Iterator[Spec]:
    """Yield the problems of one row of the table."""
    for size, rank, seed in itertools.product(SIZES, RANKS, range(SEED, SEED + SEEDS)):
        sides = {"n1": size, "n2": size} if model == "inductive-completion" else {"d1": size, "d2": size}
        unknowns = rank * (2 * size - rank)
        m = {} if "observed" in base else {"m": 4 * unknowns}
        spec = lrlab.spec(model, **base, **sides, **m, rank=rank, outliers=share, seed=seed)
        if spec.measurements >= LEAST * unknowns:
            yield spec


def count(specs: list[Spec], solver: str) -> str:
    """Return how many problems are recovered; – where the solver is not made for them."""
    goal = catalog.family(specs[0].model).goal
    assert goal.below is not None
    try:
        jobs = [make_job(spec, solver, max_seconds=MOST_SECONDS) for spec in specs]
    except InputError:
        return "–"
    traces = (run_job(job, clock=time.thread_time) for job in jobs)
    return str(sum(bool(trace.rows) and trace.metrics[goal.measure] < goal.below for trace in traces))


def table(rows: Iterator[tuple[str, list[Spec]]], solvers: tuple[str, ...]) -> str:
    """Return a table with a row for each list of problems and a column for each solver."""
    lines = [f"| problems | their number | {' | '.join(solvers)} |", "|---|---|" + "---|" * len(solvers)]
    for label, specs in rows:
        lines.append(f"| {label} | {len(specs)} | {' | '.join(count(specs, solver) for solver in solvers)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    """Count and write."""
    said = f"with an error below a tenth of the smallest singular value, in at most {MOST_SECONDS:g} s of a processor"
    with blas_threads(1):
        if "--uneven" in sys.argv:
            seeds = range(SEED, SEED + TRIALS)
            spec = lrlab.spec("inductive-completion", **TABLE, n1=50, n2=50, rank=2)
            rows = ((label, [spec.replace(**changes, seed=seed) for seed in seeds]) for label, changes in UNEVEN)
            about = f"`python -m benchmarks.gross_errors --uneven`: of tables 50 x 50, rank 2, so many end {said}"
            weights = (
                "Solvers have no weights against uneven entries: tried in three ways before this table, they recovered "
                "more in one cell alone"
            )
            body = table(rows, UNEVEN_SOLVERS)
            write_section("Entries that are not alike", f"{about}. {weights}. {machine(())}\n\n{body}")
            return
        rows = (
            (f"{label}, {share:.0%} wrong", list(problems(model, base, share)))
            for label, model, base in BASES
            for share in SHARES
        )
        about = (
            f"`python -m benchmarks.gross_errors`: so many problems end {said}: sides 20, 40 and 60, ranks 1, 3 and 5, "
            "seed 51000, a share of the measurements wrong by ten times their root mean square; at least "
            f"{LEAST:g} measurements per unknown"
        )
        write_section("Gross errors", f"{about}. {machine(())}\n\n{table(rows, SOLVERS)}")


if __name__ == "__main__":
    main()

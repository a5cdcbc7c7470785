"""Low-rank problems without noise that nobody chose: python -m benchmarks.exact_cells FILE [CELLS].

The cells of `make soak` (seeds 31001 to 31020, 250 each) with a solver each. A line of JSON for each is appended to
FILE, so that a run that was ended goes on where it stopped; then benchmarks/RESULTS.md says how they ended. Half an
hour of one core.
"""

import json
import statistics
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.peers.report import machine, write_section
from lrlab.protocol import Stop
from lrlab.runs.job import Job
from lrlab.runs.run import Newest, run_job
from tests.solvers.low_rank.drawn_cells import claimed_over_used, drawn_jobs

SEEDS, EACH = range(31001, 31021), 250
MOST_SECONDS = 2.0
CLAIM_SEEDS = range(31000, 31004)
TITLE = "Exact cells that nobody chose"


def outcome(job: Job) -> dict[str, Any]:
    """Return how a cell ended, and how many singular directions of the truth its estimate misses."""
    limited = replace(job, limits=job.limits._replace(max_seconds=MOST_SECONDS))
    trace = run_job(limited, newest=Newest(), clock=time.thread_time)
    found = int(trace.metrics.get("recovered_directions", 0))
    stop = trace.stop.name if trace.stop else ""
    return {"solver": job.solver, "stop": stop, "missing": job.spec.true_rank - found}


def run_cells(path: Path, most: int) -> list[dict[str, Any]]:
    """Return the outcomes of the first cells; those that the file does not have are run and appended to it."""
    lines = path.read_text().splitlines() if path.exists() else []
    rows = [json.loads(line) for line in lines][:most]
    with path.open("a") as file:
        for seed in SEEDS[len(rows) // EACH :]:
            for number, job in enumerate(drawn_jobs(EACH, seed)):
                if len(rows) == most:
                    return rows
                if (seed - SEEDS[0]) * EACH + number < len(rows):
                    continue
                rows.append(outcome(job) | {"spec": f"{job.spec}"})
                print(json.dumps(rows[-1]), file=file, flush=True)
    return rows


def body(rows: list[dict[str, Any]]) -> str:
    """Return the count of false claims, and a table of how runs of each solver ended and what they had found."""
    false = [row for row in rows if row["stop"] == Stop.CONVERGED.name and row["missing"]]
    stops = [stop for stop, _ in Counter(row["stop"] for row in rows).most_common()]
    lines = ["| solver | cells | all directions found | " + " | ".join(stops) + " |", "|---" * (3 + len(stops)) + "|"]
    for solver in sorted({row["solver"] for row in rows}):
        own = [row for row in rows if row["solver"] == solver]
        ends = Counter(row["stop"] for row in own)
        counts = [len(own), sum(not row["missing"] for row in own), *(ends[stop] for stop in stops)]
        lines.append(f"| {solver} | " + " | ".join(map(str, counts)) + " |")
    about = (
        f"`python -m benchmarks.exact_cells`: {len(rows):,} cells of `tests/solvers/low_rank/drawn_cells.py`, from the "
        f"four models of low-rank matrices (seeds from {SEEDS[0]}, {EACH} each): sides of 6 to 40, rank 1 to 5, "
        "condition 1 to 1e6, 0.9 to 5 measurements per degree of freedom, no noise, one solver each with at most "
        f"{MOST_SECONDS:g} s of a processor. **{len(false)} of them end as *Converged* with a singular direction "
        f"missing** (an error above a tenth of its singular value). {machine(())}"
    )
    return "\n\n".join([about, "\n".join(lines)])


def claims() -> str:
    """Return how memory that is claimed compares with what is used."""
    ratios = [claimed_over_used(job) for seed in CLAIM_SEEDS for job in drawn_jobs(10, seed, scale=12.0)]
    within = sum(1 / 3 <= ratio <= 3 for ratio in ratios)
    return (
        f"Claims of memory in {len(ratios)} cells with sides of 72 to 480 (seeds from {CLAIM_SEEDS[0]}): {within} are "
        f"within a factor 3 of what is used, {min(ratios):.2f} to {max(ratios):.2f} times it, "
        f"{statistics.median(ratios):.2f} at the median."
    )


def main() -> None:
    """Run what is left, write."""
    most = int(sys.argv[2]) if len(sys.argv) > 2 else len(SEEDS) * EACH
    rows = run_cells(Path(sys.argv[1]), most)
    write_section(TITLE, f"{body(rows)}\n\n{claims()}")


if __name__ == "__main__":
    main()

"""Low-rank matrices off the defaults, and how often solvers recover them: python -m benchmarks.low_rank_grid NEW [OLD].

Ten trials from seed 31000 of every cell; stores the counts of this code in NEW (JSON), and writes them into
benchmarks/RESULTS.md, beside those in OLD where they differ. A trial succeeds by the goal of the family. About 13
minutes of one core.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lrlab
from benchmarks.peers.report import machine, write_section
from lrlab import catalog
from lrlab.parameters import InputError
from lrlab.protocol import Spec, Stop
from lrlab.runs.job import make_job
from lrlab.runs.run import Trial, run_trial

TRIALS, SEED, MOST_SECONDS = 10, 31000, 2.0
SOLVERS = "gauss-newton", "matrix-irls", "tangent-descent", "scaled-gradient", "altmin", "gnimc", "r2rils", "svp"
TABLE = ("inductive-completion", {"features": "canonical", "n1": 60, "n2": 60, "rank": 2})
SENSING = ("rank-one-sensing", {"d1": 30, "d2": 30, "rank": 2})
NETWORK = ("polynomial-network", {"p": 40, "r": 2})
FEATURES = ("inductive-completion", {"n1": 80, "n2": 80, "d1": 25, "d2": 25, "rank": 2})
LABELS = ("multilabel-regression", {"n": 120, "d": 15, "labels": 40, "rank": 2})
CELLS: tuple[tuple[str, tuple[str, dict[str, Any]], dict[str, Any], tuple[float, ...]], ...] = (
    ("30 x 300", TABLE, {"n1": 30, "n2": 300}, (2.2, 3)),
    ("15 x 150", SENSING, {"d1": 15, "d2": 150}, (1.5, 3)),
    ("rank 1", TABLE, {"rank": 1}, (2.2, 3)),
    ("rank 1", SENSING, {"rank": 1}, (1.5, 2)),
    ("rank 1", NETWORK, {"r": 1}, (1.5, 2)),
    ("rank 1, 100 inputs", NETWORK, {"r": 1, "p": 100}, (2,)),
    ("rank 5", TABLE, {"rank": 5}, (2.2, 3)),
    ("rank 10", TABLE, {"rank": 10}, (1.7,)),
    ("rank 5", SENSING, {"rank": 5}, (1.5,)),
    ("rank 10", SENSING, {"rank": 10}, (1.5,)),
    ("rank 5", NETWORK, {"r": 5}, (1.5, 2)),
    ("condition 100", TABLE, {"condition": 100}, (3,)),
    ("condition 1e6", TABLE, {"condition": 1e6}, (3,)),
    ("condition 1e4", SENSING, {"condition": 1e4}, (2,)),
    ("condition 1e6", SENSING, {"condition": 1e6}, (2,)),
    ("condition 1e4", NETWORK, {"condition": 1e4}, (2,)),
    ("condition 1e4", FEATURES, {"condition": 1e4}, (3,)),
    ("assumed rank 3", TABLE, {"assumed_rank": 3}, (3,)),
    ("assumed rank 6", TABLE, {"assumed_rank": 6}, (3,)),
    ("80 x 80, assumed rank 3", TABLE, {"n1": 80, "n2": 80, "assumed_rank": 3}, (3,)),
    ("80 x 80, assumed rank 6", TABLE, {"n1": 80, "n2": 80, "assumed_rank": 6}, (3,)),
    ("assumed rank 6", SENSING, {"assumed_rank": 6}, (3,)),
    ("assumed rank 6", NETWORK, {"assumed_rank": 6}, (3,)),
    ("assumed rank 6", FEATURES, {"assumed_rank": 6}, (3,)),
    ("assumed rank 6", LABELS, {"assumed_rank": 6}, (3,)),
    ("features d near n", FEATURES, {"d1": 75, "d2": 75}, (2.2, 3)),
    ("correlated features", FEATURES, {"features": "correlated"}, (2, 3)),
    ("few labels", LABELS, {"labels": 5}, (1.7, 3)),
)
"""Label, base, what differs from it, and measurements per degree of freedom."""


def spec_of(base: tuple[str, dict[str, Any]], changes: dict[str, Any], ratio: float) -> Spec:
    """Return the spec of a cell."""
    spec = lrlab.spec(base[0], **{**base[1], **changes, "seed": SEED})
    table: tuple[int, int] = spec.table  # type: ignore[attr-defined]
    m = round(ratio * spec.degrees_of_freedom)
    return spec.replace(observed=min(1.0, m / (table[0] * table[1]))) if any(table) else spec.replace(m=m)


def recovered(spec: Spec, solver: str) -> int | None:
    """Return how many trials succeed; None where the solver is not made for the cell."""
    goal = catalog.family(spec.model).goal
    assert goal.below is not None
    try:
        job = make_job(spec, solver, max_seconds=MOST_SECONDS)
    except InputError:
        return None
    trials = (run_trial(Trial(job, number)) for number in range(TRIALS))
    return sum(
        trial.scores.get(goal.metric, float("inf")) < goal.below and trial.stop != Stop.LOCAL_MINIMUM.name
        for trial in trials
    )


def counted() -> Iterator[tuple[str, dict[str, int | None]]]:
    """Yield the name of each cell and its counts by solver."""
    for label, base, changes, ratios in CELLS:
        for ratio in ratios:
            spec = spec_of(base, changes, ratio)
            plain = " without features" if spec.values().get("features") == "canonical" else ""
            yield f"{spec.model}{plain}, {label}, {ratio:g} x", {name: recovered(spec, name) for name in SOLVERS}


def words(new: int | None, old: int | None) -> str:
    """Return a count, with the one before where it differs."""
    now = "–" if new is None else str(new)
    return now if new == old else f"{'–' if old is None else old} → {now}"


def main() -> None:
    """Count, store, write."""
    counts = {}
    for name, row in counted():
        counts[name] = row
        print(name, row, flush=True)
    Path(sys.argv[1]).write_text(json.dumps(counts, indent=1))
    old = json.loads(Path(sys.argv[2]).read_text()) if len(sys.argv) > 2 else counts
    head = "| cell | " + " | ".join(SOLVERS) + " |\n|---|" + "---|" * len(SOLVERS)
    rows = [
        "| " + " | ".join([name, *(words(row[one], old.get(name, row).get(one)) for one in SOLVERS)]) + " |"
        for name, row in counts.items()
    ]
    about = (
        "`python -m benchmarks.low_rank_grid`: of ten trials (seeds from 31000, no noise, at most 2 s of a processor "
        "each) so many end with an error below a tenth of the smallest singular value. Bases: tables 60 x 60, sensing "
        "30 x 30, networks of 40 inputs, tables 80 x 80 with 25 features a side, 40 labels of 120 points with 15 "
        "features; rank 2, condition 1; last the measurements per degree of freedom. `a → b`: before and now, where "
        f"these differ. {machine(())}"
    )
    write_section("Low-rank matrices off the defaults", "\n\n".join([about, "\n".join([head, *rows])]))


if __name__ == "__main__":
    main()

"""Coverage of the 95% intervals of link-free refinement: share of entries whose interval holds the truth.

python benchmarks/coverage.py [--problems 200] [--first-seed 5000] [--cells TEXT ...]

For each cell, a model with its settings: problems whose estimate has intervals, mean coverage over entries and these
problems with its standard error over problems, coverage of the largest true entry, half the mean width over 1.96 times
the root mean square error of an entry, and why the other problems have none.
"""

import argparse
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lrlab import catalog
from lrlab.protocol import Iterate, Spec
from lrlab.runs.job import make_job
from lrlab.runs.run import drive

SOLVER = "link-free-refinement"
NORMAL_95 = 1.959964
SIGN, LOGISTIC, PHASE, CUSTOM = "one-bit-sensing", "flipped-logistic", "one-bit-phase-retrieval", "custom-link"
CELLS = (
    # n/p from 2.5 to 150 at p from 3 to 100.
    f"{SIGN} n=50 p=3", f"{SIGN} n=150 p=3", f"{SIGN} n=450 p=3", f"{SIGN} n=500 p=5", f"{SIGN} n=50 p=20",
    f"{SIGN} n=300 p=20", f"{SIGN} n=3000 p=20", f"{SIGN} n=125 p=50", f"{SIGN} n=500 p=50", f"{SIGN} n=250 p=100",
    f"{LOGISTIC} n=50 p=3", f"{LOGISTIC} n=150 p=3", f"{LOGISTIC} n=500 p=5", f"{LOGISTIC} n=300 p=20",
    f"{LOGISTIC} n=3000 p=20", f"{LOGISTIC} n=125 p=50", f"{LOGISTIC} n=500 p=50", f"{LOGISTIC} n=250 p=100",
    f"{PHASE} n=50 p=3", f"{PHASE} n=150 p=3", f"{PHASE} n=500 p=5", f"{PHASE} n=300 p=20", f"{PHASE} n=3000 p=20",
    f"{PHASE} n=500 p=50", f"{PHASE} n=1000 p=100", f"{CUSTOM} n=1000 p=5", f"{CUSTOM} n=3000 p=20",
    f"{CUSTOM} n=1000 p=20 link=sign(z-0.5)/2+sign(z+0.5)/2",
    # Noise and flips.
    f"{SIGN} n=1000 p=20 noise=0", f"{SIGN} n=500 p=50 noise=0", f"{SIGN} n=1000 p=20 noise=1",
    f"{SIGN} n=500 p=50 noise=1", f"{SIGN} n=1000 p=20 noise=1 flip=0.1", f"{LOGISTIC} n=1000 p=5 flip=0.2",
    f"{PHASE} n=1000 p=20 noise=0.1", f"{PHASE} n=3000 p=5 noise=1",
    # Answers of one kind are rare.
    f"{LOGISTIC} n=1000 p=20 intercept=3", f"{LOGISTIC} n=3000 p=20 intercept=5", f"{LOGISTIC} n=3000 p=5 intercept=5",
    f"{PHASE} n=1000 p=20 threshold=0.05", f"{PHASE} n=3000 p=20 threshold=0.05", f"{PHASE} n=1000 p=20 threshold=0.3",
    # Designs.
    f"{SIGN} n=1000 p=20 design=correlated", f"{SIGN} n=1000 p=20 design=correlated correlation=0.95",
    f"{LOGISTIC} n=3000 p=20 design=correlated correlation=0.95",
    f"{PHASE} n=1000 p=20 design=correlated correlation=0.95",
    f"{SIGN} n=1000 p=20 design=student freedom=2.5", f"{LOGISTIC} n=1000 p=20 design=student freedom=2.5",
    f"{LOGISTIC} n=1000 p=5 design=student freedom=2.5", f"{LOGISTIC} n=1000 p=20 design=student",
    f"{PHASE} n=1000 p=20 design=student", f"{LOGISTIC} n=1000 p=20 design=rademacher",
    f"{LOGISTIC} n=1000 p=5 design=rademacher", f"{SIGN} n=1000 p=20 design=rademacher",
    f"{SIGN} n=1000 p=20 design=rademacher sparsity=2",
    # Sparse.
    f"{SIGN} n=400 p=20 sparsity=5", f"{LOGISTIC} n=1000 p=20 sparsity=5", f"{LOGISTIC} n=3000 p=50 sparsity=5",
    f"{PHASE} n=200 p=20 sparsity=2", f"{PHASE} n=400 p=20 sparsity=5", f"{PHASE} n=3000 p=50 sparsity=5",
    f"{SIGN} n=200 p=500 sparsity=5", f"{SIGN} n=60 p=100 sparsity=5",
)  # fmt: skip
"""Models with their settings."""
HEAD = (
    "| cell | problems with intervals | coverage | of the largest entry | width ratio | without intervals |\n"
    "|---|---|---|---|---|---|"
)


class Coverage(NamedTuple):
    """Of one cell: problems, shares of entries that are held and half widths over 1.96 errors, of problems with
    intervals; whether the largest entry is held, where it has one; numbers of problems by why they have none.
    """  # noqa: D205

    problems: int
    held: list[float]
    widths: list[float]
    largest: list[bool]
    without: Mapping[str, int]

    @property
    def error(self) -> float:
        """The standard error of the mean share."""
        return float(np.std(self.held) / np.sqrt(max(len(self.held) - 1, 1))) if self.held else np.nan

    @property
    def row(self) -> str:
        """A row of the table, without the cell."""
        why = "; ".join(f"{count}: {words}" for words, count in self.without.items())
        if not self.held:
            return f"0 of {self.problems} | | | | {why}"
        largest = f"{np.mean(self.largest):.3f}" if self.largest else ""
        mean = f"{np.mean(self.held):.3f} ± {self.error:.3f}"
        return f"{len(self.held)} of {self.problems} | {mean} | {largest} | {np.median(self.widths):.2f} | {why}"


def solved(spec: Spec) -> tuple[Any, Iterate]:
    """Return the problem of a spec and the last iterate, whose intervals alone are computed."""
    job, problem, last = make_job(spec, SOLVER), spec.build(), list[Iterate]()
    iterates = job.entry.run(problem, **dict(job.options), rng=np.random.default_rng(spec.streams().solver))
    drive(iterates, lambda iteration, seconds, iterate: last.__setitem__(slice(None), [iterate]), job.limits)
    return problem, last[0]


def coverage(cell: str, seeds: Sequence[int]) -> Coverage:
    """Return what the intervals of a cell hold over problems with these seeds."""
    model, *settings = cell.split(" ")
    spec = catalog.spec(model, **dict(text.split("=", 1) for text in settings))
    held, widths, largest, without = list[float](), list[float](), list[bool](), Counter[str]()
    for seed in seeds:
        problem, iterate = solved(spec.replace(seed=seed))
        low, high, note = iterate.intervals()
        known = np.isfinite(low)
        if not known.any():
            # Numbers differ from problem to problem.
            without[re.sub(r"[\d.]+", "#", note.removeprefix("No intervals: "))] += 1
            continue
        truth, b = problem.truth, iterate.estimate
        truth = truth if truth @ b >= 0 else -truth
        inside, first = (low <= truth) & (truth <= high), np.argmax(np.abs(truth))
        held.append(float(inside[known].mean()))
        error = np.sqrt(np.mean(np.square(truth - b / np.linalg.norm(b))[known]))
        widths.append(float((high - low)[known].mean() / (2.0 * NORMAL_95 * error)))
        largest += [bool(inside[first])] if known[first] else []
    return Coverage(len(seeds), held, widths, largest, without)


def main() -> None:
    """Measure the cells, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--first-seed", type=int, default=5000)
    parser.add_argument("--cells", nargs="*", default=[""], help="parts of names of cells")
    given = parser.parse_args()
    print(HEAD)
    for cell in CELLS:
        if any(part in cell for part in given.cells):
            seeds = range(given.first_seed, given.first_seed + given.problems)
            print(f"| {cell} | {coverage(cell, seeds).row} |", flush=True)


if __name__ == "__main__":
    main()

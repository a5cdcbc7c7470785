"""What one-bit labels cost and tell at the paper's size: python benchmarks/one_bit_multilabel.py [--seeds 3].

Costs: the time of one iteration on a batch that is in memory, over that of one product X @ (d1 x k) with all of the
batch, medians over iterations after the first, which alone reads every sample twice. Accuracies after ten batches:
means over seeds, in the settings of Qiu et al. (2017), Table 1.
"""

import argparse
import itertools
import statistics
import time

import numpy as np

import lrlab
from lrlab import catalog
from lrlab.models.one_bit_multilabel import OneBitMultilabel
from lrlab.models.one_bit_problem import OneBitMultilabelProblem, Samples

SIZE = {"m": 100_000, "d1": 500, "d2": 200, "rank": 3}
BATCHES = 3
REPEATS = 5
ENTRIES = {entry.name: entry for entry in catalog.solvers_for("one-bit-multilabel")}
COLUMNS = ({}, {"noise": 0.1}, {"noise": 0.3}, {"flip": 0.01}, {"flip": 0.1})


class InMemory(OneBitMultilabelProblem):
    """The stream with a few batches drawn beforehand, taken in turn: what is timed reads them, and draws nothing."""

    def __init__(self, spec: OneBitMultilabel) -> None:
        """Draw the batches."""
        super().__init__(spec)
        self.drawn = [list(super(InMemory, self).blocks(t)) for t in range(BATCHES)]

    def blocks(self, batch: int) -> list[Samples]:  # type: ignore[override]
        """Return the blocks of one of the batches."""
        return self.drawn[batch % BATCHES]


def product_seconds(problem: InMemory) -> float:
    """Return the seconds of X @ B, B (d1, k), over a batch that is one array: a median."""
    X = np.concatenate([block.X for block in problem.blocks(0)])
    B, times = np.ones((X.shape[1], problem.rank)), []
    for _ in range(REPEATS):
        started = time.perf_counter()
        X @ B
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def costs() -> None:
    """Print the seconds of a product and what iterations take over it."""
    problem = InMemory(OneBitMultilabel(**SIZE))
    product = product_seconds(problem)
    print(f"one product X @ (d1 x k), batch of {SIZE['m']:,} x {SIZE['d1']}: {1000 * product:.0f} ms")
    for name in ("one-bit-power", "one-bit-likelihood", "marginal-mean"):
        times = []
        solution = ENTRIES[name].run(problem, rng=np.random.default_rng(0))
        while True:
            started = time.perf_counter()
            if next(solution, None) is None:
                break
            times.append((time.perf_counter() - started) / product)
        print(
            f"  {name}: {statistics.median(times[1:]):.1f} products an iteration; the first {times[0]:.1f}", flush=True
        )


def accuracies(seeds: int) -> None:
    """Print how solvers end in each setting."""
    print(
        f"{'setting':<14}{'solver':<20}{'spectral error':>15}{'Hamming':>9}{'AUC':>8}{'of labels':>11}{'least AUC':>11}"
    )
    for column, name in itertools.product(COLUMNS, ENTRIES):
        settings = {"fitted_rank": SIZE["rank"]} if name == "marginal-mean" else {}
        scores = [
            lrlab.solve(
                OneBitMultilabel(**SIZE, **column, seed=k), name, max_iter=10, max_seconds=600, **settings
            ).metrics
            for k in range(seeds)
        ]
        mean = {measure: statistics.mean(row[measure] for row in scores) for measure in scores[0]}
        what = " ".join(f"{k}={v:g}" for k, v in column.items()) or "noise-free"
        print(
            f"{what:<14}{name:<20}{mean['spectral_error']:15.4f}{mean['hamming']:9.4f}{mean['auc']:8.4f}"
            f"{mean['label_auc']:11.4f}{min(row['auc'] for row in scores):11.4f}",
            flush=True,
        )


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--costs", action="store_true", help="costs alone")
    given = parser.parse_args()
    costs()
    if not given.costs:
        accuracies(given.seeds)


if __name__ == "__main__":
    main()

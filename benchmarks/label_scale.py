"""Measures one iteration of LEML at the size of large tables of labels: peak memory, seconds, the share of metrics.

    PYTHONPATH=. python benchmarks/label_scale.py [ROWS LABELS RANK SHARE]

100,000 rows of 50,000 sparse features (100 a row) and 5,000 labels, one in five observed, rank 100, unless other sizes
are given; as many rows to test on. Peak memory is that of the process, so that it includes drawing and hiding.
"""

import re
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from lrlab import catalog, ranking
from lrlab.datasets import Dataset
from lrlab.models.own_rows import OwnProblem, hide, solver_stream

FEATURES, FEATURES_PER_ROW, LABELS_PER_ROW = 50_000, 100, 5


def peak() -> float:
    """Return the largest resident size of this process so far in GB."""
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1e6


def table(rng: np.random.Generator, rows: int, columns: int, per_row: int, values: bool) -> csr_array:
    """Return a sparse table with so many entries a row, drawn in int32."""
    indices = rng.integers(0, columns, (rows, per_row), dtype=np.int32)
    indices.sort(axis=1)
    data = rng.standard_normal(indices.size) if values else np.ones(indices.size)
    drawn = csr_array((data, indices.ravel(), np.arange(rows + 1, dtype=np.int32) * per_row), shape=(rows, columns))
    drawn.sum_duplicates()
    if not values:
        drawn.data[:] = 1.0
    return drawn


def timed(what: str, action: Callable[[], Any]) -> Any:
    """Run something and print its time and the peak so far."""
    started = time.perf_counter()
    result = action()
    seconds = time.perf_counter() - started
    print(f"{what:<34} {seconds:8.2f} s   peak {peak():.2f} GB", flush=True)
    return result, seconds


def scored(scores: ranking.Scores, n: int, L: int) -> None:
    """Compute all scores."""
    for _ in ranking.row_blocks(scores, n, L):
        pass


def main(n: int = 100_000, L: int = 5_000, rank: int = 100, share: float = 0.2) -> None:
    """Print the figures."""
    rng = np.random.default_rng(0)

    def rows() -> Dataset:
        X = table(rng, n, FEATURES, FEATURES_PER_ROW, True)
        return Dataset(X, table(rng, n, L, LABELS_PER_ROW, False))

    (given, fresh), _ = timed("rows", lambda: (rows(), rows()))
    given, _ = timed("hide labels", partial(hide, given, share, 0))
    problem, _ = timed("problem", partial(OwnProblem.between, given, fresh, rank))
    del given, fresh
    options = {name: option.default for name, option in catalog.solver("leml-squared", "multilabel").options.items()}
    run = catalog.solver("leml-squared", "multilabel").run
    iterates = run(problem, **options, rng=solver_stream(0))
    iterate, seconds = timed("iteration", lambda: next(iterates))
    _, scoring = timed("scores alone", lambda: scored(iterate.estimate.scores(problem.X_test), n, L))
    _, metrics = timed("metrics of an iteration", lambda: problem.score(iterate.estimate))
    _, areas = timed("micro and macro AUC, at the end", lambda: problem.areas(iterate.estimate))
    for what, value in (("scores", scoring), ("metrics", metrics), ("areas", areas)):
        print(f"{what:<10} {100 * value / seconds:6.2f}% of an iteration")


if __name__ == "__main__":
    main(*(kind(value) for kind, value in zip((int, int, int, float), sys.argv[1:], strict=False)))

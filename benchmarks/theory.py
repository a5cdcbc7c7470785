"""What a point of theory and the versions of all solvers take, beside a product of matrices in the same run.

OPENBLAS_NUM_THREADS=1 python benchmarks/theory.py

Medians of processor time over repeats, and their ratio to the product of two matrices of order 500.
"""

import itertools
import statistics
import time
from collections.abc import Callable

import numpy as np

from lrlab import catalog, code_hash
from lrlab.models.flipped_logistic import FlippedLogistic
from lrlab.store import code_version
from lrlab.theory.predicted_overlap import best_overlap

REPEATS = 9
_new = itertools.count()


def point() -> None:
    """Compute the limit of all methods where no two points share anything."""
    k = next(_new)
    best_overlap(FlippedLogistic(n=3000 + k, p=20, intercept=0.1 * k, flip=0.01 * k))


def versions() -> None:
    """Compute the versions of the code of all solvers, nothing of which is known."""
    code_hash._versions.clear()
    for known in (code_hash._syntax, code_hash._definitions):
        known.cache_clear()
    for model in catalog.MODELS:
        for entry in catalog.solvers_for(model):
            code_version.version(model, entry.name)


def seconds(work: Callable[[], object]) -> float:
    """Return the median of the processor time."""
    times = []
    for _ in range(REPEATS):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return statistics.median(times)


def main() -> None:
    """Print a line for each."""
    A = np.random.default_rng(0).standard_normal((500, 500))
    point()
    product = seconds(lambda: A @ A)
    for title, work in (("a point of best_overlap", point), ("versions of all solvers", versions)):
        taken = seconds(work)
        print(f"{title}: {1e3 * taken:.1f} ms, {taken / product:.1f} x a product of order 500")


if __name__ == "__main__":
    main()

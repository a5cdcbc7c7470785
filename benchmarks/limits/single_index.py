"""Floors of single-index solvers: the moments of pairwise-moment, an iteration of gamp, a step of refinements."""

import itertools
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
from scipy.linalg.blas import dsyrk

from benchmarks.limits.frame import Loop
from lrlab import catalog
from lrlab.arrays import Array
from lrlab.models.single_index import SingleIndexProblem
from lrlab.solvers.methods.message_passing import State, iterations
from lrlab.solvers.single_index.class_moments import pair_moments

TITLE = "single-index models"
POOL = 8
"""Blocks of measurements, 16 MB each, that are used in turn for those of a long stream."""


class Stream(SimpleNamespace):
    """Measurements (n, p) as `SingleIndexProblem.blocks` yields them, from a few blocks that were drawn before."""

    def blocks(self) -> Iterator[tuple[Array, Array]]:
        """Yield blocks until there are n rows."""
        remaining = self.shape[0]
        for X, y in itertools.cycle(self.pool):
            if remaining <= 0:
                return
            yield X[:remaining], y[:remaining]
            remaining -= len(y)


def stream(n: int, p: int) -> Stream:
    """Return a stream of one-bit answers."""
    problem = catalog.spec("one-bit-sensing", n=n, p=p).build()
    return Stream(shape=(n, p), pool=list(itertools.islice(problem.blocks(), POOL)))


def moments(n: int, p: int, pairs: str) -> Loop:
    """Return the pass of pairwise-moment over its data."""
    data = stream(n, p)
    # Differences of consecutive rows are half as many as rows.
    halved = 2 if pairs == "consecutive" else 1

    def floor() -> None:
        total = np.zeros((p, p), order="F")
        for X, _ in data.blocks():
            total = dsyrk(1.0, X[: len(X) // halved].T, beta=1.0, c=total, lower=1, overwrite_c=1)

    title = f"`pairwise-moment`, pairs `{pairs}`, n={n:,} p={p}, data simulated before"
    rows = n / halved
    return Loop(title, lambda: pair_moments(data, pairs), floor, f"dsyrk of {rows:,.0f} rows", rows * p**2, 8.0 * n * p)


def message_passing(model: str, n: int, p: int) -> Loop:
    """Return an iteration of gamp."""
    problem: SingleIndexProblem = catalog.spec(model, n=n, p=p).build()
    problem.load(everything=True)
    X, y = problem.X, problem.y
    now = State(0.9 * problem.truth, 0.19, 0.9 * (X @ problem.truth))

    def floor() -> None:
        X @ (y @ X)

    title = f"`gamp`, an iteration, {model} n={n:,} p={p}"
    return Loop(title, lambda: next(iterations(problem, now, 1.0)), floor, "X b and X^T g", 4.0 * n * p, 16.0 * n * p)


def loops() -> Iterator[Loop]:
    """Yield the loops, one at a time: each holds its data."""
    for pairs in ("consecutive", "all"):
        yield moments(1_000_000, 500, pairs)
    for model in ("one-bit-sensing", "flipped-logistic", "one-bit-phase-retrieval"):
        yield message_passing(model, 20_000, 500)

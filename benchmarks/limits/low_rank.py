"""Floors of low-rank solvers: an iteration of tangent-descent in either precision, a step of Gauss-Newton's solver."""

from collections.abc import Iterator

import numpy as np

from benchmarks.limits.frame import Loop
from lrlab import catalog
from lrlab.operators.tangent import point
from lrlab.solvers.low_rank.tangent import gradient, line, newton_step, started
from lrlab.solvers.low_rank.tangent_descent import searched

TITLE = "low-rank matrices"
RANK = 5


def iteration(p: int, m: int, single: bool) -> Loop:
    """Return an iteration of tangent-descent on a network."""
    problem = catalog.spec("polynomial-network", p=p, m=m, r=RANK, noise=0.1).build()
    problem.load(everything=True)
    operator = problem.operator.in_single() if single else problem.operator
    X, b = operator.vectors[0], problem.b.astype(operator.dtype)
    at = point(operator, started(operator, b, RANK, np.random.default_rng(0), "moment"), b)

    def run() -> None:
        along = line(operator, at, newton_step(operator, at.W, gradient(operator, at)))
        searched(operator, at, along, b)

    def floor() -> None:
        # The gradient and the image of the direction: one depends on all of the other.
        _ = at.Q.T @ X
        _ = at.W.U.T @ X.T

    title = f"`tangent-descent`, an iteration, p={p} m={m:,}, {operator.dtype} precision"
    return Loop(title, run, floor, f"two products of X with {RANK} columns", 4.0 * m * p * RANK, 2.0 * X.nbytes)


def loops() -> Iterator[Loop]:
    """Yield the loops."""
    for single in (False, True):
        yield iteration(1000, 20_000, single)
        yield iteration(100, 8500, single)

"""Draws of what a solver does at the size of a spec, by running it on small problems with seeds of their own."""

import math
from functools import lru_cache

import numpy as np

from lrlab import metrics
from lrlab.arrays import Array, frozen
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import Value
from lrlab.protocol import Solver
from lrlab.solver_entry import Options

FIRST_SEED = 3_000_000_000
"""Seeds of the draws begin here, far from those that people choose."""
MOST_ENTRIES = 2**20
"""Entries of X of problems that are run."""
LONGEST, AT_REST = 600, 1e-5
"""Iterations of a draw, and the residual at which it has come to its end."""


def drawn_runs(run: Solver, spec: SingleIndexSpec, options: Options, count: int) -> Array | None:
    """Return the overlaps (count,) of the last estimates on problems like that of a spec; None where X is large."""
    if spec.n * spec.p > MOST_ENTRIES:
        return None
    given = tuple(options.items())
    return np.array([_overlap(run, spec.replace(seed=FIRST_SEED + number), given) for number in range(count)])


def run_seconds(spec: SingleIndexSpec, least: float) -> float:
    """Return about what a draw takes: the data, and at least so many seconds for the solver; never where X is large."""
    return least + 1e-3 + 2e-8 * spec.n * (spec.p + 10) if spec.n * spec.p <= MOST_ENTRIES else math.inf


@lru_cache(maxsize=2**14)
def _overlap(run: Solver, spec: SingleIndexSpec, options: tuple[tuple[str, Value], ...]) -> float:
    problem, estimate = spec.build(), frozen(np.zeros(spec.p))
    rng = np.random.default_rng(spec.streams().solver)
    for number, iterate in enumerate(run(problem, **dict(options), rng=rng), start=1):
        estimate = iterate.estimate
        if number == LONGEST or (iterate.residual is not None and iterate.residual < AT_REST):
            break
    return metrics.overlap(estimate, problem.truth)

"""The overlap that a solver reaches at the n and p of a spec, by running it on synthetic problems with other seeds."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from lrlab import metrics
from lrlab.arrays import Array
from lrlab.parameters import Value
from lrlab.protocol import Solver
from lrlab.solver_entry import Options

FIRST_SEED = 3_000_000_000
"""First seed of the synthetic problems, far from the seeds that people choose."""
MOST_ENTRIES = 2**22
"""Largest X, in entries, that is simulated."""
LONGEST, AT_REST = 600, 1e-5
"""Most iterations of a run, and the residual that ends it."""


def simulated(run: Solver) -> Callable[[Any, Options, int], Array | None]:
    """Return the function (spec, options, count) -> overlaps (count,) of a solver's last estimates; None for large X.

    More problems only add to fewer, and the seed of the spec changes nothing.
    """

    def overlaps(spec: Any, options: Options, count: int) -> Array | None:
        if spec.n * spec.p > MOST_ENTRIES:
            return None
        settings = tuple(options.items())
        return np.array([_overlap(run, spec.replace(seed=FIRST_SEED + k), settings) for k in range(count)])

    return overlaps


def seconds(spec: Any, options: Options) -> float:
    """Return about how long one synthetic problem and a method that reads it a few times take."""
    return 1e-3 + 4e-8 * spec.n * (spec.p + 20) + 1e-8 * spec.p**3 if spec.n * spec.p <= MOST_ENTRIES else math.inf


@lru_cache(maxsize=2**14)
def _overlap(run: Solver, spec: Any, options: tuple[tuple[str, Value], ...]) -> float:
    problem, estimate = spec.build(), np.zeros(spec.p)
    rng = np.random.default_rng(spec.streams().solver)
    for number, iterate in enumerate(run(problem, **dict(options), rng=rng), start=1):
        estimate = iterate.estimate
        if number == LONGEST or (iterate.residual is not None and iterate.residual < AT_REST):
            break
    return metrics.overlap(estimate, problem.truth)

"""Overlaps with the signal of methods of moments, on draws of problems at their own n and p."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from lrlab.arrays import Array, frozen
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import Value
from lrlab.protocol import Solver
from lrlab.solver_entry import Options
from lrlab.solvers.single_index.drawn_moments import MANY, drawn_problems
from lrlab.theory.links import Link

Direction = Callable[[Any, Options], Array]
"""Computes an estimate of b (p,) from the moments of a `DrawnProblem`."""


def drawn_overlaps(direction: Direction, spec: SingleIndexSpec, options: Options, count: int) -> Array:
    """Return the overlaps (count,) of a method of moments with b, on draws at the n and p of a spec."""
    return _overlaps(direction, spec.link_function, spec.n, spec.p, tuple(options.items()), count)


@lru_cache(maxsize=4096)
def _overlaps(
    direction: Direction, link: Link, n: int, p: int, options: tuple[tuple[str, Value], ...], count: int
) -> Array:
    problems = drawn_problems(link, n, p, count)
    return frozen(np.array([_overlap(direction(problem, dict(options))) for problem in problems]))


def _overlap(estimate: Array) -> float:
    return float(estimate[0] ** 2 / max(float(estimate @ estimate), np.finfo(float).tiny))


@lru_cache(maxsize=64)
def first_estimate(run: Solver) -> Direction:
    """Return the function that computes the estimate of a solver that yields once."""
    return lambda problem, options: next(run(problem, **options, rng=problem.rng)).estimate


def index_seconds(spec: SingleIndexSpec, options: Options) -> float:
    """Return about what it takes to draw the index and the answers."""
    return 1e-4 + 8e-8 * min(spec.n, MANY)


def moments_seconds(spec: SingleIndexSpec, options: Options) -> float:
    """Return about what a draw of moments and its eigenvectors take, in seconds."""
    return index_seconds(spec, options) + 3e-4 + 5e-9 * spec.p**3

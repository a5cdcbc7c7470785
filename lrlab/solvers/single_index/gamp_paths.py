"""Paths of `gamp` with their checks: over all entries, then over those of a sparse signal alone once they are decided.

With a few non-zero entries and sharp answers, w_i is not quite the mean without the i-th answer, and an entry that is
zero is taken up by chance once in a while. It disturbs the others and falls again, so that the path circles around the
truth for ever, however small its steps. With the s largest entries alone, of which there is nothing to choose, it comes
to rest.
"""

import math
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from lrlab.arrays import Array, Indices
from lrlab.models.protocols import SingleIndexData
from lrlab.solvers.single_index.gamp_checks import Checks
from lrlab.theory.message_passing import Point, State, path

CIRCLED = 100
"""Damped iterations after which a path circles."""
UNDECIDED = 0.01
"""Own estimate of 1 - overlap, and share of ||b||^2 beside the s largest entries, below which those are decided."""


class Visit(NamedTuple):
    """An estimate b (p,), not of unit length, the point of a path that it is of, and the checks of that path."""

    b: Array
    at: Point
    checks: Checks


def checked_path(problem: SingleIndexData, start: State, rate: float) -> Iterator[Visit]:
    """Yield the points of the path from a state, each looked at by its checks, without end."""
    p, damped, checks = problem.shape[1], 0, Checks(problem, rate)
    s = round(rate * p)
    for at in path(problem, start, rate):
        checks.look(at)
        yield Visit(at.state.b, at, checks)
        damped += at.step < 1.0
        sure = s < p and not checks.failed and max(at.state.V, _beside(at.state.b, s)) < UNDECIDED
        if sure and damped > CIRCLED:
            break
    own = np.sort(np.argpartition(-np.abs(at.state.b), s)[:s])
    among, decided = _restricted(problem, own), at.state.b[own]
    checks = Checks(among, 1.0, supports=math.log(math.comb(p, s)))
    for point in path(among, State(decided, at.state.V, among.X @ decided, None), 1.0):
        checks.look(point)
        b: Array = np.zeros(p)
        b[own] = point.state.b
        yield Visit(b, point, checks)


def _beside(b: Array, s: int) -> float:
    """Return the share of ||b||^2 that is not in the s largest entries."""
    squares = np.square(b)
    return 1.0 - math.fsum(np.partition(squares, -s)[-s:]) / max(math.fsum(squares), np.finfo(float).tiny)


def _restricted(problem: SingleIndexData, own: Indices) -> SingleIndexData:
    """Return the problem of some entries alone."""
    n, own_X = problem.shape[0], np.ascontiguousarray(problem.X[:, own])
    among: Any = SimpleNamespace(
        X=own_X, y=problem.y, link=problem.link, shape=(n, len(own)), checkpoint=problem.checkpoint
    )
    return among

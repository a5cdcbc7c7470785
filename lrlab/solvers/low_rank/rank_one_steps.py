"""Gauss-Newton for rank one from few Gaussian measurements: the weights and starts that serve phase retrieval."""

from collections.abc import Callable, Generator

import numpy as np
from numpy.random import Generator as Random
from scipy.sparse.linalg import LinearOperator, eigsh

from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.operators.operator import rounding_error
from lrlab.operators.rank_one import RankOne, SymmetricRankOne
from lrlab.protocol import Iterate, Stop
from lrlab.solvers.low_rank.starts import formed, started
from lrlab.solvers.low_rank.tangent import EvaluatedMatrix, point
from lrlab.solvers.low_rank.tangent_least_squares import stationarity
from lrlab.solvers.low_rank.whole_steps import Leave, WholeSteps
from lrlab.theory.phase import weigh

SOFTENING = 0.03
"""Share of the mean size of answers that is added to a size before it divides: of 40 networks (p = 40 and 100, m = 2 p)
39 and 40 were recovered with 0.03, 38 and 39 with 0.2."""
STEPS = 80
"""After so many no further start is tried: of all answers as they are, and then of weightings of them at random."""
SETTLED = 1e-3
"""Residual at which a weighted problem need not be solved further: steps without weights begin at its minimum."""
ALIKE = 0.01
"""Relative difference of objectives below which two attempts have led to one point."""
ROUGH, EXACT = 1e-3, 1e-8
"""Accuracy of a start that is not decomposed whole; relative misfit that is left by no other point."""

Direct = Callable[[RankOne, Array, EvaluatedMatrix, Leave], Generator[Iterate, None, Stop | None]]


def weighted(operator: RankOne, b: Array) -> tuple[RankOne, Array]:
    """Return the measurements over the root of about their size, |b_i| + c: those of x^T W y have heavy tails."""
    size = np.abs(b)
    weights = (1.0 / np.sqrt(size + SOFTENING * size.mean())).astype(b.dtype)
    if operator.symmetric:
        return SymmetricRankOne(operator.X * np.sqrt(weights)[:, None]), weights * b
    return RankOne(operator.X * weights[:, None], operator.Y), weights * b


def optimal_start(operator: RankOne, b: Array, counted: Array, rng: Random) -> LowRank:
    """Return the start of phase retrieval for a symmetric W: answers are squares, but for the sign of all.

    The eigenvector of the largest eigenvalue of sum c_i T(s_i) x_i x_i^T, s_i = |b_i| over its mean, T = 1 - 1/s
    (Luo, Alghamdi & Lu 2019), c (m,) how much each answer counts.
    """
    sign = b.dtype.type(1.0 if b.sum() >= 0 else -1.0)
    size = np.maximum(sign * b, 0)
    T = (counted * weigh("optimal", size / size.mean(), 0.0)).astype(b.dtype)
    p = operator.shape[0]
    if formed(operator):
        U = np.linalg.eigh(operator.adjoint(T))[1][:, -1:]
    else:
        times = LinearOperator((p, p), matvec=lambda v: operator.X.T @ (T * (operator.X @ v)), dtype=b.dtype)
        U = eigsh(times, k=1, which="LA", v0=rng.standard_normal(p).astype(b.dtype), tol=ROUGH)[1]
    return LowRank(U, sign * size.mean(keepdims=True), U)


def rank_one_steps(
    operator: RankOne, b: Array, rng: Random, start: str, direct: Direct
) -> Generator[Iterate, None, EvaluatedMatrix]:
    """Yield the iterates of weighted problems from one start and, unless that is solved, from others at random.

    Each has the objective and the residual of the problem itself. Ends with a point that is solved, or that two starts
    lead to, as noise has it, and else with the best of all attempts.
    """
    near, scaled = weighted(operator, b)
    best: EvaluatedMatrix | None = None
    counted, taken, ends = np.ones_like(b), 0, list[float]()
    while taken < STEPS:
        symmetric = operator.symmetric and start == "moment"
        W = optimal_start(operator, b, counted, rng) if symmetric else started(operator, counted * b, 1, rng, start)
        steps = direct(near, scaled, point(near, W, scaled), WholeSteps(near, scaled, rng).leave)
        at, settled, count = yield from measured(operator, b, steps)
        alike = settled and any(abs(at.objective - end) <= ALIKE * end for end in ends)
        if alike or float(np.linalg.norm(at.misfit)) <= max(EXACT * float(np.linalg.norm(b)), rounding_error(b)):
            return at
        best = at if best is None or at.objective < best.objective else best
        ends += [at.objective] * settled
        counted, taken = rng.exponential(size=len(b)).astype(b.dtype), taken + count
    assert best is not None
    return best


def measured(
    operator: RankOne, b: Array, steps: Generator[Iterate, None, Stop | None]
) -> Generator[Iterate, None, tuple[EvaluatedMatrix, bool, int]]:
    """Yield the iterates of another problem, measured by this one, until its cosine is small.

    Return the last point, whether the cosine became small, and their number.
    """
    for count, iterate in enumerate(steps, 1):
        at = point(operator, iterate.estimate, b)
        yield Iterate(at.W, at.objective, stationarity(operator, at, b), iterate.note)
        if (iterate.residual or 0.0) < SETTLED:
            return at, True, count
    return at, False, count

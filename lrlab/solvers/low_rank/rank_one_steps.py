"""Gauss-Newton for rank one from few Gaussian measurements: the weights and initializations of phase retrieval."""

from collections.abc import Callable, Generator
from typing import Any

import numpy as np
from numpy.random import Generator as Random
from scipy.sparse.linalg import eigsh

from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.operators.rank_one import RankOne, SymmetricRankOne
from lrlab.operators.tangent import EvaluatedMatrix, point, rounding_error, stationarity
from lrlab.protocol import Iterate
from lrlab.solvers.low_rank.tangent import started
from lrlab.theory.phase import weigh

Direct = Callable[..., Any]


def rank_one_steps(
    A: RankOne, b: Array, rng: Random, start: str, direct: Direct
) -> Generator[Iterate, None, EvaluatedMatrix]:
    """Yield the iterates of weighted problems from one initialization and, unless that is solved, from random ones.

    Each has the objective and the residual of the problem itself. Ends with a point that is solved, or that two
    initializations lead to, as noise has it, and else with the best of eight. Five slow steps end an attempt.
    """
    near, scaled = weighted(A, b)
    counted, ends = np.ones_like(b), list[EvaluatedMatrix]()
    while len(ends) < 8:
        optimal = A.symmetric and start == "moment"
        W = optimal_start(A, b, counted, rng) if optimal else started(A, counted * b, 1, rng, start)
        for iterate in direct(near, scaled, point(near, W, scaled), patience=5):
            at = point(A, iterate.estimate, b)
            yield Iterate(at.W, at.objective, stationarity(A, at, b), iterate.note)
            # Steps without weights begin at the minimum, which need not be exact.
            if settled := (iterate.residual or 0.0) < 1e-3:
                break
        alike = settled and any(abs(at.objective - end.objective) <= 0.01 * end.objective for end in ends)
        if alike or float(np.linalg.norm(at.d)) <= max(1e-8 * float(np.linalg.norm(b)), rounding_error(b)):
            return at
        ends.append(at)
        counted = rng.exponential(size=len(b)).astype(b.dtype)
    return min(ends, key=lambda end: end.objective)


def weighted(A: RankOne, b: Array) -> tuple[RankOne, Array]:
    """Return the measurements over the root of about their size, |b_i| + c: since x^T W y has heavy tails.

    c is 0.03 of the mean size: of 40 networks (p = 40 and 100, m = 2 p) 39 and 40 were recovered, with 0.2 38 and 39.
    """
    size = np.abs(b)
    weights = (1.0 / np.sqrt(size + 0.03 * size.mean())).astype(b.dtype)
    if A.symmetric:
        return SymmetricRankOne(A.X * np.sqrt(weights)[:, None]), weights * b
    return RankOne(A.X * weights[:, None], A.Y), weights * b


def optimal_start(A: RankOne, b: Array, counted: Array, rng: Random) -> LowRank:
    """Return the initialization of phase retrieval for a symmetric W: measurements are squares, up to a common sign.

    The eigenvector of the largest eigenvalue of sum c_i T(s_i) x_i x_i^T, s_i = |b_i| over its mean, T = 1 - 1/s
    (Luo, Alghamdi & Lu 2019), c (m,) how much each measurement counts.
    """
    sign = b.dtype.type(1.0 if b.sum() >= 0 else -1.0)
    size = np.maximum(sign * b, 0)
    weights = weigh("optimal", size / size.mean(), 0.0)
    # Measurements of one size, also a single one, have no weights.
    T = (counted * (1.0 if np.allclose(weights, 0) else weights)).astype(b.dtype)
    # The trace that the moment subtracts does not change the order of the eigenvalues.
    U = eigsh(A.moment(T), k=1, which="LA", v0=rng.standard_normal(A.shape[0]).astype(b.dtype), tol=1e-6)[1]
    return LowRank(U, sign * size.mean(keepdims=True), U)

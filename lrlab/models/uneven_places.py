"""Matrices with non-uniform sampling: by popularity, by leverage, or with an unobserved block."""

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array, Indices
from lrlab.lowrank import LowRank

LARGEST = 4_000_000
"""Largest number of entries for sampling by weight: each has a random number."""


def popularity(table: tuple[int, int], exponent: float) -> Array:
    """Return the sampling weights (i j)^-exponent of entries (n1, n2)."""
    rows, columns = (np.arange(1.0, side + 1.0) ** -exponent for side in table)
    return np.outer(rows, columns)


def leverage(M: LowRank) -> Array:
    """Return the sum of the leverages of row and column, n1 ||u_i||^2 / k + n2 ||v_j||^2 / k, of each entry (n1, n2).

    From O(k n log^2 n) entries sampled in proportion to it the nuclear norm recovers every n x n matrix of rank k,
    however uneven its rows (Chen, Bhojanapalli, Sanghavi & Ward 2014, "Coherent matrix completion").
    """
    rows, columns = (len(side) / side.shape[1] * np.square(side).sum(axis=1) for side in (M.U, M.V))
    return rows[:, None] + columns


def places(rng: Generator, weights: Array, m: int) -> Indices:
    """Return m different sorted indices in row-major order, sampled one by one in proportion to their weights.

    Each entry has an exponential time with its weight as rate; the first m are sampled (Efraimidis & Spirakis 2006). m:
    at most the number of positive weights.
    """
    times = np.full(weights.shape, np.inf)
    np.divide(rng.standard_exponential(weights.shape), weights, out=times, where=weights > 0)
    return np.sort(np.argpartition(times, m - 1, axis=None)[:m])

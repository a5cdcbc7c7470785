"""Tables whose places are not alike: drawn by popularity, by leverage, or not in a block; rows that have too few."""

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array, Indices
from lrlab.lowrank import LowRank

LARGEST = 4_000_000
"""Entries of a table whose places are drawn by weight: each has a random number."""
CLOSE = 1e-9


def popularity(table: tuple[int, int], exponent: float) -> Array:
    """Return the weights (i j)^-exponent of places (n1, n2)."""
    rows, columns = (np.arange(1.0, side + 1.0) ** -exponent for side in table)
    return np.outer(rows, columns)


def leverage(M: LowRank) -> Array:
    """Return the sum of the leverages of row and column, n1 ||u_i||^2 / k + n2 ||v_j||^2 / k, of each place (n1, n2).

    From O(k n log^2 n) entries that are drawn in proportion to it the nuclear norm recovers every n x n matrix of rank
    k, however uneven its rows (Chen, Bhojanapalli, Sanghavi & Ward 2014, "Coherent matrix completion").
    """
    rows, columns = (len(side) / side.shape[1] * np.square(side).sum(axis=1) for side in (M.U, M.V))
    return rows[:, None] + columns


def places(rng: Generator, weights: Array, m: int) -> Indices:
    """Return m different places in row-major order, sorted, one after the other drawn in proportion to their weights.

    Each place has an exponential time of the rate of its weight, none where that is 0; the first m come (Efraimidis &
    Spirakis 2006). m: at most the number of weights above 0.
    """
    times = np.full(weights.shape, np.inf)
    np.divide(rng.standard_exponential(weights.shape), weights, out=times, where=weights > 0)
    return np.sort(np.argpartition(times, m - 1, axis=None)[:m])


def scarce(weights: Array, m: int, rank: int, side: int) -> float:
    """Return the expected number of rows (of columns where side is 1) with fewer than `rank` of m observed places.

    Places are taken as observed independently, each with its chance of having come by the time of the m-th.
    """
    chances = observed_chances(weights, m)
    chances = chances if side == 0 else chances.T
    # Chances that a row has 0, 1, ... places so far, column by column.
    counts = np.zeros((len(chances), rank))
    counts[:, 0] = 1.0
    for p in chances.T[:, :, None]:
        counts[:, 1:] = counts[:, 1:] * (1.0 - p) + counts[:, :-1] * p
        counts[:, 0] *= 1.0 - p[:, 0]
    return float(counts.sum())


def observed_chances(weights: Array, m: int) -> Array:
    """Return the chance of each place (n1, n2) to be among the m that are observed: 1 - e^(-t w), with the sum m."""
    if m >= np.count_nonzero(weights):
        return (weights > 0).astype(float)
    t = m / weights.sum()
    # Newton's steps on a concave function from the left stay there.
    while (missing := m - float(-np.expm1(-t * weights).sum())) > CLOSE * m:
        t += missing / float((weights * np.exp(-t * weights)).sum())
    return -np.expm1(-t * weights)

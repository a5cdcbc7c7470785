"""Tables whose rows and columns are not alike: places drawn by popularity, and rows that have too few of them."""

from functools import lru_cache

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array, Indices

LARGEST = 4_000_000
"""Entries of a table whose places are drawn by popularity: each has a random number."""
CLOSE = 1e-9


def weights(table: tuple[int, int], exponent: float) -> tuple[Array, Array]:
    """Return the popularity i^-exponent of rows (n1,) and of columns (n2,)."""
    rows, columns = (np.arange(1.0, side + 1.0) ** -exponent for side in table)
    return rows, columns


def places(rng: Generator, table: tuple[int, int], m: int, exponent: float) -> Indices:
    """Return m different places in row-major order, sorted, one after the other drawn in proportion to popularity.

    Each place has an exponential time of the rate of its weight; the first m come (Efraimidis & Spirakis 2006).
    """
    times = rng.standard_exponential(table) / np.outer(*weights(table, exponent))
    return np.sort(np.argpartition(times, m - 1, axis=None)[:m])


@lru_cache(maxsize=256)
def scarce(table: tuple[int, int], m: int, exponent: float, rank: int, side: int) -> float:
    """Return the expected number of rows (of columns where side is 1) with fewer than `rank` of m observed places.

    Places are taken as observed independently, each with its chance of having come by the time of the m-th.
    """
    chances = observed_chances(table, m, exponent)
    chances = chances if side == 0 else chances.T
    # Chances that a row has 0, 1, ... places so far, column by column.
    counts = np.zeros((len(chances), rank))
    counts[:, 0] = 1.0
    for p in chances.T[:, :, None]:
        counts[:, 1:] = counts[:, 1:] * (1.0 - p) + counts[:, :-1] * p
        counts[:, 0] *= 1.0 - p[:, 0]
    return float(counts.sum())


def observed_chances(table: tuple[int, int], m: int, exponent: float) -> Array:
    """Return the chance of each place (n1, n2) to be among the m that are observed: 1 - e^(-t w), with the sum m."""
    w = np.outer(*weights(table, exponent))
    if m >= w.size:
        return np.ones(table)
    t = m / w.sum()
    # Newton's steps on a concave function from the left stay there.
    while (missing := m - float(-np.expm1(-t * w).sum())) > CLOSE * m:
        t += missing / float((w * np.exp(-t * w)).sum())
    return -np.expm1(-t * w)

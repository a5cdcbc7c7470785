"""Scores and labels of some rows at a time, so that a large table of scores never stands in memory."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from lrlab.arrays import Array, Indices, Vector

Scores = Array | Callable[[slice], Array]

BLOCK_ENTRIES = 2**21
"""Scores that are computed at a time."""


class Average(NamedTuple):
    """A mean over those rows or labels for which a measure exists, and how many they are (nan over none)."""

    value: float
    count: int  # type: ignore[assignment]


class Block(NamedTuple):
    """Some rows: scores (b, L) with +inf where unobserved, how many are observed, and the places of the positives."""

    scores: Array
    observed: Indices
    rows: Indices
    columns: Indices

    @property
    def positive(self) -> Array:
        """The scores of the positive labels."""
        return self.scores[self.rows, self.columns]


def rows_of(scores: Scores, rows: slice) -> Array:
    """Return the scores of some rows."""
    return np.asarray(scores(rows) if callable(scores) else scores[rows], dtype=np.float64)


def row_blocks(scores: Scores, n: int, L: int, together: int = 1) -> Iterator[tuple[slice, Array]]:
    """Yield slices of the n rows, in order, with their scores (b, L): so many blocks at a time."""
    step = max(1, together * BLOCK_ENTRIES // max(L, 1))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        yield rows, rows_of(scores, rows)


def blocks(scores: Scores, Y: csr_array, observed: csr_array | None, together: int = 1) -> Iterator[Block]:
    """Yield the rows in blocks, so many of BLOCK_ENTRIES at a time; ValueError where a score is not finite."""
    n, L = Y.shape
    Y = csr_array(Y, dtype=bool) if observed is None else csr_array(Y, dtype=bool).multiply(observed).tocsr()
    for rows, block in row_blocks(scores, n, L, together):
        if block.shape != (rows.stop - rows.start, L) or not np.isfinite(block).all():
            raise ValueError(f"scores of rows {rows.start}..{rows.stop - 1} must be {L} finite numbers a row")
        known = np.full(len(block), L)
        if observed is not None:
            block = np.where(observed[rows].toarray() != 0, block, np.inf)
            known = np.isfinite(block).sum(1)
        yield Block(block, known, *Y[rows].nonzero())


def bisected(ascending: Array, rows: Indices, values: Array) -> tuple[Indices, Indices]:
    """Return how many entries of a sorted row are below each value, and how many are not above it."""
    n = ascending.shape[1]
    counts = []
    for reached in (np.less, np.less_equal):
        low, high = np.zeros(len(rows), dtype=np.intp), np.full(len(rows), n)
        for _ in range(n.bit_length()):
            middle = (low + high) // 2
            further = reached(ascending[rows, np.minimum(middle, n - 1)], values) & (low < high)
            low, high = np.where(further, middle + 1, low), np.where(further, high, middle)
        counts.append(low)
    return counts[0], counts[1]


def areas_of(wins: Vector, positives: Indices, negatives: Indices) -> Array:
    """Return the areas where there are both kinds: pairs among positives, which `wins` holds too, count P^2 / 2."""
    both = (positives > 0) & (negatives > 0)
    P, N = positives[both].astype(np.float64), negatives[both]
    return (wins[both] - P**2 / 2) / (P * N)

"""Places of label tables as sparse patterns of True: drawn at random, or those of the highest scores."""

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from lrlab.arrays import Array, Indices

BLOCK = 2**22
"""Entries of the table among which places are drawn at a time."""


def scattered(rng: Generator, shape: tuple[int, int], share: float) -> csr_array:
    """Return a pattern of True at a share of the places, drawn uniformly without replacement."""
    rows, columns = shape
    total = rows * columns
    # The fraction of a place is drawn too, so that many small blocks have the share that one large block has.
    size = min(total, int(share * total + rng.random()))
    places = np.sort(rng.choice(total, size=size, replace=False, shuffle=False))
    pointer = np.concatenate([[0], np.cumsum(np.bincount(places // columns, minlength=rows))])
    return csr_array((np.ones(size, bool), places % columns, pointer), shape=shape)


def drawn_pattern(rng: Generator, shape: tuple[int, int], share: float) -> csr_array:
    """Return a pattern of True at a share of the places, as `scattered` draws it for a block of rows after the other.

    Indices are of 32 bits: 5 bytes for each place, and little beside them while it is drawn.
    """
    rows, columns = shape
    height, parts, lengths = max(1, BLOCK // columns), list[Indices](), list[Indices]()
    for start in range(0, rows, height):
        block = scattered(rng, (min(height, rows - start), columns), share)
        parts.append(block.indices.astype(np.int32))
        lengths.append(np.diff(block.indptr))
    pointer = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    pointer = pointer.astype(np.int32 if pointer[-1] < 2**31 else np.int64)
    return csr_array((np.ones(pointer[-1], bool), np.concatenate(parts), pointer), shape=shape)


def highest(scores: Array, count: int) -> csr_array:
    """Return a pattern of True at the places of the `count` highest scores of each row."""
    rows = len(scores)
    places = np.sort(np.argpartition(-scores, count - 1, axis=1)[:, :count], axis=1)
    return csr_array((np.ones(places.size, bool), places.ravel(), np.arange(rows + 1) * count), shape=scores.shape)

"""Places of label tables as sparse patterns of True: drawn at random, or those of the highest scores."""

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from lrlab.arrays import Array


def scattered(rng: Generator, shape: tuple[int, int], share: float) -> csr_array:
    """Return a pattern of True at a share of the places, drawn uniformly without replacement."""
    rows, columns = shape
    total = rows * columns
    # The fraction of a place is drawn too, so that many small blocks have the share that one large block has.
    size = min(total, int(share * total + rng.random()))
    places = np.sort(rng.choice(total, size=size, replace=False, shuffle=False))
    pointer = np.concatenate([[0], np.cumsum(np.bincount(places // columns, minlength=rows))])
    return csr_array((np.ones(size, bool), places % columns, pointer), shape=shape)


def highest(scores: Array, count: int) -> csr_array:
    """Return a pattern of True at the places of the `count` highest scores of each row."""
    rows = len(scores)
    places = np.sort(np.argpartition(-scores, count - 1, axis=1)[:, :count], axis=1)
    return csr_array((np.ones(places.size, bool), places.ravel(), np.arange(rows + 1) * count), shape=scores.shape)

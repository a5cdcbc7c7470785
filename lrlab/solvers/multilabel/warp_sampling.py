"""Sampling for the WARP loss: negatives that violate a margin, and the rank estimated from the number of trials."""

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from lrlab.arrays import Array, Indices, Mask

FIRST, MOST = 4, 256
"""Negatives drawn for each positive in the first round, and in any."""
GATHERED = 2**21
"""Numbers of label embeddings that are gathered at a time."""
FEW = 2048
"""Up to so many labels, the scores of a batch are one product."""


class Negatives:
    """Which entries of a label table are observed and off: those of a row can be counted, and drawn uniformly."""

    def __init__(self, Y: csr_array, mask: csr_array | None) -> None:
        """Take the labels that are on, and the pattern of those that are observed, or None where all are."""
        self.mask, self.width = mask, Y.shape[1]
        self.keys = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr)) * self.width + Y.indices
        observed = np.full(Y.shape[0], self.width) if mask is None else np.diff(mask.indptr)
        self.observed, self.count = observed, observed - np.diff(Y.indptr)

    def draw(self, rows: Indices, columns: int, rng: Generator) -> tuple[Indices, Mask]:
        """Return labels (b, columns) drawn from those that are observed in each of b rows, and which of them are off.

        Among those that are off, all negatives of the row are equally likely.
        """
        places = (rng.random((len(rows), columns)) * self.observed[rows, None]).astype(np.int64)
        labels = places if self.mask is None else self.mask.indices[self.mask.indptr[rows, None] + places]
        keys = rows[:, None] * self.width + labels
        positions = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return labels, self.keys[positions] != keys


def violators(
    negatives: Negatives, rows: Indices, least: Array, A: Array, H: Array, most: int, rng: Generator
) -> tuple[Indices, Indices]:
    """Return for each pair b the first negative drawn whose score exceeds least[b], and its number among all drawn.

    A (b, k) are images of the rows, H (L, k) embeddings of labels, scores <A_b, H_j>. Negatives are drawn uniformly
    with replacement, at most `most` and at most as many as the row has; the number is 0 where there was none.

    With v of m negatives above `least`, the number N is geometric, P(N = t) = (v / m) (1 - v / m)^(t - 1), cut at the
    limit, so that m / N estimates the rank v: E[m / N] = v log(m / v) / (1 - v / m) without a limit, never below v.
    """
    label, number = np.zeros(len(rows), int), np.zeros(len(rows), int)
    limit, drawn = np.minimum(negatives.count[rows], most), np.zeros(len(rows), int)
    table = A @ H.T if len(H) <= FEW else None
    left, columns = np.flatnonzero(limit > 0), FIRST
    while len(left):
        width = max(1, min(columns, GATHERED // (len(left) * A.shape[1])))
        candidates, off = negatives.draw(rows[left], width, rng)
        if table is None:
            scores = np.matmul(H[candidates], A[left, :, None])[:, :, 0]
        else:
            scores = table[left[:, None], candidates]
        trial = drawn[left, None] + np.cumsum(off, axis=1)
        hit = off & (scores > least[left, None]) & (trial <= limit[left, None])
        first, some = hit.argmax(axis=1), hit.any(axis=1)
        resolved = left[some]
        label[resolved], number[resolved] = candidates[some, first[some]], trial[some, first[some]]
        drawn[left] = trial[:, -1]
        left, columns = left[~some & (trial[:, -1] < limit[left])], min(4 * columns, MOST)
    return label, number


def rank_weights(most: int) -> Array:
    """Return L(r) = 1 + 1/2 + ... + 1/r for r = 0..most: the loss of a positive of which r negatives are ahead."""
    return np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, most + 1))])

"""The WARP loss: negatives that violate a margin, ranks estimated from numbers of trials, its value on some rows."""

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array, issparse

from lrlab.arrays import Array, Indices, Mask, Matrix
from lrlab.linalg import mean_squares

GATHERED = 2**21
"""Numbers of label embeddings that are gathered at a time."""


class Negatives:
    """The negative labels of a table, counted per row and sampled uniformly."""

    def __init__(self, Y: csr_array, mask: csr_array | None) -> None:
        """Take the positive labels, and the mask of the observed ones, or None if all are observed."""
        self.mask, self.width = mask, Y.shape[1]
        self.keys = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr)) * self.width + Y.indices
        observed = np.full(Y.shape[0], self.width) if mask is None else np.diff(mask.indptr)
        self.observed, self.count = observed, observed - np.diff(Y.indptr)

    def draw(self, rows: Indices, columns: int, rng: Generator) -> tuple[Indices, Mask]:
        """Return labels (b, columns) drawn from the observed ones of each of b rows, and which of them are negative."""
        places = (rng.random((len(rows), columns)) * self.observed[rows, None]).astype(np.int64)
        labels = places if self.mask is None else self.mask.indices[self.mask.indptr[rows, None] + places]
        keys = rows[:, None] * self.width + labels
        positions = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return labels, self.keys[positions] != keys


def violators(
    negatives: Negatives, rows: Indices, least: Array, A: Array, H: Array, most: int, rng: Generator
) -> tuple[Indices, Indices]:
    """Return for each pair b the first negative drawn whose score exceeds least[b], and its number among all drawn.

    A (b, k) are images of the rows, H (L, k) embeddings of labels, scores <A_b, H_j>. Samples of negatives are uniform
    with replacement, at most `most` and at most as many as the row has; the number is 0 if there was none.

    With v of m negatives above `least`, the number N is geometric, P(N = t) = (v / m) (1 - v / m)^(t - 1), cut at the
    limit, so that m / N estimates the rank v: E[m / N] = v log(m / v) / (1 - v / m) without a limit, never below v.
    """
    label, number = np.zeros(len(rows), int), np.zeros(len(rows), int)
    limit, drawn = np.minimum(negatives.count[rows], most), np.zeros(len(rows), int)
    # Four per pair at first, since many violate the margin.
    left, columns = np.flatnonzero(limit > 0), 4
    while len(left):
        width = max(1, min(columns, GATHERED // (len(left) * A.shape[1])))
        candidates, off = negatives.draw(rows[left], width, rng)
        scores = np.matmul(H[candidates], A[left, :, None])[:, :, 0]
        trial = drawn[left, None] + np.cumsum(off, axis=1)
        hit = off & (scores > least[left, None]) & (trial <= limit[left, None])
        first, some = hit.argmax(axis=1), hit.any(axis=1)
        resolved = left[some]
        label[resolved], number[resolved] = candidates[some, first[some]], trial[some, first[some]]
        drawn[left] = trial[:, -1]
        left, columns = left[~some & (trial[:, -1] < limit[left])], min(4 * columns, 256)
    return label, number


def rank_weights(most: int) -> Array:
    """Return L(r) = 1 + 1/2 + ... + 1/r for r = 0..most: the loss of a positive with r negatives ahead of it."""
    return np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, most + 1))])


class Watched:
    """A fixed sample of the training rows with observed labels: at most 1,000, with a million labels."""

    def __init__(self, X: Matrix, Y: csr_array, mask: csr_array | None, rng: Generator) -> None:
        """Draw rows."""
        n, L = Y.shape
        known = np.arange(n) if mask is None else np.flatnonzero(np.diff(mask.indptr))
        rows = np.sort(rng.permutation(known)[: min(1000, max(1, 2**20 // L))])
        self.X, self.on = X[rows], Y[rows].toarray() > 0
        self.observed = np.ones(self.on.shape, bool) if mask is None else mask[rows].toarray()
        self.weights = rank_weights(L)

    def measure(self, A: Array, H: Array, margin: float) -> tuple[float, float]:
        """Return loss and threshold of scores A H^T, A (rows, k) images of the rows X.

        The loss is the mean over positives (i, j) of L(v) times the mean of margin - s_ij + s_il over the v negatives
        l for which that is positive, 0 for v = 0; L as in `rank_weights`. As many scores are above the threshold as
        labels are positive; it is 0 if no label is observed.
        """
        scores, positives, total = A @ H.T, int(self.on.sum()), 0.0
        if not self.observed.any():
            return 0.0, 0.0
        observed_scores = scores[self.observed]
        above = min(positives, len(observed_scores) - 1)
        threshold = -float(np.partition(-observed_scores, above)[above])
        for row, on, observed in zip(scores, self.on, self.observed, strict=True):
            excess = np.maximum(margin - row[on, None] + row[observed & ~on], 0.0)
            v = (excess > 0).sum(axis=1)
            total += float((self.weights[v] / np.maximum(v, 1) * excess.sum(axis=1)).sum())
        return total / max(1, positives), threshold


def units_of(X: Matrix) -> Array:
    """Return units (d,) that give features equal mean squares, and rows the mean square length 1; 1 if all are 0."""
    squares = mean_squares(X)
    return np.where(squares > 0, np.sqrt(squares * max(1, int(np.count_nonzero(squares)))), 1.0)


def narrowed(X: Matrix) -> tuple[Matrix, Indices | slice]:
    """Return some rows without their columns of zeros, and the indices of the other columns."""
    if not issparse(X):
        return X, slice(None)
    touched, place = np.unique(X.indices, return_inverse=True)
    return csr_array((X.data, place, X.indptr), shape=(X.shape[0], len(touched))), touched

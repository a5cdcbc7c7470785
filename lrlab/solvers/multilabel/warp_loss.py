"""The WARP loss on some training rows, and the threshold above which labels are predicted."""

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from lrlab.arrays import Array, Matrix
from lrlab.solvers.multilabel.warp_sampling import rank_weights

ROWS, BLOCK_ENTRIES = 1000, 2**20
"""Most rows that are watched, and most of their labels; so many labels are held at a time too."""


class Watched:
    """Some training rows, drawn once, with the labels that are observed in them."""

    def __init__(self, X: Matrix, Y: csr_array, mask: csr_array | None, rng: Generator) -> None:
        """Draw rows among those of which any label is observed."""
        n, L = Y.shape
        known = np.arange(n) if mask is None else np.flatnonzero(np.diff(mask.indptr))
        rows = np.sort(rng.permutation(known)[: min(ROWS, max(1, BLOCK_ENTRIES // L))])
        self.X, self.on = X[rows], Y[rows].toarray() > 0
        self.observed = np.ones(self.on.shape, bool) if mask is None else mask[rows].toarray()
        self.weights = rank_weights(L)

    def measure(self, W: Array, H: Array, margin: float) -> tuple[float, float]:
        """Return loss and threshold of scores X W H^T.

        The loss is the mean over positives (i, j) of L(v) times the mean of margin - s_ij + s_il over the v negatives
        l for which that is positive, 0 for v = 0; L as in `rank_weights`. As many scores are above the threshold as
        labels are on; it is 0 where no label is observed.
        """
        scores = (self.X @ W) @ H.T
        if not self.observed.any():
            return 0.0, 0.0
        observed_scores, positives = scores[self.observed], int(self.on.sum())
        above = min(positives, len(observed_scores) - 1)
        threshold = -float(np.partition(-observed_scores, above)[above])
        negatives = np.where(self.observed & ~self.on, scores, -np.inf)
        rows, labels = np.nonzero(self.on)
        total, height = 0.0, max(1, BLOCK_ENTRIES // len(H))
        for start in range(0, len(rows), height):
            cut = slice(start, start + height)
            least = scores[rows[cut], labels[cut]] - margin
            excess = np.maximum(negatives[rows[cut]] - least[:, None], 0.0)
            v = (excess > 0).sum(axis=1)
            total += float((self.weights[v] / np.maximum(v, 1) * excess.sum(axis=1)).sum())
        return total / max(1, positives), threshold

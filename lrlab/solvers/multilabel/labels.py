"""Observed labels in blocks of rows: sums of losses and products with their derivatives (Yu et al. 2014, section 3)."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, vstack

from lrlab.arrays import Array, Matrix
from lrlab.linalg import places_in
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LabelData
from lrlab.operators.entries import DENSE_SHARE
from lrlab.solvers.multilabel.affine import Design
from lrlab.solvers.multilabel.label_losses import Loss

BLOCK = 2**20
"""Entries per block of rows: the ones whose scores are computed."""


class Block:
    """Some rows of the labels: values at all entries (rows, L), or at the observed ones (m,) in the order of a mask."""

    def __init__(self, labels: "Labels", rows: slice, gather: bool = False) -> None:
        """Take some rows; gather: whether to compute scores entry by entry, not as a whole table."""
        self.rows, self.loss, self.gather, self.mask = rows, labels.loss, gather, labels.mask
        if labels.mask is None:
            self.Y = labels.Y[rows]
            return
        pointer = labels.mask.indptr[rows.start : rows.stop + 1]
        # Views of the mask: copies would double its memory.
        self.columns, self.pointer = labels.mask.indices[pointer[0] : pointer[-1]], pointer - pointer[0]
        self.positive = labels.positive[labels.Y.indptr[rows.start] : labels.Y.indptr[rows.stop]] - pointer[0]
        self.shape = rows.stop - rows.start, labels.mask.shape[1]

    @property
    def target(self) -> Array:
        """The labels as the loss codes them."""
        if self.mask is None:
            return self.loss.coded(self.Y.toarray())
        positive = np.zeros(len(self.columns))
        positive[self.positive] = 1.0
        return self.loss.coded(positive)

    def scores(self, A: Array, H: Array) -> Array:
        """Return A H^T at the entries."""
        if self.mask is None:
            return A @ H.T
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.pointer))
        if not self.gather:
            return (A @ H.T).ravel().take(rows * self.shape[1] + self.columns)
        values = np.zeros(len(rows))
        # Column by column: numpy gathers short rows ten times as slowly.
        for a, h in zip(A.T.copy(), H.T.copy(), strict=True):
            values += a[rows] * h[self.columns]
        return values

    def table(self, values: Array) -> Matrix:
        """Return values at the entries as a table (rows, L)."""
        return values if self.mask is None else csr_array((values, self.columns, self.pointer), shape=self.shape)


class Labels:
    """Y (n, L), sparse with 1 for positive labels, and the mask of the observed ones, None if all are observed.

    With intercepts b (L,) images A (n, k + 1) of a factor end in a column of ones, and factors H (L, k + 1) of labels
    in the column b: scores are A H^T either way. X is then centered as `Design.balanced` says.
    """

    def __init__(self, problem: LabelData, loss: Loss) -> None:
        self.Y, self.mask, self.loss, self.intercepts = problem.Y, problem.mask, loss, int(problem.intercept)
        self.design, self.full = Design.balanced(problem.X, problem.intercept), problem.mask is None
        self.X = self.design.X
        self.positive = np.zeros(0, int) if self.full else places_in(problem.Y, problem.mask)

    def images(self, W: Array) -> Array:
        """Return X W, followed by ones if there are intercepts."""
        return self.with_ones(self.X @ W)

    def with_ones(self, A: Array) -> Array:
        """Return images A, followed by ones if there are intercepts."""
        return np.hstack([A, np.ones((len(A), self.intercepts))]) if self.intercepts else A

    def embeddings(self, H: Array) -> Array:
        """Return H without the intercepts."""
        return H[:, : H.shape[1] - self.intercepts]

    def penalties(self, weight: float, columns: int) -> Array:
        """Return the regularization strength per column of H: none on intercepts."""
        return weight * (np.arange(columns) < columns - self.intercepts)

    def estimate(self, Z: LowRank, b: Array) -> LowRank:
        """Return the predictor with scores X Z + b of rows that are not centered."""
        return self.design.estimate(self.loss.kind, Z, b.ravel())

    @cached_property
    def blocks(self) -> list[Block]:
        """The labels in blocks of rows; if few are observed, scores are computed only there."""
        n, L = self.Y.shape
        m = n * L if self.mask is None else self.mask.nnz
        gather = n * L > DENSE_SHARE * m
        height = max(1, BLOCK * n // max(1, m) if gather else BLOCK // L)
        return [Block(self, slice(start, min(start + height, n)), gather) for start in range(0, n, height)]

    @cached_property
    def coded(self) -> Matrix:
        """Y as the loss codes it, empty if unobserved."""
        if self.loss.off == 0:
            return self.Y
        if self.full:
            return self.loss.coded(self.Y.toarray())
        return vstack([b.table(b.target) for b in self.blocks], format="csr")

    def total(self, A: Array, H: Array) -> float:
        """Return the sum of l(Y_ij, (A H^T)_ij) over the observed entries."""
        return float(sum(self.loss.value(b.target, b.scores(A[b.rows], H)).sum() for b in self.blocks))

    def slopes(self, A: Array, H: Array) -> Iterator[tuple[slice, Matrix]]:
        """Yield the table D of l'(Y_ij, (A H^T)_ij), empty if unobserved, by blocks of rows."""
        for b in self.blocks:
            yield b.rows, b.table(self.loss.slope(b.target, b.scores(A[b.rows], H)))

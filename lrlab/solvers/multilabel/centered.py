"""Sparse rows less their mean, which are never formed, and Gram matrices."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse

from lrlab.arrays import Array, Indices, Matrix


class CenteredRows:
    """Sparse rows X (n, d) less a mean (d,), X - 1 mean^T, which is never formed: products get a rank-one term."""

    def __init__(self, X: Matrix, mean: Array) -> None:
        self.X, self.mean, self.shape = X, mean, X.shape

    def __matmul__(self, W: Array) -> Array:
        """Return (X - 1 mean^T) W."""
        return self.X @ W - self.mean @ W

    def __getitem__(self, rows: Indices | slice) -> "CenteredRows":
        """Return some of the rows."""
        return CenteredRows(self.X[rows], self.mean)

    @property
    def T(self) -> "CenteredColumns":
        """The transpose."""
        return CenteredColumns(self)


class CenteredColumns(NamedTuple):
    """The transpose of centered rows."""

    of: CenteredRows

    def __matmul__(self, B: Matrix) -> Array:
        """Return (X - 1 mean^T)^T B, B dense or sparse."""
        product = self.of.X.T @ B
        rank_one = np.multiply.outer(self.of.mean, np.asarray(B.sum(axis=0)))
        return (product.toarray() if issparse(product) else product) - rank_one


def gram(X: Matrix, tall: bool) -> Array:
    """Return X^T X if `tall`, else X X^T, of rows that are dense, sparse or centered."""
    if not isinstance(X, CenteredRows):
        product = X.T @ X if tall else X @ X.T
        return product.toarray() if issparse(product) else product
    G, n = gram(X.X, tall), X.shape[0]
    if tall:
        # The mean is the one of these rows, so that both cross terms are n mean mean^T.
        return G - n * np.multiply.outer(X.mean, X.mean)
    rows = np.asarray(X.X @ X.mean)
    return G - rows - rows[:, None] + X.mean @ X.mean

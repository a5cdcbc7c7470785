"""Centered sparse rows, which are never formed, Gram matrices, and closed forms in their eigenbases."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator

from lrlab.arrays import Array, Indices, Mask, Matrix


class CenteredRows(LinearOperator):
    """Sparse rows X (n, d) less a mean (d,), X - 1 mean^T, which is never formed: products get a rank-one term."""

    def __init__(self, X: Matrix, mean: Array) -> None:
        self.X, self.mean = X, mean
        super().__init__(X.dtype, X.shape)

    def _matmat(self, W: Array) -> Array:
        return self.X @ W - self.mean @ W

    def _rmatmat(self, B: Matrix) -> Array:
        return dense(self.X.T @ B) - np.outer(self.mean, B.sum(axis=0))

    def __getitem__(self, rows: Indices | slice) -> "CenteredRows":
        return CenteredRows(self.X[rows], self.mean)


def dense(table: Matrix) -> Array:
    """Return a dense or sparse table as an array."""
    return table.toarray() if issparse(table) else np.asarray(table)


def gram(X: Matrix, tall: bool) -> Array:
    """Return X^T X if `tall`, else X X^T, of rows that are dense, sparse or centered."""
    if not isinstance(X, CenteredRows):
        return dense(X.T @ X if tall else X @ X.T)
    G, n = gram(X.X, tall), X.shape[0]
    if tall:
        # The mean is the one of these rows, so that both cross terms are n mean mean^T.
        return G - n * np.multiply.outer(X.mean, X.mean)
    rows = np.asarray(X.X @ X.mean)
    return G - rows - rows[:, None] + X.mean @ X.mean


NOTHING = 1e-12
"""Eigenvalues below this fraction of the largest count as zero."""


class Spectrum(NamedTuple):
    """X^T X = vectors diag(s) vectors^T if `tall`, else X X^T = vectors diag(s) vectors^T."""

    X: Matrix
    vectors: Array
    s: Array
    tall: bool

    @staticmethod
    def of(X: Matrix) -> "Spectrum":
        """Return the eigendecomposition of X (n, d)."""
        tall = X.shape[0] >= X.shape[1]
        s, vectors = eigh(gram(X, tall), driver="evd", overwrite_a=True, check_finite=False)
        return Spectrum(X, vectors, np.maximum(s, 0.0), tall)

    def images(self, B: Matrix) -> Matrix:
        """Return vectors^T X^T B if `tall`, else vectors^T B; B (n, columns)."""
        product = self.X.T @ B if self.tall else B
        return (product.T @ self.vectors).T

    def back(self, C: Array) -> Array:
        """Return the W (d, columns) with coordinates C."""
        return self.vectors @ C if self.tall else self.X.T @ (self.vectors @ C)

    @property
    def range(self) -> Mask:
        """Which eigenvalues are not zero."""
        return self.s > NOTHING * self.s.max()

    def solve(self, B: Array, M: Array, weight: float) -> Array:
        """Return the W with X^T X W M + weight W = X^T B, the one of minimum norm if there are many."""
        m, P = np.linalg.eigh(M)
        # X^T X = Q s Q^T on the left and M = P m P^T on the right: the equation is diagonal in these bases.
        images = self.images(B @ P)
        scale = self.s[:, None] * np.maximum(m, 0.0)
        solvable = self.range[:, None] & (m > NOTHING * m.max()) if weight == 0 else np.full(scale.shape, True)
        C = np.divide(images, scale + weight, out=np.zeros_like(images), where=solvable)
        return self.back(C @ P.T)

"""Features less their mean, their Gram matrices and closed forms."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator

from lrlab.arrays import Array, Indices, Mask, Matrix
from lrlab.linalg import mean_squares
from lrlab.lowrank import LowRank
from lrlab.solvers.multilabel.predictors import Affine

NOTHING = 1e-12
"""Eigenvalues below this fraction of the largest count as zero."""


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


class Design(NamedTuple):
    """Features as a solver multiplies with them, and their subtracted mean (d,); None without intercepts.

    Centered features are orthogonal to the column of ones of intercepts, so that closed forms need not know of these.
    """

    X: Matrix
    mean: Array | None

    @staticmethod
    def of(X: Matrix, intercepts: bool) -> "Design":
        """Return the features, centered if predictors have intercepts."""
        if not intercepts:
            return Design(X, None)
        mean = np.asarray(X.mean(axis=0)).ravel()
        return Design(CenteredRows(X, mean) if issparse(X) else X - mean, mean)

    @staticmethod
    def balanced(X: Matrix, intercepts: bool) -> "Design":
        """Return the features, centered for intercepts only if means hold more than half of their squares.

        Few gradient steps get nowhere then. Otherwise these steps regularize, and more so with uncentered features:
        leml(loss=logistic) has an AUC of .94 on bibtex after five iterations, and .90 if centered.
        """
        if intercepts and float(np.sum(np.square(X.mean(axis=0)))) <= 0.5 * float(mean_squares(X).sum()):
            return Design(X, np.zeros(X.shape[1]))
        return Design.of(X, intercepts)

    @property
    def sizes(self) -> Array:
        """Norms of the columns (d,), 1 of zero: gradients divided by them mean the same in any unit."""
        rows = self.X.X if isinstance(self.X, CenteredRows) else self.X
        squares = mean_squares(rows)
        centered = squares - self.X.mean**2 if isinstance(self.X, CenteredRows) else squares
        # The rounding error of a constant has no meaningful size.
        centered = np.where(centered > 1e-12 * squares, centered, squares)
        return np.sqrt(rows.shape[0] * np.where(squares > 0, centered, 1.0))

    def estimate(self, kind: type[LowRank], Z: LowRank, intercepts: Array | None) -> LowRank:
        """Return the predictor with scores X Z + intercepts of rows as they are given, not centered."""
        if self.mean is None or intercepts is None:
            return kind(*Z)
        return Affine.at(Z, intercepts - Z.V @ (self.mean @ Z.left), kind(*Z).threshold)

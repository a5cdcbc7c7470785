"""Closed forms of least squares in the eigenbasis of X^T X or X X^T, whichever is smaller."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from lrlab.arrays import Array, Mask, Matrix
from lrlab.solvers.multilabel.centered import gram

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

"""Measurements by rank-one matrices: b_i = x_i^T W y_i."""

from typing import Self

import numpy as np

from lrlab.arrays import Array, Indices
from lrlab.linalg import frozen
from lrlab.operators.operator import Checkpoint, Map, Operator, proceed

BLOCK_BYTES = 8 * 2**20


class RankOne(Operator):
    """b_i = x_i^T W y_i with rows x_i of X (m, d1), y_i of Y (m, d2): A*(r) = X^T diag(r) Y.

    It holds m (d1 + d2) numbers; a dense operator holds m d1 d2. The image of U is X U (m, k).
    """

    def __init__(self, X: Array, Y: Array) -> None:
        """Take the vectors; standard normal ones make `moment` unbiased."""
        self.X, self.Y = X, Y
        self.vectors: tuple[Array, ...] = (X, Y)
        self.shape, self.size, self.dtype = (X.shape[1], Y.shape[1]), len(X), X.dtype
        self.scale = 1.0 / len(X)

    def left(self, U: Array) -> Array:
        """Return X U."""
        self.checkpoint(1.0)
        return tall(self.X, U)

    def right(self, V: Array) -> Array:
        """Return Y V."""
        return tall(self.Y, V)

    def pair(self, P: Array, Q: Array) -> Array:
        """Return the sums of P * Q over columns."""
        return np.einsum("ij,ij->i", P, Q)

    def pull_left(self, r: Array, Q: Array) -> Array:
        """Return X^T diag(r) Q."""
        self.checkpoint(1.0)
        return ((r[:, None] * Q).T @ self.X).T

    def pull_right(self, r: Array, P: Array) -> Array:
        """Return Y^T diag(r) P."""
        return ((r[:, None] * P).T @ self.Y).T

    def adjoint(self, r: Array) -> Array:
        """Return X^T diag(r) Y, by row blocks: scaling all rows at once would copy the data."""
        return weighted_gram(self.X, r, self.Y, self.checkpoint)

    def tangent_map(self, P: Array, Q: Array) -> tuple[Map, Map]:
        """Return what `Operator.tangent_map` does, by fewer calls: the images of A and B stand in one array."""
        factors = 2 * P.T if self.symmetric else np.vstack([Q.T, P.T])
        images, k, d1 = np.empty_like(factors), P.shape[1], self.shape[0]
        blocks = [(self.X, images[:k], slice(d1)), (self.Y, images[k:], slice(d1, None))][: 2 - self.symmetric]

        def forward(Z: Array) -> Array:
            self.checkpoint(1.0)
            for vectors, image, rows in blocks:
                np.matmul(Z[rows].T, vectors.T, out=image)
            return np.einsum("ij,ij->j", images, factors)

        def pull(r: Array) -> Array:
            np.multiply(factors, r, out=images)
            return np.concatenate([image @ vectors for vectors, image, _ in blocks], axis=1).T

        return forward, pull

    def in_single(self) -> Self:
        """Return the operator in single precision."""
        return self._watched(type(self)(*(part.astype(np.float32) for part in self.vectors)))

    def subset(self, rows: Indices) -> Self:
        """Return the operator of some of the measurements."""
        return self._watched(type(self)(*(frozen(part[rows]) for part in self.vectors)))


def tall(X: Array, U: Array) -> Array:
    """Return X U for X (m, d), U (d, k), k small, with columns that are contiguous.

    BLAS reads a tall X faster by a half from the right; sums over columns, by `pair`, and products with X^T gain from
    contiguous ones.
    """
    return (U.T @ X.T).T


class SymmetricRankOne(RankOne):
    """b_i = x_i^T L x_i for a symmetric L: E[A*(A(L))] = m (2 L + tr(L) I) for standard normal x_i."""

    symmetric = True
    trace = 1.0

    def __init__(self, X: Array) -> None:
        super().__init__(X, X)
        self.scale, self.vectors = 0.5 / len(X), (X,)


def weighted_gram(X: Array, r: Array, Y: Array, checkpoint: Checkpoint = proceed) -> Array:
    """Return X^T diag(r) Y, reading by row blocks; each calls the checkpoint."""
    total = np.zeros((X.shape[1], Y.shape[1]), X.dtype)
    rows = max(64, BLOCK_BYTES // (X.itemsize * max(X.shape[1], 1)))
    for start in range(0, len(X), rows):
        checkpoint(start / len(X))
        cut = slice(start, start + rows)
        total += (X[cut] * r[cut, None]).T @ Y[cut]
    return total

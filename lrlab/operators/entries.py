"""Measurements that are entries of X W Y^T: inductive completion, multi-label regression, plain completion."""

from copy import copy

import numpy as np
from scipy.sparse import csc_array, csr_array

from lrlab.arrays import Array, Indices
from lrlab.operators.operator import Map, Operator

DENSE_SHARE = 32
"""If at least one entry in so many is observed, `pair` computes all: faster than gathering factors for each."""

BLOCK_ENTRIES = 2**20


class Entries(Operator):
    """b = (X W Y^T) at the observed places (i, j), X (n1, d1), Y (n2, d2); None stands for the identity.

    The scale of `moment` is 1 / m, times n1 or n2 for a side without features: it is unbiased if X^T X = n1 I and
    Y^T Y = n2 I; see `whitened`.

    Images are X U (n1, k) and Y V (n2, k): their size depends on the table, not on the number of observations. Adjoints
    go through the sparse n1 x n2 matrix that has r at the observed places.
    """

    def __init__(
        self, X: Array | None, Y: Array | None, table: tuple[int, int], rows: Indices, columns: Indices
    ) -> None:
        """Take features, the size (n1, n2) of the table, and places in row-major order."""
        self.X, self.Y, self.table, self.rows, self.columns = X, Y, table, rows, columns
        self.shape = (table[0] if X is None else X.shape[1], table[1] if Y is None else Y.shape[1])
        self.size, self.dtype = len(rows), np.dtype(np.float64)
        self.scale = (table[0] if X is None else 1) * (table[1] if Y is None else 1) / len(rows)
        # Of the type that scipy would convert them to at every product.
        index = np.int32 if max(len(rows), *table) < 2**31 else np.int64
        indices = columns.astype(index)
        self._pointer = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=table[0]))]).astype(index)
        few = table[0] * table[1] > DENSE_SHARE * len(rows)
        self._places = None if few else rows.astype(np.intp) * table[1] + columns
        self._mask = csr_array((np.ones(len(rows)), indices, self._pointer), shape=table)

    @property
    def plain(self) -> bool:
        """Whether there are no features: entries of W itself are observed."""
        return self.X is None and self.Y is None

    def whitened(self) -> tuple["Entries", Map, Map]:
        """Return the operator in orthonormal bases of the features, and the maps of its factors U and V back.

        With X = Qx Rx, Y = Qy Ry, b = A(W) are the entries of Qx (Rx W Ry^T) Qy^T (Jain & Dhillon 2013, Lemma 6); bases
        are scaled to mean square 1, as `moment` expects.
        """
        X, left = _basis(self.X)
        Y, right = _basis(self.Y)
        return self._watched(Entries(X, Y, self.table, self.rows, self.columns)), left, right

    def without_features(self) -> "Entries":
        """Return the operator of the same places of the table itself."""
        return self._watched(Entries(None, None, self.table, self.rows, self.columns))

    def sparse(self, r: Array) -> csr_array:
        """Return the n1 x n2 matrix with r (m,) at the observed places and nothing elsewhere."""
        self.checkpoint(1.0)
        # The constructor would check the places again, which takes longer than a product with a small table.
        filled = copy(self._mask)
        filled.data = r
        return filled

    def left(self, U: Array) -> Array:
        """Return X U."""
        return U if self.X is None else self.X @ U

    def right(self, V: Array) -> Array:
        """Return Y V."""
        return V if self.Y is None else self.Y @ V

    def pair(self, P: Array, Q: Array) -> Array:
        """Return (P Q^T) at the observed places."""
        self.checkpoint(1.0)
        if self._places is None:
            # Column by column: numpy gathers short rows ten times as slowly.
            columns = zip(P.T.copy(), Q.T.copy(), strict=True)
            return sum((p[self.rows] * q[self.columns] for p, q in columns), np.zeros(self.size))
        n1, n2 = self.table
        values, height = np.empty(self.size), max(1, BLOCK_ENTRIES // n2)
        for start in range(0, n1, height):
            self.checkpoint(start / n1)
            cut = slice(self._pointer[start], self._pointer[min(start + height, n1)])
            values[cut] = (P[start : start + height] @ Q.T).ravel().take(self._places[cut] - start * n2)
        return values

    def pull_left(self, r: Array, Q: Array) -> Array:
        """Return X^T R Q with the sparse R of `sparse`."""
        product = self.sparse(r) @ Q
        return product if self.X is None else self.X.T @ product

    def pull_right(self, r: Array, P: Array) -> Array:
        """Return Y^T R^T P with the sparse R of `sparse`."""
        product = self.sparse(r).T @ P
        return product if self.Y is None else self.Y.T @ product

    def adjoint(self, r: Array) -> Array:
        """Return X^T R Y with the sparse R of `sparse`."""
        R = self.sparse(r)
        right = R.toarray() if self.Y is None else R @ self.Y
        return right if self.X is None else self.X.T @ right

    def refit_left(self, P: Array, Q: Array, b: Array, U: Array, ridge: float, rtol: float) -> Array:
        """Return the best U at once without X, by the sums of q_j q_j^T over the observed j of each row i."""
        if self.X is not None:
            return super().refit_left(P, Q, b, U, ridge, rtol)
        return U + _rows(self._mask, Q, self.pull_left(b - self.pair(P, Q), Q) - ridge * U, ridge)

    def refit_right(self, P: Array, Q: Array, b: Array, V: Array, ridge: float, rtol: float) -> Array:
        """Return the best V at once without Y, by the sums of p_i p_i^T over the observed i of each column j."""
        if self.Y is not None:
            return super().refit_right(P, Q, b, V, ridge, rtol)
        return V + _rows(self._mask.T, P, self.pull_right(b - self.pair(P, Q), P) - ridge * V, ridge)

    def subset(self, rows: Indices) -> "Entries":
        """Return the operator of some of the measurements, given by sorted indices."""
        return self._watched(Entries(self.X, self.Y, self.table, self.rows[rows], self.columns[rows]))


def _basis(X: Array | None) -> tuple[Array | None, Map]:
    """Return a basis Q of the range of X, Q^T Q = n I, and the map from its coordinates to coordinates in X."""
    if X is None:
        return None, lambda U: U
    Q, s, Vt = np.linalg.svd(X, full_matrices=False)
    retained, root = s > 1e-12 * s[0], np.sqrt(len(X))
    return Q[:, retained] * root, lambda U: Vt[retained].T @ (U * (root / s[retained, None]))


def _rows(mask: csr_array | csc_array, Q: Array, rhs: Array, ridge: float) -> Array:
    """Return the d_i (rows, k) of minimum norm with sum_j (q_j q_j^T + ridge I) d_i = rhs_i over the observed j.

    Rows with few observations are singular.
    """
    k = Q.shape[1]
    grams = (mask @ np.einsum("ja,jb->jab", Q, Q).reshape(-1, k * k)).reshape(-1, k, k) + ridge * np.eye(k)
    try:
        pivots = np.diagonal(np.linalg.cholesky(grams), axis1=1, axis2=2)
        if (pivots.min(axis=1) > 1e-7 * pivots.max(axis=1)).all():
            return np.linalg.solve(grams, rhs[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        pass
    return np.einsum("iab,ib->ia", np.linalg.pinv(grams, rcond=1e-12, hermitian=True), rhs)

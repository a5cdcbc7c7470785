"""Measurements that are entries of X W Y^T: inductive completion, multi-label regression, plain completion."""

from copy import copy
from typing import TypeVar

import numpy as np
from scipy.sparse import csc_array, csr_array

from lrlab.arrays import Array, Indices
from lrlab.linalg import solve_positive
from lrlab.operators.least_squares import FactorMap, Map
from lrlab.operators.operator import Operator
from lrlab.operators.rank_one import weighted_gram

DENSE_SHARE = 32
"""If at least one entry in so many is observed, `pair` computes all: faster than gathering factors for each."""

BLOCK_ENTRIES = 2**20
DIRECT_UNKNOWNS = 600
"""Largest number of unknowns of a factor with features whose normal equations are formed and factored."""

Sparse = TypeVar("Sparse", csr_array, csc_array)


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
        self._mask = csr_array((np.ones(len(rows)), indices, self._pointer), shape=table)
        self._mask_transposed = self._mask.T
        whole = table[0] * table[1] <= min(BLOCK_ENTRIES, DENSE_SHARE * len(rows))
        self._places = rows.astype(np.intp) * table[1] + columns if whole else None

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
        return _filled(self._mask, r)

    def transposed(self, r: Array) -> csc_array:
        """Return the transpose of `sparse(r)`."""
        self.checkpoint(1.0)
        return _filled(self._mask_transposed, r)

    def left(self, U: Array) -> Array:
        """Return X U."""
        return U if self.X is None else self.X @ U

    def right(self, V: Array) -> Array:
        """Return Y V."""
        return V if self.Y is None else self.Y @ V

    def pair(self, P: Array, Q: Array) -> Array:
        """Return (P Q^T) at the observed places."""
        self.checkpoint(1.0)
        if self._places is not None:
            return (P @ Q.T).ravel().take(self._places)
        n1, n2 = self.table
        values, height = np.zeros(self.size), max(1, BLOCK_ENTRIES // n2)
        if n1 * n2 > DENSE_SHARE * self.size:
            # Column by column: numpy gathers short rows ten times as slowly.
            for p, q in zip(P.T.copy(), Q.T.copy(), strict=True):
                values += p[self.rows] * q[self.columns]
            return values
        for start in range(0, n1, height):
            self.checkpoint(start / n1)
            cut = slice(self._pointer[start], self._pointer[min(start + height, n1)])
            places = (self.rows[cut] - start) * n2 + self.columns[cut]
            values[cut] = (P[start : start + height] @ Q.T).ravel().take(places)
        return values

    def pull_left(self, r: Array, Q: Array) -> Array:
        """Return X^T R Q with the sparse R of `sparse`."""
        product = self.sparse(r) @ Q
        return product if self.X is None else self.X.T @ product

    def pull_right(self, r: Array, P: Array) -> Array:
        """Return Y^T R^T P with the sparse R of `sparse`."""
        product = self.transposed(r) @ P
        return product if self.Y is None else self.Y.T @ product

    def adjoint(self, r: Array) -> Array:
        """Return X^T R Y with the sparse R of `sparse`."""
        R = self.sparse(r)
        right = R.toarray() if self.Y is None else R @ self.Y
        return right if self.X is None else self.X.T @ right

    def left_map(self, Q: Array) -> FactorMap:
        """Return the map U -> A(U V^T), solved by the sums of q_j q_j^T over the observed j of each row i."""
        return _directly(super().left_map(Q), self.X, self._mask, Q)

    def right_map(self, P: Array) -> FactorMap:
        """Return the map V -> A(U V^T), solved by the sums of p_i p_i^T over the observed i of each column j."""
        return _directly(super().right_map(P), self.Y, self._mask_transposed, P)

    def subset(self, rows: Indices) -> "Entries":
        """Return the operator of some of the measurements, given by sorted indices."""
        return self._watched(Entries(self.X, self.Y, self.table, self.rows[rows], self.columns[rows]))


def _filled(mask: Sparse, r: Array) -> Sparse:
    """Return a sparse array with other values at the same places.

    Its constructor would check the places again, which takes longer than a product with a small table.
    """
    filled = copy(mask)
    filled.data = r
    return filled


def _basis(X: Array | None) -> tuple[Array | None, Map]:
    """Return a basis Q of the range of X, Q^T Q = n I, and the map from its coordinates to coordinates in X."""
    if X is None:
        return None, lambda U: U
    Q, s, Vt = np.linalg.svd(X, full_matrices=False)
    retained, root = s > 1e-12 * s[0], np.sqrt(len(X))
    return Q[:, retained] * root, lambda U: Vt[retained].T @ (U * (root / s[retained, None]))


def _directly(J: FactorMap, X: Array | None, mask: csr_array | csc_array, Q: Array) -> FactorMap:
    """Return the map D -> the entries of (X D) Q^T, with a direct solution if its system is small enough.

    Without features X the rows of D are independent problems.
    """
    k = Q.shape[1]

    def solved(b: Array, ridge: float) -> Array:
        grams, rhs = (mask @ np.einsum("ja,jb->jab", Q, Q).reshape(-1, k * k)).reshape(-1, k, k), J.pull(b)
        if X is None:
            return _rows(grams, rhs, ridge)
        solution = solve_positive(_normal(X, grams), rhs.T.ravel(), ridge)
        return np.ascontiguousarray(solution.reshape(rhs.shape[::-1]).T)

    if X is None or k * X.shape[1] <= DIRECT_UNKNOWNS:
        J.direct = solved
    return J


def _normal(X: Array, grams: Array) -> Array:
    """Return the (k d, k d) matrix of blocks X^T diag(g_ab) X, g (rows, k, k), symmetric in a and b.

    The rows of the least-squares problem, m of length k d, are never formed.
    """
    k, d = grams.shape[1], X.shape[1]
    N = np.empty((k, d, k, d), X.dtype)
    for a in range(k):
        for b in range(a + 1):
            N[a, :, b, :] = weighted_gram(X, grams[:, a, b], X)
            N[b, :, a, :] = N[a, :, b, :].T
    return N.reshape(k * d, k * d)


def _rows(grams: Array, rhs: Array, ridge: float) -> Array:
    """Return the minimum-norm solution of each row's k x k system: rows with few observations are singular."""
    grams = grams + ridge * np.eye(grams.shape[1])
    try:
        pivots = np.diagonal(np.linalg.cholesky(grams), axis1=1, axis2=2)
        if (pivots.min(axis=1) > 1e-7 * pivots.max(axis=1)).all():
            return np.linalg.solve(grams, rhs[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        pass
    return np.einsum("iab,ib->ia", np.linalg.pinv(grams, rcond=1e-12, hermitian=True), rhs)

"""Measurements of a table with features, combined so that they are orthonormal: T A with T A A* T^T = I."""

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, solve_triangular

from lrlab.arrays import Array, Indices
from lrlab.operators.entries import Entries


class Orthonormal:
    """The measurements T A of entries A, T A A* T^T = I: what an `Operator` does with images, pairs and adjoints.

    T is the inverse of the Cholesky factor of A A* (m, m), (x_i^T x_i') (y_j^T y_j') for the places (i, j), (i', j').
    If the measurements may depend on each other, T comes from the eigenvectors whose values are not 0, and T b has
    fewer numbers. O(m^3) to make, O(m^2) a product.
    """

    scale, trace, symmetric = 1.0, 0.0, False

    def __init__(self, entries: Entries) -> None:
        self.entries, self.shape, self.dtype = entries, entries.shape, entries.dtype
        self.left, self.right, self.checkpoint = entries.left, entries.right, entries.checkpoint
        gram = _gram(entries.X, entries.rows) * _gram(entries.Y, entries.columns)
        self._lower: Any = None
        self._turn: Any = None
        if len(gram) <= 0.5 * entries.shape[0] * entries.shape[1]:
            try:
                self._lower = cho_factor(gram, lower=True, overwrite_a=True)[0]
                return
            except np.linalg.LinAlgError:
                gram = _gram(entries.X, entries.rows) * _gram(entries.Y, entries.columns)
        values, vectors = np.linalg.eigh(gram)
        retained = values > 1e-10 * values[-1]
        self._turn = vectors[:, retained] / np.sqrt(values[retained])

    def combined(self, b: Array) -> Array:
        """Return T b."""
        return b @ self._turn if self._lower is None else solve_triangular(self._lower, b, lower=True)

    def _spread(self, r: Array) -> Array:
        return self._turn @ r if self._lower is None else solve_triangular(self._lower, r, lower=True, trans=1)

    def pair(self, P: Array, Q: Array) -> Array:
        """Return T A(U V^T) from the images P of U and Q of V."""
        return self.combined(self.entries.pair(P, Q))

    def pull_left(self, r: Array, Q: Array) -> Array:
        """Return A*(T^T r) V from the image Q of V."""
        return self.entries.pull_left(self._spread(r), Q)

    def pull_right(self, r: Array, P: Array) -> Array:
        """Return A*(T^T r)^T U from the image P of U."""
        return self.entries.pull_right(self._spread(r), P)

    def adjoint(self, r: Array) -> Array:
        """Return A*(T^T r)."""
        return self.entries.adjoint(self._spread(r))


def _gram(X: Array | None, rows: Indices) -> Any:
    """Return the inner products of the features of all pairs of measurements (m, m)."""
    if X is None:
        return (rows[:, None] == rows).astype(float)
    own = X[rows]
    return own @ own.T

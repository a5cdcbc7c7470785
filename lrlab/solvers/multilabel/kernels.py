"""Kernels between rows, dense or sparse, and rows that stand for all others: landmarks of the Nystrom method."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array, issparse

from lrlab.arrays import Array, Indices, Matrix
from lrlab.linalg import mean_squares

NAMES = ("rbf", "polynomial")
BLOCK = 2**21
"""Kernel values that are computed at a time."""
SAMPLE = 1000
"""Rows whose distances determine the bandwidth."""


class Kernel(NamedTuple):
    """A kernel of bandwidth h: "rbf", exp(-||x - z||^2 / (2 h^2)), or "polynomial", (1 + <x - c, z - c> / h^2)^degree.

    centre: c (d,); the Gaussian kernel does not depend on it.
    """

    name: str
    bandwidth: float
    degree: int
    centre: Array

    def between(self, X: Matrix, Z: Matrix) -> Array:
        """Return k(x_i, z_j) as a table (n, m), made in blocks of rows: only the table itself is large."""
        table, height = np.empty((X.shape[0], Z.shape[0])), max(1, BLOCK // max(1, Z.shape[0]))
        for start in range(0, X.shape[0], height):
            x, block = X[start : start + height], table[start : start + height]
            product = x @ Z.T
            block[:] = product.toarray() if issparse(product) else product
            (self._gaussian if self.name == "rbf" else self._polynomial)(block, x, Z)
        return table

    def _gaussian(self, products: Array, X: Matrix, Z: Matrix) -> None:
        products *= -2.0
        products += squared_lengths(X)[:, None] + squared_lengths(Z)
        # Rounding can make the distance of a row from itself negative.
        np.maximum(products, 0.0, out=products)
        products /= -2.0 * self.bandwidth**2
        np.exp(products, out=products)

    def _polynomial(self, products: Array, X: Matrix, Z: Matrix) -> None:
        # Centred without subtraction from rows, which would fill sparse ones.
        products += (self.centre @ self.centre - X @ self.centre)[:, None] - Z @ self.centre
        products /= self.bandwidth**2
        products += 1.0
        np.power(products, self.degree, out=products)

    def diagonal(self, X: Matrix) -> Array:
        """Return k(x_i, x_i), (n,)."""
        if self.name == "rbf":
            return np.ones(X.shape[0])
        return (1.0 + squared_lengths(X, self.centre) / self.bandwidth**2) ** self.degree


def squared_lengths(X: Matrix, centre: Array | None = None) -> Array:
    """Return ||x_i||^2, or ||x_i - c||^2, (n,)."""
    squares = X.multiply(X).sum(axis=1) if issparse(X) else np.einsum("ij,ij->i", X, X)
    return squares if centre is None else np.maximum(squares - 2 * (X @ centre) + centre @ centre, 0.0)


def moments(X: Matrix) -> tuple[Array, Array]:
    """Return mean and standard deviation of each feature (d,); the latter is 1 where it is constant."""
    mean, squares = np.asarray(X.mean(axis=0)).ravel(), mean_squares(X)
    variance = squares - mean**2
    # What rounding leaves of a constant is no deviation.
    return mean, np.sqrt(np.where(variance > 1e-12 * squares, variance, 1.0))


def divided(X: Matrix, units: Array) -> Matrix:
    """Return X with each feature in units of its own (d,)."""
    return csr_array(X.multiply(1.0 / units)) if issparse(X) else X / units


def usual_bandwidth(name: str, X: Matrix, centre: Array, rng: Generator) -> float:
    """Return the median distance between rows for "rbf", their root mean square one from the centre for "polynomial".

    The median is over the pairs of at most 1,000 rows that differ. Where all rows are the same it is 1.
    """
    if name == "polynomial":
        return float(np.sqrt(squared_lengths(X, centre).mean())) or 1.0
    drawn = X[np.sort(rng.permutation(X.shape[0])[:SAMPLE])]
    products = drawn @ drawn.T
    squares = squared_lengths(drawn)
    table = squares[:, None] + squares - 2 * (products.toarray() if issparse(products) else products)
    distances = np.sqrt(np.maximum(table[np.triu_indices(len(table), 1)], 0.0))
    # Rounding leaves something of the distance of equal rows.
    distances = distances[distances > 1e-7 * np.sqrt(squares.max())]
    return float(np.median(distances)) if len(distances) else 1.0


def drawn_landmarks(kernel: Kernel, X: Matrix, m: int, choice: str, rng: Generator) -> Indices:
    """Return m rows (their numbers, ascending): drawn uniformly, or spread out as the seeds of k-means++ are.

    Those are drawn one after another, each with a chance in proportion to the squared distance, in the space of the
    kernel, from the nearest row drawn before. Fewer than m come back where all others equal one that was drawn.
    """
    n = X.shape[0]
    if m >= n:
        return np.arange(n)
    if choice == "uniform":
        return np.sort(rng.permutation(n)[:m])
    diagonal, chosen = kernel.diagonal(X), [int(rng.integers(n))]
    nearest = np.full(n, np.inf)
    while True:
        last = chosen[-1]
        near = kernel.between(X, X[[last]])[:, 0]
        nearest = np.minimum(nearest, np.maximum(diagonal - 2 * near + diagonal[last], 0.0))
        nearest[last] = 0.0
        if len(chosen) == m or not nearest.any():
            return np.sort(np.array(chosen))
        chosen.append(int(rng.choice(n, p=nearest / nearest.sum())))

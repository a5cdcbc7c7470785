"""Kernels between rows, landmarks that stand for all rows, and low-rank predictors on features of a kernel."""

from collections.abc import Mapping
from typing import NamedTuple, Self

import numpy as np
from numpy.random import Generator
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf
from scipy.sparse import csr_array, issparse

from lrlab.arrays import Array, Indices, Matrix
from lrlab.linalg import mean_squares
from lrlab.lowrank import LowRank
from lrlab.ranking import Scores

EXACT = 5000
"""Up to so many rows, all of them are landmarks unless it is said otherwise."""
USUAL = 1000
"""Landmarks among more rows."""
NEGLIGIBLE = 1e-10
"""What is left of k(x, x), as a share of the largest, below which a row depends on those before it."""
MOST_DEGREE = 10
ROWS = 1024
"""Rows whose kernel values are held at a time when they are scored."""
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


class KernelRank(LowRank):
    """Scores f(x) = offset + sum over t of k(x, z_t) (U diag(s) V^T)_t of landmarks z_t, U (m, k), s (k,), V (L, k).

    Landmarks (m, d) are in `units` (d,), by which each feature of a row is divided first.

    The columns of V are orthonormal, those of U are so in the inner product of the kernel, U^T K U = I with K_tu =
    k(z_t, z_u): s are the singular values of the predictor. Made of its parts alone it can be drawn, but has no
    landmarks to predict with.
    """

    kernel: Kernel
    landmarks: Matrix
    units: Array
    offset: Array | float = 0.0

    @classmethod
    def at(cls, Z: LowRank, kernel: Kernel, landmarks: Matrix, units: Array, offset: Array | float = 0.0) -> Self:
        """Return such a predictor with its kernel, landmarks in such units, and offset (L,)."""
        estimate = cls(*Z)
        estimate.offset = offset
        estimate.kernel, estimate.landmarks, estimate.units = kernel, landmarks, units
        return estimate

    def scores(self, X: Matrix) -> Scores:
        """Return f(x_i), (n, L), as a function of a slice of rows."""
        images = np.empty((X.shape[0], len(self.s)))
        for start in range(0, len(images), ROWS):
            rows = slice(start, start + ROWS)
            images[rows] = self.kernel.between(divided(X[rows], self.units), self.landmarks) @ self.left
        return lambda rows: images[rows] @ self.V.T + self.offset

    def arrays(self) -> dict[str, Array]:
        """Return factors, kernel, units and landmarks; of sparse landmarks, the parts of their sparse rows."""
        Z, (name, bandwidth, degree, centre) = self.landmarks, self.kernel
        kernel = {"kernel": np.array([NAMES.index(name), bandwidth, degree]), "centre": centre, "units": self.units}
        rows = {"landmarks": Z}
        if issparse(Z):
            rows = {"values": Z.data, "columns": Z.indices, "pointer": Z.indptr, "size": np.array(Z.shape)}
        return {**super().arrays(), **kernel, **rows, "offset": np.asarray(self.offset)}

    @classmethod
    def restored(cls, arrays: Mapping[str, Array]) -> Self:
        """Return what had these `arrays`."""
        name, bandwidth, degree = (float(value) for value in arrays["kernel"])
        rows = arrays.get("landmarks")
        if rows is None:
            parts = tuple(arrays[part] for part in ("values", "columns", "pointer"))
            rows = csr_array(parts, shape=tuple(int(size) for size in arrays["size"]))
            # Places beyond the table, as a damaged file may have, would be read from beyond the memory.
            rows.check_format(full_check=True)
        if name not in range(len(NAMES)) or not (0 < bandwidth and degree in range(1, MOST_DEGREE + 1)):
            raise ValueError(f"a kernel {arrays['kernel']} that there is not")
        if not (arrays["units"] > 0).all():
            raise ValueError("units that are not above 0")
        Z = LowRank(*(arrays[part] for part in LowRank._fields))
        kernel = Kernel(NAMES[int(name)], bandwidth, int(degree), arrays["centre"])
        return cls.at(Z, kernel, rows, arrays["units"], arrays.get("offset", 0.0))


class SignedKernelRank(KernelRank):
    """The same for labels coded -1 and +1: a label is on where its score is positive."""

    threshold = 0.0


class Features(NamedTuple):
    """Phi (n, r) with Phi Phi^T = K, or its Nystrom approximation, and the numbers of the rows that are landmarks.

    Phi R^T are the kernel values of rows and landmarks, R R^T those of landmarks, R (r, r) lower triangular: what is
    above its diagonal does not count.
    """

    Phi: Array
    landmarks: Indices
    R: Array


def features(kernel: Kernel, X: Matrix, chosen: Indices) -> Features:
    """Return features of all rows from landmarks among them, without those that depend on others.

    A Cholesky factorisation with pivots, K = R R^T, gives Phi = K(X, Z) R^-T, which is K(X, Z) K^(-1/2) but for a
    rotation, and rotations change neither LEML's penalties nor its predictions.
    """
    K = kernel.between(X[chosen], X[chosen])
    # Exact: rounding would decide between pivots that are equal, and so where LEML begins.
    np.fill_diagonal(K, kernel.diagonal(X[chosen]))
    # The transpose of a symmetric table is in the order that LAPACK wants, so that it is factorised in place.
    C, pivots, r, _ = dpstrf(K.T, tol=NEGLIGIBLE * float(K.diagonal().max()), lower=1, overwrite_a=1)
    order = pivots - 1
    landmarks, R = chosen[order[:r]], np.asfortranarray(C[:r, :r])
    if len(chosen) == X.shape[0]:
        Phi = np.empty((len(chosen), r))
        Phi[chosen[order]] = np.tril(C[:, :r])
        return Features(Phi, landmarks, R)
    images = kernel.between(X, X[landmarks])
    return Features(solve_triangular(R, images.T, lower=True, overwrite_b=True, check_finite=False).T, landmarks, R)


def landmark_count(n: int, wanted: int) -> int:
    """Return how many of n rows are landmarks."""
    return min(n, wanted or (n if n <= EXACT else USUAL))

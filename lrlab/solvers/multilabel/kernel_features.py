"""Features whose inner products are a kernel, exact or by landmarks, and low-rank predictors on them."""

from collections.abc import Mapping
from typing import NamedTuple, Self

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf
from scipy.sparse import csr_array, issparse

from lrlab.arrays import Array, Indices, Matrix
from lrlab.lowrank import LowRank
from lrlab.ranking import Scores
from lrlab.solvers.multilabel.kernels import NAMES, Kernel, divided

EXACT = 5000
"""Up to so many rows, all of them are landmarks unless it is said otherwise."""
USUAL = 1000
"""Landmarks among more rows."""
NEGLIGIBLE = 1e-10
"""What is left of k(x, x), as a share of the largest, below which a row depends on those before it."""
MOST_DEGREE = 10
ROWS = 1024
"""Rows whose kernel values are held at a time when they are scored."""


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

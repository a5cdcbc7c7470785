"""Low-rank predictors on the values of a kernel at landmarks."""

from collections.abc import Mapping
from typing import NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array, issparse

from lrlab.arrays import Array, Matrix
from lrlab.lowrank import LowRank
from lrlab.ranking import THRESHOLDS, Scores

ROWS = 1024
"""Rows of kernel values in memory at a time."""
NAMES = ("rbf", "polynomial")
MOST_DEGREE = 10


class Kernel(NamedTuple):
    """A kernel of bandwidth h: "rbf", exp(-||x - z||^2 / (2 h^2)), or "polynomial", (1 + <x, z> / h^2)^degree."""

    name: str
    bandwidth: float
    degree: int

    @property
    def settings(self) -> dict[str, float]:
        """Its parameters as scikit-learn calls them."""
        gamma = 1.0 / self.bandwidth**2
        return {"gamma": gamma / 2} if self.name == "rbf" else {"gamma": gamma, "coef0": 1.0, "degree": self.degree}

    def between(self, X: Matrix, Z: Matrix) -> Array:
        """Return k(x_i, z_j), (n, m)."""
        # Imported here, as it takes time and memory that other solvers do without.
        from sklearn.metrics.pairwise import pairwise_kernels

        return np.asarray(pairwise_kernels(X, Z, metric=self.name, **self.settings))


class KernelRank(LowRank):
    """Scores f(x) = offset + sum over t of k(x, z_t) (U diag(s) V^T)_t of landmarks z_t, U (m, k), s (k,), V (L, k).

    A row x is first centered and divided by `units`, both (d,); landmarks (m, d) are so already. The columns of V are
    orthonormal, and so are the columns of U in the inner product of the kernel: s are the singular values of the
    predictor. A score above `threshold` predicts a positive label.
    """

    kernel: Kernel
    landmarks: Matrix
    centre: Array
    units: Array
    offset: Array | float = 0.0
    threshold: float = THRESHOLDS["zero-one"]

    @classmethod
    def at(cls, Z: LowRank, **parts: object) -> Self:
        """Return such a predictor with its kernel, landmarks and other parts."""
        estimate = cls(*Z)
        vars(estimate).update(parts)
        return estimate

    def scores(self, X: Matrix) -> Scores:
        """Return f(x_i), (n, L), as a function of a slice of rows."""
        images = np.empty((X.shape[0], len(self.s)))
        for start in range(0, len(images), ROWS):
            rows = slice(start, start + ROWS)
            images[rows] = self.kernel.between(scaled(X[rows], self.centre, self.units), self.landmarks) @ self.left
        return lambda rows: images[rows] @ self.V.T + self.offset

    def arrays(self) -> dict[str, Array]:
        """Return factors and all other parts; of sparse landmarks, the parts of their rows."""
        Z, (name, bandwidth, degree) = self.landmarks, self.kernel
        parts = {"kernel": np.array([NAMES.index(name), bandwidth, degree]), "centre": self.centre, "units": self.units}
        rows = {"landmarks": Z}
        if issparse(Z):
            rows = {"values": Z.data, "columns": Z.indices, "pointer": Z.indptr, "size": np.array(Z.shape)}
        ends = {"offset": np.asarray(self.offset), "threshold": np.array(self.threshold)}
        return {**super().arrays(), **parts, **rows, **ends}

    @classmethod
    def restored(cls, arrays: Mapping[str, Array]) -> Self:
        """Return what had these `arrays`; ValueError if they describe no predictor, as in a damaged file."""
        name, bandwidth, degree = (float(value) for value in arrays["kernel"])
        rows = arrays.get("landmarks")
        if rows is None:
            parts = tuple(arrays[part] for part in ("values", "columns", "pointer"))
            rows = csr_array(parts, shape=tuple(int(size) for size in arrays["size"]))
            # Positions beyond the table would be read from beyond the memory.
            rows.check_format(full_check=True)
        if name not in range(len(NAMES)) or not (0 < bandwidth and degree in range(1, MOST_DEGREE + 1)):
            raise ValueError(f"a kernel {arrays['kernel']} that there is not")
        if not (arrays["units"] > 0).all():
            raise ValueError("units that are not above 0")
        Z, kernel = (
            LowRank(*(arrays[part] for part in LowRank._fields)),
            Kernel(NAMES[int(name)], bandwidth, int(degree)),
        )
        others = {name: arrays[name] for name in ("centre", "units", "offset")}
        return cls.at(Z, kernel=kernel, landmarks=rows, threshold=float(arrays["threshold"]), **others)


def scaled(X: Matrix, centre: Array, units: Array) -> Matrix:
    """Return rows less a center, which is 0 for sparse ones, in units per feature."""
    return csr_array(X.multiply(1.0 / units)) if issparse(X) else (X - centre) / units

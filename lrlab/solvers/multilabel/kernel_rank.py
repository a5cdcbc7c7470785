"""Low-rank predictors on the values of a Gaussian kernel at landmarks."""

from collections.abc import Mapping
from typing import Self

import numpy as np
from scipy.sparse import csr_array, issparse

from lrlab.arrays import Array, Matrix, Scores
from lrlab.lowrank import THRESHOLDS, LowRank

ROWS = 1024
"""Rows of kernel values in memory at a time."""


class KernelRank(LowRank):
    """Scores f(x) = offset + sum over t of exp(-||x - z_t||^2) (U diag(s) V^T)_t of landmarks z_t, (m, d).

    U (m, k), s (k,), V (L, k). A row x is first centered and divided by `units`, both (d,); landmarks are so already.
    The columns of V are orthonormal, and so are the columns of U in the inner product of the kernel: s are the singular
    values of the predictor. A score above `threshold` predicts a positive label.
    """

    landmarks: Matrix
    centre: Array
    units: Array
    offset: Array | float = 0.0
    threshold: float = THRESHOLDS["zero-one"]

    @classmethod
    def at(cls, Z: LowRank, **parts: object) -> Self:
        """Return such a predictor with its landmarks and other parts."""
        estimate = cls(*Z)
        vars(estimate).update(parts)
        return estimate

    def scores(self, X: Matrix) -> Scores:
        """Return f(x_i), (n, L), as a function of a slice of rows."""
        # Imported here, as it takes time and memory that other solvers do without.
        from sklearn.metrics.pairwise import rbf_kernel

        images = np.empty((X.shape[0], len(self.s)))
        for start in range(0, len(images), ROWS):
            rows = slice(start, start + ROWS)
            near = scaled(X[rows], self.centre, self.units)
            images[rows] = np.asarray(rbf_kernel(near, self.landmarks, gamma=1.0)) @ self.left
        return lambda rows: images[rows] @ self.V.T + self.offset

    def arrays(self) -> dict[str, Array]:
        """Return factors and all other parts; of sparse landmarks, the parts of their rows."""
        Z, rows = self.landmarks, {"landmarks": self.landmarks}
        if issparse(Z):
            rows = {"values": Z.data, "columns": Z.indices, "pointer": Z.indptr, "size": np.array(Z.shape)}
        others = {name: np.asarray(getattr(self, name)) for name in ("centre", "units", "offset", "threshold")}
        return {**super().arrays(), **rows, **others}

    @classmethod
    def restored(cls, arrays: Mapping[str, Array]) -> Self:
        """Return what had these `arrays`; ValueError if they describe no predictor, as in a damaged file."""
        if "kernel" in arrays:
            raise ValueError("a kernel of lrlab 0.3")
        if (rows := arrays.get("landmarks")) is None:
            parts = tuple(arrays[part] for part in ("values", "columns", "pointer"))
            rows = csr_array(parts, shape=tuple(int(size) for size in arrays["size"]))
            # Positions beyond the table would be read from beyond the memory.
            rows.check_format(full_check=True)
        if not (arrays["units"] > 0).all():
            raise ValueError("units that are not above 0")
        others = {name: arrays[name] for name in ("centre", "units", "offset")}
        Z = LowRank(*(arrays[part] for part in LowRank._fields))
        return cls.at(Z, landmarks=rows, threshold=float(arrays["threshold"]), **others)


def scaled(X: Matrix, centre: Array, units: Array) -> Matrix:
    """Return rows less a center, which is 0 for sparse ones, in units per feature."""
    return csr_array(X.multiply(1.0 / units)) if issparse(X) else (X - centre) / units

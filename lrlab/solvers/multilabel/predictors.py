"""Estimates that predict labels: scores that are affine in a row, or in the values of a kernel at landmarks."""

from collections.abc import Mapping
from typing import Self

import numpy as np
from scipy.sparse import csr_array, issparse

from lrlab.arrays import Array, Matrix, Scores
from lrlab.lowrank import ROUNDING, THRESHOLDS, LowRank, rows_of

ROWS = 1024
"""Rows of kernel values in memory at a time."""


class Affine(LowRank):
    """Scores x^T W + offset, W of low rank, offset (L,); a score above `threshold` predicts a positive label."""

    offset: Array | float = 0.0
    threshold: float = THRESHOLDS["zero-one"]

    @classmethod
    def at(cls, W: LowRank, offset: Array | float, threshold: float = THRESHOLDS["zero-one"], **parts: object) -> Self:
        """Return W with an offset, a threshold, and the parts of a subclass."""
        estimate = cls(*W)
        vars(estimate).update(parts, offset=offset, threshold=threshold)
        return estimate

    def scores(self, X: Matrix) -> Scores:
        """Return X W + offset as a function of a slice of rows."""
        linear, offset = super().scores(X), np.asarray(self.offset)
        # Labels without positives tie, as they do in `LowRank.scores`.
        offset = np.where(np.abs(offset) > ROUNDING * np.abs(offset).max(initial=0.0), offset, 0.0)
        return lambda rows: rows_of(linear, rows) + offset

    def arrays(self) -> dict[str, Array]:
        """Return factors, offset and threshold, by name."""
        return {**super().arrays(), "offset": np.asarray(self.offset), "threshold": np.array(self.threshold)}

    @classmethod
    def restored(cls, arrays: Mapping[str, Array]) -> Self:
        """Return the estimate of these `arrays`; files of earlier versions lack threshold or offset."""
        parts = {"offset": np.zeros(len(arrays["V"])), "threshold": np.array(cls.threshold), **arrays}
        Z = LowRank(*(parts[name] for name in LowRank._fields))
        if parts["offset"].shape not in ((), (len(Z.V),)):
            raise ValueError(f"an offset of {parts['offset'].shape} for {len(Z.V)} labels")
        return cls.at(Z, parts["offset"], float(parts["threshold"]))


class KernelRank(Affine):
    """Scores f(x) = offset + sum_t exp(-||x - z_t||^2) (U diag(s) V^T)_t with the rows z_t of `landmarks` (m, d).

    U (m, k), s (k,), V (L, k). A row x is first centered and divided by `units`, both (d,); the landmarks already are.
    The columns of V are orthonormal, and so are the columns of U in the inner product of the kernel: s are the singular
    values of the predictor.
    """

    landmarks: Matrix
    centre: Array
    units: Array

    def scores(self, X: Matrix) -> Scores:
        """Return f(x_i), (n, L), as a function of a slice of rows."""
        # Imported here: it takes time and memory, and other solvers do not need it.
        from sklearn.metrics.pairwise import rbf_kernel

        images = np.empty((X.shape[0], len(self.s)))
        for start in range(0, len(images), ROWS):
            rows = slice(start, start + ROWS)
            near = scaled(X[rows], self.centre, self.units)
            images[rows] = np.asarray(rbf_kernel(near, self.landmarks, gamma=1.0)) @ self.left
        return lambda rows: images[rows] @ self.V.T + self.offset

    def arrays(self) -> dict[str, Array]:
        """Return factors and all other parts by name; sparse landmarks have several parts."""
        Z, rows = self.landmarks, {"landmarks": self.landmarks}
        if issparse(Z):
            rows = {"values": Z.data, "columns": Z.indices, "pointer": Z.indptr, "size": np.array(Z.shape)}
        return {**super().arrays(), **rows, "centre": self.centre, "units": self.units}

    @classmethod
    def restored(cls, arrays: Mapping[str, Array]) -> Self:
        """Return the estimate of these `arrays`; ValueError if they describe none, as in a damaged file."""
        if "kernel" in arrays:
            raise ValueError("a kernel of lrlab 0.3")
        if (rows := arrays.get("landmarks")) is None:
            parts = tuple(arrays[part] for part in ("values", "columns", "pointer"))
            rows = csr_array(parts, shape=tuple(int(size) for size in arrays["size"]))
            # Column numbers beyond the matrix would read foreign memory.
            rows.check_format(full_check=True)
        if not (arrays["units"] > 0).all():
            raise ValueError("units that are not above 0")
        estimate = super().restored(arrays)
        vars(estimate).update(landmarks=rows, centre=arrays["centre"], units=arrays["units"])
        return estimate


def scaled(X: Matrix, centre: Array, units: Array) -> Matrix:
    """Return rows less a center, which is 0 for sparse ones, in units per feature."""
    return csr_array(X.multiply(1.0 / units)) if issparse(X) else (X - centre) / units

"""Proximal maps of the nuclear norm: singular values, or eigenvalues in size, soft-thresholded."""

import numpy as np

from lrlab.arrays import Array
from lrlab.lowrank import LowRank

ROUNDING = 16.0
"""Singular values are known to so many rounding errors of the largest."""


def shrink_singular_values(V: Array, level: float) -> LowRank:
    """Return the W that minimises level ||W||_* + ||W - V||_F^2 / 2: singular values soft-thresholded."""
    U, s, Vt = np.linalg.svd(V, full_matrices=False)
    lowered = soft_threshold(s, level)
    rank = max(int(np.count_nonzero(lowered)), 1)
    return LowRank(U[:, :rank], lowered[:rank], Vt[:rank].T)


def shrink_eigenvalues(V: Array, level: float) -> LowRank:
    """Return the same for a symmetric V, as U diag(s) U^T with s of either sign: eigenvalues soft-thresholded."""
    values, vectors = np.linalg.eigh((V + V.T) / 2)
    order = np.argsort(-np.abs(values), kind="stable")
    lowered = soft_threshold(np.abs(values[order]), level)
    rank = max(int(np.count_nonzero(lowered)), 1)
    U = vectors[:, order[:rank]]
    return LowRank(U, np.sign(values[order[:rank]]) * lowered[:rank], U)


def soft_threshold(sizes: Array, level: float) -> Array:
    """Return sizes, of which the first is the largest, lowered to 0 at the least; what rounding leaves over is 0."""
    lowered = sizes - sizes.dtype.type(level)
    return np.where(lowered > ROUNDING * np.finfo(sizes.dtype).eps * sizes[0], lowered, sizes.dtype.type(0))

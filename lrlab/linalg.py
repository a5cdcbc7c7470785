"""Small linear algebra shared by solvers: Gram accumulation, leading eigenvectors, thresholding."""

import math
from contextlib import suppress

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from scipy.linalg.blas import dsyrk
from scipy.sparse import issparse
from scipy.sparse.linalg import eigsh

from lrlab.arrays import Array, Indices, Mask, Matrix

CONSTANT = 1e-10
"""Largest range of a constant column, relative to its largest value."""
DAMPING = 1e-6
"""Fraction of the summed weights that keeps steps along singular directions finite."""
DENSE_EIGEN = 400
MIRROR = 512
PLACES_TOGETHER = 2**21
"""Entries of a pattern per block of the search."""


class Gram:
    """The sum of D^T D (p, p) over row blocks D; memory O(p^2), one symmetric rank-k update a block."""

    def __init__(self, p: int) -> None:
        self._lower = np.zeros((p, p), order="F")

    def add(self, D: Array) -> None:
        """Add D^T D for a block D (rows, p)."""
        if len(D):
            # In place on the lower triangle: `D.T @ D` would take another p x p array for every block.
            rows = np.ascontiguousarray(D)
            self._lower = dsyrk(1.0, rows.T, beta=1.0, c=self._lower, lower=1, overwrite_c=1)

    def matrix(self, scale: float = 1.0) -> Array:
        """Return the full symmetric sum times `scale`; the accumulator must not be used after."""
        C = self._lower
        C *= scale
        # Mirrored by blocks, so that no second p x p array is made.
        for start in range(0, len(C), MIRROR):
            cut = slice(start, start + MIRROR)
            # Nothing has been added above the diagonal.
            C[cut, cut] += np.tril(C[cut, cut], -1).T
            C[cut, start + MIRROR :] = C[start + MIRROR :, cut].T
        return C


def top_eigenpairs(M: Array, k: int) -> tuple[Array, Array]:
    """Return the k largest eigenvalues (k,), largest first, and their eigenvectors (p, k) of a symmetric M.

    Lanczos above 400 rows, from a fixed start so that the result is the same in every run.
    """
    p = len(M)
    if p <= DENSE_EIGEN or k >= p - 1:
        values, vectors = eigh(M, subset_by_index=(p - k, p - 1))
        if len(values) < k:
            # LAPACK's representations (syevr) miss an eigenvalue of some matrices; divide and conquer does not.
            values, vectors = (part[..., p - k :] for part in eigh(M, driver="evd"))
    else:
        values, vectors = eigsh(M, k=k, which="LA", v0=np.random.default_rng(p).standard_normal(p))
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
    return values[::-1], vectors[:, ::-1]


def mean_squares(X: Matrix) -> Array:
    """Return the mean square of each column of a table, dense or of sparse rows."""
    squares = X.multiply(X).sum(axis=0) if issparse(X) else np.einsum("ij,ij->j", X, X)
    return squares / X.shape[0]


def varying(X: Array) -> Mask:
    """Return which columns of X (n, p) are not constant."""
    return np.asarray(np.ptp(X, axis=0) > CONSTANT * np.abs(X).max(axis=0, initial=0.0))


def length(v: Array) -> float:
    """Return ||v|| of a vector; of short ones, as iterates have, in a fifth of the time of `numpy.linalg.norm`."""
    return math.sqrt(np.vdot(v, v).real)


def unit(v: Array) -> Array:
    """Return v / ||v||, or v itself if v is zero."""
    norm = length(v)
    return v / norm if norm > 0 else v


def hard_threshold(v: Array, s: int) -> Array:
    """Return v with all but its s largest entries (in size) set to zero: the nearest s-sparse vector."""
    if s >= len(v):
        return v
    thresholded = np.zeros_like(v)
    largest = np.argpartition(-np.abs(v), s - 1)[:s]
    thresholded[largest] = v[largest]
    return thresholded


def positive_factor(N: Array) -> Array | None:
    """Return the lower Cholesky factor of a symmetric N, None if N is singular or not positive."""
    with suppress(LinAlgError):
        factor, _ = cho_factor(N, lower=True, check_finite=False)
        # A pivot at rounding error is a singular matrix that passed by luck.
        pivots = np.abs(np.diagonal(factor))
        if pivots.min() > 1e-7 * pivots.max():
            return factor
    return None


def solve_positive(N: Array, rhs: Array, ridge: float | Array = 0.0) -> Array:
    """Return the solution of (N + ridge I) u = rhs for a symmetric positive semidefinite N; N is written over.

    ridge: one number, or one for each entry of the diagonal. The solution of minimum norm if N is singular, as in least
    squares with too few measurements.
    """
    N[np.diag_indices_from(N)] += ridge
    if (factor := positive_factor(N)) is not None:
        return cho_solve((factor, True), rhs, check_finite=False)
    values, vectors = eigh(N)
    good = values > 1e-13 * values[-1]
    return vectors[:, good] @ ((vectors[:, good].T @ rhs).T / values[good]).T


def tangent_inverse(A: Array, b: Array) -> Array:
    """Return the inverse (s, s) of P A P on the vectors orthogonal to the unit vector b, and 0 on b."""
    Ab = A @ b
    A = A - np.outer(Ab, b) - np.outer(b, Ab) + (b @ Ab) * np.outer(b, b)
    size = abs(float(A.trace())) / len(b) + np.finfo(float).tiny
    regular = A + size * np.outer(b, b) + DAMPING * size * np.eye(len(b))
    return np.linalg.inv(regular) - np.outer(b, b) / (size * (1.0 + DAMPING))


def places_in(table: Matrix, pattern: Matrix) -> Indices:
    """Return the position of each entry of a sparse table among the entries of a pattern of the same size, or -1.

    Both are sparse rows, compared some at a time, so that nothing as long as the pattern is made of it.
    """
    pattern = pattern if pattern.has_sorted_indices else pattern.sorted_indices()
    (n, width), slots = table.shape, np.empty(table.nnz, dtype=np.intp)
    step = max(1, PLACES_TOGETHER * n // max(1, pattern.nnz))
    for start in range(0, n, step):
        stop = min(start + step, n)
        given, places = (slice(one.indptr[start], one.indptr[stop]) for one in (table, pattern))
        keys, among = (
            np.repeat(np.arange(stop - start), np.diff(one.indptr[start : stop + 1])) * width + one.indices[cut]
            for one, cut in ((table, given), (pattern, places))
        )
        at = np.searchsorted(among, keys)
        inside = np.append(among, -1)[at] == keys
        slots[given] = np.where(inside, at + places.start, -1)
    return slots

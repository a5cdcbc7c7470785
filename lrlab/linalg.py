"""Small linear algebra: leading eigenvectors, thresholding, distances of directions up to sign."""

import math
from contextlib import suppress

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from scipy.sparse import issparse
from scipy.sparse.linalg import eigsh

from lrlab.arrays import Array, Mask, Matrix, Vector

DAMPING = 1e-6
"""Fraction of the summed weights that keeps steps along singular directions finite."""


def frozen(array: Vector) -> Vector:
    """Return the array, made read-only."""
    array.setflags(write=False)
    return array


def relative(estimate: Vector, truth: Vector) -> float:
    """Return ||estimate - truth|| / ||truth||, or ||estimate|| if the truth is 0."""
    return float(np.linalg.norm(estimate - truth) / (np.linalg.norm(truth) or 1.0))


def top_eigenpairs(M: Array, k: int, dense: int = 400) -> tuple[Array, Array]:
    """Return the k largest eigenvalues (k,), largest first, and their eigenvectors (p, k) of a symmetric M.

    Lanczos above `dense` rows, from a fixed start so that the result is the same in every run.
    """
    p = len(M)
    if p <= dense or k >= p - 1:
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


def varying(X: Array, rounding: float = 1e-10) -> Mask:
    """Return which columns of X (n, p) have a range above `rounding` of their largest value: they are not constant."""
    return np.asarray(np.ptp(X, axis=0) > rounding * np.abs(X).max(axis=0, initial=0.0))


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


def solve_positive(N: Array, rhs: Array, ridge: float | Array = 0.0) -> Array:
    """Return the solution of (N + ridge I) u = rhs for a symmetric positive semidefinite N; N is written over.

    ridge: one number, or one for each entry of the diagonal. The solution of minimum norm if N is singular, as in least
    squares with too few measurements.
    """
    N[np.diag_indices_from(N)] += ridge
    with suppress(LinAlgError):
        factor = cho_factor(N, lower=True, check_finite=False)
        # A pivot at rounding error is a singular matrix that passed by luck.
        pivots = np.abs(np.diagonal(factor[0]))
        if pivots.min() > 1e-7 * pivots.max():
            return cho_solve(factor, rhs, check_finite=False)
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


def align(estimate: Array, truth: Array) -> Array:
    """Return the unit vector along `estimate`, with the sign that is nearer to `truth` (p,)."""
    b = unit(estimate)
    return -b if b @ truth < 0 else b


def errors_of(overlaps: Array | float) -> Array:
    """Return the distances of unit vectors with these squared overlaps, numbers or arrays of them."""
    return np.sqrt(np.maximum(0.0, 2.0 - 2.0 * np.sqrt(overlaps)))


def interval_scores(estimate: Array, low: Array, high: Array, truth: Array) -> dict[str, float]:
    """Return `coverage`, the fraction of entries whose 95% interval holds the truth, and `width`, the mean width.

    Intervals belong to the entries of the unit vector along the estimate; the truth gets the nearer sign. Entries
    without an interval (nan) do not count; without any interval there are no scores.
    """
    known = np.isfinite(low)
    if not known.any():
        return {}
    near = (truth if estimate @ truth >= 0 else -truth)[known]
    inside = (low[known] <= near) & (near <= high[known])
    return {"coverage": float(inside.mean()), "width": float((high - low)[known].mean())}


def support_recall(estimate: Array, truth: Array) -> float:
    """Return the fraction of the true support among as many largest entries of the estimate that are not 0, in 0..1."""
    support = np.flatnonzero(truth)
    largest = np.argpartition(-np.abs(estimate), len(support) - 1)[: len(support)]
    return len(np.intersect1d(support, largest[np.asarray(estimate)[largest] != 0])) / len(support)

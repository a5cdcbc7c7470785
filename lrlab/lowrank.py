"""Matrices of low rank, stored as factors: products, norms and distances that never form the d1 x d2 matrix."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array

from lrlab.arrays import Array, Scores

THRESHOLDS = {"zero-one": 0.5, "signs": 0.0}
"""Scores above which a label is predicted: halfway between the two numbers that code a label."""
ROUNDING = 1e-12
"""Columns below this fraction of the longest one are rounding errors."""


class LowRank(NamedTuple):
    """W = U diag(s) V^T with U (d1, k), s (k,), V (d2, k); columns of U and of V are orthonormal.

    s is non-negative and decreasing for a general matrix. A symmetric one has V = U and eigenvalues of either sign in
    s, decreasing in size. Columns that belong to s = 0 are arbitrary.
    """

    U: Array
    s: Array
    V: Array

    @property
    def threshold(self) -> float:
        """The score above which a label is predicted, see `models.multilabel.Predictor`."""
        return THRESHOLDS["zero-one"]

    @property
    def shape(self) -> tuple[int, int]:
        """The size (d1, d2) of W."""
        return len(self.U), len(self.V)

    @property
    def left(self) -> Array:
        """U diag(s), the factor A of W = A V^T."""
        return self.U * self.s

    def dense(self) -> Array:
        """Return W itself (d1, d2)."""
        return self.left @ self.V.T

    def truncated(self, k: int) -> "LowRank":
        """Return the nearest matrix of rank k: the first k terms."""
        U = self.U[:, :k]
        return LowRank(U, self.s[:k], U if self.V is self.U else self.V[:, :k])

    def scores(self, X: Array | csr_array) -> Scores:
        """Return X W, X (n, d1), as a function of a slice of rows: the whole table may be larger than memory.

        Columns of W that are rounding errors count as 0, so that labels without positives tie.
        """
        images, right = X @ self.left, self.V.T
        lengths = np.linalg.norm(self.V * self.s, axis=1)
        if len(tiny := np.flatnonzero(lengths <= ROUNDING * lengths.max(initial=0.0))):
            right = right.copy()
            right[:, tiny] = 0.0
        return lambda rows: images[rows] @ right

    def arrays(self) -> dict[str, Array]:
        """Return all that it consists of, by name, for storage in a file."""
        return self._asdict()

    @classmethod
    def restored(cls, arrays: Mapping[str, Array]) -> Self:
        """Return what had these `arrays`."""
        return cls(**arrays)


def rows_of(scores: Scores, rows: slice) -> Array:
    """Return the scores of some rows."""
    return np.asarray(scores(rows) if callable(scores) else scores[rows], dtype=np.float64)


def from_product(A: Array, B: Array, rank: int = 0) -> LowRank:
    """Return A B^T, A (d1, k), B (d2, k), as factors; truncated to the nearest matrix of a rank if one is given."""
    Qa, Ra = np.linalg.qr(A)
    Qb, Rb = np.linalg.qr(B)
    U, s, Vt = np.linalg.svd(Ra @ Rb.T)
    return LowRank(Qa @ U, s, Qb @ Vt.T).truncated(rank or len(s))


def from_square(U: Array, s: Array) -> LowRank:
    """Return the symmetric U diag(s) U^T, U (p, k), as factors."""
    Q, R = np.linalg.qr(U)
    return from_core(Q, (R * s) @ R.T, len(s))


def from_core(Q: Array, C: Array, rank: int) -> LowRank:
    """Return the nearest matrix of a rank to the symmetric Q C Q^T, Q (p, k) orthonormal, C (k, k)."""
    W = from_symmetric(C, rank)
    U = Q @ W.U
    return LowRank(U, W.s, U)


def from_dense(W: Array, rank: int = 0) -> LowRank:
    """Return the singular value decomposition of W, or the nearest matrix of a rank."""
    U, s, Vt = np.linalg.svd(W, full_matrices=False)
    return LowRank(U, s, Vt.T).truncated(rank or len(s))


def from_symmetric(L: Array, rank: int = 0) -> LowRank:
    """Return the eigendecomposition of a symmetric L, the largest in size first, or the nearest matrix of a rank."""
    values, vectors = np.linalg.eigh((L + L.T) / 2)
    order = np.argsort(-np.abs(values), kind="stable")[: rank or len(L)]
    U = vectors[:, order]
    return LowRank(U, values[order], U)


def columns_normalized(W: LowRank) -> LowRank:
    """Return W with its columns scaled to length 1; those that are 0 stay so."""
    lengths = np.linalg.norm(W.V * W.s, axis=1, keepdims=True)
    return from_product(W.left, np.divide(W.V, lengths, out=np.zeros_like(W.V), where=lengths > 0))


def zero(shape: tuple[int, int], rank: int, dtype: type | np.dtype[Any] = np.float64) -> LowRank:
    """Return the zero matrix as factors of a rank."""
    return LowRank(np.eye(shape[0], rank, dtype=dtype), np.zeros(rank, dtype), np.eye(shape[1], rank, dtype=dtype))


def difference(W: LowRank, T: LowRank) -> Array:
    """Return a small matrix that has the singular values of W - T.

    By QR of the joined factors: expanding ||W - T||^2 instead would lose everything below 1e-8.
    """
    left = np.linalg.qr(np.hstack([W.U, T.U]), mode="r")
    right = np.linalg.qr(np.hstack([W.V, T.V]), mode="r")
    return (left * np.concatenate([W.s, -T.s])) @ right.T  # type: ignore[attr-defined]


def errors(W: LowRank, truth: LowRank) -> dict[str, float]:
    """Return `error` = ||W - T||_F / ||T||_F and `spectral_error` = ||W - T|| / ||T||."""
    gap = np.linalg.svd(difference(W, truth), compute_uv=False)
    s = np.abs(truth.s)
    return {"error": float(np.linalg.norm(gap) / np.linalg.norm(s)), "spectral_error": float(gap[0] / s.max())}

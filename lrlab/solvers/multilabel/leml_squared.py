"""Half-steps of LEML for the squared loss: the label side exactly, the feature side exactly or by CG."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array, issparse

from lrlab.arrays import Array, Mask, Matrix
from lrlab.linalg import solve_positive
from lrlab.solvers.methods.tron import Product, conjugate_gradients
from lrlab.solvers.multilabel.affine import gram
from lrlab.solvers.multilabel.leml_products import Labels, OfFeatures, both_times

RELATIVE = 1e-2
"""Conjugate gradients end where the gradient is this share of the one at entry."""
MOMENT_COLUMNS = 64
"""Numbers for each row that X^T Y may have at most, where it is held."""
NOTHING = 1e-12
"""Eigenvalues below this share of the largest are taken for zero."""


class WholeTable:
    """All labels observed: D = A H^T - Y is never formed, since X^T D H = X^T (A M - Y H), M = H^T H (Algorithm 2)."""

    def __init__(self, labels: Labels, weight: float) -> None:
        self.labels, self.X, self.Y, self.weight = labels, labels.X, labels.coded, weight
        self._images: tuple[Array, Array] | None = None
        self.squares = float(np.square(self.Y.data if issparse(self.Y) else self.Y).sum())

    def value(self, A: Array, H: Array) -> float:
        """Return ||Y - A H^T||_F^2 / 2."""
        # Nothing but rounding error can make it negative.
        return max(0.0, float(self.squares - 2 * np.vdot(self.Y @ H, A) + np.vdot(A.T @ A, H.T @ H)) / 2)

    def gradients(self, A: Array, H: Array) -> tuple[Array, Array]:
        """Return X^T D H and D^T A."""
        Z = self.labels.embeddings(H)
        return self.pulled(A) @ (H.T @ Z) - self.correlated(Z), H @ (A.T @ A) - self.Y.T @ A

    @cached_property
    def moments(self) -> Array | None:
        """X^T Y (d, L), where it is about as large as images at most: it saves a product with X for each use of Y."""
        (n, L), d = self.Y.shape, self.X.shape[1]
        if d * L > n * MOMENT_COLUMNS:
            return None
        moments = self.X.T @ self.Y
        return moments.toarray() if issparse(moments) else np.asarray(moments)

    @cached_property
    def single(self) -> csr_array | None:
        """Sparse features in single precision, None for others: steps are solved to a hundredth only."""
        return self.X.astype(np.float32) if isinstance(self.X, csr_array) else None

    def correlated(self, Z: Array) -> Array:
        """Return X^T Y Z."""
        return self.X.T @ (self.Y @ Z) if self.moments is None else self.moments @ Z

    def pulled(self, A: Array) -> Array:
        """Return X^T A, once for all gradients at the same A."""
        if self._images is None or self._images[0] is not A:
            self._images = A, self.X.T @ A
        return self._images[1]

    def label_factor(self, A: Array, H: Array) -> Array:
        """Return the H of least objective: one k x k system for all labels."""
        return solve_positive(A.T @ A, (self.Y.T @ A).T, self.labels.penalties(self.weight, A.shape[1])).T

    def derivatives(self, W: Array, H: Array) -> tuple[Array, Product]:
        """Return gradient and Hessian product of the objective in W (eq. 12, 13)."""
        whole, H, fewer = H, self.labels.embeddings(H), self.X.shape[1] < self.X.shape[0]
        M = H.T @ H

        def product(S: Array) -> Array:
            X: Matrix = self.X if S.dtype == np.float64 else self.single
            N = M.astype(S.dtype)
            return X.T @ (X @ (S @ N) if fewer else (X @ S) @ N) + self.weight * S

        slope = self.pulled(self.labels.images(W)) @ (whole.T @ H) - self.correlated(H)
        return slope + self.weight * W, product


class ObservedTable:
    """Some labels observed: sums over the pattern of those (Algorithm 1)."""

    def __init__(self, labels: Labels, weight: float) -> None:
        self.labels, self.weight = labels, weight
        self._columns = labels.mask.T.tocsr()

    def value(self, A: Array, H: Array) -> float:
        """Return the sum of (Y_ij - (A H^T)_ij)^2 / 2 over the entries observed."""
        return self.labels.total(A, H)

    def gradients(self, A: Array, H: Array) -> tuple[Array, Array]:
        """Return X^T D H and D^T A."""
        left, right = both_times(self.labels.slopes(A, H), self.labels.embeddings(H), A)
        return self.labels.X.T @ left, right

    def correlated(self, Z: Array) -> Array:
        """Return X^T Y Z."""
        return self.labels.X.T @ (self.labels.coded @ Z)

    def label_factor(self, A: Array, H: Array) -> Array:
        """Return the H of least objective: a k x k system for each label, over the rows where it is observed."""
        rhs, pointer = self.labels.coded.T @ A, self._columns.indptr
        solutions, weights = np.zeros_like(rhs), self.labels.penalties(self.weight, A.shape[1])
        for j, (start, end) in enumerate(zip(pointer[:-1], pointer[1:], strict=True)):
            # A label without any observed entry that is on is fitted best by 0.
            if rhs[j].any():
                B = A[self._columns.indices[start:end]]
                solutions[j] = solve_positive(B.T @ B, rhs[j], weights)
        return solutions

    def derivatives(self, W: Array, H: Array) -> tuple[Array, Product]:
        """Return gradient and Hessian product of the objective in W (eq. 10, 11)."""
        return OfFeatures(self.labels, H, self.weight).derivatives(W)


class Spectrum(NamedTuple):
    """X^T X = vectors diag(s) vectors^T if `tall`, or X X^T = vectors diag(s) vectors^T where that is smaller."""

    X: Matrix
    vectors: Array
    s: Array
    tall: bool

    @staticmethod
    def of(X: Matrix) -> "Spectrum":
        """Return the decomposition, of the smaller of X^T X and X X^T."""
        tall = X.shape[0] >= X.shape[1]
        s, vectors = eigh(gram(X, tall), driver="evd", overwrite_a=True, check_finite=False)
        return Spectrum(X, vectors, np.maximum(s, 0.0), tall)

    def images(self, B: Matrix) -> Matrix:
        """Return vectors^T X^T B, or vectors^T B where the vectors are those of X X^T; B (n, columns)."""
        product = self.X.T @ B if self.tall else B
        return (product.T @ self.vectors).T

    def back(self, C: Array) -> Array:
        """Return the W (d, columns) that has coordinates C."""
        return self.vectors @ C if self.tall else self.X.T @ (self.vectors @ C)

    @property
    def range(self) -> Mask:
        """Which eigenvalues are not zero."""
        return self.s > NOTHING * self.s.max()

    def solve(self, B: Array, M: Array, weight: float) -> Array:
        """Return the W with X^T X W M + weight W = X^T B, of minimum norm where there are many."""
        m, P = np.linalg.eigh(M)
        # X^T X = Q s Q^T on the left and M = P m P^T on the right: the equation is diagonal in these bases.
        images = self.images(B @ P)
        scale = self.s[:, None] * np.maximum(m, 0.0)
        solvable = self.range[:, None] & (m > NOTHING * m.max()) if weight == 0 else np.full(scale.shape, True)
        C = np.divide(images, scale + weight, out=np.zeros_like(images), where=solvable)
        return self.back(C @ P.T)


def by_steps(table: WholeTable | ObservedTable, W: Array, H: Array, steps: int) -> Array:
    """Return a W of lower objective after some conjugate gradients."""
    gradient, product = table.derivatives(W, H)
    if isinstance(table, ObservedTable) or table.single is None:
        return W + conjugate_gradients(product, gradient, steps, RELATIVE).S
    size = float(np.linalg.norm(gradient)) or 1.0
    return W + size * conjugate_gradients(product, (gradient / size).astype(np.float32), steps, RELATIVE).S


def table_of(labels: Labels, weight: float) -> WholeTable | ObservedTable:
    """Return the products that fit what is observed."""
    return WholeTable(labels, weight) if labels.full else ObservedTable(labels, weight)

"""Half-steps of LEML for the squared loss: H exactly, W by conjugate gradients or exactly (Yu et al. 2014)."""

from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, issparse

from lrlab.arrays import Array
from lrlab.linalg import solve_positive
from lrlab.solvers.methods.tron import conjugate_gradients
from lrlab.solvers.multilabel.centered import Spectrum
from lrlab.solvers.multilabel.leml_steps import Risk

CG_ACCURACY = 1e-2
"""Reduction of the gradient that ends conjugate gradients."""
MOMENT_COLUMNS = 64
"""Largest size of an X^T Y that is formed, relative to the number of rows."""


class ObservedSquares(Risk):
    """Squared losses of the observed labels: H exactly, W by conjugate gradients (Algorithm 1)."""

    @cached_property
    def _columns(self) -> csr_array:
        return csr_array(self.labels.mask).T.tocsr()

    def label_factor(self, A: Array, H: Array) -> Array:
        """Return the H of least objective: a k x k system per label, over the rows with this label observed."""
        rhs, pointer = self.labels.coded.T @ A, self._columns.indptr
        solutions, weights = np.zeros_like(rhs), self.labels.penalties(self.weight, A.shape[1])
        # 0 is best for a label without positive entries.
        for j in np.flatnonzero(rhs.any(axis=1)):
            B = A[self._columns.indices[pointer[j] : pointer[j + 1]]]
            solutions[j] = solve_positive(B.T @ B, rhs[j], weights)
        return solutions

    def feature_factor(self, W: Array, A: Array, H: Array) -> Array:
        """Return a W of lower objective, after conjugate gradients on eq. 10 and 11."""
        gradient, product = self.of_features(H).derivatives(W)
        return W + conjugate_gradients(product, gradient, self.steps, CG_ACCURACY).S


class WholeSquares(Risk):
    """Squared losses of all labels: D = A H^T - Y is never formed, as X^T D H = X^T (A M - Y H), M = H^T H (Alg. 2)."""

    _last: tuple[Array, Array] | None = None

    @cached_property
    def moments(self) -> Array | None:
        """X^T Y (d, L), unless it is much larger than images: it saves a product with X per use of Y."""
        (n, L), d = self.labels.Y.shape, self.X.shape[1]
        if d * L > n * MOMENT_COLUMNS:
            return None
        moments = self.X.T @ self.labels.coded
        return moments.toarray() if issparse(moments) else np.asarray(moments)

    @cached_property
    def _single(self) -> csr_array | None:
        # Steps are solved to a hundredth only; dense products gain little.
        return self.X.astype(np.float32) if isinstance(self.X, csr_array) else None

    @cached_property
    def _squares(self) -> float:
        Y = self.labels.coded
        return float(np.square(Y.data if issparse(Y) else Y).sum())

    def value(self, A: Array, H: Array) -> float:
        """Return ||Y - A H^T||_F^2 / 2, at least 0 despite rounding."""
        return max(0.0, (self._squares - 2 * np.vdot(self.labels.coded @ H, A) + np.vdot(A.T @ A, H.T @ H)) / 2)

    def _correlated(self, Z: Array) -> Array:
        return self.X.T @ (self.labels.coded @ Z) if self.moments is None else self.moments @ Z

    def _pulled(self, A: Array) -> Array:
        # X^T A, computed once per A.
        if self._last is None or self._last[0] is not A:
            self._last = A, self.X.T @ A
        return self._last[1]

    def gradients(self, A: Array, H: Array, at: float = 1.0) -> tuple[Array, Array]:
        """Return X^T D H without intercepts, and D^T A, of D = `at` A H^T - Y."""
        Z = self.labels.embeddings(H)
        if not at:
            return -self._correlated(Z), -(self.labels.coded.T @ A)
        return self._pulled(A) @ (H.T @ Z) - self._correlated(Z), H @ (A.T @ A) - self.labels.coded.T @ A

    def label_factor(self, A: Array, H: Array) -> Array:
        """Return the H of least objective: one k x k system for all labels."""
        weights = self.labels.penalties(self.weight, A.shape[1])
        return solve_positive(A.T @ A, (self.labels.coded.T @ A).T, weights).T

    def feature_factor(self, W: Array, A: Array, H: Array) -> Array:
        """Return a better W after conjugate gradients on eq. 12 and 13, in single precision if X is sparse."""
        Z, fewer = self.labels.embeddings(H), self.X.shape[1] < self.X.shape[0]
        M, X, gradient = Z.T @ Z, self.X, self._pulled(A) @ (H.T @ Z) - self._correlated(Z) + self.weight * W
        size = 1.0
        if self._single is not None:
            size = float(np.linalg.norm(gradient)) or 1.0
            M, X, gradient = M.astype(np.float32), self._single, (gradient / size).astype(np.float32)

        def product(S: Array) -> Array:
            return X.T @ (X @ (S @ M) if fewer else (X @ S) @ M) + self.weight * S

        return W + size * conjugate_gradients(product, gradient, self.steps, CG_ACCURACY).S


class ExactSquares(WholeSquares):
    """The same with W by the closed form in the eigenbases of X^T X and of M."""

    @cached_property
    def _spectrum(self) -> Spectrum:
        return Spectrum.of(self.X)

    def feature_factor(self, W: Array, A: Array, H: Array) -> Array:
        """Return the W of least objective."""
        Z, b = self.labels.embeddings(H), H[:, H.shape[1] - self.labels.intercepts :]
        return self._spectrum.solve(self.labels.coded @ Z - b.sum(axis=1) @ Z, Z.T @ Z, self.weight)

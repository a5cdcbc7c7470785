"""Half-steps of LEML for any loss, and fast ones for the squared loss (Yu et al. 2014).

A = X W are images of the factor W (d, k) of features, D the slopes of the losses at the scores A H^T.
"""

from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from lrlab.arrays import Array
from lrlab.linalg import solve_positive
from lrlab.solvers.methods.newton import Derivatives, Product, Value, conjugate_gradients, newton
from lrlab.solvers.multilabel.design import Spectrum, dense
from lrlab.solvers.multilabel.labels import Labels

NEWTON_STEPS, NEWTON_ACCURACY, ACCURACY = 2, 0.1, 1e-2
"""Newton steps per factor and iteration; reduction of the gradient that ends them, and the one that ends conjugate
gradients for squared losses."""


class Risk:
    """J(W, H) = sum of l(Y_ij, (A H^T)_ij) over observed entries + lambda (||W||^2 + ||H||^2) / 2 (Algorithm 1)."""

    def __init__(self, labels: Labels, weight: float = 0.0, steps: int = 1, exact: bool = False) -> None:
        self.labels, self.X, self.weight, self.steps, self.exact = labels, labels.X, weight, steps, exact

    def value(self, A: Array, H: Array) -> float:
        """Return the sum of the losses."""
        return self.labels.total(A, H)

    def gradient(self, A: Array, H: Array) -> Array:
        """Return X^T D (d, L)."""
        total = np.zeros((self.X.shape[1], len(H)))
        for rows, D in self.labels.slopes(A, H):
            total += dense(self.X[rows].T @ D)
        return total

    def gradients(self, A: Array, H: Array, at: float = 1.0) -> tuple[Array, Array]:
        """Return X^T D H without intercepts, and D^T A, of the slopes D at scores `at` A H^T."""
        Z, left, right = self.labels.split(H)[0], list[Array](), np.zeros((len(H), A.shape[1]))
        for rows, D in self.labels.slopes(at * A, H):
            left.append(D @ Z)
            right += D.T @ A[rows]
        return self.X.T @ np.vstack(left), right

    def of_features(self, H: Array) -> tuple[Value, Derivatives]:
        """Return J as a function of W (d, k) (eq. 7): X^T D H + lambda W, and S -> X^T U H + lambda S."""
        labels, X, weight, Z = self.labels, self.X, self.weight, self.labels.split(H)[0]
        pulled = lambda tables: X.T @ np.vstack([D @ Z for _, D in tables])  # noqa: E731

        def derivatives(W: Array) -> tuple[Array, Product]:
            A = labels.images(W)
            curved = labels.curved(A, H)
            return pulled(labels.slopes(A, H)) + weight * W, lambda S: pulled(curved(X @ S, Z)) + weight * S

        return lambda W: labels.total(labels.images(W), H) + weight * float(np.vdot(W, W)) / 2, derivatives

    def of_labels(self, A: Array) -> tuple[Value, Derivatives]:
        """Return J as a function of H (L, k) (eq. 6): D^T A + lambda H, and S -> U^T A + lambda S."""
        labels, weights = self.labels, self.labels.penalties(self.weight, A.shape[1])
        pulled = lambda tables: sum(D.T @ A[rows] for rows, D in tables)  # noqa: E731

        def derivatives(H: Array) -> tuple[Array, Product]:
            curved = labels.curved(A, H)
            return pulled(labels.slopes(A, H)) + weights * H, lambda S: pulled(curved(A, S)) + weights * S

        return lambda H: labels.total(A, H) + float(np.vdot(H * weights, H)) / 2, derivatives

    def label_factor(self, A: Array, H: Array) -> Array:
        """Return an H of lower objective, by Newton steps."""
        return newton(*self.of_labels(A), H, NEWTON_STEPS, self.steps, NEWTON_ACCURACY)

    def feature_factor(self, W: Array, A: Array, H: Array) -> Array:
        """Return a W of lower objective, by Newton steps."""
        return newton(*self.of_features(H), W, NEWTON_STEPS, self.steps, NEWTON_ACCURACY)


class ObservedSquares(Risk):
    """Squared losses of the observed labels: H exactly, W by conjugate gradients (Algorithm 1)."""

    def label_factor(self, A: Array, H: Array) -> Array:
        """Return the H of least objective: a k x k system per label, over the rows with this label observed."""
        rhs, rows = self.labels.coded.T @ A, csr_array(self.labels.mask).tocsc()
        solutions, weights = np.zeros_like(rhs), self.labels.penalties(self.weight, A.shape[1])
        # 0 is best for a label without positive entries.
        for j in np.flatnonzero(rhs.any(axis=1)):
            B = A[rows.indices[rows.indptr[j] : rows.indptr[j + 1]]]
            solutions[j] = solve_positive(B.T @ B, rhs[j], weights)
        return solutions

    def feature_factor(self, W: Array, A: Array, H: Array) -> Array:
        """Return a W of lower objective, after conjugate gradients on eq. 10 and 11."""
        gradient, product = self.of_features(H)[1](W)
        return W + conjugate_gradients(product, gradient, self.steps, ACCURACY)


class WholeSquares(Risk):
    """Squared losses of all labels: D = A H^T - Y is never formed, as X^T D H = X^T (A M - Y H), M = H^T H (Alg. 2).

    exact: W by the closed form in the eigenbases of X^T X and of M, not by conjugate gradients.
    """

    _last: tuple[Array, Array] | None = None

    @cached_property
    def _moments(self) -> Array:
        return dense(self.X.T @ self.labels.coded)

    @cached_property
    def _spectrum(self) -> Spectrum:
        return Spectrum.of(self.X)

    def value(self, A: Array, H: Array) -> float:
        """Return ||Y - A H^T||_F^2 / 2, at least 0 despite rounding."""
        Y = self.labels.coded
        # Stored labels are 1 or -1.
        return max(0.0, float(Y.size - 2 * np.vdot(Y @ H, A) + np.vdot(A.T @ A, H.T @ H)) / 2)

    def gradient(self, A: Array, H: Array) -> Array:
        """Return X^T (A H^T - Y), (d, L)."""
        return (self.X.T @ A) @ H.T - self._moments

    def gradients(self, A: Array, H: Array, at: float = 1.0) -> tuple[Array, Array]:
        """Return X^T D H without intercepts, and D^T A, of D = `at` A H^T - Y."""
        Z = self.labels.split(H)[0]
        if not at:
            return -self._correlated(Z), -(self.labels.coded.T @ A)
        return self._pulled(A) @ (H.T @ Z) - self._correlated(Z), H @ (A.T @ A) - self.labels.coded.T @ A

    def _correlated(self, Z: Array) -> Array:
        (n, L), d = self.labels.Y.shape, self.X.shape[1]
        # A larger X^T Y saves nothing.
        return self._moments @ Z if d * L <= 64 * n else self.X.T @ (self.labels.coded @ Z)

    def _pulled(self, A: Array) -> Array:
        # X^T A, computed once per A.
        if self._last is None or self._last[0] is not A:
            self._last = A, self.X.T @ A
        return self._last[1]

    def label_factor(self, A: Array, H: Array) -> Array:
        """Return the H of least objective: one k x k system for all labels."""
        weights = self.labels.penalties(self.weight, A.shape[1])
        return solve_positive(A.T @ A, (self.labels.coded.T @ A).T, weights).T

    def feature_factor(self, W: Array, A: Array, H: Array) -> Array:
        """Return a better W after conjugate gradients on eq. 12 and 13, or the best one."""
        Z, b = self.labels.split(H)
        M, X, size = Z.T @ Z, self.X, 1.0
        if self.exact:
            return self._spectrum.solve(self.labels.coded @ Z - b.sum(axis=1) @ Z, M, self.weight)
        gradient = self._pulled(A) @ (H.T @ Z) - self._correlated(Z) + self.weight * W
        if isinstance(X, csr_array):
            # Single precision: steps are solved to a hundredth only. Dense products gain little from it.
            size = float(np.linalg.norm(gradient)) or 1.0
            M, X, gradient = M.astype(np.float32), X.astype(np.float32), (gradient / size).astype(np.float32)
        product = lambda S: X.T @ ((X @ S) @ M) + self.weight * S  # noqa: E731
        return W + size * conjugate_gradients(product, gradient, self.steps, ACCURACY)

"""Half-steps of LEML for any loss: products over observed labels (Yu et al. 2014, Algorithm 1)."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array, Matrix
from lrlab.lowrank import LowRank
from lrlab.solvers.methods.tron import Product, newton
from lrlab.solvers.multilabel.labels import Labels

ACCURACY = 0.1
"""Reduction of the gradient that ends Newton steps."""


class Part(NamedTuple):
    """The objective as a function of one factor: its value, and its gradient with the product of its Hessian."""

    value: Callable[[Array], float]
    derivatives: Callable[[Array], tuple[Array, Product]]


class Risk:
    """J(W, H) = sum of l(Y_ij, (A H^T)_ij) over observed entries + lambda (||W||^2 + ||H||^2) / 2, A = X W."""

    def __init__(self, labels: Labels, weight: float, newton_steps: int = 1, steps: int = 1) -> None:
        self.labels, self.X, self.weight = labels, labels.X, weight
        self.newton_steps, self.steps = newton_steps, steps

    def value(self, A: Array, H: Array) -> float:
        """Return the sum of the losses."""
        return self.labels.total(A, H)

    def gradients(self, A: Array, H: Array, at: float = 1.0) -> tuple[Array, Array]:
        """Return X^T D H without intercepts, and D^T A, of the slopes D at scores `at` A H^T."""
        Z, right = self.labels.embeddings(H), np.zeros((len(H), A.shape[1]))
        left = np.empty((len(A), Z.shape[1]))
        for rows, D in self.labels.slopes(at * A, H):
            left[rows] = D @ Z
            right += D.T @ A[rows]
        return self.X.T @ left, right

    def _curved(self, A: Array, H: Array) -> Callable[[Array, Array], Iterator[tuple[slice, Matrix]]]:
        """Return what yields the table U of l''(Y_ij, (A H^T)_ij) (P Q^T)_ij by blocks of rows."""
        labels, loss = self.labels, self.labels.loss
        C: Sequence[Array | float] = [1.0] * len(labels.blocks)
        if not loss.quadratic:
            C = [loss.curvature(b.target, b.scores(A[b.rows], H)) for b in labels.blocks]
        return lambda P, Q: (
            (b.rows, b.table(c * b.scores(P[b.rows], Q))) for b, c in zip(labels.blocks, C, strict=True)
        )

    def of_features(self, H: Array) -> Part:
        """Return J as a function of W (d, k) (eq. 7): X^T D H + lambda W, and S -> X^T U H + lambda S."""
        labels, X, weight, Z = self.labels, self.X, self.weight, self.labels.embeddings(H)

        def times(tables: Iterator[tuple[slice, Matrix]]) -> Array:
            product = np.empty((X.shape[0], Z.shape[1]))
            for rows, D in tables:
                product[rows] = D @ Z
            return X.T @ product

        def derivatives(W: Array) -> tuple[Array, Product]:
            A = labels.images(W)
            curved = self._curved(A, H)
            return times(labels.slopes(A, H)) + weight * W, lambda S: times(curved(X @ S, Z)) + weight * S

        return Part(lambda W: labels.total(labels.images(W), H) + weight * float(np.vdot(W, W)) / 2, derivatives)

    def of_labels(self, A: Array) -> Part:
        """Return J as a function of H (L, k) (eq. 6): D^T A + lambda H, and S -> U^T A + lambda S."""
        labels, weights = self.labels, self.labels.penalties(self.weight, A.shape[1])

        def times(tables: Iterator[tuple[slice, Matrix]]) -> Array:
            return sum(D.T @ A[rows] for rows, D in tables)

        def derivatives(H: Array) -> tuple[Array, Product]:
            curved = self._curved(A, H)
            return times(labels.slopes(A, H)) + weights * H, lambda S: times(curved(A, S)) + weights * S

        return Part(lambda H: labels.total(A, H) + float(np.vdot(H * weights, H)) / 2, derivatives)

    def label_factor(self, A: Array, H: Array) -> Array:
        """Return an H of lower objective, by trust-region Newton steps."""
        return newton(self.of_labels(A), H, self.newton_steps, self.steps, ACCURACY)

    def feature_factor(self, W: Array, A: Array, H: Array) -> Array:
        """Return a W of lower objective, by trust-region Newton steps."""
        return newton(self.of_features(H), W, self.newton_steps, self.steps, ACCURACY)


def split(Z: LowRank, trace: bool) -> tuple[Array, Array]:
    """Return Z as W H^T, such that (||W||_F^2 + ||H||_F^2) / 2 is the nuclear norm, or with W orthonormal."""
    root = np.sqrt(Z.s) if trace else np.ones_like(Z.s)
    return Z.U * root, Z.V * (root if trace else Z.s)


def first_factors(labels: Labels, k: int, rng: Generator) -> tuple[Array, Array]:
    """Return an orthonormal W, a random subspace after one power step with X^T Y, and H = 0."""
    X, Y = labels.X, labels.Y
    images = X @ rng.standard_normal((X.shape[1], k))
    return np.linalg.qr(X.T @ (Y @ (Y.T @ images)))[0], np.zeros((Y.shape[1], k))

"""Losses of label tables as functions of a whole matrix W, at the best intercepts (see `methods.proximal.Risk`)."""

import numpy as np
from scipy.sparse import issparse

from lrlab.arrays import Array
from lrlab.solvers.multilabel.labels import Labels
from lrlab.solvers.multilabel.leml_squares import WholeSquares

STEPS, ACCURACY, FARTHEST = 50, 1e-10, 30.0
"""Newton steps of intercepts, their accuracy, and the largest one, as of labels that are never or always positive."""


class Losses:
    """Sums of losses over the observed entries, minimized over intercepts, and their gradients X^T D (`Risk`)."""

    def __init__(self, labels: Labels) -> None:
        self.labels, self.quadratic = labels, labels.loss.quadratic
        self.b = np.zeros((labels.Y.shape[1], labels.intercepts))

    def intercepts(self, A: Array, H: Array) -> Array:
        """Return the best intercepts (L, 1) for scores A H^T, by Newton's method from the last ones; (L, 0) without.

        Steps have at most length 1, since the logistic loss is flat far from its minimum.
        """
        A, loss = self.labels.with_ones(A), self.labels.loss
        for _ in range(STEPS if self.b.size else 0):
            slope, curvature = np.zeros(len(H)), np.zeros(len(H))
            for block in self.labels.blocks:
                scores, target = block.scores(A[block.rows], np.hstack([H, self.b])), block.target
                slope += block.table(loss.slope(target, scores)).sum(axis=0)
                curvature += block.table(loss.curvature(target, scores)).sum(axis=0)
            step = np.divide(slope, curvature, out=np.zeros_like(slope), where=curvature > 0)
            self.b = np.clip(self.b - np.clip(step, -1.0, 1.0)[:, None], -FARTHEST, FARTHEST)
            if np.abs(step).max() < ACCURACY:
                break
        return self.b

    def images(self, U: Array) -> Array:
        """Return X U."""
        return self.labels.X @ U

    def both(self, A: Array, H: Array) -> tuple[float, Array]:
        """Return the loss of the scores A H^T, and X^T D of its slopes D at the observed entries."""
        A, H = self.labels.with_ones(A), np.hstack([H, self.intercepts(A, H)])
        value, gradient = self.labels.total(A, H), np.zeros((self.labels.X.shape[1], len(H)))
        for rows, D in self.labels.slopes(A, H):
            pulled = self.labels.X[rows].T @ D
            gradient += pulled.toarray() if issparse(pulled) else pulled
        return value, gradient


class AllSquares(Losses):
    """Half the squared losses of all labels: neither scores nor D are formed (Algorithm 2)."""

    def __init__(self, labels: Labels) -> None:
        super().__init__(labels)
        self.risk, self.moments = WholeSquares(labels, 0.0), labels.X.T @ labels.coded
        self.means = np.asarray(labels.coded.mean(axis=0))[:, None]

    def intercepts(self, A: Array, H: Array) -> Array:
        """Return the means of the residuals (L, 1); (L, 0) without intercepts."""
        return self.means - H @ A.mean(axis=0)[:, None] if self.b.size else self.b

    def both(self, A: Array, H: Array) -> tuple[float, Array]:
        """Return ||Y - A H^T||_F^2 / 2 and X^T A H^T - X^T Y."""
        A, H = self.labels.with_ones(A), np.hstack([H, self.intercepts(A, H)])
        return self.risk.value(A, H), np.asarray((self.labels.X.T @ A) @ H.T - self.moments)

"""Ridge regressions of all labels at once: by one factorisation, or by conjugate gradients on observed labels."""

from itertools import islice

import numpy as np
from scipy.sparse import issparse

from lrlab import lowrank
from lrlab.arrays import Array, Matrix
from lrlab.linalg import solve_positive
from lrlab.models.protocols import LabelData
from lrlab.protocol import Iterate, Iterates
from lrlab.solvers.methods.tron import each_column
from lrlab.solvers.multilabel.affine import Design, gram

STEPS = 10
TOGETHER = 64
"""Labels whose scores are held at a time."""


def closed(problem: LabelData, weight: float) -> Iterate:
    """Return the ridge regression of all labels, observed everywhere, by one factorisation."""
    design, Y = Design.of(problem.X, problem.intercept), problem.Y
    X, n = design.X, Y.shape[0]
    mean = np.zeros(Y.shape[1]) if design.mean is None else Y.mean(axis=0)
    sizes = design.sizes[:, None]
    tall, moments = n >= X.shape[1], dense(X.T @ Y)
    if tall:
        # In the features' own units, which must not decide what a factorisation takes for zero.
        G = gram(X, tall)
        G /= sizes
        G /= sizes.T
        Z = solve_positive(G, moments / sizes, weight / sizes.ravel() ** 2) / sizes
    else:
        Z = X.T @ solve_positive(gram(X, tall), Y.toarray() - mean, weight)
    images = X @ Z
    rest = X.T @ images - moments + weight * Z
    squares = Y.nnz - n * float(mean @ mean)
    value = (squares - 2 * float(np.vdot(moments, Z)) + float(np.vdot(images, images))) / 2
    residual = float(np.linalg.norm(rest / sizes) / (np.linalg.norm(moments / sizes) or 1.0))
    estimate = design.estimate(lowrank.LowRank, lowrank.from_dense(Z), mean)
    return Iterate(estimate, value + weight * float(np.vdot(Z, Z)) / 2, residual)


class Squares:
    """The normal equations of ridge regressions Z (d, L), below them a row of intercepts where those are wanted."""

    def __init__(self, problem: LabelData, weight: float) -> None:
        self.design, self.mask = Design.of(problem.X, problem.intercept), problem.mask
        self.columns = None if problem.mask is None else problem.mask.tocsc()
        self.weights = np.full(problem.X.shape[1], weight)
        self.moments = self.stacked(dense(self.design.X.T @ problem.Y), problem.Y.sum(axis=0))

    def stacked(self, G: Array, sums: Array) -> Array:
        """Return a table with a row of sums below it, or without one where there are no intercepts."""
        return G if self.design.mean is None else np.vstack([G, sums])

    def product(self, D: Array) -> Array:
        """Return X^T (M * (X D)) + lambda D, M the pattern of the labels observed, for a block of labels at a time."""
        X, d = self.design.X, len(self.weights)
        product, together = np.empty_like(D), D.shape[1] if self.columns is None else TOGETHER
        for start in range(0, D.shape[1], together):
            cut = slice(start, min(start + together, D.shape[1]))
            images = X @ D[:d, cut] + D[d:, cut].sum(axis=0)
            if self.columns is not None:
                images[~self.columns[:, cut].toarray()] = 0.0
            product[:, cut] = self.stacked(X.T @ images, images.sum(axis=0))
        product[:d] += self.weights[:, None] * D[:d]
        return product


def by_steps(problem: LabelData, weight: float) -> Iterates:
    """Yield the ridge regressions after every few conjugate gradients, one step length a label."""
    squares, d = Squares(problem, weight), problem.X.shape[1]
    moments = squares.moments
    Z, R, steps = np.zeros_like(moments), moments, each_column(squares.product, moments.copy())
    sizes = squares.stacked(squares.design.sizes[:, None], np.sqrt([problem.X.shape[0]]))
    size = float(np.linalg.norm(moments / sizes)) or 1.0
    while True:
        for step in islice(steps, STEPS):
            Z, R = step
        # F = ||Y||^2 / 2 - <X^T Y + R, Z> / 2, since F'(Z) = -R.
        value = (problem.Y.nnz - float(np.vdot(moments + R, Z))) / 2
        estimate = squares.design.estimate(lowrank.LowRank, lowrank.from_dense(Z[:d]), Z[d:].ravel())
        yield Iterate(estimate, value, float(np.linalg.norm(R / sizes)) / size)


def dense(table: Matrix) -> Array:
    """Return a table as an array, its own."""
    return table.toarray() if issparse(table) else np.array(table)

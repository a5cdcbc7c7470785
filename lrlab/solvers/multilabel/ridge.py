"""Ridge regressions of all labels at once: by one factorization, or by conjugate gradients on observed labels."""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.linalg import solve_positive
from lrlab.models.protocols import LabelData
from lrlab.protocol import Iterate, Iterates
from lrlab.solvers.methods.newton import Product
from lrlab.solvers.multilabel.design import Design, dense, gram


def closed(problem: LabelData, weight: float) -> Iterate:
    """Return the ridge regression of all labels, observed everywhere, by one factorization."""
    design, Y = Design.of(problem.X, problem.intercept), problem.Y
    X, n = design.X, Y.shape[0]
    mean = np.zeros(Y.shape[1]) if design.mean is None else Y.mean(axis=0)
    sizes = design.sizes[:, None]
    tall, moments = n >= X.shape[1], dense(X.T @ Y)
    if tall:
        # In the features' own units, which must not decide the numerical rank of a factorization.
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


def by_steps(problem: LabelData, weight: float) -> Iterates:
    """Yield the ridge regressions Z (d, L) after every ten conjugate gradients, with a step length per label.

    A row of intercepts stands below Z if the problem wants them.
    """
    design, d, n = Design.of(problem.X, problem.intercept), problem.X.shape[1], problem.X.shape[0]
    X, columns = design.X, None if problem.mask is None else problem.mask.tocsc()

    def stacked(G: Array, sums: Array) -> Array:
        return G if design.mean is None else np.vstack([G, sums])

    def product(D: Array) -> Array:
        """Return X^T (M * (X D)) + lambda D, M the mask, for 64 labels at a time."""
        result, together = np.empty_like(D), D.shape[1] if columns is None else 64
        for start in range(0, D.shape[1], together):
            cut = slice(start, min(start + together, D.shape[1]))
            images = X @ D[:d, cut] + D[d:, cut].sum(axis=0)
            if columns is not None:
                images[~columns[:, cut].toarray()] = 0.0
            result[:, cut] = stacked(X.T @ images, images.sum(axis=0))
        result[:d] += weight * D[:d]
        return result

    moments = stacked(dense(X.T @ problem.Y), problem.Y.sum(axis=0))
    Z, R, steps = np.zeros_like(moments), moments, each_column(product, moments.copy())
    sizes = stacked(design.sizes[:, None], np.sqrt([n]))
    first = float(np.linalg.norm(moments / sizes)) or 1.0
    while True:
        for step in islice(steps, 10):
            Z, R = step
        # F = ||Y||^2 / 2 - <X^T Y + R, Z> / 2, since F'(Z) = -R.
        value = (problem.Y.nnz - float(np.vdot(moments + R, Z))) / 2
        estimate = design.estimate(lowrank.LowRank, lowrank.from_dense(Z[:d]), Z[d:].ravel())
        yield Iterate(estimate, value, float(np.linalg.norm(R / sizes)) / first)


def each_column(product: Product, right: Array) -> Iterator[tuple[Array, Array]]:
    """Yield V and the residual right - product(V) after each conjugate gradient step, one step length per column.

    From V = 0, until all residuals are 0.
    """
    V, R, D = np.zeros_like(right), right, right
    square = (R * R).sum(axis=0)
    while (live := square > 0.0).any():
        HD = product(D)
        bend = (D * HD).sum(axis=0)
        length = np.where(live & (bend > 0), square / np.where(bend > 0, bend, 1.0), 0.0)
        V, R = V + length * D, R - length * HD
        before, square = square, (R * R).sum(axis=0)
        D = R + np.where(live, square / np.where(live, before, 1.0), 0.0) * D
        yield V, R

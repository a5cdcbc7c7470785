"""The fast products of LEML: losses, gradients and Hessian products over observed labels alone (Yu et al. 2014, 3)."""

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, vstack

from lrlab.arrays import Array, Indices, Matrix
from lrlab.linalg import places_in
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LabelData
from lrlab.operators.entries import DENSE_SHARE
from lrlab.solvers.methods.tron import Product
from lrlab.solvers.multilabel.affine import Design
from lrlab.solvers.multilabel.label_losses import Loss

BLOCK = 2**19
"""Entries of a table of labels that are held dense at a time, where all labels are observed."""
OBSERVED_BLOCK = 2**20
"""The same, or entries observed, where some are not."""


class Observed:
    """A block of rows of which some labels are observed: views of the pattern of all rows."""

    def __init__(self, mask: csr_array, rows: slice, on: Indices, loss: Loss, gather: bool) -> None:
        """Take the pattern, some of its rows, the places of labels that are on among theirs, and how to compute."""
        places = slice(mask.indptr[rows.start], mask.indptr[rows.stop])
        self.rows, self.loss, self.gather = rows, loss, gather
        self._on, self._indices, self._pointer = on, mask.indices[places], mask.indptr[rows.start : rows.stop + 1]
        self._pointer, self.shape = self._pointer - places.start, (rows.stop - rows.start, mask.shape[1])

    @property
    def target(self) -> Array:
        """The labels observed as the loss codes them."""
        positive = np.zeros(len(self._indices))
        positive[self._on] = 1.0
        return self.loss.coded(positive)

    def scores(self, A: Array, H: Array) -> Array:
        """Return (A H^T) at the entries observed."""
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self._pointer))
        if not self.gather:
            return (A @ H.T).ravel().take(rows * self.shape[1] + self._indices)
        values = np.zeros(len(rows))
        # Column by column: numpy gathers short rows ten times as slowly.
        for a, h in zip(A.T.copy(), H.T.copy(), strict=True):
            values += a[rows] * h[self._indices]
        return values

    def table(self, values: Array) -> csr_array:
        """Return the rows with such values at the entries observed."""
        return csr_array((values, self._indices, self._pointer), shape=self.shape)


def observed_blocks(Y: csr_array, mask: csr_array, loss: Loss) -> list[Observed]:
    """Return the rows in blocks; where one entry in `DENSE_SHARE` is observed, all scores of a block are computed."""
    n, L = mask.shape
    gather = n * L > DENSE_SHARE * mask.nnz
    height = max(1, (OBSERVED_BLOCK * n // max(1, mask.nnz)) if gather else OBSERVED_BLOCK // L)
    on, blocks = places_in(Y, mask), list[Observed]()
    for start in range(0, n, height):
        rows = slice(start, min(start + height, n))
        inside = on[Y.indptr[rows.start] : Y.indptr[rows.stop]] - mask.indptr[rows.start]
        blocks.append(Observed(mask, rows, inside, loss, gather))
    return blocks


class Whole:
    """A block of rows all of whose labels are observed: dense while it is worked on."""

    def __init__(self, Y: csr_array, rows: slice, loss: Loss) -> None:
        self.rows, self.labels, self.loss = rows, Y[rows], loss

    @property
    def target(self) -> Array:
        """The labels as the loss codes them."""
        return self.loss.coded(self.labels.toarray())

    def scores(self, A: Array, H: Array) -> Array:
        """Return A H^T."""
        return A @ H.T

    def table(self, values: Array) -> Array:
        """Return the values."""
        return values


class Labels:
    """Observed labels: Y (n, L) sparse with 1 where a label is on, mask (n, L), None where all are observed.

    With intercepts b (L,) images A (n, k + 1) of a factor end in a column of ones, and factors H of labels, (L, k + 1),
    in the column b: scores are A H^T either way. X is then centred where `Design.balanced` does so.
    """

    def __init__(self, X: Matrix, Y: csr_array, mask: Matrix, loss: Loss, intercepts: bool = False) -> None:
        self.Y, self.mask, self.loss, self.intercepts = Y, mask, loss, intercepts
        self.design, self.full = Design.balanced(X, intercepts), mask is None
        self.X = self.design.X
        self._images: tuple[Array, Array] | None = None

    @staticmethod
    def of(problem: LabelData, loss: Loss) -> "Labels":
        """Return the labels of a problem, with intercepts if it wants them."""
        return Labels(problem.X, problem.Y, problem.mask, loss, problem.intercept)

    def embeddings(self, H: Array) -> Array:
        """Return H without the intercepts."""
        return H[:, : H.shape[1] - self.intercepts]

    def images(self, W: Array) -> Array:
        """Return X W, and ones where there are intercepts; of the same W again the same array."""
        if self._images is None or self._images[0] is not W:
            A = self.X @ W
            self._images = W, np.hstack([A, np.ones((len(A), 1))]) if self.intercepts else A
        return self._images[1]

    def penalties(self, weight: float, columns: int) -> Array:
        """Return the weight of the penalty on each column of H: none on intercepts."""
        weights = np.full(columns, weight, dtype=float)
        weights[columns - self.intercepts :] = 0.0
        return weights

    def first_intercepts(self) -> Array:
        """Return intercepts of 0 (L, 1), (L, 0) where there are none."""
        return np.zeros((self.Y.shape[1], int(self.intercepts)))

    def estimate(self, Z: LowRank, b: Array) -> LowRank:
        """Return the predictor with scores X Z + b of rows that are not centred."""
        return self.design.estimate(self.loss.kind, Z, b.ravel())

    @cached_property
    def blocks(self) -> Sequence[Observed | Whole]:
        """The labels that are observed, in blocks of rows."""
        if self.mask is not None:
            return observed_blocks(self.Y, self.mask, self.loss)
        n, height = self.Y.shape[0], max(1, BLOCK // self.Y.shape[1])
        return [Whole(self.Y, slice(start, min(start + height, n)), self.loss) for start in range(0, n, height)]

    @cached_property
    def coded(self) -> Matrix:
        """Y as the loss codes it, empty where unobserved: sparse unless all are observed and off is not coded 0."""
        if self.loss.off == 0:
            return self.Y
        if self.full:
            return self.loss.coded(self.Y.toarray())
        return vstack([block.table(block.target) for block in self.blocks], format="csr")

    def total(self, A: Array, H: Array) -> float:
        """Return the sum of l(Y_ij, (A H^T)_ij) over the entries observed."""
        return float(sum(self.loss.value(b.target, b.scores(A[b.rows], H)).sum() for b in self.blocks))

    def slopes(self, A: Array, H: Array) -> Iterator[tuple[slice, Matrix]]:
        """Yield the table D of l'(Y_ij, (A H^T)_ij), nothing where unobserved, by blocks of rows."""
        for b in self.blocks:
            yield b.rows, b.table(self.loss.slope(b.target, b.scores(A[b.rows], H)))

    def curvatures(self, A: Array, H: Array) -> Sequence[Array | float]:
        """Return l''(Y_ij, (A H^T)_ij) of each block; 1 for squared losses, which are not written out."""
        if self.loss.quadratic:
            return [1.0] * len(self.blocks)
        return [self.loss.curvature(b.target, b.scores(A[b.rows], H)) for b in self.blocks]

    def curved(self, C: Sequence[Array | float], A: Array, H: Array) -> Iterator[tuple[slice, Matrix]]:
        """Yield the table U of C_ij (A H^T)_ij, by blocks of rows."""
        for b, c in zip(self.blocks, C, strict=True):
            yield b.rows, b.table(c * b.scores(A[b.rows], H))


def times(tables: Iterator[tuple[slice, Matrix]], H: Array, n: int) -> Array:
    """Return D H (n, k) of a table that comes in blocks of rows."""
    product = np.empty((n, H.shape[1]))
    for rows, D in tables:
        product[rows] = D @ H
    return product


def transposed_times(tables: Iterator[tuple[slice, Matrix]], A: Array) -> Array:
    """Return D^T A (L, k) of a table that comes in blocks of rows."""
    return sum(D.T @ A[rows] for rows, D in tables)


def both_times(tables: Iterator[tuple[slice, Matrix]], H: Array, A: Array) -> tuple[Array, Array]:
    """Return D H (n, k) and D^T A (L, k) of a table that comes in blocks of rows, from one pass."""
    left, right = np.empty((len(A), H.shape[1])), np.zeros((len(H), A.shape[1]))
    for rows, D in tables:
        left[rows] = D @ H
        right += D.T @ A[rows]
    return left, right


class OfFeatures:
    """J as a function of W (d, k) for a fixed H (L, k): sum of l(Y_ij, x_i^T W h_j) + lambda ||W||_F^2 / 2 (eq. 7)."""

    def __init__(self, labels: Labels, H: Array, weight: float) -> None:
        self.labels, self.H, self.weight = labels, H, weight

    def value(self, W: Array) -> float:
        """Return the objective without the part of H."""
        return self.labels.total(self.labels.images(W), self.H) + self.weight * float(np.vdot(W, W)) / 2

    def derivatives(self, W: Array) -> tuple[Array, Product]:
        """Return X^T D H + lambda W, and the map S -> X^T U H + lambda S (Algorithm 1)."""
        labels, X, A = self.labels, self.labels.X, self.labels.images(W)
        H, C = labels.embeddings(self.H), labels.curvatures(A, self.H)

        def product(S: Array) -> Array:
            return X.T @ times(labels.curved(C, X @ S, H), H, X.shape[0]) + self.weight * S

        return X.T @ times(labels.slopes(A, self.H), H, X.shape[0]) + self.weight * W, product


class OfLabels:
    """J as a function of H (L, k) for fixed A = X W: a problem of its own for every label (eq. 6), solved together."""

    def __init__(self, labels: Labels, A: Array, weight: float) -> None:
        self.labels, self.A, self.weights = labels, A, labels.penalties(weight, A.shape[1])

    def value(self, H: Array) -> float:
        """Return the objective without the part of W."""
        return self.labels.total(self.A, H) + float(np.vdot(H * self.weights, H)) / 2

    def derivatives(self, H: Array) -> tuple[Array, Product]:
        """Return D^T A + lambda H, and the map S -> U^T A + lambda S."""
        labels, A = self.labels, self.A
        C = labels.curvatures(A, H)

        def product(S: Array) -> Array:
            return transposed_times(labels.curved(C, A, S), A) + self.weights * S

        return transposed_times(labels.slopes(A, H), A) + self.weights * H, product

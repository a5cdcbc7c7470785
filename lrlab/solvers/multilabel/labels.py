"""What solvers of labels share: options and sizes; losses; and observed labels in blocks of rows.

The losses are those between labels and scores (Yu et al. 2014, Table 1, corrected). The blocks give sums of losses and
products with their derivatives (section 3 there).
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

from lrlab import losses
from lrlab.arrays import Array, Matrix
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LabelData
from lrlab.operators.entries import DENSE_SHARE
from lrlab.solver_entry import InputError, Options, choice, number, solver
from lrlab.solvers.multilabel.design import Design

Regularization = Annotated[float, number(0, 1e9, "regularization strength", symbol="λ", scale="log")]
Ridge = Annotated[float, number(1e-6, 1e9, "regularization strength of ‖w‖² / 2 per label", symbol="λ", scale="log")]
Penalty = Annotated[
    str, choice("trace", "frobenius", help="nuclear norm ‖Z‖∗ as in the paper, or ‖Z‖² / 2 as in ridge regression")
]
FittedRank = Annotated[int, number(0, 10_000, "rank of the estimate; 0 takes the rank of the problem", symbol="k")]
Steps = Annotated[int, number(1, 10_000, "most conjugate gradients for the factor of features; few of them regularize")]


def rank_of(problem: LabelData, fitted_rank: int) -> int:
    """Return the rank of the estimate, at most the largest rank of any W."""
    # Batches of signs need not be read for their size.
    size = getattr(problem, "size", None) or (problem.X.shape[1], problem.Y.shape[1])
    return min(fitted_rank or problem.rank, *size)


def refuse_rank(spec: Any, options: Options) -> None:
    """Refuse ranks that no W of the problem's size has."""
    if int(options["fitted_rank"]) > (most := min(spec.size)):
        sizes = ("d1", "d2") if "d1" in spec.values() else ("d", "labels")
        remedy = f"lower fitted_rank, or raise {' and '.join(sizes)}"
        raise InputError("fitted_rank", f"at most min({', '.join(sizes)}) = {most}", options["fitted_rank"], remedy)


def refuse_single_labels(spec: Any, options: Options) -> None:
    """Refuse samples of one-bit labels with one label each."""
    if spec.observation != "full":
        raise InputError("observation", "full for this solver", spec.observation, "set observation=full")


def factor_numbers(spec: Any, options: Options) -> int:
    """Return the numbers in factors of the estimate and in their images."""
    return min(int(options["fitted_rank"]) or spec.rank, *spec.size) * (spec.n + sum(spec.size))


def table_numbers(spec: Any, options: Options) -> int:
    """Return the numbers in an estimate of full rank and in its images."""
    return min(spec.size) * (spec.values().get("n", spec.values().get("m")) + sum(spec.size))


def gram_numbers(spec: Any, options: Options) -> int:
    """Return the numbers in the smaller of X^T X and X X^T, and in X^T Y."""
    return min(spec.n, spec.d) ** 2 + spec.d * spec.labels


label_solver = partial(solver, family="multilabel", memory=0.1)
low_rank_solver = partial(label_solver, oracle="rank", matrix=factor_numbers, refuse=refuse_rank)
table_solver = partial(
    solver, family="one-bit-multilabel", memory=0.4, matrix=table_numbers, refuse=refuse_single_labels
)
stream_solver = partial(
    solver, family="one-bit-multilabel", streams=True, memory=0.05, matrix=lambda spec, options: spec.d1 * spec.d2
)


BLOCK = 2**20
"""Entries per block of rows: the ones whose scores are computed."""


class Signed(LowRank):
    """A low-rank W whose scores x^T W predict labels coded -1 and +1: a positive score predicts a positive label."""

    threshold = 0.0


class Loss(NamedTuple):
    """A convex loss l(a, b) of arrays of labels a and scores b.

    off: code of a negative label; a positive one is 1. value, slope, curvature: l and its derivatives in b. kind: class
    of estimates with such scores, LowRank with its threshold 1/2 or Signed with 0.
    """

    value: Callable[[Array, Array], Array]
    slope: Callable[[Array, Array], Array]
    curvature: Callable[[Array, Array], Array]
    off: float = -1.0
    kind: type[LowRank] = Signed

    @property
    def quadratic(self) -> bool:
        """Whether l is quadratic in b."""
        return self.slope is SQUARED.slope

    def coded(self, positive: Array) -> Array:
        """Return labels 0 and 1 as this loss codes them."""
        return self.off + (1.0 - self.off) * positive


SQUARED = Loss(lambda a, b: (b - a) ** 2 / 2, lambda a, b: b - a, lambda a, b: np.ones_like(b), 0.0, LowRank)
SQUARED_SIGNS = SQUARED._replace(off=-1.0, kind=Signed)
"""The squared loss of labels -1 and +1: a predictor of signs without an intercept cannot fit 0 and 1."""


def of_margin(loss: losses.Loss) -> Loss:
    """Return a loss of the margins a b; the paper prints the second derivative of the logistic one negative."""
    return Loss(
        value=lambda a, b: loss.value(a * b),
        slope=lambda a, b: a * loss.slope(a * b),
        curvature=lambda a, b: loss.curvature(a * b),
    )


LOGISTIC, SQUARED_HINGE, HINGE = map(of_margin, (losses.LOGISTIC, losses.SQUARED_HINGE, losses.HINGE))
LOSSES = {"squared": SQUARED, "logistic": LOGISTIC, "squared-hinge": SQUARED_HINGE, "hinge": HINGE}
SIGN_LOSSES = {**LOSSES, "squared": SQUARED_SIGNS}


class Labels:
    """Y (n, L), sparse with 1 for positive labels, and the mask of the observed ones, None if all are observed.

    With intercepts b (L,) images A (n, k + 1) of a factor end in a column of ones, and factors H (L, k + 1) of labels
    in the column b: scores are A H^T either way. X is then centered as `Design.balanced` says. `blocks` are slices of
    rows. Values at their entries are tables (rows, L), or arrays (m,) in the order of the mask.
    """

    def __init__(self, problem: LabelData, loss: Loss) -> None:
        self.Y, self.loss, self.intercepts = problem.Y, loss, int(problem.intercept)
        self.mask: Any = problem.mask
        self.design, self.full = Design.balanced(problem.X, problem.intercept), problem.mask is None
        self.X, (n, L) = self.design.X, self.Y.shape
        m = n * L if self.mask is None else self.mask.nnz
        # If few entries are observed, scores are computed only there.
        self.gathered = n * L > DENSE_SHARE * m
        height = max(1, BLOCK * n // max(1, m) if self.gathered else BLOCK // L)
        self.blocks = [slice(start, min(start + height, n)) for start in range(0, n, height)]
        if self.mask is not None:
            self._codes = np.empty(m, np.int8)
            for rows in self.blocks:
                # 2 at the positive labels, which are among the observed ones, and 1 at the others.
                marks = (self.mask[rows] + self.Y[rows]).data
                self._codes[self._entries(rows)] = np.where(marks == 2, 1, loss.off)

    def images(self, W: Array) -> Array:
        """Return X W, followed by ones if there are intercepts."""
        A = self.X @ W
        return np.hstack([A, np.ones((len(A), 1))]) if self.intercepts else A

    def split(self, H: Array) -> tuple[Array, Array]:
        """Return H without the intercepts, and these, (L, 1) or (L, 0)."""
        Z, b = np.hsplit(H, [H.shape[1] - self.intercepts])
        return Z, b

    def penalties(self, weight: float, columns: int) -> Array:
        """Return the regularization strength per column of H: none on intercepts."""
        return weight * (np.arange(columns) < columns - self.intercepts)

    def estimate(self, Z: LowRank, b: Array) -> LowRank:
        """Return the predictor with scores X Z + b of rows that are not centered."""
        return self.design.estimate(self.loss.kind, Z, b.ravel())

    def target(self, rows: slice) -> Array:
        """Return the labels of a block as the loss codes them."""
        return self.loss.coded(self.Y[rows].toarray()) if self.mask is None else self._codes[self._entries(rows)]

    def scores(self, rows: slice, A: Array, H: Array) -> Array:
        """Return A H^T at the entries of a block."""
        A = A[rows]
        if self.mask is None:
            return A @ H.T
        lengths = np.diff(self.mask.indptr[rows.start : rows.stop + 1])
        at, columns = np.repeat(np.arange(len(A)), lengths), self.mask.indices[self._entries(rows)]
        if not self.gathered:
            return (A @ H.T).ravel().take(at * len(H) + columns)
        # Column by column: numpy gathers short rows ten times as slowly.
        return sum((a[at] * h[columns] for a, h in zip(A.T.copy(), H.T.copy(), strict=True)), np.zeros(len(at)))

    def table(self, rows: slice, values: Array) -> Matrix:
        """Return values at the entries of a block as a table (rows, L)."""
        if self.mask is None:
            return values
        pointer, cut = self.mask.indptr[rows.start : rows.stop + 1], self._entries(rows)
        # Views of the mask: copies would double its memory.
        parts = values, self.mask.indices[cut], pointer - pointer[0]
        return csr_array(parts, shape=(rows.stop - rows.start, self.Y.shape[1]))

    def _entries(self, rows: slice) -> slice:
        return slice(self.mask.indptr[rows.start], self.mask.indptr[rows.stop])

    @cached_property
    def coded(self) -> Matrix:
        """Y as the loss codes it, empty if unobserved."""
        if self.loss.off == 0:
            return self.Y
        tables = [self.table(rows, self.target(rows).astype(float)) for rows in self.blocks]
        return np.vstack(tables) if self.mask is None else vstack(tables, format="csr")

    def total(self, A: Array, H: Array) -> float:
        """Return the sum of l(Y_ij, (A H^T)_ij) over the observed entries."""
        return float(sum(self.loss.value(self.target(rows), self.scores(rows, A, H)).sum() for rows in self.blocks))

    def slopes(self, A: Array, H: Array) -> Iterator[tuple[slice, Matrix]]:
        """Yield the table D of l'(Y_ij, (A H^T)_ij), empty if unobserved, by blocks of rows."""
        for rows in self.blocks:
            yield rows, self.table(rows, self.loss.slope(self.target(rows), self.scores(rows, A, H)))

    def curved(self, A: Array, H: Array) -> Callable[[Array, Array], Iterator[tuple[slice, Matrix]]]:
        """Return what yields the table U of l''(Y_ij, (A H^T)_ij) (P Q^T)_ij by blocks of rows, from P and Q."""
        C: Sequence[Array | float] = [1.0] * len(self.blocks)
        if not self.loss.quadratic:
            C = [self.loss.curvature(self.target(rows), self.scores(rows, A, H)) for rows in self.blocks]
        return lambda P, Q: (
            (rows, self.table(rows, c * self.scores(rows, P, Q))) for rows, c in zip(self.blocks, C, strict=True)
        )

"""Rows with features and labels to learn from, and test samples: simulated or your own."""

import math
from collections.abc import Mapping
from typing import Protocol, Self

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array
from scipy.special import ndtr

from lrlab import lowrank
from lrlab.arrays import Array, Matrix, Scores
from lrlab.linalg import frozen
from lrlab.lowrank import LowRank
from lrlab.models import ranking
from lrlab.protocol import Problem

PLACES = (1, 3, 5)
"""Numbers of top-scoring labels in precision@k."""
GAINS = (3, 5)
"""Numbers of top-scoring labels in nDCG@k; nDCG@1 is the precision."""


class Predictor(Protocol):
    """An estimate of a multi-label solver, which predicts labels of new samples. `LowRank` is the linear one.

    The attribute `s` holds the singular values for figures. Its `parts` may be fewer than all `arrays`: a trace stores
    constant parts, such as the landmarks of a kernel, once.
    """

    s: Array

    @property
    def threshold(self) -> float:
        """The score above which a label is predicted."""

    def scores(self, X: Matrix) -> Scores:
        """Return the scores (n, L) of rows X (n, d): an array, or a function from a slice to those samples."""

    def arrays(self) -> dict[str, Array]:
        """Return all its arrays by name, so that a file can store it."""

    @classmethod
    def restored(cls, arrays: Mapping[str, Array]) -> Self:
        """Return the estimate with these `arrays`."""


class MultilabelProblem(Problem):
    """Features, labels, and the pattern of observed labels.

    Attributes: X (n, d), dense or sparse; Y (n, L), sparse, 1 at observed relevant labels; mask (n, L), the pattern of
    observed labels, or None if all are observed: an entry in mask and not in Y is 0, an entry outside mask is unknown.
    X_test, Y_test: fully labeled test samples. rank: rank of W, given to solvers. intercept: whether each label has an
    intercept without a penalty. All rows are in memory.
    """

    intercept = False

    def __init__(self, X: Matrix, Y: Matrix, mask: Matrix | None, X_test: Matrix, Y_test: Matrix, rank: int) -> None:
        self.X, self.Y, self.mask, self.X_test, self.Y_test = map(read_only, (X, Y, mask, X_test, Y_test))
        self.rank = rank

    def score(self, estimate: Predictor) -> dict[str, float]:
        """Return `precision_1`, `_3`, `_5`, `ndcg_3`, `_5`, `hamming` and `auc` on the test samples.

        Hamming: fraction of wrong labels at the estimate's `threshold`, by default 1/2. AUC: mean over rows with labels
        of both kinds, 1/2 without any.
        """
        return measured(estimate, self.X_test, self.Y_test)


class DrawnLabels(MultilabelProblem):
    """A problem of isotropic features, E[x x^T] = I, with a possibly known best linear predictor of labels 0 and 1.

    best: Z* (d, L), which minimizes the population risk R(Z) = mean over labels of E[(y_j - x^T z_j)^2] / 2, or None.
    """

    best: LowRank | None = None

    def score(self, estimate: Predictor) -> dict[str, float]:
        """Return the scores of MultilabelProblem, and `excess_risk` if `best` is known.

        Excess risk: R(Z) - R(Z*) = ||Z - Z*||_F^2 / (2 L), exactly, for linear predictors of labels 0 and 1.
        """
        scores = super().score(estimate)
        # Other types are not linear, or have scores for labels -1 and 1.
        if self.best is not None and type(estimate) is LowRank:  # type: ignore[comparison-overlap]
            gap = lowrank.difference(estimate, self.best)
            scores["excess_risk"] = float(np.vdot(gap, gap)) / (2 * len(self.best.V))
        return scores


def best_linear(W: LowRank, noise: float) -> LowRank:
    """Return Z* = E[x y^T] of labels y_j = [x^T w_j + noise > 0], for x a 1 and standard normal features after it.

    With w_j = (w_0, v), nu^2 = ||v||^2 + noise^2: z_j = (Phi(w_0 / nu), v phi(w_0 / nu) / nu), of the rank of W and
    one more at most. It is the best since E[x x^T] = I.
    """
    slopes, first = W.left.copy(), np.eye(len(W.U), 1)
    slopes[0] = 0.0
    offsets = W.V @ W.left[0]
    R = np.linalg.qr(slopes, mode="r")
    nu = np.sqrt(((W.V @ R.T) ** 2).sum(axis=1) + noise**2)  # type: ignore[attr-defined]
    at = offsets / nu
    density = np.exp(-(at**2) / 2) / math.sqrt(2 * math.pi)
    return lowrank.from_product(
        np.hstack([slopes, first]), np.hstack([W.V * (density / nu)[:, None], ndtr(at)[:, None]])
    )


def measured(estimate: Predictor, X: Matrix, Y: csr_array, known: csr_array | None = None) -> dict[str, float]:
    """Return the metrics of `MultilabelProblem.score` on rows X with labels Y, restricted to the pattern `known`."""
    scores, threshold = estimate.scores(X), estimate.threshold
    measures = ranking.row_measures(scores, Y, threshold, known, PLACES, GAINS)
    count = measures.pop("auc_rows")
    return {**measures, "auc": measures["auc"] if count else 0.5}


def only_observed(Y: csr_array, mask: csr_array | None) -> csr_array:
    """Return the observed relevant labels."""
    if mask is None:
        return Y
    # In blocks of a million labels: a product of whole tables needs as much memory as they.
    blocks = np.array_split(np.arange(Y.shape[0]), 1 + mask.nnz // 10**6)
    both = csr_array(sparse.vstack([Y[rows].multiply(mask[rows]) for rows in blocks]), dtype=float)
    return both.sorted_indices()


def pattern(table: Matrix) -> csr_array:
    """Return 1 at the entries of a table that are not zero, as sparse rows, sorted."""
    rows = csr_array(table, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return csr_array((np.ones(rows.nnz), rows.indices, rows.indptr), shape=rows.shape)


def read_only(table: Matrix) -> Matrix:
    """Return a read-only view of a table, if any; indices have 32 bits if they fit, as compiled libraries need them."""
    if not sparse.issparse(table):
        return None if table is None else frozen(table.view())
    parts = [part.view() for part in (table.data, table.indices, table.indptr)]
    if max(table.nnz, *table.shape) < 2**31:
        parts[1:] = (part.astype(np.int32, copy=False) for part in parts[1:])
    rows = csr_array(tuple(parts), shape=table.shape)
    for part in (rows.data, rows.indices, rows.indptr):
        frozen(part)
    return rows


def label_shares(Y: csr_array, known: csr_array | None) -> Array:
    """Return the fraction of observed rows with each label (L,), 0 for a label without observations."""
    on = Y.sum(axis=0)
    observed = np.full(len(on), Y.shape[0]) if known is None else known.sum(axis=0)
    return np.divide(on, observed, out=np.zeros(len(on)), where=observed > 0)

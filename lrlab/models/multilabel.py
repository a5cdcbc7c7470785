"""Multi-label learning: samples with features and 0/1 labels, some of them observed (Yu et al. 2014, section 2)."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Protocol, Self

import numpy as np
from numpy.random import Generator, SeedSequence
from scipy import sparse
from scipy.sparse import csr_array
from scipy.special import ndtr

from lrlab import lowrank
from lrlab.arrays import Array, Matrix, Scores
from lrlab.linalg import frozen
from lrlab.lowrank import LowRank
from lrlab.model_entry import COMMON_MEASURES, Family, Goal, Measure, ModelEntry
from lrlab.models import ranking, views
from lrlab.models.low_rank import Rank
from lrlab.models.low_rank_problem import orthonormal
from lrlab.parameters import InputError, number
from lrlab.protocol import Checkpoint, Problem, Spec, View, child, proceed

FRESH = 1000
"""Number of test samples."""
BLOCK = 2**22
"""Entries of the label matrix, or of the features, per simulated block."""
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


@dataclass(frozen=True, kw_only=True)
class Multilabel(Spec):
    """Each sample has the labels of its highest scores x^T W + noise, W (d, L) of low rank; the first feature is 1.

    With per_row=0 it has all labels with a positive score. Features are isotropic: E[x x^T] = I.
    """

    model = "multilabel"
    title = "Multi-label learning with missing labels"
    summary = "Samples carry a few of many labels, some unobserved; a low-rank W predicts the labels of new samples."
    equation = (
        r"Y_{ij} = 1 \iff x_i^\top w_j + \sigma e_{ij} \text{ is one of the highest of sample } i,"
        r" \qquad W = [w_1, \dots, w_L],\ \operatorname{rank} W = k"
    )

    n: Annotated[int, number(2, 1_000_000, "number of samples", scale="log")] = 2000
    d: Annotated[int, number(2, 1_000_000, "features per sample; the first is the constant 1", scale="log")] = 100
    labels: Annotated[int, number(2, 100_000, "number of labels", symbol="L", scale="log")] = 50
    rank: Rank = 5
    observed: Annotated[float, number(1e-4, 1, "fraction of the labels that is observed", scale="log")] = 1.0
    density: Annotated[float, number(1e-5, 1, "fraction of nonzero features; 1 is dense", scale="log")] = 1.0
    per_row: Annotated[
        int, number(0, 1000, "relevant labels per sample; 0: all labels with a positive score", scale="log")
    ] = 3
    seen_per_row: Annotated[
        int, number(0, 100_000, "observed labels per sample; 0: see `observed`", symbol="s", scale="log")
    ] = 0
    noise: Annotated[float, number(0, 10, "standard deviation of the noise in scores of size 1", symbol="σ")] = 0.5

    def check(self) -> None:
        """Reject ranks and numbers of labels above the possible ones."""
        least, expected = min(self.size), f"less than labels = {self.labels}"
        if self.rank > least:
            remedy = "lower the rank, or raise d and labels"
            raise InputError("rank", f"in 1..min(d, labels) = {least}", self.rank, remedy)
        if self.per_row >= self.labels:
            raise InputError("per_row", expected, self.per_row, "lower per_row, or raise labels")
        if self.seen_per_row >= self.labels:
            raise InputError("seen_per_row", expected, self.seen_per_row, "set it to 0 to observe all labels")
        if self.seen_per_row and self.observed < 1:
            expected = "1 if seen_per_row is not 0"
            raise InputError("observed", expected, self.observed, "leave out one of the two")

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns of W."""
        return self.d, self.labels

    @property
    def remark(self) -> str:
        """Warn if the samples do not determine W."""
        if self.n >= self.d:
            return ""
        return f"Fewer samples (n = {self.n}) than features (d = {self.d}): only regularization makes W unique."

    @property
    def complete(self) -> bool:
        """Whether all labels are observed."""
        return self.observed == 1 and not self.seen_per_row

    @property
    def observed_entries(self) -> int:
        """Approximate number of observed labels."""
        return self.seen_per_row * self.n or math.ceil(self.observed * self.n * self.labels)

    @property
    def data_bytes(self) -> int:
        """Memory of features, positive labels, observed indices, test samples, and the block in progress."""
        entries = self.n * (self.d if self.density == 1 else 1 + math.ceil(self.density * (self.d - 1)))
        features = int((1.0 + FRESH / self.n) * (8 if self.density == 1 else 26) * entries)
        masked = 0 if self.complete else 6 * self.observed_entries
        on = self.per_row or self.labels / 2
        drawn = int(16 * self.n * (on + 1)) + 32 * min(BLOCK, self.n * max(self.size))
        return features + masked + drawn

    def truth(self) -> LowRank:
        """Return W with uniformly distributed singular vectors and equal singular values; scores have variance 1."""
        rng = np.random.default_rng(self.streams().truth)
        s = np.full(self.rank, math.sqrt(self.labels / self.rank))
        return LowRank(orthonormal(rng, self.d, self.rank), s, orthonormal(rng, self.labels, self.rank))

    view_words = views.LABEL_MAP

    def view(self, estimate: LowRank | None) -> View | None:
        """Return the map of labels."""
        return views.label_map(self, estimate, constant=True)

    @property
    def absent_metrics(self) -> tuple[str, ...]:
        """The excess risk if the best linear predictor is unknown."""
        return () if self.per_row == 0 and self.density == 1 else ("excess_risk",)

    def build(self, checkpoint: Checkpoint = proceed) -> DrawnLabels:
        """Draw the training and test samples."""
        W, streams = self.truth(), self.streams()
        given, fresh, places = streams.data.spawn(3)
        X, Y = self._rows(W, self.n, given, checkpoint)
        X_test, Y_test = self._rows(W, FRESH, fresh, proceed)
        mask = self._mask(places)
        problem = DrawnLabels(X, only_observed(Y, mask), mask, X_test, Y_test, self.rank)
        problem.spec = self
        if not self.absent_metrics:
            problem.best = best_linear(W, self.noise)
        return problem

    def _cuts(self, rows: int) -> Iterator[tuple[int, int]]:
        """Yield the number and the height of each block of rows."""
        height = max(1, BLOCK // max(self.size))
        for index, start in enumerate(range(0, rows, height)):
            yield index, min(height, rows - start)

    def _rows(self, W: LowRank, rows: int, stream: SeedSequence, checkpoint: Checkpoint) -> tuple[Matrix, csr_array]:
        blocks, labels, done = [], [], 0
        dense = np.empty((rows, self.d)) if self.density == 1 else None
        for index, height in self._cuts(rows):
            checkpoint(done / rows)
            rng = child(stream, index)
            X = self._features(rng, height)
            scores = (X @ W.left) @ W.V.T
            scores += self.noise * rng.standard_normal(scores.shape)
            labels.append(highest(scores, self.per_row) if self.per_row else csr_array(scores > 0))
            if dense is None:
                blocks.append(X)
            else:
                dense[done : done + height] = X
            done += height
        Y = csr_array(sparse.vstack(labels, format="csr"), dtype=float)
        return sparse.vstack(blocks, format="csr") if dense is None else dense, Y

    def _features(self, rng: Generator, height: int) -> Matrix:
        """Return features of mean square 1, the first of them constant."""
        if self.density == 1:
            X = rng.standard_normal((height, self.d))
            X[:, 0] = 1.0
            return X
        X = scattered(rng, (height, self.d - 1), self.density).astype(float)
        X.data = rng.standard_normal(X.nnz) / math.sqrt(self.density)
        return sparse.hstack([csr_array(np.ones((height, 1))), X], format="csr")

    def _mask(self, stream: SeedSequence) -> csr_array | None:
        if self.complete:
            return None

        def block(rng: Generator, height: int) -> csr_array:
            if self.seen_per_row:
                return highest(rng.random((height, self.labels)), self.seen_per_row)
            return scattered(rng, (height, self.labels), self.observed)

        return sparse.vstack([block(child(stream, i), height) for i, height in self._cuts(self.n)], format="csr")


def scattered(rng: Generator, shape: tuple[int, int], share: float) -> csr_array:
    """Return a pattern of True at a fraction of the entries, drawn uniformly without replacement."""
    rows, columns = shape
    total = rows * columns
    # Random rounding gives many small blocks the same fraction as one large block.
    size = min(total, int(share * total + rng.random()))
    places = np.sort(rng.choice(total, size=size, replace=False, shuffle=False))
    ends = np.cumsum(np.bincount(places // columns, minlength=rows))
    indices, pointer = (each.astype(np.int32) for each in (places % columns, np.append(0, ends)))
    return csr_array((np.ones(size, bool), indices, pointer), shape=shape)


def drawn_pattern(rng: Generator, shape: tuple[int, int], share: float) -> csr_array:
    """Return a pattern of True at a fraction of the entries, as `scattered` for one block of rows after the other."""
    rows, columns = shape
    height = max(1, BLOCK // columns)
    cuts = [(min(height, rows - start), columns) for start in range(0, rows, height)]
    return sparse.vstack([scattered(rng, cut, share) for cut in cuts], format="csr")


def highest(scores: Array, count: int) -> csr_array:
    """Return a pattern of True at the `count` highest scores of each row."""
    rows = len(scores)
    places = np.sort(np.argpartition(-scores, count - 1, axis=1)[:, :count], axis=1)
    return csr_array((np.ones(places.size, bool), places.ravel(), np.arange(rows + 1) * count), shape=scores.shape)


def precision(k: int) -> Measure:
    """Return the metric precision@k in words."""
    words = f"fraction of relevant labels among the top {k}, mean over test samples"
    return Measure(f"precision@{k}", words, rising=True)


def gain(k: int) -> Measure:
    """Return the metric nDCG@k in words."""
    words = f"gain 1 / log2(1 + position) of the relevant labels among the first {k}, relative to the best order"
    return Measure(f"nDCG@{k}", words, rising=True)


FAMILY = Family(
    name="multilabel",
    measures={
        **{f"precision_{k}": precision(k) for k in (3, 1, 5)},
        **{f"ndcg_{k}": gain(k) for k in (3, 5)},
        "hamming": Measure("Hamming loss", "fraction of labels of test samples predicted wrongly (threshold 1/2)"),
        "auc": Measure(
            "AUC",
            "probability that a relevant label has a higher score than an irrelevant one, mean over test samples",
            rising=True,
        ),
        "excess_risk": Measure("excess risk", "population squared risk minus the risk of the best linear predictor"),
        **COMMON_MEASURES,
    },
    goal=Goal("precision_3", above=0.3),
    solvers=("leml", "binary-relevance"),
    measured=views.measured_rows,
    verdict=views.verdict_rows,
    order=("leml", "cplst", "binary-relevance", "wsabie", "kernel-leml", "bcs", "trace-norm"),
    ranges={"n": (100.0, 8000.0, "log"), "observed": (0.01, 1.0, "log")},
    limits={"max_iter": 60},
    grows=("n", "observed"),
    falls=("noise", "missing"),
)

ENTRY = ModelEntry(
    spec=Multilabel,
    family=FAMILY,
    main=("observed", "rank", "noise"),
    plane=("noise", "observed"),
    held={"n": 500, "d": 40, "labels": 30},
)

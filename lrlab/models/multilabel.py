"""Multi-label learning: samples with features and 0/1 labels, some of them observed (Yu et al. 2014, section 2)."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.random import Generator, SeedSequence
from scipy import sparse
from scipy.sparse import csr_array

from lrlab.arrays import Array, Indices, Matrix
from lrlab.lowrank import LowRank
from lrlab.model_entry import COMMON_MEASURES, Family, Goal, Measure, ModelEntry
from lrlab.models import views
from lrlab.models.low_rank import Rank
from lrlab.models.low_rank_problem import orthonormal
from lrlab.models.multilabel_problem import DrawnLabels, best_linear, only_observed
from lrlab.parameters import InputError, number
from lrlab.protocol import Checkpoint, Spec, View, child, proceed

FRESH = 1000
"""Number of test samples."""
BLOCK = 2**22
"""Entries of the label matrix, or of the features, per simulated block."""


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
    def feature_entries(self) -> int:
        """Approximate number of stored features of the training samples."""
        return self.n * (self.d if self.density == 1 else 1 + math.ceil(self.density * (self.d - 1)))

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
        features = int((1.0 + FRESH / self.n) * (8 if self.density == 1 else 26) * self.feature_entries)
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
    pointer = np.concatenate([[0], np.cumsum(np.bincount(places // columns, minlength=rows))])
    return csr_array((np.ones(size, bool), places % columns, pointer), shape=shape)


def drawn_pattern(rng: Generator, shape: tuple[int, int], share: float) -> csr_array:
    """Return a pattern of True at a fraction of the entries, as `scattered` for one block of rows after the other.

    Indices have 32 bits: 5 bytes per entry, and little more in between.
    """
    rows, columns = shape
    height, parts, lengths = max(1, BLOCK // columns), list[Indices](), list[Indices]()
    for start in range(0, rows, height):
        block = scattered(rng, (min(height, rows - start), columns), share)
        parts.append(block.indices.astype(np.int32))
        lengths.append(np.diff(block.indptr))
    pointer = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    pointer = pointer.astype(np.int32 if pointer[-1] < 2**31 else np.int64)
    return csr_array((np.ones(pointer[-1], bool), np.concatenate(parts), pointer), shape=shape)


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

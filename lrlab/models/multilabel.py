"""Multi-label learning: rows of 0/1 labels, of which some are observed, and features (Yu et al. 2014, section 2)."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csr_array

from lrlab.lowrank import LowRank
from lrlab.models.low_rank import Rank, orthonormal
from lrlab.models.multilabel_problem import MultilabelProblem, only_seen
from lrlab.parameters import InputError, Parameter
from lrlab.protocol import Checkpoint, Spec, child, proceed

Array = NDArray[np.float64]
Features = Array | csr_array

FRESH = 1000
"""Rows on which predictions are tested."""
BLOCK = 2**22
"""Entries of the label table, or of the features, that are drawn at a time."""


@dataclass(frozen=True, kw_only=True)
class LabelRows(Spec):
    """Rows with features and labels, drawn or given: their sizes, as solvers and forecasts of memory ask for them."""

    n: Annotated[int, Parameter(meaning="number of rows", low=2, high=1_000_000, scale="log")] = 2000
    d: Annotated[
        int,
        Parameter(meaning="features of a row, the first of them the constant 1", low=2, high=1_000_000, scale="log"),
    ] = 100
    labels: Annotated[int, Parameter(meaning="number of labels", symbol="L", low=2, high=100_000, scale="log")] = 50
    rank: Rank = 5
    observed: Annotated[
        float,
        Parameter(
            meaning="share of the entries of the label table that is seen, whether 0 or 1",
            low=1e-4,
            high=1,
            scale="log",
        ),
    ] = 1.0
    density: Annotated[
        float, Parameter(meaning="share of the features that is not zero; 1 is dense", low=1e-5, high=1, scale="log")
    ] = 1.0

    def check(self) -> None:
        """Refuse ranks that no such table has."""
        least = min(self.d, self.labels)
        if self.rank > least:
            expected = f"in 1..min(d, labels) = {least}"
            raise InputError("rank", expected, self.rank, "lower the rank, or raise d and labels")

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns of W."""
        return self.d, self.labels

    @property
    def feature_entries(self) -> int:
        """Stored features of the rows given, about."""
        return self.n * (self.d if self.density == 1 else 1 + math.ceil(self.density * (self.d - 1)))

    @property
    def seen_entries(self) -> int:
        """Entries of the label table that are observed, about."""
        return math.ceil(self.observed * self.n * self.labels)

    @property
    def held_bytes(self) -> int:
        """Memory of features of the rows given and of the places that are seen."""
        one = 8 if self.density == 1 else 26
        return one * self.feature_entries + (0 if self.observed == 1 else 10 * self.seen_entries)

    @property
    def thrift(self) -> str:
        """Fewer stored features."""
        return "lower density, since only features that are not zero are held"


@dataclass(frozen=True, kw_only=True)
class Multilabel(LabelRows):
    """Each row has the labels of its highest scores x^T W + noise, W (d, L) of low rank; the first feature is 1."""

    model = "multilabel"
    title = "Multi-label learning with missing labels"
    summary = "Every row carries a few of many labels, some of them unseen; a low-rank W predicts those of new rows."

    per_row: Annotated[
        int, Parameter(meaning="labels of each row: those of its highest scores", low=1, high=1000, scale="log")
    ] = 3
    noise: Annotated[
        float,
        Parameter(
            meaning="standard deviation of noise added to each score, whose own is about 1", symbol="σ", low=0, high=10
        ),
    ] = 0.5

    def check(self) -> None:
        """Refuse ranks and numbers of labels that no such table has."""
        super().check()
        if self.per_row >= self.labels:
            expected = f"less than labels = {self.labels}"
            raise InputError("per_row", expected, self.per_row, "lower per_row, or raise labels")

    @property
    def data_bytes(self) -> int:
        """Memory of features, positive labels, places seen, fresh rows, and of the block that is being drawn."""
        fresh = FRESH / self.n * (8 if self.density == 1 else 26) * self.feature_entries
        drawn = 16 * self.n * (self.per_row + 1) + 32 * min(BLOCK, self.n * max(self.size))
        return self.held_bytes + int(fresh) + drawn

    def truth(self) -> LowRank:
        """Return W with uniformly distributed singular vectors and equal singular values; scores have variance 1."""
        rng = np.random.default_rng(self.streams().truth)
        s = np.full(self.rank, math.sqrt(self.labels / self.rank))
        return LowRank(orthonormal(rng, self.d, self.rank), s, orthonormal(rng, self.labels, self.rank))

    def build(self, checkpoint: Checkpoint = proceed) -> MultilabelProblem:
        """Draw the rows that are given and those for the test."""
        W, streams = self.truth(), self.streams()
        given, fresh, places = streams.data.spawn(3)
        X, Y = self._rows(W, self.n, given, checkpoint)
        X_test, Y_test = self._rows(W, FRESH, fresh, proceed)
        mask = self._mask(places)
        return MultilabelProblem(X, only_seen(Y, mask), mask, X_test, Y_test, self.rank, self)

    def _cuts(self, rows: int) -> Iterator[tuple[int, int]]:
        """Yield the number and the height of each block of rows."""
        height = max(1, BLOCK // max(self.size))
        for index, start in enumerate(range(0, rows, height)):
            yield index, min(height, rows - start)

    def _rows(self, W: LowRank, rows: int, stream: SeedSequence, checkpoint: Checkpoint) -> tuple[Features, csr_array]:
        blocks, tops, done = [], [], 0
        dense = np.empty((rows, self.d)) if self.density == 1 else None
        for index, height in self._cuts(rows):
            checkpoint(done / rows)
            rng = child(stream, index)
            X = self._features(rng, height)
            scores = (X @ W.left) @ W.V.T
            scores += self.noise * rng.standard_normal(scores.shape)
            tops.append(np.sort(np.argpartition(-scores, self.per_row - 1, axis=1)[:, : self.per_row], axis=1))
            if dense is None:
                blocks.append(X)
            else:
                dense[done : done + height] = X
            done += height
        columns, pointer = np.concatenate(tops).ravel(), np.arange(rows + 1) * self.per_row
        Y = csr_array((np.ones(len(columns)), columns, pointer), shape=(rows, self.labels))
        return sparse.vstack(blocks, format="csr") if dense is None else dense, Y

    def _features(self, rng: Generator, height: int) -> Features:
        """Return features of mean square 1, the first of them constant."""
        if self.density == 1:
            X = rng.standard_normal((height, self.d))
            X[:, 0] = 1.0
            return X
        X = scattered(rng, (height, self.d - 1), self.density).astype(float)
        X.data = rng.standard_normal(X.nnz) / math.sqrt(self.density)
        return sparse.hstack([csr_array(np.ones((height, 1))), X], format="csr")

    def _mask(self, stream: SeedSequence) -> csr_array | None:
        if self.observed == 1:
            return None
        blocks = [scattered(child(stream, i), (height, self.labels), self.observed) for i, height in self._cuts(self.n)]
        return sparse.vstack(blocks, format="csr")


def scattered(rng: Generator, shape: tuple[int, int], share: float) -> csr_array:
    """Return a pattern of True at a share of the places, drawn uniformly without replacement."""
    rows, columns = shape
    total = rows * columns
    # The fraction of a place is drawn too, so that many small blocks have the share that one large block has.
    size = min(total, int(share * total + rng.random()))
    places = np.sort(rng.choice(total, size=size, replace=False, shuffle=False))
    pointer = np.concatenate([[0], np.cumsum(np.bincount(places // columns, minlength=rows))])
    return csr_array((np.ones(size, bool), places % columns, pointer), shape=shape)

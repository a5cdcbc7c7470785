"""One-bit single-label multi-label learning: a stream of samples with one observed sign each (Qiu et al. 2017)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence
from scipy.sparse import csr_array, vstack

from lrlab import lowrank
from lrlab.arrays import Array, Indices
from lrlab.linalg import frozen
from lrlab.lowrank import LowRank
from lrlab.model_entry import COMMON_MEASURES, Family, Goal, Measure, ModelEntry
from lrlab.models import ranking, views
from lrlab.models.low_rank import Rank
from lrlab.models.multilabel import MultilabelProblem
from lrlab.models.single_index import IN_MEMORY
from lrlab.parameters import InputError, choice, gaussian_noise, number
from lrlab.protocol import Checkpoint, Problem, Spec, View, child, proceed

BLOCK = 2**21
"""Features, or signs, per simulated block."""


class Samples(NamedTuple):
    """A block of samples: X (n, d1); labels (n,), the observed label of each, and y (n,) in +-1, its sign.

    If all labels are observed, labels is None and y is (n, d2).
    """

    X: Array
    labels: Indices | None
    y: Array

    def margins(self, W: LowRank) -> Array:
        """Return x_i^T w_j at the observed labels, of the shape of y; W (d1, d2)."""
        images = self.X @ W.left
        return images @ W.V.T if self.labels is None else np.einsum("ik,ik->i", images, W.V[self.labels])

    def add_moment(self, r: Array, total: Array) -> None:
        """Add the sum of r_ij e_j x_i^T over the observed labels to `total` (d2, d1); r has the shape of y."""
        if self.labels is None:
            total += r.T @ self.X
            return
        counted = np.flatnonzero(r)
        # Only samples whose r is not 0 are read, grouped by their label: one sparse product, no loop over samples.
        present, group = np.unique(self.labels[counted], return_inverse=True)
        pattern = csr_array((r[counted], (group, counted)), shape=(len(present), len(r)))
        total[present] += pattern @ self.X

    def tables(self, d2: int) -> tuple[csr_array, csr_array | None]:
        """Return 1 at positive signs (n, d2), and the pattern of observed labels, None for all."""
        if self.labels is None:
            return csr_array(self.y > 0, dtype=float), None
        rows, shape = np.arange(len(self.y)), (len(self.y), d2)
        on = self.y > 0
        Y = csr_array((np.ones(on.sum()), (rows[on], self.labels[on])), shape=shape)
        return Y, csr_array((np.ones(len(rows), bool), (rows, self.labels)), shape=shape)


class OneBitMultilabelProblem(Problem):
    """The stream of one spec, read in blocks. Only the score may read the truth.

    Attributes: spec; truth (LowRank); size (d1, d2) and rank, given to solvers; fresh, whether every batch is new;
    signs_per_label, the mean number of signs per label in a batch; X_test (test_rows, d1) and Y_test, sparse, 1 at
    positive signs; intercept: no label has one.
    """

    intercept = False

    def __init__(self, spec: Any, checkpoint: Checkpoint = proceed) -> None:
        self.spec, self.truth, self.rank, self.checkpoint = spec, spec.truth(), spec.rank, checkpoint
        self.fresh, self.signs_per_label, self.size = spec.observation == "stream", spec.signs_per_label, spec.size
        # Independent of the batch size, so that a larger batch begins as a smaller one does.
        self.block_rows = max(1, BLOCK // (spec.d1 if self.fresh else max(spec.size)))
        for part in self.truth:
            frozen(part)
        self._data, self._test = spec.streams().data.spawn(2)
        self._blocks: tuple[int, list[Samples]] = (-1, [])

    def load(self, everything: bool) -> None:
        """Draw the test samples, and the first batch if it fits in memory."""
        _ = self.X_test, self.Y_test
        if self._keeps:
            self._keep(0)

    @property
    def batches(self) -> Iterator[int]:
        """The numbers of the batches in order; 0 forever if there is only one."""
        return iter(range(self.spec.batches)) if self.fresh else repeat(0)

    def blocks(self, batch: int) -> Iterator[Samples]:
        """Yield a batch in read-only blocks of rows; each pass draws large batches anew.

        Passes report to the run's checkpoint, which raises Interrupted to end the run.
        """
        if self._keeps:
            self._keep(batch)
        for index, start in enumerate(range(0, self.spec.m, self.block_rows)):
            self.checkpoint(start / self.spec.m)
            yield self._blocks[1][index] if self._keeps else self._draw(batch, index)

    def table(self, batch: int) -> MultilabelProblem:
        """Return a batch as one label matrix in memory, for solvers of multi-label problems."""
        X, parts, start = np.empty((self.spec.m, self.spec.d1)), [], 0
        for block in self.blocks(batch):
            X[start : start + len(block.X)] = block.X
            parts.append(block.tables(self.spec.d2))
            start += len(block.X)
        Y, masks = (list(part) for part in zip(*parts, strict=True))
        mask = vstack(masks, format="csr") if self.fresh else None
        return MultilabelProblem(X, vstack(Y, format="csr"), mask, self.X_test, self.Y_test, self.rank)

    @cached_property
    def _table(self) -> MultilabelProblem:
        """The first batch, for solvers that need a single one."""
        return self.table(0)

    X = property(lambda self: self._table.X)
    Y = property(lambda self: self._table.Y)
    mask = property(lambda self: self._table.mask)

    @property
    def _keeps(self) -> bool:
        return self.spec.data_bytes <= IN_MEMORY

    def _keep(self, batch: int) -> None:
        if self._blocks[0] != batch:
            count = len(range(0, self.spec.m, self.block_rows))
            self._blocks = batch, [self._draw(batch, index) for index in range(count)]

    def _draw(self, batch: int, index: int) -> Samples:
        rows = min(self.block_rows, self.spec.m - index * self.block_rows)
        rng = child(SeedSequence(self._data.entropy, spawn_key=(*self._data.spawn_key, batch)), index)
        X = rng.standard_normal((rows, self.spec.d1))
        labels = rng.integers(self.spec.d2, size=rows) if self.fresh else None
        clean = Samples(X, labels, np.empty(0)).margins(self.truth)
        noisy = clean + self.spec.noise * rng.standard_normal(clean.shape)
        y = np.where((noisy >= 0) != (rng.random(clean.shape) < self.spec.flip), 1.0, -1.0)
        for part in (X, y) if labels is None else (X, y, labels):
            frozen(part)
        return Samples(X, labels, y)

    @cached_property
    def X_test(self) -> Array:
        """Features of the test samples (test_rows, d1)."""
        return frozen(np.random.default_rng(self._test).standard_normal((self.spec.test_rows, self.spec.d1)))

    @cached_property
    def Y_test(self) -> csr_array:
        """Noiseless labels of the test samples (test_rows, d2), 1 if positive."""
        return csr_array((self.X_test @ self.truth.left) @ self.truth.V.T >= 0, dtype=float)

    def score(self, estimate: LowRank) -> dict[str, float]:
        """Return `error` and `spectral_error` against the truth; `hamming`, `auc` and `label_auc` on the test samples.

        W is compared with normalized columns. Hamming: fraction of wrong signs. AUC: per row and per label, averaged
        over those with both signs; 1/2 without any.
        """
        scores = (self.X_test @ estimate.left) @ estimate.V.T
        of_rows = ranking.row_measures(scores, self.Y_test, lowrank.THRESHOLDS["signs"])
        of_labels = ranking.label_auc(scores, self.Y_test)
        return {
            **lowrank.errors(lowrank.columns_normalized(estimate), self.truth),
            "hamming": of_rows["hamming"],
            "auc": of_rows["auc"] if of_rows["auc_rows"] else 0.5,
            "label_auc": 0.5 if np.isnan(of_labels) else of_labels,
        }


@dataclass(frozen=True, kw_only=True)
class OneBitMultilabel(Spec):
    """Signs y = sign(x^T w_j + noise), x ~ N(0, I), of labels j; W (d1, d2) of low rank with columns of length 1.

    The paper writes sign(<x e^T, W> + xi) with e = sqrt(d2) e_j and a xi of variance xi^2 (sections 2.1 and 5.1). Taken
    literally, xi would be sqrt(d2) times too small for the reported results. Here xi is `noise`, added to a margin x^T
    w_j of variance 1. W is U V^T with standard normal factors and normalized columns.
    """

    undetermined = "columns"

    model = "one-bit-multilabel"
    title = "One-bit labels, one per sample"
    summary = "Samples come in batches and reveal the sign of one label each: y = sign(⟨x, wⱼ⟩ + ξe)."
    equation = (
        r"y_i = \operatorname{sign}(\langle x_i, w_{j(i)}\rangle + \xi e_i),"
        r" \qquad W = [w_1, \dots, w_{d_2}],\ \operatorname{rank} W = k"
    )

    m: Annotated[int, number(2, 1_000_000, "samples per batch", scale="log")] = 20_000
    d1: Annotated[int, number(1, 10_000, "features per sample", symbol="d₁", scale="log")] = 100
    d2: Annotated[int, number(1, 10_000, "number of labels", symbol="d₂", scale="log")] = 50
    rank: Rank = 3
    batches: Annotated[int, number(1, 1000, "batches, one per step", symbol="T", scale="log")] = 10
    observation: Annotated[
        str, choice("stream", "full", help="new batches with one label per sample, or one batch with all labels")
    ] = "stream"
    noise: Annotated[float, gaussian_noise("⟨x, wⱼ⟩", "ξ")] = 0.0
    flip: Annotated[float, number(0, 0.5, "probability that a sign is flipped", symbol="p")] = 0.0

    test_rows: Annotated[int, number(1, 100_000, "test samples", scale="log", added=True)] = 1000

    def check(self) -> None:
        """Reject a rank above the smaller side."""
        least = min(self.size)
        if self.rank > least:
            raise InputError("rank", f"in 1..min(d1, d2) = {least}", self.rank, "lower the rank, or raise d1 and d2")

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns of W."""
        return self.d1, self.d2

    @property
    def signs_per_label(self) -> float:
        """Mean number of signs per label in a batch."""
        return float(self.m) if self.observation == "full" else self.m / self.d2

    @property
    def data_bytes(self) -> int:
        """Memory of one batch, of the test samples, and of the block in progress."""
        signs = 12 * self.d2 if self.observation == "full" else 16
        return self.m * (8 * self.d1 + signs) + self.test_rows * (8 * self.d1 + 24 * self.d2) + 24 * BLOCK

    def truth(self) -> LowRank:
        """Return W."""
        rng = np.random.default_rng(self.streams().truth)
        U, V = (rng.standard_normal((d, self.rank)) for d in self.size)
        return lowrank.columns_normalized(lowrank.from_product(U, V))

    view_words = views.LABEL_MAP

    def view(self, estimate: LowRank | None) -> View | None:
        """Return the map of labels."""
        return views.label_map(self, estimate, constant=False)

    def build(self, checkpoint: Checkpoint = proceed) -> OneBitMultilabelProblem:
        """Draw the truth; the first access draws the batches."""
        return OneBitMultilabelProblem(self, checkpoint)


FAMILY = Family(
    name="one-bit-multilabel",
    measures={
        "error": Measure("error  ‖Ŵ − W‖ / ‖W‖", "relative Frobenius distance from W, columns normalized"),
        "spectral_error": Measure("spectral error", "the same in the spectral norm, over the largest singular value"),
        "hamming": Measure("Hamming loss", "fraction of the signs of all labels of test samples predicted wrongly"),
        "auc": Measure(
            "AUC",
            "probability that a positive label has a higher score than a negative one, mean over test samples",
            rising=True,
        ),
        "label_auc": Measure(
            "AUC of labels",
            "probability that a positive sample has a higher score than a negative one, mean over labels",
            rising=True,
        ),
        **COMMON_MEASURES,
    },
    goal=Goal("hamming", 0.1),
    solvers=("one-bit-power", "one-bit-likelihood", "leml"),
    measured=views.measured_signs,
    verdict=views.verdict_signs,
    order=("one-bit-power", "one-bit-likelihood", "leml", "marginal-mean", "trace-norm", "binary-relevance"),
    ranges={"m": (100.0, 10_000.0, "log")},
    limits={"max_iter": 30},
    grows=("m",),
    falls=("rank", "d1", "d2", "noise", "flip"),
)

ENTRY = ModelEntry(
    spec=OneBitMultilabel, family=FAMILY, main=("m", "rank", "flip"), plane=("flip", "m"), held={"d1": 30, "d2": 20}
)

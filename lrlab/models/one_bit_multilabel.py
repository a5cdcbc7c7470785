"""One-bit single-label multi-label learning: a stream of samples with one observed sign each (Qiu et al. 2017)."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from lrlab import lowrank
from lrlab.lowrank import LowRank
from lrlab.model_entry import COMMON_MEASURES, Family, Goal, Measure, ModelEntry
from lrlab.model_hooks import View
from lrlab.models import matrix_views, views
from lrlab.models.low_rank import Rank
from lrlab.models.one_bit_problem import BLOCK, OneBitMultilabelProblem
from lrlab.parameters import InputError, choice, gaussian_noise, number
from lrlab.protocol import Checkpoint, Spec, proceed


@dataclass(frozen=True, kw_only=True)
class OneBitMultilabel(Spec):
    """Signs y = sign(x^T w_j + noise), x ~ N(0, I), of labels j; W (d1, d2) of low rank with columns of length 1.

    The paper writes sign(<x e^T, W> + xi) with e = sqrt(d2) e_j and a xi of variance xi^2 (sections 2.1 and 5.1). Taken
    literally, xi would be sqrt(d2) times too small for the reported results. Here xi is `noise`, added to a margin x^T
    w_j of variance 1. W is U V^T with standard normal factors and normalized columns.
    """

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
        """Memory of one batch, of the test rows, and of the block in progress."""
        signs = 12 * self.d2 if self.observation == "full" else 16
        return self.m * (8 * self.d1 + signs) + self.test_rows * (8 * self.d1 + 24 * self.d2) + 24 * BLOCK

    def truth(self) -> LowRank:
        """Return W."""
        rng = np.random.default_rng(self.streams().truth)
        U, V = (rng.standard_normal((d, self.rank)) for d in self.size)
        return lowrank.columns_normalised(lowrank.from_product(U, V))

    view_words = views.LABEL_MAP

    def view(self, estimate: LowRank | None) -> View | None:
        """Return the map of labels."""
        return views.label_map(self, estimate, constant=False)

    def comparable(self, estimate: LowRank) -> LowRank:
        """Return an estimate with columns of length 1, since signs do not determine their lengths."""
        return lowrank.columns_normalised(estimate)

    def build(self, checkpoint: Checkpoint = proceed) -> OneBitMultilabelProblem:
        """Draw the truth; the first access draws the batches."""
        return OneBitMultilabelProblem(self, checkpoint)


FAMILY = Family(
    name="one-bit-multilabel",
    measures={
        "error": Measure("error  ‖Ŵ − W‖ / ‖W‖", "relative Frobenius distance from W, columns normalized"),
        "spectral_error": Measure("spectral error", "the same in the spectral norm, over the largest singular value"),
        "hamming": Measure("Hamming loss", "fraction of the signs of all labels of test rows predicted wrongly"),
        "auc": Measure(
            "AUC",
            "probability that a positive label has a higher score than a negative one, mean over test rows",
            rising=True,
        ),
        "label_auc": Measure(
            "AUC of labels",
            "probability that a positive row has a higher score than a negative one, mean over labels",
            rising=True,
        ),
        **COMMON_MEASURES,
    },
    goal=Goal("hamming", 0.1),
    solvers=("one-bit-power", "one-bit-likelihood", "leml"),
    measured=matrix_views.measured_signs,
    verdict=matrix_views.verdict_signs,
    order=("one-bit-power", "one-bit-likelihood", "leml", "marginal-mean", "trace-norm", "binary-relevance"),
    ranges={"m": (100.0, 10_000.0, "log")},
    limits={"max_iter": 30},
    grows=("m",),
    falls=("rank", "d1", "d2", "noise", "flip"),
)

ENTRY = ModelEntry(
    spec=OneBitMultilabel, family=FAMILY, main=("m", "rank", "flip"), plane=("flip", "m"), held={"d1": 30, "d2": 20}
)

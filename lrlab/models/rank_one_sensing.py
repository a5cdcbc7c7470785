"""Rank-one matrix sensing and dense Gaussian measurements (Jain & Dhillon 2013, section 2)."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.model_entry import ModelEntry
from lrlab.models import views
from lrlab.models.low_rank import FAMILY, Condition, LowRankSpec, Noise, Precision, Rank
from lrlab.models.low_rank_problem import LowRankProblem, normal_rows
from lrlab.models.pictures import NAMES
from lrlab.operators.dense import Dense
from lrlab.operators.operator import Operator
from lrlab.operators.rank_one import RankOne
from lrlab.parameters import InputError, choice, number
from lrlab.protocol import View


class RankOneProblem(LowRankProblem):
    """Random measurements of a matrix: rank-one or dense."""

    def draw(self) -> Operator:
        """Return the measurement operator."""
        spec, (left, right) = self.spec, self.spec.streams().data.spawn(2)
        draw = partial(normal_rows, rows=spec.m, precision=spec.precision, checkpoint=self.checkpoint)
        if spec.operator == "dense":
            return Dense(draw(left, columns=spec.d1 * spec.d2).reshape(spec.m, spec.d1, spec.d2))
        return RankOne(draw(left, columns=spec.d1), draw(right, columns=spec.d2))


@dataclass(frozen=True, kw_only=True)
class RankOneSensing(LowRankSpec):
    """A matrix measured by random rank-one matrices, or dense ones."""

    model = "rank-one-sensing"
    problem = RankOneProblem
    title = "Rank-one matrix sensing"
    summary = "Each measurement is xᵀWy with random vectors x and y, or ⟨A, W⟩ with a random matrix A."
    equation = r"b_i = x_i^\top W y_i + \sigma e_i, \qquad W \in \mathbb R^{d_1 \times d_2},\ \operatorname{rank} W = k"

    m: Annotated[int, number(1, 1_000_000, "number of measurements", scale="log")] = 1000
    d1: Annotated[int, number(1, 10_000, "rows of the matrix", symbol="d₁", scale="log")] = 50
    d2: Annotated[int, number(1, 10_000, "columns of the matrix", symbol="d₂", scale="log")] = 50
    rank: Rank = 5
    operator: Annotated[str, choice("gaussian", "dense", help="xᵀWy, or ⟨A, W⟩ with Gaussian A")] = "gaussian"
    condition: Condition = 1.0
    noise: Noise = 0.0
    precision: Precision = "double"
    truth: Annotated[
        str, choice("random", *NAMES[:-1], help="a random matrix, or an image of this rank", added=True)
    ] = "random"

    view_words = "The matrix as gray levels."
    absent_metrics = ("test_error", "test_squares", "cold_error")

    def check(self) -> None:
        """Reject a rank or condition number that the image does not have."""
        super().check()
        if self.truth != "random":
            if self.condition != 1:
                expected = "1 if the signal is an image"
                raise InputError("condition", expected, self.condition, "take a random signal to choose it")
            self.factors()

    def factors(self) -> LowRank:
        """Return a random W, or an image."""
        return super().factors() if self.truth == "random" else views.grey_matrix(self.truth, self.size, self.rank)

    @property
    def singular_values(self) -> Array:
        """Singular values of W."""
        return super().singular_values if self.truth == "random" else self.factors().s

    def view(self, estimate: LowRank | None) -> View | None:
        """Return an image as such."""
        return None if self.truth == "random" else views.grey_view(views.factors_of(self), estimate)

    @property
    def size(self) -> tuple[int, int]:  # noqa: D102
        return self.d1, self.d2

    @property
    def data_bytes(self) -> int:
        """Memory of all measurement vectors or matrices."""
        one = self.d1 * self.d2 if self.operator == "dense" else self.d1 + self.d2
        return (4 if self.precision == "single" else 8) * self.m * (one + 1)


ENTRY = ModelEntry(
    spec=RankOneSensing,
    family=FAMILY,
    main=("m", "rank", "noise"),
    plane=("rank", "m"),
    along="m",
    along_range=(500.0, 20_000.0, "log"),
    held={"m": 450, "d1": 32, "d2": 32},
)

"""Entries of X W Y^T: inductive and plain completion, multi-label regression (Jain & Dhillon 2013, sections 4, 5)."""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.model_entry import ModelEntry
from lrlab.models.completion_problem import FRESH, CompletionProblem, RegressionProblem
from lrlab.models.low_rank import FAMILY
from lrlab.models.table_spec import Observed, TableSpec
from lrlab.parameters import InputError, choice, number
from lrlab.theory.spiked import BlockNoise


@dataclass(frozen=True, kw_only=True)
class InductiveCompletion(TableSpec):
    """A matrix whose rows and columns have features."""

    model = "inductive-completion"
    problem = CompletionProblem
    title = "Inductive matrix completion"
    summary = "Features X and Y predict all entries of X W Yᵀ from a few, even in rows without observations."
    equation = (
        r"R_{ij} = x_i^\top W y_j + \sigma e_{ij} \ \text{ for } (i, j) \in \Omega,"
        r" \qquad W \in \mathbb R^{d_1 \times d_2},\ \operatorname{rank} W = k"
    )

    n1: Annotated[int, number(2, 100_000, "rows of the table", symbol="n₁", scale="log")] = 500
    n2: Annotated[int, number(2, 100_000, "columns of the table", symbol="n₂", scale="log")] = 500
    d1: Annotated[int, number(1, 2000, "features per row", symbol="d₁", scale="log")] = 100
    d2: Annotated[int, number(1, 2000, "features per column", symbol="d₂", scale="log")] = 100
    features: Annotated[
        str,
        choice("orthonormal", "correlated", "canonical", help="random features, correlated ones, or none (canonical)"),
    ] = "orthonormal"
    coherence: Annotated[
        float, number(0, 2, "rows of the singular vectors have sizes of about i^-α", symbol="α", added=True)
    ] = 0.0

    @property
    def table(self) -> tuple[int, int]:  # noqa: D102
        return self.n1, self.n2

    @property
    def size(self) -> tuple[int, int]:  # noqa: D102
        return self.table if self.features == "canonical" else (self.d1, self.d2)

    @property
    def first_solvers(self) -> tuple[str, ...]:
        """MatrixIRLS without features: at condition number 1e6 it recovers ten of ten, others at most 7."""
        return ("matrix-irls",) if self.features == "canonical" else ()

    @property
    def bare_sides(self) -> tuple[int, ...]:  # noqa: D102
        return (0, 1) if self.features == "canonical" else ()

    @property
    def data_bytes(self) -> int:
        """Memory of features, indices and observed entries."""
        features = 0 if self.features == "canonical" else self.n1 * self.d1 + self.n2 * self.d2
        return 8 * (features + 6 * self.measurements + self.n1 + self.n2)

    def check(self) -> None:
        """Reject more features than rows or columns, which no measurement could tell apart."""
        super().check()
        if self.features != "canonical" and self.coherence:
            remedy = "set it to 0, or take features=canonical"
            raise InputError("coherence", "0 if there are features", self.coherence, remedy)
        for features, n in (("d1", "n1"), ("d2", "n2")):
            d, rows = getattr(self, features), getattr(self, n)
            if d > rows and self.features != "canonical":
                raise InputError(features, f"in 1..{n} = {rows}", d, f"lower {features} or raise {n}")

    def factors(self) -> LowRank:
        """Return W with uniform singular vectors, or uneven ones as of D U V^T D, D_ii = i^-coherence.

        These are the power-law matrices of Chen, Bhojanapalli, Sanghavi & Ward (2014), "Coherent matrix completion",
        with the given singular values.
        """
        if not self.coherence:
            return super().factors()
        rng = np.random.default_rng(self.streams().truth)
        sides = (np.arange(1.0, side + 1.0)[:, None] ** -self.coherence for side in self.table)
        U, V = (np.linalg.qr(D * rng.standard_normal((len(D), self.rank)))[0] for D in sides)
        return LowRank(U, self.singular_values, V)

    @property
    def norm(self) -> float:
        """Frobenius norm of W that gives the entries mean square 1."""
        return math.sqrt(self.n1 * self.n2) if self.features == "canonical" else 1.0

    @property
    def moment_noise(self) -> BlockNoise | None:
        """Variances of means of m entries, for orthonormal features only; other rows have unequal weights."""
        if self.features != "orthonormal":
            return None
        unseen, m = 1.0 - self.observed, self.measurements
        own = (unseen * (1.0 + 2.0 * np.square(self.singular_values)) + self.noise**2) / m
        return BlockNoise((unseen + self.noise**2) / m, own, own)


@dataclass(frozen=True, kw_only=True)
class MultilabelRegression(TableSpec):
    """Many regressions on the same features with low-rank coefficients."""

    model = "multilabel-regression"
    problem = RegressionProblem
    title = "Multi-label regression with missing values"
    summary = "Only a few of the responses R = X W are observed at each point; W (d, labels) has low rank."
    equation = (
        r"R_{ij} = x_i^\top w_j + \sigma e_{ij} \ \text{ for } (i, j) \in \Omega,"
        r" \qquad W = [w_1, \dots, w_L],\ \operatorname{rank} W = k"
    )

    n: Annotated[int, number(2, 100_000, "number of points", scale="log")] = 400
    d: Annotated[int, number(1, 2000, "features per point", scale="log")] = 20
    labels: Annotated[int, number(1, 10_000, "responses per point", symbol="L", scale="log")] = 50
    observed: Observed = 0.03
    weights: Annotated[
        str,
        choice(
            "orthonormal", "gaussian", help="W with the given condition number, or UVᵀ of normal factors", added=True
        ),
    ] = "orthonormal"

    _column_name = "labels"

    def check(self) -> None:
        """Reject a condition number for Gaussian weights, whose condition number is random."""
        super().check()
        if self.weights == "gaussian" and self.condition != 1:
            expected = "1 if weights=gaussian, whose condition number is random"
            raise InputError("condition", expected, self.condition, "take weights=orthonormal to choose it")

    def factors(self) -> LowRank:
        """Return W with uniformly distributed singular vectors, or the product of Gaussian factors."""
        if self.weights == "orthonormal":
            return super().factors()
        rng = np.random.default_rng(self.streams().truth)
        U, V = (rng.standard_normal((side, self.rank)) for side in self.size)
        return lowrank.from_product(U, V)

    @property
    def singular_values(self) -> Array:
        """Singular values of W (k,)."""
        return self.factors().s if self.weights == "gaussian" else super().singular_values

    @property
    def remark(self) -> str:
        """Warn if the points do not determine W."""
        if self.n >= self.d:
            return super().remark
        return f"Fewer points (n = {self.n}) than features (d = {self.d}): their responses do not identify W."

    @property
    def table(self) -> tuple[int, int]:  # noqa: D102
        return self.n, self.labels

    @property
    def bare_sides(self) -> tuple[int, ...]:  # noqa: D102
        return (1,)

    @property
    def size(self) -> tuple[int, int]:  # noqa: D102
        return self.d, self.labels

    @property
    def data_bytes(self) -> int:
        """Memory of features, indices, observed entries and fresh points."""
        fresh = FRESH * (self.d + 3 * self.labels)
        return 8 * (self.n * self.d + fresh + 6 * self.measurements + self.n + self.labels)

    @property
    def norm(self) -> float:
        """Frobenius norm of W that gives a response mean square 1."""
        return math.sqrt(self.labels)

    @property
    def moment_noise(self) -> BlockNoise:
        """Variances: every response enters a single column; left vectors also err with X^T X / n."""
        squares, unseen, each = np.square(self.singular_values), 1.0 - self.observed, self.labels / self.measurements
        answers = float(squares.sum()) / self.labels
        own = (unseen * (answers + 2.0 * squares / self.labels) + self.noise**2) * each
        return BlockNoise((unseen * answers + self.noise**2) * each, own + squares / self.n, own)


ENTRIES = (
    ModelEntry(
        spec=InductiveCompletion,
        family=FAMILY,
        main=("observed", "rank", "noise"),
        plane=("rank", "per-freedom"),
        along="observed",
        along_range=(0.005, 0.5, "log"),
        measures=("cold_error", "incoherence", "guessed_rank"),
        held={"n1": 300, "n2": 300, "d1": 60, "d2": 60},
    ),
    ModelEntry(
        spec=MultilabelRegression,
        family=FAMILY,
        main=("observed", "rank", "noise"),
        plane=("rank", "per-freedom"),
        along="observed",
        along_range=(0.005, 0.5, "log"),
        measures=("test_error", "test_squares", "guessed_rank"),
        ranges={"n": (50.0, 2000.0, "log"), "d": (10.0, 100.0, "linear")},
        held={"n": 150, "d": 60, "labels": 60},
    ),
)

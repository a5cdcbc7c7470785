"""Entries of X W Y^T: inductive and plain completion, multi-label regression (Jain & Dhillon 2013, sections 4, 5)."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.random import Generator
from scipy.special import bdtr

from lrlab import lowrank
from lrlab.arrays import Array, Indices
from lrlab.linalg import frozen, relative
from lrlab.lowrank import LowRank
from lrlab.model_entry import ModelEntry
from lrlab.models.low_rank import FAMILY, Condition, LowRankSpec, Noise, Rank
from lrlab.models.low_rank_problem import LowRankProblem
from lrlab.operators.entries import Entries
from lrlab.parameters import InputError, choice, number
from lrlab.protocol import child
from lrlab.theory.spiked import BlockNoise

FRESH = 1000
"""Test points of a regression."""
LARGEST_TABLE = 10**8

Observed = Annotated[float, number(1e-4, 1, "fraction of the entries that is observed", scale="log")]


class TableProblem(LowRankProblem):
    """Observed entries of a matrix, sampled uniformly without replacement.

    Attributes in addition to LowRankProblem: X (n1, d1) or None, Y (n2, d2) or None for the identity, as solvers see
    them; cold, the rows without any observed entry.
    """

    Y: Array | None = None
    X: Array | None
    operator: Entries

    def draw(self) -> Entries:
        """Return the measurement operator."""
        spec, (n1, n2) = self.spec, self.spec.table
        rng = child(spec.streams().data.spawn(3)[2], 0)
        places = np.sort(rng.choice(n1 * n2, size=spec.measurements, replace=False, shuffle=False))
        return Entries(self.X, self.Y, (n1, n2), *np.divmod(places, n2))

    @cached_property
    def cold(self) -> Indices:
        """Rows without any observed entry."""
        return np.setdiff1d(np.arange(self.spec.table[0]), self.operator.rows)


class CompletionProblem(TableProblem):
    """Entries of a matrix with features.

    Features are whitened (Lemma 6 of the paper) and scaled to X^T X = n1 I, so that the mean of x x^T is I; W refers to
    these coordinates.
    """

    @cached_property
    def X(self) -> Array | None:  # type: ignore[override]
        """The whitened features of rows."""
        return self._features(0)

    @cached_property
    def Y(self) -> Array | None:  # type: ignore[override]
        """The whitened features of columns."""
        return self._features(1)

    def _features(self, side: int) -> Array | None:
        spec = self.spec
        if spec.features == "canonical":
            return None
        rng = child(spec.streams().data.spawn(3)[side], 0)
        X = features(rng, spec.table[side], spec.size[side], correlated=spec.features == "correlated")
        return frozen(np.linalg.qr(X)[0] * np.sqrt(len(X)))

    def score(self, estimate: LowRank) -> dict[str, float]:
        """Return the errors of W, `misfit`, and `cold_error` on rows without observations."""
        rows = {"cold_error": relative(*map(self._cold_rows, (estimate, self.truth)))} if len(self.cold) else {}
        return {**super().score(estimate), **rows}

    def _cold_rows(self, W: LowRank) -> Array:
        left = W.left[self.cold] if self.X is None else self.X[self.cold] @ W.left
        return left @ W.V.T


class RegressionProblem(TableProblem):
    """Observed responses at points x ~ N(0, I)."""

    @cached_property
    def X(self) -> Array:  # type: ignore[override]
        """The points (n, d)."""
        return frozen(child(self.spec.streams().data.spawn(3)[0], 0).standard_normal((self.spec.n, self.spec.d)))

    @cached_property
    def _fresh(self) -> Array:
        return child(self.spec.streams().data.spawn(3)[1], 0).standard_normal((FRESH, self.spec.d))

    def score(self, estimate: LowRank) -> dict[str, float]:
        """Return the errors of W, `misfit`, and errors of all responses at 1,000 fresh points.

        `test_error` is relative; `test_squares` is the mean sum of squared errors over 100 points (Jain & Dhillon 2013,
        section 6).
        """
        fresh, truth = (self._fresh @ W.left @ W.V.T for W in (estimate, self.truth))
        squares = 100.0 * float(np.square(fresh - truth).sum()) / FRESH
        return {**super().score(estimate), "test_error": relative(fresh, truth), "test_squares": squares}


def features(rng: Generator, n: int, d: int, *, correlated: bool, correlation: float = 0.9) -> Array:
    """Return features (n, d), normal; correlated ones follow an autoregression over columns, rows of unequal weight.

    Whitening removes the correlation; the unequal rows stay, as incoherence.
    """
    X = rng.standard_normal((n, d))
    if not correlated:
        return X
    lag = np.arange(d)
    covariance = correlation ** np.abs(lag[:, None] - lag)
    return (X @ np.linalg.cholesky(covariance).T) * np.exp(rng.standard_normal((n, 1)) / 2)


@dataclass(frozen=True, kw_only=True)
class TableSpec(LowRankSpec):
    """Some entries of a matrix R = X W Y^T (n1, n2), scaled so that an entry has mean square 1."""

    rank: Rank = 3
    observed: Observed = 0.006
    condition: Condition = 1.0
    noise: Noise = 0.0

    @property
    def measurements(self) -> int:  # noqa: D102
        return max(1, round(self.observed * self.table[0] * self.table[1]))

    def check(self) -> None:
        """Reject matrices too large to sample."""
        super().check()
        if math.prod(self.table) > LARGEST_TABLE:
            largest = LARGEST_TABLE // self.table[0]
            raise InputError(self._column_name, f"at most {largest}", self.table[1], "make the table smaller")

    _column_name = "n2"

    bare_sides = property(lambda spec: ())
    """Sides of the matrix without features: 0 for rows, 1 for columns."""

    @property
    def scarce_rows(self) -> float | None:
        """Expected number of rows and columns without features that have fewer observed entries than the rank.

        Counts per row are nearly binomial; no method recovers such a row (coupon collector). None if all have features.
        """
        if not self.bare_sides:
            return None
        m, k = self.measurements, self.true_rank
        rate, sizes = m / math.prod(self.table), [(self.table[side], self.table[1 - side]) for side in self.bare_sides]
        return sum(rows * float(bdtr(min(k - 1, n), n, rate)) for rows, n in sizes)

    @property
    def remark(self) -> str:
        """Warn if no method can recover W, or if 0.1 or more of its rows are expected to be lost."""
        scarce = self.scarce_rows or 0.0
        if scarce < 0.1 or self.measurements < self.degrees_of_freedom:
            return super().remark
        words = f"About {scarce:.2g} rows and columns are expected to have fewer observed entries than the "
        return f"{words}rank {self.true_rank}: no method recovers these. {super().remark}".rstrip()


@dataclass(frozen=True, kw_only=True)
class InductiveCompletion(TableSpec):
    """A matrix whose rows and columns have features."""

    model = "inductive-completion"
    problem = CompletionProblem
    title = "Inductive matrix completion"
    absent_metrics = ("test_error", "test_squares")
    summary = "Features X and Y predict all entries of X W Yᵀ from a few, even in rows without observed entries."
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

    @property
    def table(self) -> tuple[int, int]:  # noqa: D102
        return self.n1, self.n2

    @property
    def size(self) -> tuple[int, int]:  # noqa: D102
        return self.table if self.features == "canonical" else (self.d1, self.d2)

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
        for features, n in (("d1", "n1"), ("d2", "n2")):
            d, rows = getattr(self, features), getattr(self, n)
            if d > rows and self.features != "canonical":
                raise InputError(features, f"in 1..{n} = {rows}", d, f"lower {features} or raise {n}")

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
    absent_metrics = ("cold_error",)
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
    bare_sides = (1,)

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
        # Without features, at condition number 1e6, it recovers ten of ten, others at most 7.
        first=("matrix-irls",),
        held={"n1": 300, "n2": 300, "d1": 60, "d2": 60},
    ),
    ModelEntry(
        spec=MultilabelRegression,
        family=FAMILY,
        main=("observed", "rank", "noise"),
        plane=("rank", "per-freedom"),
        along="observed",
        along_range=(0.005, 0.5, "log"),
        ranges={"n": (50.0, 2000.0, "log"), "d": (10.0, 100.0, "linear")},
        held={"n": 150, "d": 60, "labels": 60},
    ),
)

"""Entries of X W Y^T: inductive and plain completion, multi-label regression (Jain & Dhillon 2013, sections 4, 5)."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from lrlab.lowrank import LowRank
from lrlab.models.low_rank import Condition, LowRankProblem, LowRankSpec, Noise, Rank
from lrlab.operators.entries import Entries
from lrlab.parameters import InputError, Parameter
from lrlab.protocol import Checkpoint, child, proceed

Array = NDArray[np.float64]

FRESH = 1000
"""Fresh points on which a regression is tested."""
CORRELATION = 0.9
LARGEST_TABLE = 10**8

Observed = Annotated[float, Parameter(meaning="share of the entries that is observed", low=1e-4, high=1, scale="log")]


@dataclass(frozen=True, kw_only=True)
class TableSpec(LowRankSpec):
    """Some entries of a table R = X W Y^T (n1, n2), scaled so that an entry has mean square 1."""

    rank: Rank = 3
    observed: Observed = 0.02
    condition: Condition = 1.0
    noise: Noise = 0.0

    @property
    @abstractmethod
    def table(self) -> tuple[int, int]:
        """Rows and columns of the table."""

    @property
    def true_rank(self) -> int:  # noqa: D102
        return self.rank

    @property
    def measurements(self) -> int:  # noqa: D102
        return max(1, round(self.observed * self.table[0] * self.table[1]))

    def check(self) -> None:
        """Refuse tables whose places cannot be drawn, and ranks above the number of features."""
        super().check()
        if self.table[0] * self.table[1] > LARGEST_TABLE:
            largest = LARGEST_TABLE // self.table[0]
            raise InputError(self._column_name, f"at most {largest}", self.table[1], "make the table smaller")

    _column_name = "n2"


@dataclass(frozen=True, kw_only=True)
class InductiveCompletion(TableSpec):
    """A table whose rows and columns have features."""

    model = "inductive-completion"
    title = "Inductive matrix completion"
    summary = "A few entries of a table X W Y^T are seen; features X and Y predict even rows that have none."

    n1: Annotated[int, Parameter(meaning="rows of the table", symbol="n₁", low=2, high=100_000, scale="log")] = 500
    n2: Annotated[int, Parameter(meaning="columns of the table", symbol="n₂", low=2, high=100_000, scale="log")] = 500
    d1: Annotated[int, Parameter(meaning="features of a row", symbol="d₁", low=1, high=2000, scale="log")] = 20
    d2: Annotated[int, Parameter(meaning="features of a column", symbol="d₂", low=1, high=2000, scale="log")] = 20
    features: Annotated[
        str,
        Parameter(
            meaning="orthonormal at random; correlated, with rows of unequal weight; canonical: none, plain completion "
            "(d1 and d2 are then n1 and n2)",
            choices=("orthonormal", "correlated", "canonical"),
        ),
    ] = "orthonormal"

    @property
    def table(self) -> tuple[int, int]:  # noqa: D102
        return self.n1, self.n2

    @property
    def size(self) -> tuple[int, int]:  # noqa: D102
        return self.table if self.features == "canonical" else (self.d1, self.d2)

    @property
    def data_bytes(self) -> int:
        """Memory of features, places and observed entries."""
        features = 0 if self.features == "canonical" else self.n1 * self.d1 + self.n2 * self.d2
        return 8 * (features + 6 * self.measurements + self.n1 + self.n2)

    def check(self) -> None:
        """Refuse more features than rows or columns, which no measurement could tell apart."""
        super().check()
        for features, n in (("d1", "n1"), ("d2", "n2")):
            d, rows = getattr(self, features), getattr(self, n)
            if d > rows and self.features != "canonical":
                raise InputError(features, f"in 1..{n} = {rows}", d, f"lower {features} or raise {n}")

    @property
    def norm(self) -> float:
        """Frobenius norm of W that gives the table's entries mean square 1."""
        return math.sqrt(self.n1 * self.n2) if self.features == "canonical" else 1.0

    @property
    def moment_variance(self) -> float:
        """Variance of an entry: that of a mean of m entries; without features, of one entry that is seen or not."""
        one = super().moment_variance
        if self.features != "canonical":
            return one
        return one * self.n1 * self.n2 * (1.0 - self.observed + self.noise**2) / (1.0 + self.noise**2)

    def build(self, checkpoint: Checkpoint = proceed) -> "CompletionProblem":
        """Draw the truth."""
        return CompletionProblem(self, self.factors(), checkpoint)


@dataclass(frozen=True, kw_only=True)
class MultilabelRegression(TableSpec):
    """Many regressions on the same features, whose coefficients are of low rank."""

    model = "multilabel-regression"
    title = "Multi-label regression with missing values"
    summary = "Every point has many answers R = X W, of which few are observed; W (d, labels) is of low rank."

    n: Annotated[int, Parameter(meaning="number of points", low=2, high=100_000, scale="log")] = 400
    d: Annotated[int, Parameter(meaning="features of a point", low=1, high=2000, scale="log")] = 20
    labels: Annotated[int, Parameter(meaning="answers of a point", symbol="L", low=1, high=10_000, scale="log")] = 50
    observed: Observed = 0.2

    _column_name = "labels"

    @property
    def table(self) -> tuple[int, int]:  # noqa: D102
        return self.n, self.labels

    @property
    def size(self) -> tuple[int, int]:  # noqa: D102
        return self.d, self.labels

    @property
    def data_bytes(self) -> int:
        """Memory of features, places and observed entries."""
        return 8 * (self.n * self.d + 6 * self.measurements + self.n + self.labels)

    @property
    def norm(self) -> float:
        """Frobenius norm of W that gives an answer mean square 1."""
        return math.sqrt(self.labels)

    @property
    def moment_variance(self) -> float:
        """Variance of an entry: every answer takes part in one column alone."""
        return super().moment_variance * self.labels

    def build(self, checkpoint: Checkpoint = proceed) -> "RegressionProblem":
        """Draw the truth."""
        return RegressionProblem(self, self.factors(), checkpoint)


class TableProblem(LowRankProblem):
    """Observed entries of a table, drawn uniformly without replacement.

    Attributes, beside those of LowRankProblem: X (n1, d1) or None, Y (n2, d2) or None for the identity, as solvers
    see them; cold, the rows of the table without any observed entry.
    """

    Y: Array | None = None

    X: Array | None

    def draw(self) -> Entries:
        """Return the measurement operator."""
        spec, (n1, n2) = self.spec, self.spec.table
        rng = child(spec.streams().data.spawn(3)[2], 0)
        places = np.sort(rng.choice(n1 * n2, size=spec.measurements, replace=False, shuffle=False))
        rows, columns = np.divmod(places, n2)
        free = (n1 if self.X is None else 1) * (n2 if self.Y is None else 1)
        return Entries(self.X, self.Y, (n1, n2), rows, columns, free / len(places))

    @cached_property
    def cold(self) -> NDArray[np.intp]:
        """Rows of the table without any observed entry."""
        return np.setdiff1d(np.arange(self.spec.table[0]), self.operator.rows)


class CompletionProblem(TableProblem):
    """Entries of a table with features.

    Features are whitened first (Lemma 6 of the paper) and scaled to X^T X = n1 I, so that the mean of x x^T is I: W is
    in these coordinates. incoherence: largest ||x_i|| / sqrt(d) over both sides, 1 for perfectly spread features.
    """

    @cached_property
    def X(self) -> Array | None:
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
        X = np.linalg.qr(X)[0] * np.sqrt(len(X))
        X.setflags(write=False)
        return X

    @cached_property
    def incoherence(self) -> float:
        """The largest ||x_i|| / sqrt(d) over both sides."""
        if self.X is None or self.Y is None:
            return float(np.sqrt(max(self.spec.table)))
        return max(float(np.sqrt((X**2).sum(axis=1).max() / X.shape[1])) for X in (self.X, self.Y))

    def score(self, estimate: LowRank) -> dict[str, float]:
        """Return the errors of W, `misfit`, `cold_error` on rows without observations, and `incoherence`."""
        scores = {**super().score(estimate), "incoherence": self.incoherence}
        if len(self.cold):
            scores["cold_error"] = relative(self._cold_rows(estimate), self._cold_rows(self.truth))
        return scores

    def _cold_rows(self, W: LowRank) -> Array:
        left = W.left[self.cold] if self.X is None else self.X[self.cold] @ W.left
        return left @ W.V.T


class RegressionProblem(TableProblem):
    """Observed answers of points x ~ N(0, I)."""

    @cached_property
    def X(self) -> Array:  # type: ignore[override]
        """The points (n, d)."""
        X = child(self.spec.streams().data.spawn(3)[0], 0).standard_normal((self.spec.n, self.spec.d))
        X.setflags(write=False)
        return X

    @cached_property
    def _fresh(self) -> Array:
        return child(self.spec.streams().data.spawn(3)[1], 0).standard_normal((FRESH, self.spec.d))

    def score(self, estimate: LowRank) -> dict[str, float]:
        """Return the errors of W, `misfit`, and `test_error`, relative, of all answers of 1,000 fresh points."""
        fresh, truth = (self._fresh @ W.left @ W.V.T for W in (estimate, self.truth))
        return {**super().score(estimate), "test_error": relative(fresh, truth)}


def features(rng: Generator, n: int, d: int, *, correlated: bool) -> Array:
    """Return features (n, d), normal; correlated ones follow an autoregression over columns, rows of unequal weight.

    Whitening undoes the correlation; the unequal rows stay, as incoherence.
    """
    X = rng.standard_normal((n, d))
    if not correlated:
        return X
    lag = np.arange(d)
    covariance = CORRELATION ** np.abs(lag[:, None] - lag)
    return (X @ np.linalg.cholesky(covariance).T) * np.exp(rng.standard_normal((n, 1)) / 2)


def relative(estimate: Array, truth: Array) -> float:
    """Return ||estimate - truth|| / ||truth||."""
    return float(np.linalg.norm(estimate - truth) / np.linalg.norm(truth))

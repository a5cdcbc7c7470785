"""Problems whose truth is a low-rank matrix, and rank-one sensing (Jain & Dhillon 2013, section 2)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.operators.dense import Dense
from lrlab.operators.operator import Operator
from lrlab.operators.rank_one import RankOne
from lrlab.parameters import InputError, Parameter
from lrlab.protocol import Checkpoint, Spec, child, proceed

DRAWN_ROWS = 4096
"""Rows drawn at a time: a block is a function of its index alone, so that fewer measurements are the first of more."""

Noise = Annotated[
    float,
    Parameter(meaning="standard deviation of Gaussian noise added to each measurement", symbol="σ", low=0, high=10),
]
Rank = Annotated[int, Parameter(meaning="rank of the matrix", symbol="k", low=1, high=1000)]
Condition = Annotated[
    float,
    Parameter(
        meaning="largest over smallest singular value of the matrix, evenly spaced in their logarithm",
        symbol="κ", low=1, high=1e6, scale="log",
    ),
]  # fmt: skip
Precision = Annotated[str, Parameter(meaning="arithmetic of data and solvers", choices=("double", "single"))]


@dataclass(frozen=True, kw_only=True)
class LowRankSpec(Spec):
    """Linear measurements b = A(W) + noise of a matrix W (rows, columns) of low rank, ||W||_F = 1."""

    title: ClassVar[str]

    @property
    @abstractmethod
    def size(self) -> tuple[int, int]:
        """Rows and columns of W."""

    @property
    @abstractmethod
    def measurements(self) -> int:
        """Number of measurements m."""

    @property
    @abstractmethod
    def true_rank(self) -> int:
        """Rank of W."""

    @property
    def degrees_of_freedom(self) -> int:
        """Dimension of the manifold of such matrices: no method recovers from fewer measurements."""
        (rows, columns), k = self.size, self.true_rank
        return k * (rows + columns - k)

    @property
    def moment_variance(self) -> float:
        """Variance of an entry of the unbiased moment that spectral starts decompose: E[b^2] / m here."""
        return (1.0 + float(self.values()["noise"]) ** 2) / self.measurements

    def check(self) -> None:
        """Refuse a rank that no such matrix has."""
        if self.true_rank > min(self.size):
            name = "r" if "r" in self.values() else "rank"
            remedy = f"lower {name}, or make the matrix larger"
            raise InputError(name, f"in 1..min{self.size} = {min(self.size)}", self.true_rank, remedy)

    @abstractmethod
    def build(self, checkpoint: Checkpoint = proceed) -> "LowRankProblem":
        """Draw the truth; the measurements are drawn when they are first asked for."""

    @property
    def norm(self) -> float:
        """Frobenius norm of W."""
        return 1.0

    @property
    def singular_values(self) -> Array:
        """Singular values of W (k,), evenly spaced in their logarithm."""
        s = np.geomspace(1.0, 1.0 / float(self.values()["condition"]), self.true_rank)
        return self.norm * s / np.linalg.norm(s)

    def factors(self) -> LowRank:
        """Return a W with uniformly distributed singular vectors."""
        rng = np.random.default_rng(self.streams().truth)
        (rows, columns), k = self.size, self.true_rank
        return LowRank(orthonormal(rng, rows, k), self.singular_values, orthonormal(rng, columns, k))


def orthonormal(rng: np.random.Generator, rows: int, columns: int) -> Array:
    """Return a uniformly distributed matrix (rows, columns) with orthonormal columns."""
    Q, R = np.linalg.qr(rng.standard_normal((rows, columns)))
    return Q * np.where(np.diagonal(R) < 0, -1.0, 1.0)


def normal_rows(stream: np.random.SeedSequence, rows: int, columns: int, precision: str, checkpoint=proceed) -> Array:
    """Return a read-only standard normal matrix (rows, columns), the same first rows whatever their number."""
    X = np.empty((rows, columns), np.float32 if precision == "single" else np.float64)
    for index, start in enumerate(range(0, rows, DRAWN_ROWS)):
        checkpoint(start / rows)
        cut = X[start : start + DRAWN_ROWS]
        child(stream, index).standard_normal(dtype=X.dtype, out=cut)
    X.setflags(write=False)
    return X


class LowRankProblem(ABC):
    """Measurements of one spec, and the truth, which only the score may look at.

    Attributes: spec; truth (LowRank); rank, given to solvers that ask for it; operator; b (m,), read-only; exact,
    whether the measurements are without noise.
    """

    spec: Any

    def __init__(self, spec: LowRankSpec, truth: LowRank, checkpoint: Checkpoint = proceed) -> None:
        """Keep the truth."""
        self.spec, self.truth, self.rank, self.checkpoint = spec, truth, spec.true_rank, checkpoint
        for part in truth:
            part.setflags(write=False)

    def load(self, everything: bool) -> None:
        """Draw the measurements."""
        _ = self.b

    @cached_property
    def operator(self) -> Operator:
        """What was measured."""
        operator = self.draw()
        operator.checkpoint = self.checkpoint
        return operator

    @abstractmethod
    def draw(self) -> Operator:
        """Return the measurement operator."""

    @cached_property
    def b(self) -> Array:
        """All measurements (m,)."""
        clean = self.operator.forward(self.truth)
        e = child(self.spec.streams().noise, 0).standard_normal(len(clean))
        b = (clean + float(self.spec.values()["noise"]) * e).astype(self.operator.dtype)
        b.setflags(write=False)
        return b

    def score(self, estimate: LowRank) -> dict[str, float]:
        """Return `error`, `spectral_error` (relative, against the truth) and `misfit`, ||A(W) - b|| / ||b||."""
        misfit = np.linalg.norm(self.operator.forward(estimate) - self.b) / np.linalg.norm(self.b)
        return {**lowrank.errors(estimate, self.truth), "misfit": float(misfit)}


@dataclass(frozen=True, kw_only=True)
class RankOneSensing(LowRankSpec):
    """A matrix seen through random rank-one matrices, or dense ones."""

    model = "rank-one-sensing"
    title = "Rank-one matrix sensing"
    summary = "Each measurement is x^T W y with random vectors x and y, where others take a whole random matrix."

    m: Annotated[int, Parameter(meaning="number of measurements", low=1, high=1_000_000, scale="log")] = 1000
    d1: Annotated[int, Parameter(meaning="rows of the matrix", symbol="d₁", low=1, high=10_000, scale="log")] = 50
    d2: Annotated[int, Parameter(meaning="columns of the matrix", symbol="d₂", low=1, high=10_000, scale="log")] = 50
    rank: Rank = 5
    operator: Annotated[
        str,
        Parameter(meaning="gaussian: x^T W y; dense: <A, W> with Gaussian A", choices=("gaussian", "dense")),
    ] = "gaussian"
    condition: Condition = 1.0
    noise: Noise = 0.0
    precision: Precision = "double"

    @property
    def size(self) -> tuple[int, int]:  # noqa: D102
        return self.d1, self.d2

    @property
    def measurements(self) -> int:  # noqa: D102
        return self.m

    @property
    def true_rank(self) -> int:  # noqa: D102
        return self.rank

    @property
    def data_bytes(self) -> int:
        """Memory of all measurement vectors or matrices."""
        one = self.d1 * self.d2 if self.operator == "dense" else self.d1 + self.d2
        return (4 if self.precision == "single" else 8) * self.m * (one + 1)

    @property
    def memory_advice(self) -> str:
        """Rank-one measurements are made of vectors."""
        if self.operator == "gaussian":
            return "take precision=single"
        return "take operator=gaussian, whose rank-one measurements hold m (d1 + d2) numbers instead of m d1 d2"

    def build(self, checkpoint: Checkpoint = proceed) -> "RankOneProblem":
        """Draw the truth."""
        return RankOneProblem(self, self.factors(), checkpoint)


class RankOneProblem(LowRankProblem):
    """Random measurements of a matrix: rank-one or dense."""

    def draw(self) -> Operator:
        """Return the measurement operator."""
        spec, streams = self.spec, self.spec.streams().data.spawn(2)
        if spec.operator == "dense":
            A = normal_rows(streams[0], spec.m, spec.d1 * spec.d2, spec.precision, self.checkpoint)
            return Dense(A.reshape(spec.m, spec.d1, spec.d2))
        return RankOne(
            *(
                normal_rows(s, spec.m, d, spec.precision, self.checkpoint)
                for s, d in zip(streams, spec.size, strict=True)
            )
        )

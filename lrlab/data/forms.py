"""Your measurements of a low-rank matrix: bilinear and quadratic regression, and their base class."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array, Mask
from lrlab.data.arrays import measured, numbers, require_none
from lrlab.data.spec import Arrays, Comparison, DataProblem, DataSpec, relative
from lrlab.linalg import frozen
from lrlab.lowrank import LowRank
from lrlab.model_entry import Measure
from lrlab.models.low_rank_problem import LowRankProblem
from lrlab.models.network import PolynomialNetwork
from lrlab.models.rank_one_sensing import RankOneSensing
from lrlab.operators.operator import Operator
from lrlab.operators.rank_one import RankOne, SymmetricRankOne
from lrlab.parameters import InputError, Parameter, Value
from lrlab.protocol import Checkpoint, proceed

METRICS = {
    "held_out_misfit": Measure("relative error of held-out measurements", "1 for a zero estimate"),
    "misfit": Measure(
        "residual norm  ‖A(Ŵ) − b‖ / ‖b‖", "relative distance between the measurements of the estimate and yours"
    ),
    "guessed_rank": Measure("rank", "rank that solvers get", constant=True),
}
DEPENDENT = 1e-10
"""Singular value, relative to the largest one, below which columns are linearly dependent."""


def whitening(X: Array) -> Array:
    """Return T (columns, d) such that the columns of X T, X (m, columns), are orthogonal and of mean square 1.

    This changes the recovered matrix linearly and preserves its rank. It drops dependent columns.
    """
    sizes = np.sqrt(np.mean(X**2, axis=0))
    units = np.where(sizes > 0, sizes, 1.0)
    _, s, Vt = np.linalg.svd(X / units, full_matrices=False)
    used = s > DEPENDENT * s[0]
    return np.asarray(Vt[used].T / s[used] * np.sqrt(len(X)) / units[:, None])


def with_constant(X: Array, constant: bool) -> Array:
    """Return X (m, d), with a column of ones before it if `constant`."""
    return np.column_stack([np.ones(len(X)), X]) if constant else X


@dataclass(frozen=True, kw_only=True)
class LowRankSpec(DataSpec):
    """Your measurements of a low-rank matrix."""

    data_metrics = METRICS

    def judgement(self, scores: Mapping[str, float]) -> str:
        """Return a sentence on the rank that held-out measurements chose."""
        if not scores.get("guessed_rank") or self.values()["rank_guess"] != "held-out":
            return ""
        return f"lrlab chose rank {scores['guessed_rank']:g}: it best predicts a held-out tenth of the given numbers."

    def lacking(self, rank: int) -> str:  # noqa: D102
        unknowns = self.unknowns(rank)  # type: ignore[attr-defined]
        few = self.measurements < unknowns
        return f"{self.measurements:,} measurements for {unknowns:,} degrees of freedom" if few else ""


class LowRankData(DataProblem, LowRankProblem):
    """A `LowRankProblem` of your measurements, divided by `unit`, without a ground truth."""

    def __init__(self, spec: Any, checkpoint: Checkpoint = proceed) -> None:
        self.spec, self.truth, self.checkpoint = spec, None, checkpoint
        self.arrays, self.out = spec.arrays, spec.held
        self.values = self.target()
        self.unit = float(np.sqrt(np.mean(self.values[~self.out] ** 2))) or 1.0

    def target(self) -> Array:
        """Return all measurements of the matrix (measured,)."""
        return self.arrays["y"]

    @cached_property
    def b(self) -> Array:
        """The given measurements (m,), of mean square 1."""
        return frozen(self.values[~self.out] / self.unit)

    @abstractmethod
    def operator_of(self, chosen: Mask) -> Operator:
        """Return the measurement operator of some measurements."""

    def draw(self) -> Operator:
        """Return the measurement operator of the given measurements."""
        return self.operator_of(~self.out)

    @cached_property
    def operator_held(self) -> Operator:
        """The measurement operator of held-out measurements."""
        return self.operator_of(self.out)

    def score(self, estimate: LowRank) -> dict[str, float]:
        """Return the relative residual norm of the given and of the held-out measurements, and the rank."""
        scores = {"misfit": relative(self.operator(estimate), self.b)}
        if self.out.any():
            scores["held_out_misfit"] = relative(self.operator_held(estimate), self.values[self.out] / self.unit)
        return scores | ({"guessed_rank": float(self.rank)} if "rank" in vars(self) else {})


class FormProblem(LowRankData):
    """Measurements x^T W z, or x^T L x without Z, in whitened columns."""

    def __init__(self, spec: Any, checkpoint: Checkpoint = proceed) -> None:
        super().__init__(spec, checkpoint)
        rows = [with_constant(self.arrays[name], spec.constant) for name in ("X", "Z") if name in self.arrays]
        self.bases = [whitening(side[~self.out]) for side in rows]
        self.sides = [side @ T for side, T in zip(rows, self.bases, strict=True)]

    def operator_of(self, chosen: Mask) -> RankOne:  # noqa: D102
        sides = [frozen(np.ascontiguousarray(side[chosen])) for side in self.sides]
        return SymmetricRankOne(*sides) if len(sides) == 1 else RankOne(*sides)

    def recovered(self, estimate: LowRank) -> LowRank:
        """Return the matrix in your units; its first row and column belong to the constant, if any."""
        if len(self.bases) == 2:
            left, right = self.bases
            return lowrank.from_product(left @ (estimate.left * self.unit), right @ estimate.V)
        return lowrank.from_square(self.bases[0] @ estimate.U, estimate.s * self.unit)

    def compared(self, W: LowRank) -> Comparison:
        """Return the root mean squared error on held-out measurements, with their mean as the baseline."""
        rows = [self.arrays[name][self.out] for name in ("X", "Z") if name in self.arrays]
        y, mean = self.arrays["y"][self.out], float(self.arrays["y"][~self.out].mean())
        return Comparison.of("root mean squared error", (self.predict(W, *rows) - y) ** 2, (y - mean) ** 2, root=True)

    def predict(self, W: LowRank, X: Array, Z: Array | None = None) -> Array:
        """Return the measurements (n,) of rows X (n, d1), with Z (n, d2) unless the matrix is symmetric."""
        sides = [with_constant(side, self.spec.constant) for side in (X, Z) if side is not None]
        return np.asarray(((sides[0] @ W.left) * (sides[-1] @ W.V)).sum(axis=1))


@dataclass(frozen=True, kw_only=True)
class FormSpec(LowRankSpec):
    """Rows X (m, d1), Z (m, d2) and numbers y (m,) = x^T W z; without Z, x^T L x."""

    models, problem = (RankOneSensing, PolynomialNetwork), FormProblem
    free: ClassVar[tuple[str, ...]] = ("rank", "r", "rank_guess", "assumed_rank")
    sizes: ClassVar[tuple[str, ...]] = ("m", "d1", "d2", "p")

    constant: Annotated[bool, Parameter(meaning="column of ones, which adds a constant and linear terms")] = False

    @classmethod
    def arrays_of(cls, y: Any, X: Any, Z: Any) -> Arrays:  # noqa: D102
        two = issubclass(cls, RankOneSensing)
        if two and Z is None:
            remedy = "give Z, or take model=polynomial-network for y = x^T L x"
            raise InputError("Z", "a table of numbers, like X", "nothing", remedy)
        require_none(None if two else Z, "quadratic measurements")
        return measured(y, X=numbers("X", X, 2), **({"Z": numbers("Z", Z, 2)} if two else {}))

    @classmethod
    def shape_of(cls, arrays: Arrays, given: Mask, settings: Mapping[str, Value]) -> dict[str, Value]:  # noqa: D102
        if not arrays["y"][given].any():
            raise InputError("y", "other than 0 in some row", "zeros alone", "give the measurements")
        rows = [with_constant(arrays[k][given], bool(settings["constant"])) for k in ("X", "Z") if k in arrays]
        sides = [whitening(side).shape[1] for side in rows]
        if not all(sides):
            raise InputError("X", "a column other than 0", "zeros alone", "give the measurement vectors")
        m = int(given.sum())
        return {"m": m, "p": sides[0]} if len(sides) == 1 else {"m": m, "d1": sides[0], "d2": sides[1]}

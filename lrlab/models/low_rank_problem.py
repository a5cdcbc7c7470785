"""Linear measurements of a low-rank matrix as problems: data, the rank that solvers receive, metrics."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.linalg import frozen
from lrlab.lowrank import LowRank
from lrlab.models.rank_guess import held_out, least_that_fits
from lrlab.operators.operator import Operator
from lrlab.protocol import Checkpoint, Problem, child, proceed

RECOVERED = 0.1
"""Largest error of a recovered matrix, over its smallest singular value."""
OUTLIER = 10.0
"""Size of a gross error, in root mean squares of the measurements."""
DRAWN_ROWS = 4096
"""Rows per block; a block depends on its index only, so that fewer measurements are the first of more."""


def orthonormal(rng: np.random.Generator, rows: int, columns: int) -> Array:
    """Return a uniformly distributed matrix (rows, columns) with orthonormal columns."""
    Q, R = np.linalg.qr(rng.standard_normal((rows, columns)))
    return Q * np.where(np.diagonal(R) < 0, -1.0, 1.0)


def normal_rows(stream: np.random.SeedSequence, rows: int, columns: int, precision: str, checkpoint=proceed) -> Array:
    """Return a read-only standard normal matrix (rows, columns); the first rows do not depend on their number."""
    X = np.empty((rows, columns), np.float32 if precision == "single" else np.float64)
    for index, start in enumerate(range(0, rows, DRAWN_ROWS)):
        checkpoint(start / rows)
        cut = X[start : start + DRAWN_ROWS]
        child(stream, index).standard_normal(dtype=X.dtype, out=cut)
    return frozen(X)


def relative(estimate: Array, truth: Array) -> float:
    """Return ||estimate - truth|| / ||truth||."""
    return float(np.linalg.norm(estimate - truth) / np.linalg.norm(truth))


class LowRankProblem(Problem, ABC):
    """Measurements of one spec. Only the score may read the truth.

    Attributes: spec; truth (LowRank); rank, true or estimated, for solvers that request it; operator; b (m,),
    read-only.
    """

    spec: Any

    def __init__(self, spec: Any, truth: LowRank, checkpoint: Checkpoint = proceed) -> None:
        self.spec, self.truth, self.checkpoint = spec, truth, checkpoint
        for part in truth:
            frozen(part)

    def load(self, everything: bool) -> None:
        """Draw the measurements."""
        _ = self.b

    @cached_property
    def rank(self) -> int:
        """The rank for solvers: the true one, or an estimate that the first access computes."""
        spec = self.spec
        if spec.rank_guess == "none" and not spec.assumed_rank:
            return int(spec.true_rank)
        given = self.operator, self.b, spec.largest_guess, child(spec.streams().solver, 0)
        return least_that_fits(*given) if spec.rank_guess == "none" else held_out(*given)[0]

    @cached_property
    def operator(self) -> Operator:
        """The measurement operator."""
        operator = self.draw()
        operator.checkpoint = self.checkpoint
        return operator

    @abstractmethod
    def draw(self) -> Operator:
        """Return the measurement operator."""

    @cached_property
    def b(self) -> Array:
        """All measurements (m,)."""
        clean = self.operator(self.truth)
        e = child(self.spec.streams().noise, 0).standard_normal(len(clean))
        b = clean + float(self.spec.values()["noise"]) * e
        if self.spec.outliers:
            rng, count = child(self.spec.streams().noise, 1), round(self.spec.outliers * len(b))
            signs = rng.choice((-1.0, 1.0), count) * OUTLIER * float(np.sqrt(np.mean(clean**2)))
            b[rng.choice(len(b), count, replace=False)] += signs
        return frozen(b.astype(self.operator.dtype))

    def score(self, estimate: LowRank) -> dict[str, float]:
        """Return `error`, `spectral_error` (relative, against the truth) and `misfit`, ||A(W) - b|| / ||b||.

        `weakest_error` is the spectral norm of the error over the smallest singular value of the truth. It also returns
        `guessed_rank` if the rank was estimated.
        """
        misfit = np.linalg.norm(self.operator(estimate) - self.b) / np.linalg.norm(self.b)
        # Solvers that take no rank have not asked for a guess.
        sought = (self.spec.withheld or self.spec.assumed_rank) and "rank" in vars(self)
        guessed = {"guessed_rank": float(self.rank)} if sought else {}
        errors = lowrank.errors(estimate, self.truth)
        weakest = errors["spectral_error"] * self.truth_condition
        return {**errors, "weakest_error": weakest, "misfit": float(misfit), **guessed}

    @cached_property
    def truth_condition(self) -> float:
        """Largest over smallest singular value of the truth."""
        sizes = np.abs(self.truth.s)
        return float(sizes.max() / sizes.min())

    def truth_fits_better(self, row: Mapping[str, float], tol: float) -> bool:
        """Return whether a least-squares estimate of sufficient rank fits worse than the truth, by a hundredth.

        The minimum is at most the truth's sum of squares; penalized objectives have other minima. A margin allows for
        slow convergence: a fraction of the smallest singular value, or 128 roundings, if a direction is missing.
        """
        size, misfit = float(np.linalg.norm(self.b)), row["misfit"]
        least_squares = math.isclose(row["objective"], (misfit * size) ** 2 / 2, rel_tol=1e-3)
        if not least_squares or self.rank < self.spec.true_rank:
            return False
        noise = float(np.linalg.norm(self.operator(self.truth) - self.b)) / size
        left = math.sqrt(tol)
        if row["weakest_error"] > RECOVERED:
            left = max(left / self.truth_condition, 128 * float(np.finfo(self.b.dtype).eps))
        return misfit > 1.01 * noise + left

    def another_fits(self, row: Mapping[str, float]) -> bool:
        """Return whether an estimate fits all data up to rounding, and misses the truth by 1e-3 of its smallest value.

        Noisy data allow this only if they are fewer than the degrees of freedom, or for methods that fit anything.
        """
        rounding = float(np.finfo(self.b.dtype).eps) ** (2 / 3)
        differs = row["weakest_error"] > max(1e-3, rounding * self.truth_condition)
        exact = self.spec.values()["noise"] == 0 and not self.spec.outliers
        few = self.spec.measurements < self.spec.degrees_of_freedom
        return (exact or few) and row["misfit"] <= rounding and differs

"""Linear measurements of a low-rank matrix as problems: data, the rank that solvers receive, metrics."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.linalg import frozen, relative
from lrlab.lowrank import LowRank
from lrlab.operators.krylov import nearest
from lrlab.operators.operator import Operator
from lrlab.operators.tangent import gauss_newton_step, point
from lrlab.protocol import Checkpoint, Problem, child, proceed

RECOVERED = 0.1
"""Largest error of a recovered matrix, over its smallest singular value."""
OUTLIER = 10.0
"""Size of a gross error, in root mean squares of the measurements."""
DRAWN_ROWS = 4096
"""Rows per block; a block depends on its index only, so that fewer measurements are the first of more."""
EXACT = 1e-4
"""Relative residual norm of held-out measurements that ends the search for a rank."""


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
        # Solvers that take no rank have not asked for a guess.
        sought = (self.spec.withheld or self.spec.assumed_rank) and "rank" in vars(self)
        guessed = {"guessed_rank": float(self.rank)} if sought else {}
        errors = lowrank.errors(estimate, self.truth)
        weakest = errors["spectral_error"] * self.truth_condition
        return {**errors, "weakest_error": weakest, "misfit": relative(self.operator(estimate), self.b), **guessed}

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


def held_out(
    A: Operator, b: Array, most: int, rng: np.random.Generator, better: float = 0.97, patience: int = 4
) -> tuple[int, float]:
    """Return the k <= most whose fit to nine tenths of the measurements predicts the others best, and their misfit.

    Ranks 1, 2, ... are fitted by Gauss-Newton, each from the fit before and the leading term of the moment of its
    residual. A larger rank must lower the held-out residual norm at least to the fraction `better`; the search ends
    after `patience` ranks that do not. Terms that noise hides are not worth their unknowns: the guess is then smaller
    than the rank.
    """
    if len(b) < 2:
        return 1, np.inf
    held, inside = np.split(rng.permutation(len(b)), [max(1, round(0.1 * len(b)))])
    held, inside = np.sort(held), np.sort(inside)
    part, others = A.subset(inside), A.subset(held)
    W, best, guess = lowrank.zero(A.shape, 0, A.dtype), np.inf, 1
    for k in range(1, most + 1):
        W = fitted(part, b[inside], extended(part, b[inside], W, rng), EXACT / 10)
        misfit = relative(others(W), b[held])
        if misfit < better * best:
            best, guess = misfit, k
        if best < EXACT or k >= guess + patience:
            break
    return guess, best


def least_that_fits(A: Operator, b: Array, most: int, rng: np.random.Generator) -> int:
    """Return the least k <= most with a matrix that fits all measurements up to rounding.

    Terms are added while the residual exceeds rounding, and dropped again if a fit exists without them. If noise leaves
    a residual at any rank, the rank is the one of `held_out` if that predicts half of the measurements, else `most`.
    """
    exact, W = math.sqrt(float(np.finfo(A.dtype).eps)), lowrank.zero(A.shape, 0, A.dtype)

    def fit(W: LowRank) -> LowRank:
        return fitted(A, b, W, exact, steps=40, settled=0.98)

    for _ in range(most):
        W = fit(extended(A, b, W, rng))
        if relative(A(W), b) <= exact:
            break
    else:
        guess, misfit = held_out(A, b, most, rng)
        return guess if misfit < 0.5 else most
    for k in range(len(W.s) - 1, 0, -1):
        smaller = W.truncated(k), nearest(A.moment(b), k, rng, settled=0.1)
        if all(relative(A(fit(T)), b) > exact for T in smaller):
            return k + 1
    return 1


def extended(A: Operator, b: Array, W: LowRank, rng: np.random.Generator) -> LowRank:
    """Return W and the leading term of the moment of its residual, roughly: the fit refines it."""
    term = nearest(A.moment(b - A(W)), 1, rng, settled=0.1)
    left, s, right = (np.concatenate(parts, axis=-1) for parts in zip(W, term, strict=True))
    return lowrank.from_square(left, s) if A.symmetric else lowrank.from_product(left * s, right)


def fitted(A: Operator, b: Array, W: LowRank, exact: float, steps: int = 15, settled: float = 0.9) -> LowRank:
    """Return a better fit of the same rank, by Gauss-Newton until a step leaves more than `settled` of its residual.

    A relative residual norm of `exact` ends it, too. Inaccurate least squares in the tangent space suffice.
    """
    misfit, d1, k = relative(A(W), b), A.shape[0], len(W.s)
    for _ in range(steps):
        Z = gauss_newton_step(A, point(A, W, b), 0.1, 30).D
        (U, s, V), symmetric = W, A.symmetric
        if symmetric:
            basis, R = np.linalg.qr(np.hstack([U, Z]))
            new = lowrank.from_core(basis, R @ np.block([[np.diag(s), np.eye(k)], [np.eye(k), 0 * np.eye(k)]]) @ R.T, k)
        else:
            new = lowrank.from_product(np.hstack([U * s + Z[:d1], U]), np.hstack([V, Z[d1:]]), k)
        before, misfit = misfit, relative(A(new), b)
        if misfit < before:
            W = new
        if not exact < misfit < settled * before:
            break
    return W

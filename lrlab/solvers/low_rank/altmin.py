"""Alternating minimisation for low-rank matrices from linear measurements (Jain & Dhillon 2013, Algorithm 1)."""

from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.low_rank import LowRankSpec
from lrlab.models.protocols import LowRankData
from lrlab.operators.entries import Entries
from lrlab.operators.lagged import Lagged
from lrlab.operators.operator import Operator, alignment, unsettled
from lrlab.parameters import InputError, Parameter
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solver_entry import Options
from lrlab.solvers.low_rank.requirements import ranked_entry
from lrlab.solvers.low_rank.starts import Start, started
from lrlab.solvers.low_rank.tangent import point, projected

Fit = Callable[..., Array]

SMALL_SYSTEM = 200
INEXACT = 0.3
"""Gradient left by an inexact half-sweep, relative to that at entry: as few sweeps, at a quarter of the work."""


def altmin(
    problem: LowRankData,
    *,
    inner: Annotated[
        str,
        Parameter(
            meaning="least squares of a half-sweep: exact, or inexact by a few warm-started conjugate "
            "gradients; auto: exact for tables, whose systems are small",
            choices=("auto", "inexact", "exact"),
        ),
    ] = "auto",
    ridge: Annotated[
        float, Parameter(meaning="weight of ‖W‖² / 2 in the objective, 0 for none", low=0, high=1e9)
    ] = 0.0,
    fresh_samples: Annotated[
        int,
        Parameter(
            meaning="sweeps H that take fresh samples for each half-sweep, from 2H+1 batches as in the proof, and then "
            "end; 0 reuses all samples for ever",
            low=0,
            high=10_000,
        ),
    ] = 0,
    start: Start = "moment",
    rng: Generator,
) -> Iterates:
    r"""Recover W (d1, d2) of a known rank k from b = A(W), m linear measurements.

    minimise    F(W) = ||A(W) - b||^2 / 2 + ridge ||W||_F^2 / 2  over W = U V^T, U (d1, k), V (d2, k)
    start       the leading singular vectors of the moment of b, by default
    update      V <- argmin_V F(U V^T), orthonormalised by QR; U <- argmin_U F(U V^T), orthonormalised by QR
    converges   linearly; on Gaussian vectors from 1.26 times as many measurements as W has degrees of freedom, in 500
                sweeps there and in 70 at twice as many; the rate hardly depends on the singular values of W,
                since each least-squares problem has orthonormal columns

    A symmetric A sees the symmetric part of U V^T alone: the estimate is the rank k part of that, its residual at least
    the cosine of its gradient. As U V^T drifts from symmetry where A cannot see it to first order, errors fall like a
    power of the sweeps, and noise leaves more than least squares would. Made symmetric, it would be Gauss-Newton.

    Inexact half-sweeps start at the present factor and end when their gradient has fallen to 0.3 of that at entry.
    Exact ones take conjugate gradients with the Cholesky factor of an earlier half-sweep until rounding errors are
    left, or form a new factor.
    Yields after each sweep (V, then U): objective F over all samples; residual the change of A(W) in the sweep
    relative to the misfit A(W) - b, 0 when that is rounding error.
    Memory O(m k) beside the data, O(m k d) where it is dense; exact also (k d)^2. With fresh samples it ends EXHAUSTED.
    Reference: Jain & Dhillon (2013), "Provable inductive matrix completion", Algorithm 1; Zhong, Jain,
    Dhillon (2015), "Efficient matrix sensing using rank-1 Gaussian measurements" (AltMin-LRROM).
    """
    A, b = problem.operator, problem.b
    # The systems of a table are small: row by row without features, or of few features.
    small = isinstance(A, Entries) and (A.plain or problem.rank * max(A.shape) <= SMALL_SYSTEM)
    exact = inner == "exact" or (inner == "auto" and small)
    batches = _batches(A, b, fresh_samples)
    A0, b0 = next(batches)
    factors = Factors(A0, started(A0, b0, problem.rank, rng, start))
    fit = np.zeros_like(b)
    for right, left in zip(batches, batches, strict=True):
        factors.refit_right(*right, ridge, exact)
        factors.refit_left(*left, ridge, exact)
        factors.measure(A)
        fit, before = factors.fit, fit
        moved = unsettled(fit - b, fit - before, b)
        if A.symmetric:
            yield _network(A, b, factors, ridge, moved)
            continue
        objective = (np.vdot(fit - b, fit - b) + ridge * np.vdot(factors.V, factors.V)) / 2
        yield Iterate(factors.estimate(), float(objective), moved)
    return Stop.EXHAUSTED


class Factors:
    """W = U V^T and the images P of U and Q of V under one operator."""

    def __init__(self, A: Operator, W: LowRank) -> None:
        """Start from W, its scale in V."""
        self.U, self.V = W.U, W.V * W.s
        self.A, self.P, self.Q = A, A.left(self.U), A.right(self.V)
        self._fit: Array | None = None
        self._lagged = Lagged(), Lagged()

    def measure(self, A: Operator) -> None:
        """Take the images under another operator."""
        if A is not self.A:
            self.A, self.P, self.Q, self._fit = A, A.left(self.U), A.right(self.V), None

    @property
    def fit(self) -> Array:
        """A(W)."""
        if self._fit is None:
            self._fit = self.A.pair(self.P, self.Q)
        return self._fit

    def refit_right(self, A: Operator, b: Array, ridge: float, exact: bool) -> None:
        """Minimise over V; afterwards V is orthonormal, and U carries the scale."""
        self.measure(A)
        best = self._refitted(A.improve_right, A.solve_right, 0, (self.P, self.V), b, ridge, exact)
        self.V, R = np.linalg.qr(best)
        self.U, self.P, self.Q, self._fit = self.U @ R.T, self.P @ R.T, A.right(self.V), None

    def refit_left(self, A: Operator, b: Array, ridge: float, exact: bool) -> None:
        """Minimise over U; afterwards U is orthonormal, and V carries the scale."""
        self.measure(A)
        best = self._refitted(A.improve_left, A.solve_left, 1, (self.Q, self.U), b, ridge, exact)
        self.U, R = np.linalg.qr(best)
        self.V, self.Q, self.P, self._fit = self.V @ R.T, self.Q @ R.T, A.left(self.U), None

    def _refitted(
        self, improve: Fit, solve: Fit, side: int, at: tuple[Array, Array], b: Array, ridge: float, exact: bool
    ) -> Array:
        images, factor = at
        if not exact:
            return improve(images, b - self.fit, factor, ridge, INEXACT)
        if ridge:
            return solve(images, b, ridge, factor)
        # The correction instead of the factor: its rounding errors shrink with the misfit.
        return factor + solve(images, b - self.fit, lagged=self._lagged[side])

    def estimate(self) -> LowRank:
        """Return W, where U is orthonormal."""
        left, s, right = np.linalg.svd(self.V, full_matrices=False)
        return LowRank(self.U @ right.T, s, left)


def _network(A: Operator, b: Array, factors: Factors, ridge: float, moved: float) -> Iterate:
    """Return the rank k part of the symmetric part of U V^T, the part on which A depends, evaluated as an estimate.

    Its residual is at least the cosine between the misfit and its gradient in the tangent space.
    """
    W = factors.estimate()
    Q = np.linalg.qr(np.hstack([W.U, W.V]))[0]
    at = point(A, lowrank.from_core(Q, (Q.T @ W.left) @ (W.V.T @ Q), len(W.s)), b)
    G = A.pull_left(at.misfit, at.P) + ridge * at.W.left
    slope = projected(A, at.W, G, G)
    cosine = alignment(at.misfit, 2 * A.pair(A.left(slope.A), at.P), b)
    objective = (np.vdot(at.misfit, at.misfit) + ridge * np.vdot(at.W.s, at.W.s)) / 2
    return Iterate(at.W, float(objective), max(moved, cosine))


def _batches(A: Operator, b: Array, sweeps: int) -> Iterator[tuple[Operator, Array]]:
    """Return all samples again and again, or 2 * sweeps + 1 disjoint batches."""
    if not sweeps:
        return repeat((A, b))
    count = 2 * sweeps + 1
    if count > len(b):
        remedy = f"lower it to {(len(b) - 1) // 2}, or raise the number of measurements"
        raise InputError("fresh_samples", f"such that 2H+1 <= {len(b)} measurements", sweeps, remedy)
    rows = np.arange(len(b))
    # Every count-th sample: consecutive entries of a table would all lie in a few of its rows.
    return ((A.subset(rows[first::count]), b[first::count]) for first in range(count))


def refuse_batches(spec: LowRankSpec, options: Options) -> None:
    """Refuse more batches than there are measurements."""
    sweeps = int(options["fresh_samples"])
    if sweeps and 2 * sweeps + 1 > spec.measurements:
        most = (spec.measurements - 1) // 2
        expected = f"at most {most}, since it takes 2H+1 batches of {spec.measurements} measurements"
        raise InputError("fresh_samples", expected, sweeps, f"lower it to {most}, or leave it 0 to reuse all samples")


ENTRY = ranked_entry(
    title="Alternating minimisation (AltMin-LRROM)",
    update=r"V \leftarrow \arg\min_V \|\mathcal A(U V^\top) - b\|, \quad U \leftarrow \arg\min_U \|\mathcal"
    r" A(U V^\top) - b\|",
    summary="Least squares for each factor in turn, orthonormalised between, from a spectral start.",
    run=altmin,
    models=("rank-one-sensing", "inductive-completion", "multilabel-regression", "polynomial-network"),
    refuse=refuse_batches,
)

"""Alternating minimization for low-rank matrices from linear measurements (Jain & Dhillon 2013, Algorithm 1)."""

from collections.abc import Iterator
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
from lrlab.operators.least_squares import FactorMap
from lrlab.operators.operator import Operator
from lrlab.operators.tangent import alignment, point, unsettled
from lrlab.parameters import InputError, Parameter
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solver_entry import Options
from lrlab.solvers.low_rank.requirements import ranked_entry
from lrlab.solvers.low_rank.starts import Start, started
from lrlab.solvers.low_rank.tangent import projected

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
    # The systems of a matrix with missing entries are small: row by row without features, or of few features.
    small = isinstance(A, Entries) and (A.plain or problem.rank * max(A.shape) <= SMALL_SYSTEM)
    exact = inner == "exact" or (inner == "auto" and small)
    batches = sample_batches(A, b, fresh_samples)
    A0, b0 = next(batches)
    U, s, V = started(A0, b0, problem.rank, rng, start)
    V, fit = V * s, np.zeros_like(b)
    P, Q = A.left(U), A.right(V)
    for (A1, b1), (A2, b2) in zip(batches, batches, strict=True):
        P1, Q1 = (P, Q) if A1 is A else (A1.left(U), A1.right(V))
        V, R = np.linalg.qr(refitted(A1.right_map(P1), V, b1, b1 - A1.pair(P1, Q1), ridge, exact))
        U = U @ R.T
        P2, Q2 = (P1 @ R.T, A1.right(V)) if A2 is A1 else (A2.left(U), A2.right(V))
        U, R = np.linalg.qr(refitted(A2.left_map(Q2), U, b2, b2 - A2.pair(P2, Q2), ridge, exact))
        V = V @ R.T
        P, Q = A.left(U), Q2 @ R.T if A2 is A else A.right(V)
        fit, before = A.pair(P, Q), fit
        left, s, right = np.linalg.svd(V, full_matrices=False)
        W, moved = LowRank(U @ right.T, s, left), unsettled(fit - b, fit - before, b)
        if A.symmetric:
            yield symmetric_iterate(A, b, W, ridge, moved)
        else:
            yield Iterate(W, float(np.vdot(fit - b, fit - b) + ridge * np.vdot(s, s)) / 2, moved)
    return Stop.EXHAUSTED


def refitted(J: FactorMap, D: Array, b: Array, rest: Array, ridge: float, exact: bool) -> Array:
    """Return the factor that minimizes ||J D - b||^2 + ridge ||D||^2, or one nearer to it; rest = b - J D."""
    if not exact:
        return J.improve(rest, D, ridge, INEXACT)
    # The correction instead of the factor: its rounding errors shrink with the residual.
    return J.solve(b, ridge, D) if ridge else D + J.solve(rest)


def symmetric_iterate(A: Operator, b: Array, W: LowRank, ridge: float, moved: float) -> Iterate:
    """Return the rank k part of the symmetric part of W, the part on which A depends, evaluated as an estimate.

    Its residual is at least the cosine between d = A(W) - b and its gradient in the tangent space.
    """
    Q = np.linalg.qr(np.hstack([W.U, W.V]))[0]
    at = point(A, lowrank.from_core(Q, (Q.T @ W.left) @ (W.V.T @ Q), len(W.s)), b)
    slope = projected(at.W, A.pull_left(at.d, at.P) + ridge * at.W.left, None)
    cosine = alignment(at.d, 2 * A.pair(A.left(slope), at.P), b)
    return Iterate(at.W, at.objective + ridge * float(at.W.s @ at.W.s) / 2, max(moved, cosine))


def sample_batches(A: Operator, b: Array, sweeps: int) -> Iterator[tuple[Operator, Array]]:
    """Return all samples again and again, or 2 * sweeps + 1 disjoint batches."""
    # Every count-th sample: consecutive entries of a table would all lie in a few of its rows.
    rows, count = np.arange(len(b)), 2 * sweeps + 1
    return ((A.subset(rows[k::count]), b[k::count]) for k in range(count)) if sweeps else repeat((A, b))


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

"""Alternating minimization for low-rank matrices from linear measurements (Jain & Dhillon 2013, Algorithm 1)."""

from typing import Annotated, Any

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.operator import Operator
from lrlab.operators.tangent import alignment, point, unsettled
from lrlab.solver_entry import Generator, InputError, Iterate, Iterates, Options, Stop, choice, number, solver
from lrlab.solvers.low_rank.tangent import Start, projected, started


def refuse_batches(spec: Any, options: Options) -> None:
    """Refuse more batches than there are measurements."""
    if (sweeps := int(options["fresh_samples"])) > (most := (spec.measurements - 1) // 2):
        expected = f"at most {most}, since it takes 2H+1 batches of {spec.measurements} measurements"
        raise InputError("fresh_samples", expected, sweeps, f"lower it to {most}, or leave it 0 to reuse all samples")


@solver(family="low-rank", oracle="rank", memory=0.6, refuse=refuse_batches)
def altmin(
    problem: LowRankData,
    *,
    inner: Annotated[
        str, choice("inexact", "exact", help="half-sweeps; exact without features and on fresh samples")
    ] = "inexact",
    ridge: Annotated[float, number(0, 1e9, "weight of ‖W‖² / 2 in the objective, 0 for none")] = 0.0,
    fresh_samples: Annotated[int, number(0, 10_000, "sweeps H, on 2H+1 batches of samples; 0: reuse all")] = 0,
    start: Start = "moment",
    rng: Generator,
) -> Iterates:
    r"""Alternating minimization (AltMin-LRROM).

    Least squares for each factor in turn, orthonormalized between, from a spectral initialization.

    .. math:: V \leftarrow \arg\min_V \|\mathcal A(U V^\top) - b\|, \quad
        U \leftarrow \arg\min_U \|\mathcal A(U V^\top) - b\|

    minimize    F(W) = ||A(W) - b||^2 / 2 + ridge ||W||_F^2 / 2  over W = U V^T, U (d1, k), V (d2, k)
    start       the leading singular vectors of the moment of b
    update      V <- argmin_V F(U V^T), orthonormalized by QR; U <- argmin_U F(U V^T), orthonormalized by QR
    converges   linearly; on Gaussian vectors from 1.26 times as many measurements as W has degrees of freedom, in 500
                sweeps there and in 70 at twice as many; the rate hardly depends on the singular values of W
    cost        O(m k (d1 + d2)) per conjugate gradient; entries without features: a k x k system per row

    A symmetric A gives the rank k part of the symmetric part of U V^T; errors fall like a power of the sweeps. Yields
    after each sweep: objective F; residual the change of A(W) relative to A(W) - b. EXHAUSTED ends fresh samples.

    Reference: Jain & Dhillon (2013), "Provable inductive matrix completion", Algorithm 1; Zhong, Jain, Dhillon (2015),
    "Efficient matrix sensing using rank-1 Gaussian measurements" (AltMin-LRROM).
    """
    A, b = problem.operator, problem.b
    # Inexact ones take as few sweeps, at a quarter of the work, unless each has its own samples.
    rtol = 1e-10 if inner == "exact" or fresh_samples else 0.3
    batches = A.batches(b, 2 * fresh_samples + 1 if fresh_samples else 0)
    A0, b0 = next(batches)
    U, s, V = started(A0, b0, problem.rank, rng, start)
    V, fit = V * s, np.zeros_like(b)
    # Images of the factors, which all batches share unless samples are fresh.
    P, Q = A.left(U), A.right(V)
    for (A1, b1), (A2, b2) in zip(batches, batches, strict=True):
        if A1 is not A:
            P, Q = A1.left(U), A1.right(V)
        V, R = np.linalg.qr(A1.refit_right(P, Q, b1, V, ridge, rtol))
        U, Q = U @ R.T, A2.right(V)
        P = P @ R.T if A2 is A else A2.left(U)
        U, R = np.linalg.qr(A2.refit_left(P, Q, b2, U, ridge, rtol))
        V, P = V @ R.T, A.left(U)
        Q = Q @ R.T if A2 is A else A.right(V)
        fit, before = A.pair(P, Q), fit
        left, s, right = np.linalg.svd(V, full_matrices=False)
        W, moved = LowRank(U @ right.T, s, left), unsettled(fit - b, fit - before, b)
        if A.symmetric:
            yield symmetric_iterate(A, b, W, ridge, moved)
        else:
            yield Iterate(W, float(np.vdot(fit - b, fit - b) + ridge * np.vdot(s, s)) / 2, moved)
    return Stop.EXHAUSTED


def symmetric_iterate(A: Operator, b: Array, W: LowRank, ridge: float, moved: float) -> Iterate:
    """Return the rank k part of the symmetric part of W; its residual is at least the cosine of its gradient."""
    Q = np.linalg.qr(np.hstack([W.U, W.V]))[0]
    at = point(A, lowrank.from_core(Q, (Q.T @ W.left) @ (W.V.T @ Q), len(W.s)), b)
    slope = projected(at.W, A.pull_left(at.d, at.P) + ridge * at.W.left, None)
    cosine = alignment(at.d, 2 * A.pair(A.left(slope), at.P), b)
    return Iterate(at.W, at.objective + ridge * float(at.W.s @ at.W.s) / 2, max(moved, cosine))

"""GECO: greedy growth of a polynomial network, one hidden unit at a time."""

from typing import Annotated

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.krylov import leading, random_block
from lrlab.operators.operator import Operator, least_squares
from lrlab.operators.tangent import point
from lrlab.solver_entry import Generator, Iterates, choice, number, solver
from lrlab.solvers.network.debiased import iterate


@solver(models="polynomial-network", oracle="rank", memory=0.15)
def geco(
    problem: LowRankData,
    *,
    replacement: Annotated[
        str,
        choice("rotation", "gradient", help="direction added at full rank: best rotation of units, or the gradient's"),
    ] = "rotation",
    blocks: Annotated[int, number(1, 20, "blocks of a Krylov space after its initialization")] = 3,
    rng: Generator,
) -> Iterates:
    r"""GECO (greedy units).

    Adds one hidden unit after another and refits them all, then replaces the weakest.

    .. math:: u \leftarrow \text{top eigenvector of } G = \tfrac1{2m} \mathcal A^*(d) - \tfrac12 \bar d\, I, \quad
        U \leftarrow \operatorname{QR}[U, u], \quad C \leftarrow \arg\min_C \|\mathcal A(U C U^\top) - y\|

    minimize    ||A(L) - b||^2 / 2  over symmetric L = U C U^T (p, p) of rank r,  A(L)_i = x_i^T L x_i
    start       L = 0, no units
    update      u <- leading eigenvector, in size, of G = A*(d) / (2m) - (mean(d) / 2) I,  d = A(L) - b;
                U <- orthonormal basis of [U, u];  C <- least squares, all units at once
    replacement with r units, u is added, C refitted, the weakest of the r + 1 eigenpairs dropped, C refitted.
                `gradient`: u as above. `rotation`: u <- leading left singular vector of (I - U U^T) G U
    converges   `rotation`: to a zero of the tangent part of G, one direction per iteration. `gradient`: without noise
                and with many samples; otherwise the leading eigenvector soon belongs to the noise
    cost        `blocks` + 1 products G V of two passes over X (m, p) each, and the refit; never a p x p matrix

    G is the gradient without its bias, as tr(L - L_true) I would choose between eigenvectors. Yields L of 1, 2, ..., r
    units, then the replacements: residual = ||L_next - L||_F / ||L||_F, 0 if A(L) - b is rounding error.

    Reference: Shalev-Shwartz, Gonen, Shamir (2011), "Large-scale convex minimization with a low-rank constraint",
    Algorithm 1 and its replacement steps; for networks Livni, Shalev-Shwartz, Shamir (2014).
    """
    A, b, r = problem.operator, problem.b, problem.rank
    at = point(A, lowrank.zero(A.shape, 0, A.dtype), b)
    while True:
        U, units = at.W.U, len(at.W.s)
        G = A.moment(at.d)
        if units == r and replacement == "rotation":
            GU = G.times(U, at.P)
            u = np.linalg.svd(GU - U @ (U.T @ GU), full_matrices=False)[0][:, :1]
        else:
            start = random_block(len(U), 1, rng, A.dtype)
            u = leading(G.matmat, start, 1, blocks=blocks + 1)[0].U
        Q = np.linalg.qr(np.hstack([U, u]))[0]
        turned = Q.T @ U
        L = refitted(A, b, Q, (turned * at.W.s) @ turned.T, r)
        new = point(A, L if units < r else refitted(A, b, L.U, np.diag(L.s), r), b)
        if units:
            yield iterate(b, at, new.W, 1.0, f"{units} units.")
        at = new


def refitted(A: Operator, b: Array, Q: Array, core: Array, r: int) -> LowRank:
    """Return the rank r part of Q C Q^T with the C that minimizes ||A(Q C Q^T) - b||, from a symmetric start."""
    P = A.left(Q)
    forward = lambda C: A.pair(P @ C, P)  # noqa: E731
    C = least_squares(forward, lambda d: P.T @ (d[:, None] * P), b - forward(core), core, 0.0, 1e-10, 50).D
    return lowrank.from_core(Q, C, r)

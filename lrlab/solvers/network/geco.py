"""GECO: greedy growth of a polynomial network, one hidden unit at a time."""

from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.models.protocols import LowRankData
from lrlab.operators.operator import Operator, least_squares
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates
from lrlab.solvers.methods.block_krylov import Blocks, Oversampling, block_krylov, random_start
from lrlab.solvers.network.debiased import EvaluatedSymmetric, Gradient, iterate, point
from lrlab.solvers.network.requirements import network_entry

REFIT, REFIT_STEPS = 1e-10, 50
"""A refit, by conjugate gradients on at most (r + 1)^2 unknowns, ends when its gradient has fallen by this factor."""


def geco(
    problem: LowRankData,
    *,
    replacement: Annotated[
        str,
        Parameter(
            meaning="at full rank, add a direction, refit and drop the weakest: the direction into which turning the "
            "units helps most, or the leading one of the gradient, or end there",
            choices=("rotation", "gradient", "none"),
        ),
    ] = "rotation",
    blocks: Blocks = 3,
    oversampling: Oversampling = 5,
    rng: Generator,
) -> Iterates:
    r"""Recover a polynomial network by adding one hidden unit after another.

    minimise    ||A(L) - b||^2 / 2  over symmetric L = U C U^T (p, p) of rank r,  A(L)_i = x_i^T L x_i
    start       L = 0, no units
    update      u <- leading eigenvector, in size, of G = A*(d) / (2m) - (mean(d) / 2) I,  d = A(L) - b;
                U <- orthonormal basis of [U, u];  C <- least squares, all units at once
    replacement with r units, u is added, C refitted, the weakest of the r + 1 eigenpairs dropped, C refitted.
                `gradient`: u as above. `rotation`: u <- leading left singular vector of (I - U U^T) G U
    converges   `rotation`: to where the tangent part of G is 0, one direction an iteration. `gradient`: without noise
                and with many samples; otherwise the leading eigenvector soon belongs to the noise. `none`: ends with
                r units, each known only as well as the others let it

    G is the gradient without its bias, as tr(L - L_true) I would choose between eigenvectors. Leading eigenvectors by
    block Krylov on products G V; X (m, p), never a p x p matrix.
    Yields L of 1, 2, ..., r units, then the replacements: residual = ||L_next - L||_F / ||L||_F, 0 when
    ||A(L) - b|| is rounding error; none at the end of `none`.
    Reference: Shalev-Shwartz, Gonen, Shamir (2011), "Large-scale convex minimization with a low-rank constraint",
    Algorithm 1 and its replacement steps; for networks Livni, Shalev-Shwartz, Shamir (2014).
    """
    operator, b, r = problem.operator, problem.b, problem.rank
    now = point(operator, b, lowrank.zero(operator.shape, 0, operator.dtype))
    while True:
        full = now.L.U.shape[1] == r
        if full and replacement == "none":
            yield Iterate(now.L, now.objective, note=f"{r} units, the last.")
            return
        G = Gradient(operator, now.d)
        if full and replacement == "rotation":
            U, GU = now.L.U, G.times(now.L.U, now.P)
            u = np.linalg.svd(GU - U @ (U.T @ GU), full_matrices=False)[0][:, :1]
        else:
            start = random_start(len(now.L.U), 1 + oversampling, rng, operator.dtype)
            u = block_krylov(G.times, start, 1, blocks).Z
        following = _grow(operator, b, now, u, r)
        if now.L.s.size:
            yield iterate(b, now, following.L, 1.0, f"{now.L.s.size} units.")
        now = following


def _grow(operator: Operator, b: Array, now: EvaluatedSymmetric, u: Array, r: int) -> EvaluatedSymmetric:
    """Return the best L on the columns of U and u (p, 1), of at most r units."""
    Q = np.linalg.qr(np.hstack([now.L.U, u]))[0]
    turned = Q.T @ now.L.U
    grown = _refit(operator, b, Q, (turned * now.L.s) @ turned.T, r)
    return grown if Q.shape[1] <= r else _refit(operator, b, grown.L.U, np.diag(grown.L.s), r)


def _refit(operator: Operator, b: Array, Q: Array, core: Array, r: int) -> EvaluatedSymmetric:
    """Return the rank r part of Q C Q^T with the C that minimises ||A(Q C Q^T) - b||, from a symmetric start."""
    P = operator.left(Q)
    forward = lambda C: operator.pair(P @ C, P)  # noqa: E731
    C = least_squares(forward, lambda d: P.T @ (d[:, None] * P), b - forward(core), core, 0.0, REFIT, REFIT_STEPS)
    return point(operator, b, lowrank.from_core(Q, C, r))


ENTRY = network_entry(
    title="GECO (greedy units)",
    update=r"u \leftarrow \text{top eigenvector of } G = \tfrac1{2m} \mathcal A^*(d) - \tfrac12 \bar d\, I, \quad"
    r" U \leftarrow \operatorname{QR}[U, u], \quad C \leftarrow \arg\min_C \|\mathcal A(U C U^\top) - y\|",
    summary="Adds one hidden unit after another and refits them all, then replaces the weakest.",
    run=geco,
    memory=0.15,
)

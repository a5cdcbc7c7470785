"""gFM: one power step a batch for polynomial networks (Lin & Ye 2016)."""

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.operator import Operator
from lrlab.protocol import Iterates
from lrlab.solvers.methods.block_krylov import block_krylov, random_start
from lrlab.solvers.network.debiased import EvaluatedSymmetric, Gradient, Line, Step, StepRule, descent
from lrlab.solvers.network.requirements import Batches, network_entry, refuse_batches


def gfm(
    problem: LowRankData,
    *,
    step_rule: StepRule = "adaptive",
    step: Step = 1.0,
    fresh_batches: Batches = 0,
    rng: Generator,
) -> Iterates:
    r"""Recover the symmetric L of a polynomial network by one power step on the moments an iteration.

    minimise    ||A(L) - b||^2 / 2  over symmetric L (p, p) of rank r,  A(L)_i = x_i^T L x_i
    start       the part of rank r of the unbiased moment M of the answers, by block Krylov; times the adaptive step
    update      U <- QR((L - eta G) U),  V <- (L - eta G) U,  L <- the rank r part of (U V^T + V U^T) / 2,
                G = A*(d) / (2m) - (mean(d) / 2) I,  d = A(L) - b;  the paper's H is -G
    eta         as in `ep_rom`; the published method has `fixed` with 1
    converges   linearly if m is large enough for E[L - G] = L_true to rule: with Gaussian L at p = 100, r = 5 none of 6
                with step 1 at m = 4,500 and 4 of 6 at 6,500; the adaptive step needs fewer

    A depends only on the symmetric part of the paper's U V^T, and near the truth V is U times a symmetric matrix:
    cutting it to rank r keeps every estimate a network with r units. `fresh_batches`, and what it yields, as in
    `ep_rom`. X (m, p), four passes over it an iteration (five with the adaptive step), never a p x p matrix.
    Reference: Lin & Ye (2016), "A non-convex one-pass framework for generalized factorization machine and rank-one
    matrix sensing", Algorithm 1; debiased as in Soltani & Hegde (2018), section 1.3.
    """

    def start(operator: Operator, b: Array) -> LowRank:
        p, r, dtype = operator.shape[0], problem.rank, operator.dtype
        leading = block_krylov(Gradient(operator, b).times, random_start(p, r + 5, rng, dtype), r, 3)
        return lowrank.from_core(leading.Z, leading.Z.T @ leading.GZ, r)

    def line(operator: Operator, now: EvaluatedSymmetric) -> Line:
        G = Gradient(operator, now.d)
        GU = G.times(now.L.U, now.P)
        return lambda eta: _power_step(now.L, G, GU, eta), lambda: GU

    return descent(problem, start, line, step if step_rule == "fixed" else None, fresh_batches)


def _power_step(L: LowRank, G: Gradient, GU: Array, eta: float) -> LowRank:
    """Return the rank r part of the symmetric part of U V^T after one power step on L - eta G."""
    step = L.s.dtype.type(eta)
    U = np.linalg.qr(L.left - step * GU)[0]
    V = L.left @ (L.U.T @ U) - step * G.times(U)
    # U V^T + V U^T lives on the columns of U and V: its core is at most 2r x 2r.
    Q = np.linalg.qr(np.hstack([U, V]))[0]
    return lowrank.from_core(Q, (Q.T @ U) @ (Q.T @ V).T, L.U.shape[1])


ENTRY = network_entry(
    title="gFM (one power step an iteration)",
    update=r"U \leftarrow \operatorname{QR}\bigl((L - \eta G) U\bigr), \quad V \leftarrow (L - \eta G) U, \quad L"
    r" \leftarrow P_r\bigl(\tfrac12 (U V^\top + V U^\top)\bigr), \quad G = \tfrac1{2m} \mathcal A^*(d) -"
    r" \tfrac12 \bar d\, I",
    summary="Replaces the projection by one power step from the current factors; products only.",
    run=gfm,
    memory=0.15,
    refuse=refuse_batches,
)

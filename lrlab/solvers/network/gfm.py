"""gFM: one power step a batch for polynomial networks (Lin & Ye 2016)."""

from functools import partial

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.krylov import nearest
from lrlab.operators.operator import Moment
from lrlab.solver_entry import Generator, Iterates, solver
from lrlab.solvers.network.debiased import Step, StepRule, first_point, iterate, stepped


@solver(models="polynomial-network", oracle="rank", memory=0.15, title="gFM (one power step per iteration)")
def gfm(problem: LowRankData, *, step_rule: StepRule = "adaptive", step: Step = 1.0, rng: Generator) -> Iterates:
    r"""GFM (one power step per iteration).

    Replaces the projection by one power step from the current factors; products only.

    .. math:: U \leftarrow \operatorname{QR}\bigl((L - \eta G) U\bigr), \quad V \leftarrow (L - \eta G) U, \quad
        L \leftarrow P_r\bigl(\tfrac12 (U V^\top + V U^\top)\bigr), \quad
        G = \tfrac1{2m} \mathcal A^*(d) - \tfrac12 \bar d\, I

    minimize    ||A(L) - b||^2 / 2  over symmetric L (p, p) of rank r,  A(L)_i = x_i^T L x_i
    start       the part of rank r of the unbiased moment M of b, by block Krylov; times the adaptive step
    update      U <- QR((L - eta G) U),  V <- (L - eta G) U,  L <- the rank r part of (U V^T + V U^T) / 2,
                G = A*(d) / (2m) - (mean(d) / 2) I,  d = A(L) - b;  the paper's H is -G
    eta         as in `ep_rom`; the published method has `fixed` with 1
    converges   linearly if m is large enough for E[L - G] = L_true: with Gaussian L at p = 100, r = 5 none of 6
                with step 1 at m = 4,500 and 4 of 6 at 6,500; the adaptive step needs fewer
    cost        four passes over X (m, p), five with the adaptive step; never a p x p matrix

    A depends only on the symmetric part of the paper's U V^T, and near the ground truth V is U times a symmetric
    matrix: cutting it to rank r keeps every estimate a network with r units. Iterates as in `ep_rom`.

    Reference: Lin & Ye (2016), "A non-convex one-pass framework for generalized factorization machine and rank-one
    matrix sensing", Algorithm 1; debiased as in Soltani & Hegde (2018), section 1.3.
    """
    A, b = problem.operator, problem.b
    eta = step if step_rule == "fixed" else None
    at = first_point(A, b, nearest(A.moment(b), problem.rank, rng, formed=False), eta)
    lowest = at.objective
    while True:
        G = A.moment(at.d)
        GU = G.times(at.W.U, at.P)
        new, taken = stepped(A, b, at, GU, eta, lowest, partial(power_step, at.W, G, GU))
        yield iterate(b, at, new.W, taken, f"Step {taken:.3g}.")
        at, lowest = new, min(lowest, new.objective)


def power_step(L: LowRank, G: Moment, GU: Array, eta: float) -> LowRank:
    """Return the rank r part of (U V^T + V U^T) / 2 after one power step on L - eta G."""
    U = np.linalg.qr(L.left - eta * GU)[0]
    V = (L - eta * G) @ U  # type: ignore[operator]
    Q = np.linalg.qr(np.hstack([U, V]))[0]
    return lowrank.from_core(Q, (Q.T @ U) @ (Q.T @ V).T, len(L.s))

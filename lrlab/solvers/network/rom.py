"""EP-ROM: projected gradient descent for polynomial networks, with exact projections."""

from copy import copy
from typing import Annotated

import numpy as np
from scipy.sparse.linalg import eigsh

from lrlab import lowrank
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.operator import Moment
from lrlab.solver_entry import Generator, Iterates, choice, solver
from lrlab.solvers.network.debiased import Step, StepRule, first_point, iterate, stepped


@solver(
    models="polynomial-network",
    oracle="rank",
    memory=0.25,
    matrix=lambda spec, options: 0 if options["projection"] == "lanczos" else spec.p**2,
)
def ep_rom(
    problem: LowRankData,
    *,
    projection: Annotated[
        str, choice("exact", "lanczos", help="P_r by a full eigendecomposition, or by Lanczos steps on products")
    ] = "exact",
    step_rule: StepRule = "adaptive",
    step: Step = 1.0,
    trace_sign: Annotated[
        str, choice("corrected", "printed", help="printed: as in Algorithm 1, whose fixed step diverges")
    ] = "corrected",
    rng: Generator,
) -> Iterates:
    r"""EP-ROM (exact projections).

    Projected gradient descent without the bias of the trace; forms the whole p x p gradient.

    .. math:: L \leftarrow P_r(L - \eta G), \quad G = \tfrac1{2m} \mathcal A^*(d) - \tfrac12 \bar d\, I,
        \quad d = \mathcal A(L) - y

    minimize    F(L) = ||A(L) - b||^2 / 2  over symmetric L (p, p) of rank r,  A(L)_i = x_i^T L x_i
    start       P_r(M), M the unbiased moment of b, which is step 1 from L = 0; shorter with the adaptive step
    update      L <- P_r(L - eta G),  G = A*(d) / (2m) - (mean(d) / 2) I,  d = A(L) - b,
                P_r keeps the r eigenvalues that are largest in size, of either sign
    eta         `fixed`: `step`, 1 in the paper. `adaptive`: the root of <T, G(L - eta T)> along the tangent part T of
                G, halved while the objective is twice the lowest so far
    converges   E[G] = L - L_true, so that eta = 1 lands on the ground truth on average; linearly if m is large enough
                for that: at p = 100, r = 5 from m = 8500 on; with the adaptive step from m = 1000 on
    cost        m p^2 operations and memory p^2 with `exact`; only products G V with `lanczos`

    G is the gradient of F / (2m) without its bias tr(L - L_true) I / 2. Algorithm 1 prints the trace term with the
    opposite sign, G + mean(d) I, and so do Definition 1 and the first formula of section 5.3; Algorithms 2 and 4 and
    inequality (26) have it right. `printed` takes the sign of Algorithm 1 with the fixed step, which doubles the bias.
    The proofs use fresh samples per iteration; here, as in the experiments, all iterations use all samples. Residual =
    ||L_next - L||_F / (eta ||L||_F), 0 if A(L) - b is rounding error.

    Reference: Soltani & Hegde (2018), Algorithm 1 (EP-ROM) and section 1.3; the step after Tanner & Wei (2013),
    "Normalized iterative hard thresholding for matrix completion".
    """
    A, b, r = problem.operator, problem.b, problem.rank
    eta = None if (step_rule, trace_sign) == ("adaptive", "corrected") else step
    if trace_sign == "printed":
        A = copy(A)
        A.trace = -A.trace

    def projected(M: Moment) -> LowRank:
        if projection == "exact" or r >= M.shape[0] - 1:
            return lowrank.from_symmetric(M.dense(), r)
        # The multiple eigenvalues of well-conditioned networks need a start with a part in every direction.
        values, U = eigsh(M, k=r, which="LM", v0=rng.standard_normal(M.shape[0]).astype(M.dtype))
        return lowrank.from_core(U, np.diag(values), r)

    at = first_point(A, b, projected(A.moment(b)), eta)
    lowest = at.objective
    while True:
        G = A.moment(at.d)
        move = lambda eta: projected(at.W - eta * G)  # noqa: B023, E731
        new, taken = stepped(A, b, at, G.times(at.W.U, at.P), eta, lowest, move)
        yield iterate(b, at, new.W, taken, f"Step {taken:.3g}.")
        at, lowest = new, min(lowest, new.objective)

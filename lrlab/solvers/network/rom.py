"""EP-ROM: projected gradient descent for polynomial networks, with exact projections."""

from collections.abc import Callable
from typing import Annotated

import numpy as np
from numpy.random import Generator
from scipy.sparse.linalg import LinearOperator, eigsh

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.operator import Operator
from lrlab.parameters import Parameter
from lrlab.protocol import Iterates
from lrlab.solvers.network.debiased import EvaluatedSymmetric, Gradient, Line, Step, StepRule, descent
from lrlab.solvers.network.requirements import AddedBatches, network_entry, refuse_batches


def ep_rom(
    problem: LowRankData,
    *,
    projection: Annotated[
        str,
        Parameter(
            meaning="nearest matrix of rank r: by the whole p x p matrix, or by Lanczos steps on products with it",
            choices=("exact", "lanczos"),
        ),
    ] = "exact",
    step_rule: StepRule = "adaptive",
    step: Step = 1.0,
    trace_sign: Annotated[
        str,
        Parameter(
            meaning="sign of the trace term: corrected; printed: as in Algorithm 1, whose fixed step diverges",
            choices=("corrected", "printed"),
        ),
    ] = "corrected",
    fresh_batches: AddedBatches = 0,
    rng: Generator,
) -> Iterates:
    r"""Recover the symmetric L of a polynomial network by projected gradient descent.

    minimise    ||A(L) - b||^2 / 2  over symmetric L (p, p) of rank r,  A(L)_i = x_i^T L x_i
    start       P_r(M), M the unbiased moment of the answers: where step 1 leads from L = 0; with the adaptive step less
    update      L <- P_r(L - eta G),  G = A*(d) / (2m) - (mean(d) / 2) I,  d = A(L) - b,
                P_r keeps the r eigenvalues that are largest in size, of either sign
    eta         `fixed`: `step`, 1 in the paper. `adaptive`: the root of <T, G(L - eta T)> along the tangent part T of
                G, halved while the objective is twice the lowest so far
    converges   E[G] = L - L_true, so that eta = 1 lands on the truth on average; linearly if m is large enough for
                that: at p = 100, r = 5 from m = 8500 on; with the adaptive step from m = 1000 on

    G is the gradient of ||A(L) - b||^2 / (4m) without its bias tr(L - L_true) I / 2. Algorithm 1 prints the trace
    term with the opposite sign, G + mean(d) I, and so do Definition 1 and the first formula of section 5.3; Algorithms
    2 and 4 and inequality (26) have it right. `printed` takes that of Algorithm 1, with the fixed step, and doubles the
    bias instead of removing it.
    The proofs draw fresh samples for each iteration; `fresh_batches` splits those given, one batch an iteration, and
    ends with the last one; objective and residual are those of all samples.
    X (m, p). Memory p^2 and m p^2 operations an iteration with `exact`; with `lanczos` only products G V.
    Yields endlessly: residual = ||L_next - L||_F / (eta ||L||_F), 0 when ||A(L) - b|| is rounding error.
    Reference: Soltani & Hegde (2018), Algorithm 1 (EP-ROM) and section 1.3; the step after Tanner & Wei (2013),
    "Normalized iterative hard thresholding for matrix completion".
    """
    r = problem.rank
    project = _exact if projection == "exact" or r >= problem.operator.shape[0] - 1 else _lanczos
    fixed = step if step_rule == "fixed" or trace_sign == "printed" else None

    def gradient(operator: Operator, d: Array) -> Gradient:
        shift = 2 * operator.scale * operator.trace * float(d.sum()) if trace_sign == "printed" else 0.0
        return Gradient(operator, d, shift)

    def start(operator: Operator, b: Array) -> LowRank:
        return project(lowrank.zero(operator.shape, r, operator.dtype), gradient(operator, -b), r, rng)[0](1.0)

    def line(operator: Operator, now: EvaluatedSymmetric) -> Line:
        nearest, times = project(now.L, gradient(operator, now.d), r, rng)
        return nearest, lambda: times(now.L.U)

    return descent(problem, start, line, fixed, fresh_batches)


Nearest = Callable[[float], LowRank]
Times = Callable[[Array], Array]


def _exact(L: LowRank, G: Gradient, r: int, rng: Generator) -> tuple[Nearest, Times]:
    """Return eta -> P_r(L - eta G) and V -> G V by the matrix G."""
    dense, whole = G.dense(), L.dense()
    return lambda eta: lowrank.from_symmetric(whole - L.s.dtype.type(eta) * dense, r), lambda V: dense @ V


def _lanczos(L: LowRank, G: Gradient, r: int, rng: Generator) -> tuple[Nearest, Times]:
    """Return eta -> P_r(L - eta G) and V -> G V by products."""
    p = len(L.U)

    def nearest(eta: float) -> LowRank:
        def product(v: Array) -> Array:
            V = v.reshape(p, -1)
            return L.left @ (L.U.T @ V) - L.s.dtype.type(eta) * G.times(V)

        M = LinearOperator((p, p), matvec=product, matmat=product, dtype=L.s.dtype)
        # The multiple eigenvalues of well-conditioned networks need a start with a part in every direction.
        values, U = eigsh(M, k=r, which="LM", v0=rng.standard_normal(p).astype(L.s.dtype))
        order = np.argsort(-np.abs(values))
        U, values = np.ascontiguousarray(U[:, order]), values[order]
        return LowRank(U, values, U)

    return nearest, G.times


ENTRY = network_entry(
    title="EP-ROM (exact projections)",
    update=r"L \leftarrow P_r(L - \eta G), \quad G = \tfrac1{2m} \mathcal A^*(d) - \tfrac12 \bar d\, I,"
    r" \quad d = \mathcal A(L) - y",
    summary="Projected gradient descent without the bias of the trace; forms the whole p x p gradient.",
    run=ep_rom,
    memory=0.25,
    matrix=lambda spec, options: 0 if options["projection"] == "lanczos" else spec.p**2,
    refuse=refuse_batches,
)

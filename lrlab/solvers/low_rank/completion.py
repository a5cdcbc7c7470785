"""Completion of a table without features: what solvers share, alternating least squares, and soft-impute."""

from typing import Annotated, Any

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.krylov import nearest
from lrlab.operators.operator import Moment
from lrlab.operators.tangent import unsettled
from lrlab.solver_entry import Generator, InputError, Iterate, Iterates, Options, number, solver
from lrlab.solvers.low_rank.tangent import spectral_start
from lrlab.solvers.methods.proximal import shrunk


def refuse_features(spec: Any, options: Options) -> None:
    """Refuse a matrix with features, which these solvers do not use."""
    if (got := spec.values().get("features")) == "canonical":
        return
    what, other = "for this solver, which completes a table without features", "or take altmin, which uses"
    if spec.synthetic:
        raise InputError("features", f"canonical {what}", got, f"set features=canonical, {other} features")
    raise InputError("X and Z", f"left out {what}", "features", f"leave them out, {other} them")


def penalty_note(option: str, weight: float, unit: str, rest: Array, b: Array) -> str:
    """Return one sentence on a penalty and the residual norm that it leaves, rest = A(W) - b."""
    left = np.linalg.norm(rest) / (np.linalg.norm(b) or 1.0)
    words = f"This is the minimum with the penalty {option} = {weight:g}{unit}"
    return f"{words}: it leaves a relative residual norm of {left:.2g}, noise among it; a smaller {option} leaves less."


@solver(models="inductive-completion", oracle="rank", memory=0.7, refuse=refuse_features)
def als(
    problem: LowRankData,
    *,
    ridge: Annotated[float, number(0, 1e9, "weight of (‖U‖² + ‖V‖²) / 2 in the objective")] = 0.1,
    rng: Generator,
) -> Iterates:
    r"""Alternating least squares.

    Completion without features: every row of each factor by a small least-squares problem, with a ridge penalty.

    .. math:: v_j \leftarrow \arg\min_v \sum_{i \in \Omega_j} (u_i^\top v - b_{ij})^2 + \rho \|v\|^2, \qquad
        u_i \leftarrow \arg\min_u \sum_{j \in \Omega_i} (u^\top v_j - b_{ij})^2 + \rho \|u\|^2

    minimize    F(U, V) = sum_ij (u_i^T v_j - b_ij)^2 / 2 + ridge (||U||_F^2 + ||V||_F^2) / 2, over U (n1, k), V (n2, k)
    start       the leading singular triples of the zero-filled table, shared evenly by U and V
    update      each row of V, then each of U, by its own k x k least squares; of least change if singular
    converges   F never rises; with a ridge penalty and large enough k it has the same minima as the nuclear norm
    cost        O(m k^2 + (n1 + n2) k^3)

    Yields after each sweep: objective F; residual the change of the fit relative to the residual norm of the fit.

    Reference: Zhou, Wilkinson, Schreiber, Pan (2008), "Large-scale parallel collaborative filtering for the Netflix
    prize", section 3; Koren, Bell, Volinsky (2009), "Matrix factorization techniques for recommender systems".
    """
    A, b = problem.operator, problem.b
    W = spectral_start(A, b, problem.rank, rng)
    U, V = W.U * np.sqrt(W.s), W.V * np.sqrt(W.s)
    fit = np.zeros_like(b)
    while True:
        V = A.refit_right(A.left(U), A.right(V), b, V, ridge, 0.0)
        U = A.refit_left(A.left(U), A.right(V), b, U, ridge, 0.0)
        fit, before = A.pair(A.left(U), A.right(V)), fit
        objective = (np.vdot(fit - b, fit - b) + ridge * (np.vdot(U, U) + np.vdot(V, V))) / 2
        note = penalty_note("ridge", ridge, "", fit - b, b) if ridge else ""
        yield Iterate(lowrank.from_product(U, V), float(objective), unsettled(fit - b, fit - before, b), note)


Shrinkage = Annotated[float, number(1e-8, 1, "last penalty over the least with W = 0", symbol="λ/λ₀", scale="log")]
Path = Annotated[int, number(1, 100, "penalties on the way to the last one, each from the solution before")]


@solver(models="inductive-completion", refuse=refuse_features)
def soft_impute(problem: LowRankData, *, shrinkage: Shrinkage = 0.03, path: Path = 10, rng: Generator) -> Iterates:
    r"""Soft-impute (nuclear norm).

    Convex completion by the nuclear norm along a path of penalties; needs no rank and no features.

    .. math:: W \leftarrow S_\lambda\bigl(Z + \mathcal A^*(b - \mathcal A(Z))\bigr), \quad Z = W + \beta (W - W')

    minimize    F(W) = sum_ij (W_ij - b_ij)^2 / 2 + lambda ||W||_*, over all W (n1, n2)
    update      W <- S_lambda(Z + A*(b - A(Z))), S_lambda lowers singular values;  Z = W + beta (W - W_old)
    path        lambda falls from ||A*(b)||_2 in equal ratios, whenever W moves by less than a hundredth
    converges   F - F* = O(1 / t^2); momentum restarts if F rises
    cost        the k singular values above lambda of a sparse matrix plus one of low rank; memory O(m + (n1 + n2) k)

    Yields objective F and, at the last lambda, residual ||W - Z||_F / ||W||_F, at least dist(0, dF(W)) / (2 ||W||_F).

    Reference: Mazumder, Hastie, Tibshirani (2010), "Spectral regularization algorithms for learning large incomplete
    matrices", Algorithm 1; Yao & Kwok (2015), "Accelerated inexact soft-impute".
    """
    A, b = problem.operator, problem.b
    W = old = lowrank.zero(A.shape, 0)
    penalties = float(nearest(A.moment(b / A.scale), 1, rng, 1e-13).s[0]) * np.geomspace(1.0, shrinkage, path + 1)[1:]
    for k, penalty in enumerate(penalties, 1):
        momentum, value, change = 1.0, np.inf, np.inf
        while k == path or change >= 0.01:
            beta = (momentum - 1) / (momentum + 2)
            Z = LowRank(np.hstack([W.U, old.U]), np.hstack([(1 + beta) * W.s, -beta * old.s]), np.hstack([W.V, old.V]))
            W, old = shrunk(Moment(A, (b - A(Z)) / A.scale, Z), W, penalty, rng), W
            change = float(np.linalg.norm(lowrank.difference(Z, W))) / (float(np.linalg.norm(W.s)) or 1.0)
            rest, before = A(W) - b, value
            value = float(rest @ rest) / 2 + penalty * float(W.s.sum())
            note = penalty_note("shrinkage", shrinkage, " of the least penalty that gives 0", rest, b)
            yield Iterate(W, value, change if k == path else None, note if k == path else "")
            momentum = 1.0 if value > before else momentum + 1.0

"""Completion of a table without features: what solvers share, and alternating least squares."""

from typing import Annotated, Any

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.models.protocols import LowRankData
from lrlab.operators.tangent import unsettled
from lrlab.solver_entry import Generator, InputError, Iterate, Iterates, Options, number, solver
from lrlab.solvers.low_rank.starts import spectral_start


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
        V = A.refit_right(A.left(U), b, V, ridge, 0.0)
        U = A.refit_left(A.right(V), b, U, ridge, 0.0)
        fit, before = A.pair(A.left(U), A.right(V)), fit
        objective = (np.vdot(fit - b, fit - b) + ridge * (np.vdot(U, U) + np.vdot(V, V))) / 2
        note = penalty_note("ridge", ridge, "", fit - b, b) if ridge else ""
        yield Iterate(lowrank.from_product(U, V), float(objective), unsettled(fit - b, fit - before, b), note)

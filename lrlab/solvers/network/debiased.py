"""Shared parts of the solvers of Soltani & Hegde's family: step sizes without bias, residuals."""

from collections.abc import Callable
from typing import Annotated

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.operators.operator import Operator
from lrlab.operators.tangent import EvaluatedMatrix, point, solved
from lrlab.solver_entry import Iterate, choice, number

StepRule = Annotated[str, choice("adaptive", "fixed", help="by the curvature along the tangent space, or the paper's")]
Step = Annotated[float, number(0.001, 10, "the fixed step size, 1 in the papers", symbol="η", scale="log")]
Move = Callable[[float], LowRank]
"""The next estimate, given the step size."""


def first_point(A: Operator, b: Array, L: LowRank, step: float | None) -> EvaluatedMatrix:
    """Return the initialization L = P_r(M), times the adaptive step, at most 1, if `step` is None.

    L is the step 1 from 0 along -L, the tangent part of G(0) = -M on its space; with few samples it is far too large.
    """
    at = point(A, L, b)
    eta = L.s.dtype.type(1.0 if step else min(1.0, adaptive_step(A, at, -L.left)))
    return at._replace(W=L._replace(s=eta * L.s), d=eta * (at.d + b) - b)


def stepped(
    A: Operator, b: Array, at: EvaluatedMatrix, GU: Array, step: float | None, lowest: float, move: Move
) -> tuple[EvaluatedMatrix, float]:
    """Return the point at move(eta), and eta: `step`, or the adaptive one if that is None.

    The adaptive eta is halved while the objective is above twice the lowest so far: it need not fall, as G is the
    gradient without the bias. GU = G U (p, r).
    """
    eta, halvings = step or adaptive_step(A, at, GU), 0
    while (new := point(A, move(eta), b)).objective > 2 * lowest and not step and halvings < 12:
        eta, halvings = eta / 2, halvings + 1
    return new, eta


def adaptive_step(A: Operator, at: EvaluatedMatrix, GU: Array) -> float:
    """Return the eta at which <T, G(L - eta T)> = 0, with T = P G + G P - P G P the tangent part of G, P = U U^T.

    eta = ||T||^2 / <T, H(T)> with H(T) = A*(A(T)) / (2m) - (mean A(T) / 2) I, whose mean is T: about 1 with many
    measurements, and at most 4, as flatter directions are undetermined. One pass over the data.
    """
    U = at.W.U
    Z = GU - U @ (U.T @ GU) / 2
    inner, image = U.T @ Z, 2 * A.pair(at.P, A.left(Z))
    size = 2 * float((Z * Z).sum() + (inner * inner.T).sum())
    curvature = A.scale * float(image @ image - A.trace * image.sum() * 2 * np.trace(inner))
    return size / curvature if 4 * curvature > size else 4.0


def iterate(b: Array, at: EvaluatedMatrix, following: LowRank, step: float, note: str) -> Iterate:
    """Return the iterate at L with the residual ||L_next - L||_F / (step ||L||_F), 0 if that is rounding error.

    A zero of G is not a stationary point of ||A(L) - b||^2, unless ||A(L) - b|| is rounding error: then the residual is
    0, and L optimal.
    """
    size, exact = float(np.linalg.norm(at.W.s)), solved(at.d, b)
    moved = float(np.linalg.norm(lowrank.difference(following, at.W))) / (step * size) if size else 1.0
    residual = 0.0 if exact or moved <= 16 * np.finfo(b.dtype).eps else moved
    return Iterate(at.W, at.objective, residual, note, optimal=exact)

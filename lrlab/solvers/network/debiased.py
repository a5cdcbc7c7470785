"""Shared parts of the solvers of Soltani & Hegde's family: step sizes without bias, residuals."""

from collections.abc import Callable
from typing import Annotated

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.operators.operator import Operator
from lrlab.operators.tangent import EvaluatedMatrix, point
from lrlab.solver_entry import Iterate, choice, number

StepRule = Annotated[str, choice("adaptive", "fixed", help="by the curvature along the tangent space, or the paper's")]
Step = Annotated[float, number(0.001, 10, "the fixed step size, 1 in the papers", symbol="η", scale="log")]


def first_point(A: Operator, b: Array, L: LowRank, step_rule: str) -> EvaluatedMatrix:
    """Return the initialization L = P_r(M), for the adaptive rule times the step from 0 to it, at most 1.

    With few samples L is far too large. The step is ||L||^2 / <L, H(L)>, as L is the tangent part of M at L, from
    M = -G(0). No pass over the data.
    """
    at = point(A, L, b)
    if step_rule == "fixed":
        return at
    (U, s, V), image = at.W, at.d + b
    eta = s.dtype.type(step_along(A, image, float(s.sum()), float(s @ s), 1.0))
    return at._replace(W=LowRank(U, eta * s, V), d=eta * image - b)


def stepped(
    A: Operator,
    b: Array,
    at: EvaluatedMatrix,
    GU: Array,
    step: float | None,
    lowest: float,
    move: Callable[[float], LowRank],
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
    inner = U.T @ Z
    size = 2 * float((Z * Z).sum() + (inner * inner.T).sum())
    return step_along(A, 2 * A.pair(at.P, A.left(Z)), 2 * float(np.trace(inner)), size, 4.0)


def step_along(A: Operator, image: Array, trace: float, size: float, most: float) -> float:
    """Return ||T||^2 / <T, H(T)>, at most `most`, from the image, the trace and the squared norm of T."""
    curvature = A.scale * float(image @ image - A.trace * image.sum() * trace)
    return size / curvature if curvature * most > size else most


def iterate(b: Array, at: EvaluatedMatrix, following: LowRank, step: float, note: str) -> Iterate:
    """Return the iterate at L with the residual ||L_next - L||_F / (step ||L||_F), 0 if that is rounding error.

    A zero of G is not a stationary point of ||A(L) - b||^2, unless ||A(L) - b|| is rounding error: then the residual is
    0, and L optimal.
    """
    eps, size = float(np.finfo(b.dtype).eps), float(np.linalg.norm(at.W.s))
    solved = bool(np.linalg.norm(at.d) <= 64 * eps * np.linalg.norm(b))
    moved = float(np.linalg.norm(lowrank.difference(following, at.W))) / (step * size) if size else 1.0
    return Iterate(at.W, at.objective, 0.0 if solved or moved <= 16 * eps else moved, note, optimal=solved)

"""Shared parts of the solvers of Soltani & Hegde's family: batches of samples, step sizes without bias, residuals."""

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.operator import Moment, Operator
from lrlab.operators.tangent import EvaluatedMatrix, point
from lrlab.parameters import InputError, choice, number
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solver_entry import Options

StepRule = Annotated[str, choice("adaptive", "fixed", help="by the curvature along the tangent space, or the paper's")]
Step = Annotated[float, number(0.001, 10, "the fixed step size, 1 in the papers", symbol="η", scale="log")]
Batches = Annotated[int, number(0, 1000, "batches of fresh samples, one per iteration; 0: reuse all", added=True)]


def refuse_batches(spec: Any, options: Options) -> None:
    """Refuse more batches than there are samples."""
    count, m = int(options["fresh_batches"]), spec.measurements
    if count > m:
        raise InputError("fresh_batches", f"at most the number of samples m = {m}", count, "lower it, or raise m")


Move = Callable[[float], LowRank]


def descent(
    problem: LowRankData,
    step_rule: str,
    step: float,
    fresh_batches: int,
    nearest: Callable[[Moment], LowRank],
    move: Callable[[LowRank, Moment, Array], Move],
    view: Callable[[Operator], Operator] = lambda A: A,
) -> Iterates:
    """Yield the iterates L <- move(L, G, G U)(eta), from L = nearest(M), the part of rank r of the unbiased moment M.

    G is the gradient without its bias, over a fresh batch or all samples. An adaptive eta is halved while the objective
    of all samples is above twice the lowest so far. view: the operator as the solver sees it.
    """
    A, b, adaptive = problem.operator, problem.b, step_rule == "adaptive"
    samples = ((view(part), y) for part, y in A.batches(b, fresh_batches))
    part, y = next(samples)
    at = point(A, nearest(part.moment(y)), b)
    at = shortened(A, b, at) if adaptive else at
    lowest = at.objective
    for part, y in samples:
        now = at if not fresh_batches else point(part, at.W, y)
        G = part.moment(now.d)
        GU = G.times(now.W.U, now.P)
        following = move(now.W, G, GU)
        for eta in trial_steps(part, now, GU) if adaptive else (step,):
            new = point(A, following(eta), b)
            if new.objective <= 2 * lowest:
                break
        yield iterate(b, at, new.W, eta, f"Step {eta:.3g}.")
        at, lowest = new, min(lowest, new.objective)
    yield Iterate(at.W, at.objective)
    return Stop.EXHAUSTED


def trial_steps(A: Operator, at: EvaluatedMatrix, GU: Array) -> list[float]:
    """Return the eta at which <T, G(L - eta T)> = 0, with T = P G + G P - P G P the tangent part of G, P = U U^T.

    eta = ||T||^2 / <T, H(T)> with H(T) = A*(A(T)) / (2m) - (mean A(T) / 2) I, whose mean is T: about 1 with many
    measurements, and at most 4, as flatter directions are undetermined. GU = G U (p, r). One pass over the data. Halves
    follow, for steps that raise the objective far: it need not fall, as G is the gradient without the bias.
    """
    U = at.W.U
    Z = GU - U @ (U.T @ GU) / 2
    inner = U.T @ Z
    size = 2 * float((Z * Z).sum() + (inner * inner.T).sum())
    eta = along(A, 2 * A.pair(at.P, A.left(Z)), 2 * float(np.trace(inner)), size, 4.0)
    return [eta / 2**halvings for halvings in range(13)]


def shortened(A: Operator, b: Array, start: EvaluatedMatrix) -> EvaluatedMatrix:
    """Return the start L = P_r(M) times the step from 0 to it, at most 1: with few samples L is far too large.

    The step is ||L||^2 / <L, H(L)>, as L is the tangent part of M at L, from M = -G(0). No pass over the data.
    """
    (U, s, V), image = start.W, start.d + b
    eta = s.dtype.type(along(A, image, float(s.sum()), float(s @ s), 1.0))
    return start._replace(W=LowRank(U, eta * s, V), d=eta * image - b)


def along(A: Operator, image: Array, trace: float, size: float, most: float) -> float:
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

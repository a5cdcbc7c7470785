"""The steps of message passing for phase retrieval: matching of scale and variance, and one update."""

from typing import NamedTuple

import numpy as np

from lrlab.arrays import Vector
from lrlab.models.protocols import PhaseData
from lrlab.solvers.phase_retrieval.phase_start import adjoint
from lrlab.theory.channels import TINY
from lrlab.theory.magnitudes import Magnitudes, answer

ROWS = 2**14
MATCHINGS = 3
# Variances cannot fall to 0: the score of an exact answer divides by them.
LEAST_VARIANCE = 1e-28


class State(NamedTuple):
    """Posterior means z (p,), the variance V of projections, and the means w (m,) of the projections A z.

    score: g (m,) of the update that led here, None at the start. Az: A z (m,).
    """

    z: Vector
    V: float
    w: Vector
    score: Vector | None
    Az: Vector


class AnswerStatistics(NamedTuple):
    """What the answers say at (w, V): g (m,), and the mean h."""

    score: Vector
    curvature: float


def updated(problem: PhaseData, channel: Magnitudes, now: State, c: float, step: float) -> State:
    """Return the state after matching and one update, of which g and z move by the share `step`."""
    m, p = problem.shape
    z, V, w, answered = matched(problem, channel, now, c)
    score = answered.score if now.score is None else step * answered.score + (1.0 - step) * now.score
    # The mean h is that of |g|^2 under the model, which cannot be negative.
    precision = (
        answered.curvature if answered.curvature > 0 else float(np.vdot(answered.score, answered.score).real) / m
    )
    S = 1.0 / max(m * precision, TINY)
    shrink = c / (c + p * S)
    z = step * shrink * (z + S * adjoint(problem.A, score)) + (1.0 - step) * z
    V = max(p * S * shrink, LEAST_VARIANCE * c)
    Az = problem.A @ z
    return State(z, V, Az - V * score, score, Az)


def matched(
    problem: PhaseData, channel: Magnitudes, now: State, c: float
) -> tuple[Vector, float, Vector, AnswerStatistics]:
    """Return z, V and w at the scale and variance at which the answers are most likely, and what these say there."""
    z, V, w = now.z, now.V, now.w
    for _ in range(MATCHINGS):
        answered, size = answers(problem, channel, w, V), float(np.vdot(w, w).real)
        inner = V * float(np.vdot(w, answered.score).real)
        a = min(max(1.0 + inner / max(size, TINY), 0.5), 2.0)
        # mean |m - a w|^2 + mean v.
        gap = (
            V**2 * float(np.vdot(answered.score, answered.score).real) - 2.0 * (a - 1.0) * inner + (a - 1.0) ** 2 * size
        )
        V = min(max(gap / len(w) + V - V**2 * answered.curvature, LEAST_VARIANCE * c), c)
        z, w = a * z, a * w
    return z, V, w, answers(problem, channel, w, V)


def answers(problem: PhaseData, channel: Magnitudes, w: Vector, V: float) -> AnswerStatistics:
    """Return what the answers say, by blocks of rows: noise takes some hundred numbers a row."""
    score, total = np.empty_like(w), 0.0
    for start in range(0, len(w), ROWS):
        problem.checkpoint(start / len(w))
        rows = slice(start, start + ROWS)
        at = answer(channel, w[rows], V, problem.y[rows])
        score[rows], total = at.score, total + float(at.curvature.sum())
    return AnswerStatistics(score, total / len(w))

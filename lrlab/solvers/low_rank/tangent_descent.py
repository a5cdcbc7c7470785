"""Conjugate directions in the tangent spaces of matrices of rank k, with the debiased gradient and exact steps."""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab.lowrank import LowRank, from_core, from_product
from lrlab.models.low_rank import LowRankSpec
from lrlab.models.protocols import LowRankData
from lrlab.operators.operator import Operator, alignment, unresolvable
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solver_entry import Options
from lrlab.solvers.low_rank.requirements import Directions, ranked_entry
from lrlab.solvers.low_rank.starts import spectral_start
from lrlab.solvers.low_rank.tangent import (
    EvaluatedMatrix,
    Line,
    Vector,
    gradient,
    line,
    moved,
    point,
    solved,
    transported,
)

HALVINGS = 30

ROUGH = 0.1
MUCH = 2**23
"""Numbers of data from which a start is refined on the first part of them."""
FIRST_PART = 3
"""Its measurements for each degree of freedom."""
REFINED, STUCK, MOST_REFINEMENTS = 3e-5, 0.998, 80


def tangent_descent(
    problem: LowRankData,
    *,
    directions: Directions = "conjugate",
    rng: Generator,
) -> Iterates:
    r"""Recover a matrix W of rank k from b = A(W) + noise.

    minimise   f(W) = ||A(W) - b||^2 / 2  over rank W = k
    update     G = unbiased estimate of W - W_true from d = A(W) - b  (debiased where W is symmetric),
               T = P_U G + G P_V - P_U G P_V, the tangent vector nearest to G,
               D = -T + beta D', D' the last direction carried over, beta of Polak & Ribiere, never negative,
               W <- nearest matrix of rank k to W + eta D,  eta = -<d, A(D)> / ||A(D)||^2
    converges  linearly from a spectral start, once m is a few times the degrees of freedom; with noise it ends where
               G leads no further down, beside the stationary point of f by less than the noise moves it

    Of much data (a dozen million numbers) the start is refined on the first part before the rest is read.
    An iteration reads the data twice (symmetric) or four times (general) and is O(m (d1 + d2) k). Steps that raise f
    are halved. Yields an Iterate a step: objective f, residual the cosine between d and A(D). Ends STALLED
    where no step lowers f, though that cosine promises more than rounding.
    Reference: Soltani & Hegde (2018), section 5.3, for G; Vandereycken (2013) for conjugate directions on the manifold.
    """
    operator, b = problem.operator, problem.b
    start = refined_start(operator, b, problem.rank, rng)
    residual = None
    for at, image in descent(operator, b, point(operator, start, b), conjugately=directions == "conjugate"):
        residual = None if image is None else alignment(at.misfit, image, b)
        yield Iterate(at.W, objective(at), residual)
    return Stop.CONVERGED if residual is not None and unresolvable(residual, b) else Stop.STALLED


def refined_start(operator: Operator, b: np.ndarray, rank: int, rng: Generator) -> LowRank:
    """Return the spectral start; of much data, that of its first part, refined there before the rest is read.

    A few times the degrees of freedom decide a matrix as well as all measurements do, up to noise; single precision
    will do until the others are read.
    """
    d1, d2 = operator.shape
    freedom = rank * (d1 + d2 - rank) // (2 if operator.symmetric else 1)
    count = FIRST_PART * freedom
    few = operator.first(count) if operator.size * (d1 + d2) > MUCH and 2 * count < operator.size else None
    if few is None:
        return spectral_start(operator, b, rank, rng)
    part = b[:count].astype(few.dtype)
    start = point(few, spectral_start(few, part, rank, rng, settled=ROUGH), part)
    before = size = np.inf
    for at, _ in islice(descent(few, part, start, conjugately=True), MOST_REFINEMENTS):
        size = float(np.linalg.norm(at.misfit))
        # Solved to single precision, or down to the noise, where only more data helps.
        if size < REFINED * np.linalg.norm(part) or size > STUCK * before:
            break
        before = size
    if size > np.linalg.norm(part) / 2:
        # Noise, or a wrong turn: the moment of all measurements is the better start.
        return spectral_start(operator, b, rank, rng)
    return LowRank(*(factor.astype(operator.dtype) for factor in orthonormalised(at.W)))


def orthonormalised(W: LowRank) -> LowRank:
    """Return W with factors that are orthonormal to double precision, W as it was."""
    if W.U is W.V:
        Q, R = np.linalg.qr(W.U.astype(float))
        return from_core(Q, (R * W.s) @ R.T, len(W.s))
    return from_product(W.left.astype(float), W.V.astype(float), len(W.s))


def descent(
    operator: Operator, b: np.ndarray, at: EvaluatedMatrix, *, conjugately: bool
) -> Iterator[tuple[EvaluatedMatrix, np.ndarray | None]]:
    """Yield every point of the descent, with the image of the direction that is taken from there.

    The first comes without one: a start is worth seeing before the data is read twice more.
    """
    first = at.W
    yield at, np.zeros_like(b) if solved(at.misfit, b) else None
    slope = gradient(operator, at)
    direction = slope.times(-1.0)
    while True:
        along = line(operator, at, direction)
        if at.W is not first:
            yield at, along.image
        new = None if solved(at.misfit, b) else searched(operator, at, along, b)
        if new is None:
            # Conjugate directions can lead nowhere; when the gradient's own does too, rounding is all that is left.
            along = line(operator, at, slope.times(-1.0))
            new = None if solved(at.misfit, b) else searched(operator, at, along, b)
        if new is None:
            return
        last, at = Leg(at, slope, direction), new
        slope = gradient(operator, at)
        direction = conjugate(operator, last, at, slope) if conjugately else slope.times(-1.0)


class Leg(NamedTuple):
    """A step that was taken: from where, the gradient there, the direction taken."""

    at: EvaluatedMatrix
    slope: Vector
    direction: Vector


def objective(at: EvaluatedMatrix) -> float:
    """Return f = ||A(W) - b||^2 / 2."""
    return float(at.misfit @ at.misfit) / 2


def searched(operator: Operator, at: EvaluatedMatrix, along: Line, b: np.ndarray) -> EvaluatedMatrix | None:
    """Return the point at the exact step of the linear model, halved until f falls; None if it never does."""
    size = float(along.image @ along.image)
    step = -float(at.misfit @ along.image) / size if size else 0.0
    for _ in range(HALVINGS if step else 0):
        new = moved(operator, at, along, step, b)
        if objective(new) < objective(at):
            return new
        step /= 2
    return None


def conjugate(operator: Operator, last: Leg, at: EvaluatedMatrix, slope: Vector) -> Vector:
    """Return the conjugate direction of Polak & Ribiere; the negative gradient where that is no longer conjugate."""
    before = transported(operator, last.slope, last.at.W, at.W)
    beta = slope.dot(slope.plus(before, -1.0)) / last.slope.dot(last.slope)
    if beta <= 0:
        return slope.times(-1.0)
    return transported(operator, last.direction, last.at.W, at.W).times(beta).plus(slope, -1.0)


def tangent_workspace(spec: LowRankSpec, options: Options) -> int:
    """Hold a dozen images of factors and vectors of length m; the start's basis, and the first part of the data."""
    k, (d1, d2) = spec.true_rank, spec.size
    first = 4 * min(spec.measurements // 2, FIRST_PART * spec.degrees_of_freedom) * (d1 + d2)
    return 8 * (spec.measurements * (12 * k + 8) + 60 * (k + 5) * (d1 + d2)) + first + 2**22


ENTRY = ranked_entry(
    title="Tangent descent",
    summary="Conjugate directions on the manifold of rank k, debiased gradients, exact steps: cheap and robust.",
    run=tangent_descent,
    families=("low-rank",),
    workspace=tangent_workspace,
)

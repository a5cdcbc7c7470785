"""Conjugate directions of Polak and Ribiere in the tangent spaces of matrices of rank k, with exact steps."""

from collections import abc
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.lowrank import LowRank, from_core, from_product
from lrlab.models.protocols import LowRankData
from lrlab.operators.operator import Operator, alignment, unresolvable
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solvers.low_rank import tangent
from lrlab.solvers.low_rank.requirements import Directions, ranked_entry
from lrlab.solvers.low_rank.starts import Start, started
from lrlab.solvers.low_rank.tangent import EvaluatedMatrix, Line, Vector, point, solved
from lrlab.solvers.low_rank.whole_steps import Leave, WholeSteps

HALVINGS, ROUNDING = 30, 1e-5
REFRESHED = 50
"""Steps after which images are computed from the factors again, lest rounding errors add up; and at the end."""
ROUGH = 0.1
FEW, SOME, MUCH, MOST = 2**15, 2**20, 2**23, 2**27
"""Numbers of data up to which there is nothing to gain by single precision; from which on it is read in that first;
from which on a start is refined on the first part of it; and up to which a copy in single precision is made of all:
of 1.5e8 numbers (p = 1,000, m = 75,000) the descent took 1.1 to 1.2 times as long with it."""
FIRST_PART = 3
"""Its measurements for each degree of freedom."""
REFINED, STUCK, MOST_REFINEMENTS = 3e-5, 0.998, 80
SMALL, SLOW, ALIGNED, TURNING = 3e-3, 0.99, 3e-5, 0.7
"""Single precision gives way to double where the misfit over b is small; where the ratio of misfits, one after the
other, and that of cosines are large; and where the cosine is small."""


def tangent_descent(
    problem: LowRankData, *, directions: Directions = "conjugate", start: Start = "moment", rng: Generator
) -> Iterates:
    r"""Recover a matrix W of rank k from b = A(W) + noise.

    minimise   f(W) = ||A(W) - b||^2 / 2  over rank W = k
    update     G = A*(d), d = A(W) - b,  T = P_U G + G P_V - P_U G P_V, the gradient of f on the tangent space,
               N = H^-1 T, H the mean of A*A on the tangent space: T itself, but for the trace where W is symmetric,
               D = -N + beta D', D' the last direction carried over, beta of Polak & Ribiere, never negative,
               W <- nearest matrix of rank k to W + eta D,  eta = -<d, A(D)> / ||A(D)||^2
    leaves     minima that have the wrong terms, by steps with the whole gradient, see `WholeSteps`
    converges  linearly from a spectral start, once m is a few times the degrees of freedom; the condition number of W
               costs a few such steps

    CONVERGED says that T = 0 up to the tolerance, with noise too: the cosine between d and A(D), which is at least
    that between d and A(N), is within it, or so small that f cannot tell; or the misfit is rounding error.
    Of independent measurements with a million numbers or more, the first iterates are computed in single precision
    (objectives are right to five digits); it gives way to double where the misfit stops falling, as at the noise, or is
    0.003 ||b||. With a dozen million the start is refined on the first part before the rest is read.
    An iteration reads the data twice (symmetric) or four times (general) and is O(m (d1 + d2) k). Steps that raise f
    are halved. Yields an Iterate a step: objective f, residual that cosine. Ends STALLED where no step lowers f,
    though the cosine promises more than rounding.
    Reference: Vandereycken (2013), "Low-rank matrix completion by Riemannian optimization"; Soltani & Hegde (2018),
    section 1.3, for the bias of the trace.
    """
    operator, b = problem.operator, problem.b
    conjugately, leave = directions == "conjugate", WholeSteps(operator, b, rng).leave
    first = yield from single_steps(operator, b, problem.rank, rng, start, conjugately)
    return (yield from steps_to_the_end(operator, b, point(operator, first, b), conjugately, leave))


def steps_to_the_end(
    operator: Operator, b: np.ndarray, first: EvaluatedMatrix, conjugately: bool, leave: Leave
) -> abc.Generator[Iterate, None, Stop]:
    """Yield the iterates from a point; return why they end."""
    residual = None
    for at, image in descent(operator, b, first, conjugately=conjugately, leave=leave):
        residual = None if image is None else alignment(at.misfit, image, b)
        yield Iterate(at.W, at.objective, residual)
        if residual is not None and unresolvable(residual, b):
            return Stop.CONVERGED
    return Stop.STALLED


def single_steps(
    operator: Operator, b: Array, rank: int, rng: Generator, start: str, conjugately: bool
) -> abc.Generator[Iterate, None, LowRank]:
    """Yield the iterates in single precision, of much data; return the point from which to go on in double."""
    single = in_single(operator) if operator.size * sum(operator.shape) > SOME else None
    if single is None:
        return refined_start(operator, b, rank, rng, start)
    target, before, cosine, b = SMALL * float(np.linalg.norm(b)), np.inf, 1.0, b.astype(single.dtype)
    first = point(single, refined_start(single, b, rank, rng, start), b)
    for at, image in descent(single, b, first, conjugately=conjugately):
        size, residual = float(np.linalg.norm(at.misfit)), None if image is None else alignment(at.misfit, image, b)
        now = 1.0 if residual is None else residual
        if size <= target or now < ALIGNED or (size > SLOW * before and now > TURNING * cosine):
            break
        before, cosine = size, now
        yield Iterate(orthonormalised(at.W), at.objective, residual)
    return orthonormalised(at.W)


def in_single(operator: Operator) -> Operator | None:
    """Return the operator in single precision; None where it is so, is small or too large, or has no such copy."""
    fits = operator.dtype == np.float64 and FEW < operator.size * sum(operator.shape) <= MOST
    return operator.first(operator.size) if fits else None


def refined_start(operator: Operator, b: np.ndarray, rank: int, rng: Generator, start: str) -> LowRank:
    """Return the start; of much data, that of its first part, refined there before the rest is read.

    A few times the degrees of freedom decide a matrix as well as all measurements do, up to noise; single precision
    will do until the others are read.
    """
    d1, d2 = operator.shape
    freedom = rank * (d1 + d2 - rank) // (2 if operator.symmetric else 1)
    count = FIRST_PART * freedom
    few = operator.first(count) if operator.size * (d1 + d2) > MUCH and 2 * count < operator.size else None
    if few is None:
        return started(operator, b, rank, rng, start)
    part = b[:count].astype(few.dtype)
    rough = point(few, started(few, part, rank, rng, start, settled=ROUGH), part)
    before = size = np.inf
    for at, _ in islice(descent(few, part, rough, conjugately=True), MOST_REFINEMENTS):
        size = float(np.linalg.norm(at.misfit))
        # Solved to single precision, or down to the noise, where only more data helps.
        if size < REFINED * np.linalg.norm(part) or size > STUCK * before:
            break
        before = size
    if size > np.linalg.norm(part) / 2:
        # Noise, or a wrong turn: the moment of all measurements is the better start.
        return started(operator, b, rank, rng, start)
    U, s, V = (factor.astype(operator.dtype) for factor in orthonormalised(at.W))
    return LowRank(U, s, U if operator.symmetric else V)


def orthonormalised(W: LowRank) -> LowRank:
    """Return W with factors that are orthonormal to double precision, W as it was."""
    if W.U is W.V:
        Q, R = np.linalg.qr(W.U.astype(float))
        return from_core(Q, (R * W.s) @ R.T, len(W.s))
    return from_product(W.left.astype(float), W.V.astype(float), len(W.s))


def descent(
    operator: Operator,
    b: Array,
    at: EvaluatedMatrix,
    *,
    conjugately: bool,
    leave: Leave = lambda at, before: None,
) -> abc.Iterator[tuple[EvaluatedMatrix, Array | None]]:
    """Yield every point of the descent, with the image of the direction that is taken from there.

    The first comes without one: a start is worth seeing before the data is read twice more.
    leave(point, f before): a better point elsewhere, where there is one.
    """
    yield at, np.zeros_like(b) if solved(at.misfit, b) else None
    last, steps = None, 0
    while True:
        slope = tangent.gradient(operator, at)
        steepest = tangent.newton_step(operator, at.W, slope)
        direction = conjugate(operator, last, at, slope, steepest) if last and conjugately else steepest
        along = tangent.line(operator, at, direction)
        if solved(at.misfit, b):
            # The data has been read for this direction: a step along it leaves nothing but rounding.
            at = searched(operator, at, along, b) or at
        if steps:
            yield at, along.image
        if solved(at.misfit, b):
            return
        new = searched(operator, at, along, b)
        if new is None and direction is not steepest:
            # Conjugate directions can lead nowhere; when the gradient's own does too, rounding is all that is left.
            new = searched(operator, at, tangent.line(operator, at, steepest), b)
        better = leave(new or at, at.objective)
        following = better or new
        if following is None:
            return
        last = Leg(at.W, slope, steepest, direction) if better is None else None
        at, steps = following, steps + 1
        if solved(at.misfit, b) or steps % REFRESHED == 0:
            at = point(operator, at.W, b)


class Leg(NamedTuple):
    """A step that was taken: from where, the gradient there, the step of steepest descent, the direction taken."""

    W: LowRank
    slope: Vector
    steepest: Vector
    direction: Vector


def searched(operator: Operator, at: EvaluatedMatrix, along: Line, b: Array) -> EvaluatedMatrix | None:
    """Return the point at the exact step of the linear model, halved until f falls; None if it never does."""
    size = float(along.image @ along.image)
    step = -float(at.misfit @ along.image) / size if size else 0.0
    # In single precision the last steps, which are exact, change f by less than its rounding error.
    slack = ROUNDING if b.dtype == np.float32 else 0.0
    before = at.objective * (1.0 + slack)
    for _ in range(HALVINGS if step else 0):
        new = tangent.moved(operator, at, along, step, b)
        if new.objective < before:
            return new
        step /= 2
    return None


def conjugate(operator: Operator, last: Leg, at: EvaluatedMatrix, slope: Vector, steepest: Vector) -> Vector:
    """Return the conjugate direction of Polak & Ribiere; the steepest one where that is no longer conjugate."""
    W = at.W
    change = steepest.plus(tangent.transported(operator, last.steepest, last.W, W), -1.0)
    beta = slope.inner(change, W) / last.slope.inner(last.steepest, last.W)
    if beta <= 0:
        return steepest
    return tangent.transported(operator, last.direction, last.W, W).times(beta).plus(steepest, 1.0)


ENTRY = ranked_entry(
    title="Tangent descent",
    update=r"W \leftarrow P_k(W + \eta D), \quad D = -H^{-1} T + \beta D', \quad T = P_U G + G P_V - P_U G P_V",
    summary="Conjugate gradients on the manifold of rank k with exact steps: cheap, whatever the condition number.",
    run=tangent_descent,
    families=("low-rank",),
    max_iter=1000,
    memory=0.7,
)

"""Gauss-Newton on matrices of rank k: every step solves the linear problem in the tangent space."""

from collections.abc import Generator
from functools import partial
from typing import Annotated, TypeVar

import numpy as np

from lrlab.arrays import Array
from lrlab.models.protocols import LowRankData
from lrlab.operators.entries import Entries
from lrlab.operators.operator import Operator, alignment, unresolvable
from lrlab.operators.rank_one import RankOne
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solvers.low_rank.rank_one_steps import rank_one_steps
from lrlab.solvers.low_rank.requirements import ranked_entry
from lrlab.solvers.low_rank.starts import Start, started
from lrlab.solvers.low_rank.tangent import EvaluatedMatrix, Line, line, moved, point, solved
from lrlab.solvers.low_rank.tangent_descent import in_single, steps_to_the_end
from lrlab.solvers.low_rank.tangent_least_squares import least_squares_step, rank_one_step, stationarity
from lrlab.solvers.low_rank.whole_steps import SLOW, Leave, WholeSteps

Result = TypeVar("Result")
Generated = Generator[Iterate, None, Result]

HALVINGS = 20
PENALTY, NEARLY = 0.1, 0.4
"""Weight of the nuclear norm per relative misfit, and the cosine of the residual from which on it falls with it."""
SINGLE_TOL = 1e-5
"""Tolerance down to which linear problems of rank-one measurements are solved in single precision."""
PATIENCE, PATIENCE_ONE, NEAR = 20, 5, 0.01
"""Slow steps without a penalty, at a cosine above NEAR, after which it begins again: what is recovered takes fewer. The
second is that of weighted problems of rank one."""
FEW = 10
"""Measurements per row up to which weights help at rank one; more of them are solved as they are."""
LATE = 10
"""Slow steps at any cosine after which conjugate directions take over: where the rank is too small for b, the problems
that leave the curvature out no longer say where the minimum is."""
LOOSE, TIGHTEST, ROUGHLY = 0.1, 1e-10, 0.01
"""Bounds of the factor by which the gradient of a penalised problem shrinks, and the largest one without a penalty."""


def gauss_newton(
    problem: LowRankData,
    *,
    inner_tol: Annotated[
        float,
        Parameter(
            meaning="each least-squares problem is solved until its gradient has shrunk by this factor, by the "
            "relative misfit where that is larger (at most 0.01); on the penalised path by 0.1, or by the relative "
            "misfit where that is smaller",
            low=1e-14,
            high=0.5,
            scale="log",
        ),
    ] = 1e-4,
    inner_steps: Annotated[
        int, Parameter(meaning="most conjugate-gradient steps in one iteration", low=1, high=100_000, scale="log")
    ] = 500,
    start: Start = "moment",
    path: Annotated[
        str,
        Parameter(
            meaning="penalised: by way of a nuclear norm that fades as the misfit falls; direct: without; auto: "
            "penalised for entries of a table, and elsewhere after 20 slow steps, from the clipped moment; rank one of "
            "Gaussian measurements by way of weighted ones at first",
            choices=("auto", "penalised", "direct"),
            added=True,
        ),
    ] = "auto",
    rng: np.random.Generator,
) -> Iterates:
    r"""Recover a matrix W = U diag(s) V^T of rank k from b = A(W) + noise.

    minimise   f(W) = ||A(W) - b||^2 / 2  over rank W = k, penalised by way of f + lambda ||W||_*, lambda -> 0
    update     (A, B) = the least (in norm) that minimises ||A(W + A V^T + U B^T) - b||,  B = A where W is symmetric,
               W <- nearest matrix of rank k to W + t (A V^T + U B^T),  t = 1, halved until f + lambda ||W||_* falls
    penalised  plus mu (||A D^-1 + U D^-1 diag(s)||^2 + the same of B and V),  D^2 = diag(|s|) / s_1, mu = lambda / s_1;
               lambda = 0.1 g s_1 / scale, never rising; g = ||A(W) - b|| / ||b|| min(1, 2.5 cos), cos the residual, and
               scale makes scale A*A the identity on average
    leaves     minima that have the wrong terms by a step with the whole gradient, see `WholeSteps`
    converges  quadratically without noise: s does not enter the unpenalised problem, and lambda and the accuracy of the
               penalised one fall with g

    Gaussian measurements are solved directly: from about 1.5 times the degrees of freedom on, networks of one unit from
    twice as many; few at rank one are divided by about the root of their size first (`rank_one_steps`). From scarce
    entries of a table exact solutions of the linear problem lead astray, to a W that is large where nothing was
    observed, as soon as singular values differ; penalised and solved roughly at first it recovers 150 x 150 of rank 5
    at condition 10 from 2.2 times. The penalty is that of factors U D and V D, whose least squared size is the nuclear
    norm. Without one, too, it is as well to solve the first problems roughly. What takes many slow steps without one is
    lost: it begins again, with the penalty and from the clipped moment. Rank-one sensing (50 x 50, rank 5, condition 1)
    at 1.2 times the degrees of freedom is so recovered for 37 of 40 seeds instead of 24, networks (100 inputs, 5 units,
    clipped start) at 1.27 times for 18 instead of 12.
    The linear problem is solved by conjugate gradients on its normal equations (CGLS), from zero, which gives the
    minimum-norm solution, as LSQR does; each of its steps reads the data twice (symmetric) or four times, O(m (d1 +
    d2) k). Of rank-one measurements they are in single precision, where `inner_tol` is 1e-5 or
    more: gradient, image and misfit of every W are in double. Yields an Iterate a step: objective f, residual the
    cosine between the misfit and the measured step, while there is a penalty the tangent gradient's image. Where
    `inner_steps` do not suffice the cosine shows a part of what is left only: the residual is then at least the share
    of the gradient that remains of the linear problem. After 10 slow steps to the end, as with a rank too small for b,
    the conjugate directions of `tangent_descent` take over. Ends STALLED where no step lowers f.
    Reference: Zilber & Nadler (2022), "GNIMC", updates of the tangent kind; Paige & Saunders (1982), CGLS in section 7;
    Bakushinskii (1992), "The problem of the convergence of the iteratively regularized Gauss-Newton method"; Eisenstat
    & Walker (1996), "Choosing the forcing terms in an inexact Newton method".
    """
    operator, b = problem.operator, problem.b
    few = problem.rank == 1 < min(operator.shape) and len(b) <= FEW * max(operator.shape)
    if path == "auto" and few and isinstance(operator, RankOne) and b.any():
        direct = partial(direct_steps, tol=inner_tol, limit=inner_steps, patience=PATIENCE_ONE)
        at, leave = (yield from rank_one_steps(operator, b, rng, start, direct)), WholeSteps(operator, b, rng).leave
        return (yield from direct_steps(operator, b, at, leave, inner_tol, inner_steps)) or Stop.STALLED
    at = point(operator, started(operator, b, problem.rank, rng, start), b)
    leave = WholeSteps(operator, b, rng).leave
    if path == "direct" or (path == "auto" and not isinstance(operator, Entries)):
        patience = PATIENCE if path == "auto" else 0
        stop = yield from direct_steps(operator, b, at, leave, inner_tol, inner_steps, patience)
        if stop is not None:
            return stop
        at = point(operator, started(operator, b, problem.rank, rng, "clipped"), b)
        leave = WholeSteps(operator, b, rng).leave
    at = yield from penalised_steps(operator, b, at, inner_steps, leave)
    if solved(at.misfit, b):
        return Stop.CONVERGED
    return (yield from direct_steps(operator, b, at, leave, inner_tol, inner_steps)) or Stop.STALLED


def penalised_steps(
    operator: Operator, b: Array, at: EvaluatedMatrix, limit: int, leave: Leave
) -> Generated[EvaluatedMatrix]:
    """Yield the iterates on the penalised path; return the point where its problem is solved and the penalty goes."""
    weight = np.inf
    while True:
        slope = stationarity(operator, at, b)
        size = unsolved(at, b, slope)
        weight = min(weight, PENALTY * size * float(np.abs(at.W.s).max()) / operator.scale)
        step, inner, _ = least_squares_step(operator, at, min(LOOSE, max(size, TIGHTEST)), limit, weight)
        along, end = line(operator, at, step), solved(at.misfit, b)
        yield Iterate(at.W, at.objective, 0.0 if end else slope, f"{inner} inner steps.")
        better = None if end else following(operator, at, along, b, weight, leave)
        if better is None:
            return at
        at = better


def direct_steps(
    operator: Operator, b: Array, at: EvaluatedMatrix, leave: Leave, tol: float, limit: int, patience: int = 0
) -> Generated[Stop | None]:
    """Yield the iterates without a penalty; return why they end, None after so many slow steps, 0 for any number."""
    near, residual, slow, late = in_single(operator) or operator, 1.0, 0, 0
    while True:
        if solved(at.misfit, b):
            yield Iterate(at.W, at.objective, 0.0)
            return Stop.CONVERGED
        rough = max(tol, min(ROUGHLY, unsolved(at, b, residual)))
        if tol >= SINGLE_TOL and isinstance(near, RankOne):
            step, inner, remaining = rank_one_step(operator, near, at, rough, limit)
        else:
            step, inner, remaining = least_squares_step(operator, at, rough, limit)
        along = line(operator, at, step)
        residual = max(alignment(at.misfit, along.image, b), remaining)
        yield Iterate(at.W, at.objective, residual, f"{inner} inner steps.")
        better = following(operator, at, along, b, 0.0, leave)
        if better is None:
            return Stop.CONVERGED if unresolvable(residual, b) else Stop.STALLED
        late += better.objective > (1 - SLOW) * at.objective
        slow += residual > NEAR and better.objective > (1 - SLOW) * at.objective
        if patience and slow >= patience:
            return None
        if late >= LATE and not patience:
            return (yield from steps_to_the_end(operator, b, better, True, leave))
        at = better


def unsolved(at: EvaluatedMatrix, b: Array, cosine: float) -> float:
    """Return the relative misfit, which falls with the cosine once that is small: noise keeps the misfit from 0."""
    return float(np.linalg.norm(at.misfit)) / (float(np.linalg.norm(b)) or 1.0) * min(1.0, cosine / NEARLY)


def following(
    operator: Operator, at: EvaluatedMatrix, along: Line, b: Array, weight: float, leave: Leave
) -> EvaluatedMatrix | None:
    """Return the next point, by the step, halved until f + weight ||W||_* falls, or by one with the whole gradient.

    None where neither helps.
    """
    penalised = lambda point: point.objective + weight * float(np.abs(point.W.s).sum())  # noqa: E731
    before, trials = penalised(at), (moved(operator, at, along, 0.5**halvings, b) for halvings in range(HALVINGS))
    new = next((trial for trial in trials if penalised(trial) < before), None)
    return leave(new or at, at.objective) or new


ENTRY = ranked_entry(
    title="Gauss-Newton",
    update=r"(A, B) = \arg\min \|\mathcal A(W + A V^\top + U B^\top) - b\|, \quad W \leftarrow P_k\bigl(W +"
    r" t (A V^\top + U B^\top)\bigr)",
    summary="Solves the linear problem in each tangent space: the first to try with features. Gaussian measurements "
    "are exact from 1.5 times the unknowns, networks of one unit from 2 times.",
    run=gauss_newton,
    families=("low-rank",),
    memory=0.6,
)

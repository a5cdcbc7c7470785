"""Gauss-Newton on matrices of rank k: every step solves the linear problem in the tangent space."""

from collections.abc import Generator
from functools import partial

import numpy as np

from lrlab.arrays import Array
from lrlab.models.protocols import LowRankData
from lrlab.operators.entries import Entries
from lrlab.operators.operator import Operator
from lrlab.operators.rank_one import RankOne
from lrlab.operators.tangent import (
    EvaluatedMatrix,
    alignment,
    gauss_newton_step,
    point,
    solved,
    stationarity,
    unresolvable,
)
from lrlab.solver_entry import Iterate, Iterates, Stop, solver
from lrlab.solvers.low_rank.rank_one_steps import rank_one_steps
from lrlab.solvers.low_rank.tangent import SLOW, Start, WholeSteps, line, moved, started
from lrlab.solvers.low_rank.tangent_descent import descent

FEW, MOST = 2**15, 2**27
"""Sizes of the data, in numbers, between which steps gain from single precision."""
INNER_STEPS, PATIENCE = 500, 20
"""Most conjugate gradients per step; slow steps before the path begins again, or conjugate directions take over."""


@solver(family="low-rank", oracle="rank", memory=0.6)
def gauss_newton(problem: LowRankData, *, start: Start = "moment", rng: np.random.Generator) -> Iterates:
    r"""Gauss-Newton.

    Solves the linear problem in each tangent space: the first to try with features. Gaussian measurements are exact
    from 1.5 times the degrees of freedom, networks of one unit from 2 times.

    .. math:: (A, B) = \arg\min \|\mathcal A(W + A V^\top + U B^\top) - b\|, \quad
        W \leftarrow P_k\bigl(W + t (A V^\top + U B^\top)\bigr)

    minimize    F(W) = ||A(W) - b||^2 / 2  over W = U diag(s) V^T (d1, d2) of rank k
    start       the leading part of the moment of b
    update      (A, B) = the least (in norm) that minimizes ||A(W + A V^T + U B^T) - b||,  B = A if W is symmetric,
                W <- nearest matrix of rank k to W + t (A V^T + U B^T),  t = 1, halved until F + lambda ||W||_* falls
    penalized   plus mu (||A D^-1 + U D^-1 diag(s)||^2 + the same of B and V),  D^2 = diag(|s|) / s_1,
                mu = lambda / s_1,  lambda = 0.1 g s_1 / scale, never rising,  g = ||A(W) - b|| / ||b|| min(1, 2.5 cos)
    leaves      minima that have the wrong terms by a step with the whole gradient, see `WholeSteps`
    converges   quadratically without noise: s does not enter the unpenalized problem, and lambda and the accuracy of
                the penalized one fall with g
    cost        O(m (d1 + d2) k) per conjugate gradient, which reads the data twice (symmetric) or four times

    From scarce entries of a table exact solutions of the linear problem lead astray if singular values differ, so that
    tables are solved penalized, and roughly at first. Gaussian measurements are solved directly, few of them at rank
    one after `rank_one_steps`. After 20 slow steps the path begins again, penalized and from the truncated moment,
    which recovers 37 instead of 24 of 40 matrices (50 x 50, rank 5) at 1.2 times the degrees of freedom. If the rank is
    too small for b, `tangent_descent` takes over. If rank-one data have 2^15 to 2^27 numbers, conjugate gradients are
    in single precision. Yields an Iterate per step: objective F, residual the cosine cos between A(W) - b and the
    measured step (or tangent gradient). Ends STALLED if no step lowers F.

    Reference: Zilber & Nadler (2022), "GNIMC", updates of the tangent kind; Paige & Saunders (1982), CGLS in section 7;
    Bakushinskii (1992), "The problem of the convergence of the iteratively regularized Gauss-Newton method"; Eisenstat
    & Walker (1996), "Choosing the forcing terms in an inexact Newton method".
    """
    A, b = problem.operator, problem.b
    steps = partial(gauss_newton_steps, rng=rng)
    # Weights of measurements help up to ten per row.
    few = problem.rank == 1 < min(A.shape) and len(b) <= 10 * max(A.shape)
    if few and isinstance(A, RankOne) and b.any():
        at = yield from rank_one_steps(A, b, rng, start, steps)
        return (yield from steps(A, b, at))
    penalized = isinstance(A, Entries)
    at = point(A, started(A, b, problem.rank, rng, start), b)
    stop = yield from steps(A, b, at, penalized=penalized, patience=0 if penalized else PATIENCE)
    at = point(A, started(A, b, problem.rank, rng, "clipped"), b) if stop is None else at
    return stop or (yield from steps(A, b, at, penalized=True))


def gauss_newton_steps(
    A: Operator, b: Array, at: EvaluatedMatrix, *, rng: np.random.Generator, penalized: bool = False, patience: int = 0
) -> Generator[Iterate, None, Stop | None]:
    """Yield the iterates from a point; return why they end, None after `patience` slow steps, 0 for any number."""
    whole, weight, residual, slow, late = WholeSteps(A, b, rng), np.inf, 1.0, 0, 0
    gains = A.dtype == np.float64 and FEW < A.size * sum(A.shape) <= MOST
    near = A.in_single() if gains and isinstance(A, RankOne) else None
    while not solved(at.d, b):
        if penalized:
            residual = stationarity(A, at, b)
        # The relative residual norm, which noise keeps from 0, falls with the cosine once that is small.
        size = float(np.linalg.norm(at.d) / np.linalg.norm(b)) * min(1.0, 2.5 * residual)
        if penalized:
            weight = min(weight, 0.1 * size * float(np.abs(at.W.s).max()) / A.scale)
            Z, inner, left = gauss_newton_step(A, at, min(0.1, max(size, 1e-10)), INNER_STEPS, weight)
        else:
            weight = 0.0
            Z, inner, left = gauss_newton_step(A, at, max(1e-4, min(0.01, size)), INNER_STEPS, near=near)
        along = line(A, at, Z)
        if not penalized:
            residual = max(alignment(at.d, along.image, b), left)
        yield Iterate(at.W, at.objective, residual, f"{inner} inner steps.")
        height = lambda one: one.objective + weight * float(np.abs(one.W.s).sum())  # noqa: B023, E731
        trials = (moved(A, at, along, 0.5**halvings, b) for halvings in range(20))
        new = next((one for one in trials if height(one) < height(at)), None)
        better = whole.leave(new or at, at.objective) or new
        if better is None and not penalized:
            return Stop.CONVERGED if unresolvable(residual, b) else Stop.STALLED
        if better is None:
            penalized = False
            continue
        if not penalized and better.objective > (1 - SLOW) * at.objective:
            slow, late = slow + (residual > 0.01), late + 1
        at = better
        if patience and slow >= patience:
            return None
        if late >= PATIENCE and not patience:
            return (yield from descent(A, b, at, whole))
    yield Iterate(at.W, at.objective, 0.0)
    return Stop.CONVERGED

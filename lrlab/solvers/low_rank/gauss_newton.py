"""Gauss-Newton on matrices of rank k: every step solves the linear problem in the tangent space."""

from collections.abc import Callable
from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.models.protocols import LowRankData
from lrlab.operators.operator import Operator, alignment, unresolvable
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solvers.low_rank.requirements import ranked_entry
from lrlab.solvers.low_rank.starts import Start, started
from lrlab.solvers.low_rank.tangent import EvaluatedMatrix, Line, Vector, line, moved, point, solved
from lrlab.solvers.low_rank.tangent_descent import tangent_workspace
from lrlab.solvers.low_rank.whole_steps import WholeSteps, objective

HALVINGS = 20


def gauss_newton(
    problem: LowRankData,
    *,
    inner_tol: Annotated[
        float,
        Parameter(
            meaning="each least-squares problem is solved until its gradient has shrunk by this factor",
            low=1e-14,
            high=0.5,
            scale="log",
        ),
    ] = 1e-4,
    inner_steps: Annotated[
        int, Parameter(meaning="most conjugate-gradient steps in one iteration", low=1, high=100_000, scale="log")
    ] = 500,
    start: Start = "moment",
    rng: Generator,
) -> Iterates:
    r"""Recover a matrix W = U diag(s) V^T of rank k from b = A(W) + noise.

    minimise   f(W) = ||A(W) - b||^2 / 2  over rank W = k
    update     (A, B) = the least (in norm) that minimises ||A(W + A V^T + U B^T) - b||,  B = A where W is symmetric,
               W <- nearest matrix of rank k to W + t (A V^T + U B^T),  t = 1, halved until f falls
    leaves     minima that have the wrong terms by a step with the whole gradient, see `WholeSteps`
    converges  quadratically without noise, from a spectral start and about 1.5 times the degrees of freedom, whatever
               the condition number of W: U and V are orthonormal, s does not enter the linear problem

    The linear problem is solved by conjugate gradients on its normal equations (CGLS), from zero, which gives the
    minimum-norm solution, as LSQR does; each of its steps reads the data twice (symmetric) or four times, O(m (d1 +
    d2) k). Yields an Iterate a step: objective f, residual the cosine between the misfit and the measured step. Where
    `inner_steps` do not suffice the cosine shows a part of what is left only: the residual is then at least the share
    of the gradient that remains of the linear problem. Ends STALLED where no step lowers f.
    Reference: Zilber & Nadler (2022), "GNIMC", updates of the tangent kind; Paige & Saunders (1982), CGLS in section 7.
    """  # fmt: skip
    operator, b = problem.operator, problem.b
    at = point(operator, started(operator, b, problem.rank, rng, start), b)
    leave = WholeSteps(operator, b, rng).leave
    while True:
        step, inner, remaining = least_squares_step(operator, at, inner_tol, inner_steps)
        along = line(operator, at, step)
        residual = 0.0 if solved(at.misfit, b) else max(alignment(at.misfit, along.image, b), remaining)
        yield Iterate(at.W, objective(at), residual, f"{inner} inner steps.")
        if solved(at.misfit, b):
            return Stop.CONVERGED
        new = halved(operator, at, along, b)
        better = leave(new or at, objective(at)) or new
        if better is None:
            return Stop.CONVERGED if unresolvable(residual, b) else Stop.STALLED
        at = better


def halved(operator: Operator, at: EvaluatedMatrix, along: Line, b: Array) -> EvaluatedMatrix | None:
    """Return the point at step 1, halved until f falls; None if it never does."""
    times = 1.0
    for _ in range(HALVINGS):
        new = moved(operator, at, along, times, b)
        if objective(new) < objective(at):
            return new
        times /= 2
    return None


def least_squares_step(operator: Operator, at: EvaluatedMatrix, tol: float, limit: int) -> tuple[Vector, int, float]:
    """Return the tangent vector whose image is nearest to minus the misfit, of least norm.

    Beside it the steps it took, and the share of the gradient that remains: 0 unless `limit` was reached before `tol`
    or rounding error.
    """
    measured, pulled = jacobian(operator, at)
    X = Vector(np.zeros_like(at.W.U), np.zeros_like(at.W.V))
    r = -at.misfit
    S = pulled(r)
    D, first = S, S.dot(S)
    now, target, count, largest = first, tol**2 * first, 0, 0.0
    while now > target and count < limit:
        # With many unknowns there are hundreds of steps: a cancelled run ends before the next one.
        operator.checkpoint(count / limit)
        image = measured(D)
        curvature = float(image @ image)
        largest = max(largest, curvature / D.dot(D))
        alpha = now / curvature
        X, r = X.plus(D, alpha), r - alpha * image
        S = pulled(r)
        before, now = now, S.dot(S)
        D, count = S.plus(D, now / before), count + 1
        target = max(target, (4 * float(np.finfo(r.dtype).eps)) ** 2 * largest * float(r @ r))
    return X, count, 0.0 if now <= target else min(1.0, float(np.sqrt(now / first)))


def jacobian(operator: Operator, at: EvaluatedMatrix) -> tuple[Callable[[Vector], Array], Callable[[Array], Vector]]:
    """Return (A, B) -> A(A V^T + U B^T) and its adjoint; with one unknown A = B where W is symmetric."""
    P, Q = at.P, at.Q
    if operator.symmetric:
        # One unknown Z, stored as the pair (Z, Z): `dot` counts it twice, which is the 2 that the adjoint leaves out.
        def pulled_one(r: Array) -> Vector:
            Z = operator.pull_left(r, P)
            return Vector(Z, Z)

        return lambda D: 2 * operator.pair(operator.left(D.A), P), pulled_one
    measured = lambda D: operator.pair(operator.left(D.A), Q) + operator.pair(P, operator.right(D.B))  # noqa: E731
    return measured, lambda r: Vector(operator.pull_left(r, Q), operator.pull_right(r, P))


ENTRY = ranked_entry(
    title="Gauss-Newton",
    summary="Solves the linear problem in each tangent space; exact from 1.5 times the degrees of freedom.",
    run=gauss_newton,
    families=("low-rank",),
    workspace=tangent_workspace,
)

"""Logistic and probit regression: maximum likelihood where the link is taken to be one of these two."""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.sparse.linalg import LinearOperator, cg

from lrlab.arrays import Array
from lrlab.models.protocols import SingleIndexData
from lrlab.models.single_index import SingleIndexSpec
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solver_entry import Options
from lrlab.solvers.single_index.requirements import always, needs_both_answers, needs_first_moment, single_index_entry
from lrlab.theory import m_estimators
from lrlab.theory.likelihoods import LOGISTIC, PROBIT, Likelihood
from lrlab.theory.separability import existence_ratio

DIRECT = 300
# Entries of X in a block: half a MB, which stays in the cache.
BLOCK = 2**16
HALVINGS = 30
ROUNDING = 64 * np.finfo(float).eps
TINY = np.finfo(float).tiny
SEPARABLE = (
    "Responses are separable, but for ties: the likelihood has no maximum, and only the direction of b has a meaning."
)
FLAT = 1e-8
"""Share of the gradient at 0 at which the way along separable answers ends: the direction of b hardly moves then."""
NEARLY_FLAT, STEADY = 1e-3, 0.1
"""Share of the gradient at 0, and change of a margin, above which a step tells that the likelihood has no maximum."""

SHORTEST_STEP = 1e-8
DAMPING = 1e-10


def endless(margin: Array, before: Array, residual: float) -> bool:
    """Return whether margins (n,) after a Newton step show that the loss falls forever.

    If some b separates the responses but for ties, steps stay long while the gradient vanishes.
    """
    return bool(margin.min() > 0 or (residual <= NEARLY_FLAT and np.abs(margin - before).max() > STEADY))


def newton(likelihood: Likelihood, Z: Array, y: Array, start: Array, tol: float = 1e-9) -> Iterator[Array]:
    r"""Yield coefficients (k,) on the way to the maximum of a likelihood, without a penalty.

    minimise    F(theta) = mean loss(y_i <z_i, theta>),  Z (n, k), y (n,) in +-1
    update      theta <- theta - t H^{-1} g,  g and H the gradient and Hessian of F, t halved until F falls enough
    converges   from every start where the answers are not separable; where they are, F tends to 0 and the direction
                of theta to one that parts the answers

    Ends when max |g| <= `tol`, or when no step lowers F by more than rounding. Memory: one copy of Z.
    """
    theta, margin = start, y * (Z @ start)
    value = float(likelihood.loss(margin).mean())
    while True:
        yield theta
        gradient = Z.T @ (y * likelihood.slope(margin)) / len(y)
        if np.abs(gradient).max() <= tol:
            return
        hessian = Z.T @ (likelihood.curvature(margin)[:, None] * Z) / len(y)
        # Makes the system solvable where columns are dependent; it changes the path, never the solution.
        hessian.flat[:: len(theta) + 1] += DAMPING * hessian.trace() + np.finfo(float).tiny
        direction = -np.linalg.solve(hessian, gradient)
        step, descent = 1.0, float(gradient @ direction)
        while True:
            candidate = theta + step * direction
            margin = y * (Z @ candidate)
            reached = float(likelihood.loss(margin).mean())
            if reached <= value + 1e-4 * step * descent:
                break
            step /= 2.0
            if step < SHORTEST_STEP:
                return
        theta, value = candidate, reached


@needs_both_answers
def logistic(problem: SingleIndexData, *, rng: Generator) -> Iterates:
    r"""Recover b, with its sign, from one-bit answers by logistic regression, without a penalty.

    minimise    F(b, c) = mean log(1 + exp(-y_i (<x_i, b> + c)))
    update      a Newton step, halved until F falls; its system is solved by conjugate gradients for large p
    converges   to the maximum of the likelihood where there is one; on Gaussian x its direction is consistent for every
                link with mu_1 other than 0, and efficient when the link is logistic
    separable   answers, as of one-bit sensing without noise or whenever n < p, have no maximum: F falls to 0 while b
                grows without end. Its direction tends to one that parts the answers, and is what is returned when the
                gradient has fallen to 1e-8 of that at 0: the run ends as NO_MINIMUM. On Gaussian x and for large p they
                are separable below an n/p that the link decides, and above it the overlap is known:
                `theory.m_estimators`

    X (n, p), y (n,) in +-1. Yields after each Newton step, ends when rounding stops it: objective F, residual the
    largest entry of the gradient relative to its size at 0. Memory O(n + p).
    Reference: McCullagh & Nelder (1989), "Generalized linear models", section 4.4; Nocedal & Wright (2006),
    "Numerical optimization", section 3.3 and Algorithm 7.1.
    """
    return maximum_likelihood(LOGISTIC, problem.X, problem.y)


@needs_both_answers
def probit(problem: SingleIndexData, *, rng: Generator) -> Iterates:
    r"""Recover b, with its sign, from one-bit answers by probit regression, without a penalty.

    minimise    F(b, c) = mean -log Phi(y_i (<x_i, b> + c))
    update      a Newton step, halved until F falls; its system is solved by conjugate gradients for large p
    converges   as `logistic`; efficient for one-bit sensing, whose link is the probit one with ||b|| = 1 / noise
    separable   answers: as `logistic`

    X (n, p), y (n,) in +-1; yields as `logistic`. Memory O(n + p).
    Reference: McCullagh & Nelder (1989), "Generalized linear models", section 4.3; Nocedal & Wright (2006),
    "Numerical optimization", section 3.3 and Algorithm 7.1.
    """
    return maximum_likelihood(PROBIT, problem.X, problem.y)


class _Point(NamedTuple):
    """At coefficients theta = (c, b), (p + 1,): margins (n,), the summed loss, its gradient, its curvatures (n,)."""

    theta: Array
    margin: Array
    value: float
    gradient: Array
    weight: Array


def maximum_likelihood(likelihood: Likelihood, X: Array, y: Array) -> Iterates:
    """Yield the Newton steps of the regression of y (n,) on X (n, p) with an intercept."""
    n, p = X.shape

    def at(theta: Array) -> _Point:
        margin = y * (X @ theta[1:] + theta[0])
        loss, slope, curvature = likelihood.derivatives(margin)
        pull = y * slope
        return _Point(theta, margin, float(loss.sum()), np.concatenate([[pull.sum()], pull @ X]), curvature)

    now = at(np.zeros(p + 1))
    before: Array | None = None
    steepest = float(np.abs(now.gradient).max()) or 1.0
    while True:
        residual, value = float(np.abs(now.gradient).max()) / steepest, now.value
        separated = before is not None and endless(now.margin, before, residual)
        if before is not None:
            # Without a maximum there is no distance from it.
            known = {"note": SEPARABLE, "optimal": False} if separated else {"residual": residual}
            yield Iterate(now.theta[1:], objective=value / n, **known)
            if separated and residual <= FLAT:
                return Stop.NO_MINIMUM
        direction = newton_direction(X, now, min(0.5, residual))
        # What a step promises, against the rounding of the objective.
        promised = float(now.gradient @ direction)
        trials = (at(now.theta - direction / 2.0**k) for k in range(HALVINGS)) if promised > 0 else iter(())
        lower = next((trial for trial in trials if trial.value < value), None)
        if lower is None:
            if before is None:
                yield Iterate(now.theta[1:], objective=value / n, residual=residual, note="b = 0: no step improves it.")
            improvable = promised > ROUNDING * value
            return Stop.NO_MINIMUM if separated else Stop.STALLED if improvable else Stop.CONVERGED
        now, before = lower, now.margin


def newton_direction(X: Array, at: _Point, accuracy: float) -> Array:
    """Return the solution (p + 1,) of H v = gradient, H the Hessian; beyond 300 entries, or n, to a relative accuracy.

    Conjugate gradients need two passes over X a step, and neither p x p memory nor a regular H.
    """
    n, p = X.shape
    if p > min(DIRECT, n // 2):

        def times(v: Array) -> Array:
            bent = at.weight * (X @ v[1:] + v[0])
            return np.concatenate([[bent.sum()], bent @ X])

        hessian = LinearOperator((p + 1, p + 1), matvec=times, dtype=float)
        return cg(hessian, at.gradient, rtol=accuracy, maxiter=p + 1)[0]
    H, rows = np.zeros((p + 1, p + 1)), max(1, BLOCK // p)
    for start in range(0, n, rows):
        block, weight = X[start : start + rows], at.weight[start : start + rows]
        H[1:, 1:] += (block.T * weight) @ block
        H[0, 1:] += weight @ block
    H[1:, 0], H[0, 0] = H[0, 1:], at.weight.sum()
    # Makes the system solvable where columns are dependent; it changes the path, never the solution.
    H.flat[:: p + 2] += DAMPING * H.trace() + TINY
    return np.linalg.solve(H, at.gradient)


def predict(likelihood: Likelihood) -> Callable[[SingleIndexSpec, Options], dict[str, float]]:
    """Return what theory says of a likelihood: the n/p above which it has a maximum, and the overlap there.

    Below, the answers are separable and Newton's steps end at a direction that parts them, of which nothing is said.
    """

    def predicted(spec: SingleIndexSpec, options: Options) -> dict[str, float]:
        link, ratio = spec.link_function, spec.n / spec.p
        least, overlap = existence_ratio(link), m_estimators.overlap(link, ratio, likelihood)
        known = {} if overlap is None else {"limit_overlap": overlap}
        return known | ({"limit_threshold": least} if math.isfinite(least) else {})

    return predicted


ENTRIES = (
    single_index_entry(
        title="Logistic regression",
        update=r"(b, c) \leftarrow (b, c) - t\, (\nabla^2 F)^{-1} \nabla F, \qquad F = \tfrac1n \sum_i"
        r" \log\bigl(1 + e^{-y_i (\langle x_i, b\rangle + c)}\bigr)",
        summary="Maximum likelihood under a logistic link, without a penalty.",
        run=logistic,
        memory=0.1,
        refuse=needs_first_moment,
        predict=predict(LOGISTIC),
        equivariant=always,
    ),
    single_index_entry(
        title="Probit regression",
        update=r"(b, c) \leftarrow (b, c) - t\, (\nabla^2 F)^{-1} \nabla F, \qquad F = -\tfrac1n \sum_i \log"
        r" \Phi\bigl(y_i (\langle x_i, b\rangle + c)\bigr)",
        summary="Maximum likelihood under a probit link, which is that of one-bit sensing, without a penalty.",
        run=probit,
        memory=0.1,
        refuse=needs_first_moment,
        predict=predict(PROBIT),
        equivariant=always,
    ),
)

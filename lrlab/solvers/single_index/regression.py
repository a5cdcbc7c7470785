"""Logistic and probit regression: maximum likelihood where the link is taken to be one of these two."""

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, cg

from lrlab.arrays import Array
from lrlab.models.protocols import SingleIndexData
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solvers.single_index.likelihoods import LOGISTIC, PROBIT, Likelihood
from lrlab.solvers.single_index.requirements import needs_first_moment, single_index_entry, vector_workspace

SEPARABLE = "The answers are separable: the likelihood has no maximum, and only the direction of b has a meaning."


def logistic(problem: SingleIndexData, *, rng: Generator) -> Iterator[Iterate]:
    r"""Recover b, with its sign, from one-bit answers by logistic regression, without a penalty.

    minimise    F(b, c) = mean log(1 + exp(-y_i (<x_i, b> + c)))
    update      a Newton step with a line search, its system solved by conjugate gradients (scipy's Newton-CG)
    converges   to the maximum of the likelihood where there is one; on Gaussian x its direction is consistent for every
                link with mu_1 other than 0, and efficient when the link is logistic
    separable   answers, as of one-bit sensing without noise or whenever n < p, have no maximum: F falls to 0 while b
                grows without end. Its direction tends to one that parts the answers, and is what is returned when the
                gradient has fallen to the tolerance; the note says so.

    X (n, p), y (n,) in +-1. Yields after each Newton step, ends when rounding stops it: objective F, residual the
    largest entry of the gradient relative to its size at 0. Memory O(n + p).
    Reference: McCullagh & Nelder (1989), "Generalized linear models", section 4.4; Nocedal & Wright (2006),
    "Numerical optimization", Algorithm 7.1.
    """
    return maximum_likelihood(LOGISTIC, problem.X, problem.y)


def probit(problem: SingleIndexData, *, rng: Generator) -> Iterator[Iterate]:
    r"""Recover b, with its sign, from one-bit answers by probit regression, without a penalty.

    minimise    F(b, c) = mean -log Phi(y_i (<x_i, b> + c))
    update      a Newton step with a line search, its system solved by conjugate gradients (scipy's Newton-CG)
    converges   as `logistic`; efficient for one-bit sensing, whose link is the probit one with ||b|| = 1 / noise
    separable   answers: as `logistic`

    X (n, p), y (n,) in +-1. Yields after each Newton step, ends when rounding stops it: objective F, residual the
    largest entry of the gradient relative to its size at 0. Memory O(n + p).
    Reference: McCullagh & Nelder (1989), "Generalized linear models", section 4.3; Nocedal & Wright (2006),
    "Numerical optimization", Algorithm 7.1.
    """
    return maximum_likelihood(PROBIT, problem.X, problem.y)


def maximum_likelihood(likelihood: Likelihood, X: Array, y: Array) -> Iterates:
    """Yield the Newton steps of the regression of y (n,) on X (n, p) with an intercept."""
    n, p = X.shape

    def margin(theta: Array) -> Array:
        return y * (X @ theta[1:] + theta[0])

    # Sums, not means: Newton-CG gives up at a curvature that is absolutely small.
    def value_and_gradient(theta: Array) -> tuple[float, Array]:
        m = margin(theta)
        pull = y * likelihood.slope(m)
        return float(likelihood.loss(m).sum()), np.concatenate([[pull.sum()], pull @ X])

    def hessian_times(theta: Array, v: Array) -> Array:
        bent = likelihood.curvature(margin(theta)) * (X @ v[1:] + v[0])
        return np.concatenate([[bent.sum()], bent @ X])

    def improvable(theta: Array) -> np.bool_:
        # What a Newton step promises at most, against the rounding of the objective.
        value, gradient = value_and_gradient(theta)
        hessian = LinearOperator((p + 1, p + 1), matvec=lambda v: hessian_times(theta, v), dtype=float)
        return float(gradient @ cg(hessian, gradient, maxiter=p + 1)[0]) > 64 * np.finfo(float).eps * value

    theta, started = np.zeros(p + 1), False
    steepest = float(np.abs(value_and_gradient(theta)[1]).max()) or 1.0
    while True:
        # Newton-CG keeps nothing from step to step: one step at a time is the same path as all at once.
        step = minimize(
            value_and_gradient,
            theta,
            jac=True,
            hessp=hessian_times,
            method="Newton-CG",
            options={"maxiter": 1, "xtol": 0.0},
        )
        if not np.isfinite(step.x).all() or (step.x == theta).all():
            if not started:
                value, gradient = value_and_gradient(theta)
                residual = float(np.abs(gradient).max()) / steepest
                yield Iterate(theta[1:], objective=value / n, residual=residual, note="b = 0: no step improves it.")
            # The likelihood of separable answers has no maximum: as far as it goes is where the method ends.
            separated = margin(theta).min() > 0
            return Stop.FINISHED if separated else Stop.STALLED if improvable(theta) else Stop.CONVERGED
        theta, started = step.x, True
        yield Iterate(
            theta[1:].copy(),
            objective=float(step.fun) / n,
            residual=float(np.abs(step.jac).max()) / steepest,
            note=SEPARABLE if margin(theta).min() > 0 else "",
        )


ENTRIES = (
    single_index_entry(
        title="Logistic regression",
        summary="Maximum likelihood under a logistic link, without a penalty.",
        run=logistic,
        workspace=vector_workspace,
        refuse=needs_first_moment,
    ),
    single_index_entry(
        title="Probit regression",
        summary="Maximum likelihood under a probit link, which is that of one-bit sensing, without a penalty.",
        run=probit,
        workspace=vector_workspace,
        refuse=needs_first_moment,
    ),
)

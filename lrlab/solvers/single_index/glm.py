"""Generalized linear models of one-bit responses: logistic and probit regression by maximum likelihood."""

import math
from typing import Annotated, Any

from lrlab.losses import LOGISTIC, PROBIT
from lrlab.models.protocols import SingleIndexData
from lrlab.solver_entry import Generator, Iterates, Options, choice
from lrlab.solvers.single_index.family import index_solver, needs_first_moment
from lrlab.solvers.single_index.margin_newton import minimized
from lrlab.theory import m_estimators
from lrlab.theory.m_estimators import existence_ratio

LIKELIHOODS = {"logistic": LOGISTIC, "probit": PROBIT}


def limits(spec: Any, options: Options) -> dict[str, float]:
    """Return what theory says: the n/p above which the likelihood has a maximum, and the overlap there."""
    link, ratio = spec.link_function, spec.n / spec.p
    least, overlap = existence_ratio(link), m_estimators.overlap(link, ratio, LIKELIHOODS[str(options["assumed_link"])])
    known = {} if overlap is None else {"limit_overlap": overlap}
    return known | ({"limit_threshold": least} if math.isfinite(least) else {})


@index_solver(needs_first_moment, predict=limits, memory=0.1)
def glm(
    problem: SingleIndexData,
    *,
    assumed_link: Annotated[
        str, choice("logistic", "probit", help="probit is the link of one-bit sensing")
    ] = "logistic",
    rng: Generator,
) -> Iterates:
    r"""Generalized linear model.

    Maximum likelihood under a logistic or probit link, without a penalty.

    .. math:: (b, c) \leftarrow (b, c) - t\, (\nabla^2 F)^{-1} \nabla F, \qquad F = -\tfrac1n \sum_i \log
        G\bigl(y_i (\langle x_i, b\rangle + c)\bigr), \quad G(m) = (1 + e^{-m})^{-1} \text{ or } \Phi(m)

    minimize    F(b, c) = mean -log G(y_i (<x_i, b> + c)),  G(m) = 1 / (1 + e^{-m}) or Phi(m)
    start       b = 0, c = 0
    converges   to the maximum of the likelihood if there is one; on Gaussian x its direction is consistent for every
                link with mu_1 other than 0, and efficient if the link is the assumed one: logistic for the model of
                that name, probit with ||b|| = 1 / noise for one-bit sensing
    separable   responses, as of one-bit sensing without noise or whenever n < p, have no maximum: F falls to 0 while b
                grows without end. Its direction tends to one that separates the responses, and is returned when the
                gradient has fallen to 1e-8 of the gradient at 0: the run ends as NO_MINIMUM. On Gaussian x,
                asymptotically, they are separable below an n/p that the link determines, and above it the overlap is
                known (`theory.m_estimators`)
    cost        a Newton step: X^T diag(w) X, or conjugate gradients for p > 300, halved until F falls

    Yields after each Newton step until rounding stops it: objective F, residual the largest entry of the gradient
    relative to its size at 0. Memory O(n + p).

    Reference: McCullagh & Nelder (1989), "Generalized linear models", chapter 4; Nocedal & Wright (2006), "Numerical
    optimization", section 3.3 and Algorithm 7.1.
    """
    return minimized(LIKELIHOODS[assumed_link].derivatives, problem)

"""Logistic regression with a shift parameter for each response, which absorbs flipped ones."""

from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab.models.protocols import SingleIndexData
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solvers.single_index.regression import endless, newton
from lrlab.solvers.single_index.requirements import needs_both_answers, needs_first_moment, single_index_entry
from lrlab.solvers.single_index.unbiased_logistic import OPTIMAL
from lrlab.theory.likelihoods import LOGISTIC

ShiftPenalty = Annotated[
    float,
    Parameter(meaning="penalty on a shift; at 1 all shifts are 0", symbol="λ", low=0.5, high=1),
]


@needs_both_answers
def shift_logistic(problem: SingleIndexData, *, penalty: ShiftPenalty = 0.7, rng: Generator) -> Iterates:
    r"""Recover b, with its sign, from flipped responses by logistic regression with a sparse shift per response.

    minimize    F(b, c, g) = mean [l(m_i + g_i) + penalty |g_i|],  m_i = y_i (<x_i, b> + c), l(m) = log(1 + e^{-m})
    shifts      g_i = max(0, log(1 / penalty - 1) - m_i): what is left of F in (b, c) is l up to that margin, and
                linear with slope -penalty below it, so a response far on the wrong side pulls no more than that
    update      a Newton step in (b, c) from 0, halved until F falls, with the shifts at their minimum
    converges   to a minimum of F, which is convex, if the responses are not separable; penalty = 1 is logistic
                regression, and below 1/2 b = 0 is a minimum. The paper chooses the penalty by cross-validation

    X (n, p), y (n,) in +-1. Yields after each step: objective F, residual the largest entry of the gradient relative
    to that at 0. Memory: one copy of X.
    Reference: Tibshirani & Manning (2013), "Robust logistic regression using shift parameters", section 2.
    """
    # At penalty 1 the margin is -infinity.
    least = -np.inf if penalty >= 1.0 else float(np.log(1.0 / penalty - 1.0))
    bent = LOGISTIC._replace(
        loss=lambda m: LOGISTIC.loss(np.maximum(m, least)) + penalty * np.maximum(0.0, least - m),
        slope=lambda m: np.where(m < least, -penalty, LOGISTIC.slope(np.maximum(m, least))),
        curvature=lambda m: np.where(m < least, 0.0, LOGISTIC.curvature(np.maximum(m, least))),
    )
    y = problem.y
    Z = np.column_stack([np.ones(len(y)), problem.X])
    start = np.zeros(Z.shape[1])
    steepest, residual = float(np.abs(y @ Z).max()) / 2.0 or 1.0, 1.0
    margin, forever = np.zeros(len(y)), False
    for theta in newton(bent, Z, y, start):
        if not theta.any():
            continue
        before, margin = margin, y * (Z @ theta)
        residual = float(np.abs(Z.T @ (y * bent.slope(margin))).max()) / steepest
        shifted = np.count_nonzero(margin < least)
        note = f"{shifted:,} of {len(y):,} responses are shifted."
        forever = endless(margin, before, residual)
        known = None if forever else residual
        yield Iterate(theta[1:], objective=float(bent.loss(margin).mean()), residual=known, note=note)
        if margin.min() > 0:
            return Stop.NO_MINIMUM
    if forever:
        return Stop.NO_MINIMUM
    return Stop.CONVERGED if residual <= OPTIMAL else Stop.STALLED


ENTRY = single_index_entry(
    title="Logistic regression with shifts",
    update=r"(b, c) \leftarrow (b, c) - t\, (\nabla^2 F)^{-1} \nabla F, \qquad F = \min_\gamma \tfrac1n \sum_i"
    r" \log\bigl(1 + e^{-m_i - \gamma_i}\bigr) + \lambda |\gamma_i|",
    summary="Logistic regression in which a sparse shift per response absorbs flipped responses.",
    run=shift_logistic,
    memory=2.1,
    refuse=needs_first_moment,
)

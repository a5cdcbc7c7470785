"""Logistic regression with a known probability of flipped responses, by an unbiased loss."""

from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab.models.protocols import SingleIndexData
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solvers.single_index.regression import endless, newton
from lrlab.solvers.single_index.requirements import needs_both_answers, needs_first_moment, single_index_entry
from lrlab.theory.likelihoods import LOGISTIC

OF_THE_MODEL = 0.5
"""Value of the option that takes the flip probability of the model; at 1/2 itself no loss is unbiased."""
OPTIMAL = 1e-6
"""Largest entry of the gradient, relative to that at 0, of a minimum up to rounding."""

AssumedFlip = Annotated[
    float,
    Parameter(meaning="assumed flip probability; 0.5 takes that of the model", symbol="p̂ₑ", low=0, high=0.5),
]


@needs_both_answers
def unbiased_logistic(
    problem: SingleIndexData, *, assumed_flip: AssumedFlip = OF_THE_MODEL, rng: Generator
) -> Iterates:
    r"""Recover b, with its sign, from flipped responses by a loss whose mean is that of the clean responses.

    minimize    F(b, c) = mean l~(y_i (<x_i, b> + c)),  l(m) = log(1 + e^{-m}) and
                l~(m) = [(1 - q) l(m) - q l(-m)] / (1 - 2 q) = l(m) - q m / (1 - 2 q),  q the assumed flip probability
    update      a Newton step from 0, halved until F falls
    converges   to the minimum of F, which is convex for this l, if there is one. F falls forever along (b, c) if
                (1 - q) mean max(0, -m_i) < q mean max(0, m_i) with the margins m_i there, and if all of these are
                positive: the run ends as NO_MINIMUM

    X (n, p), y (n,) in +-1. Yields after each step: objective F, residual the largest entry of the gradient relative
    to that at 0. Memory: one copy of X.
    Reference: Natarajan, Dhillon, Ravikumar & Tewari (2013), "Learning with noisy labels", Lemma 1.
    """
    q = problem.link.flip if assumed_flip == OF_THE_MODEL else assumed_flip
    pull = q / (1.0 - 2.0 * q) if q < OF_THE_MODEL else 0.0
    loss = LOGISTIC._replace(loss=lambda m: LOGISTIC.loss(m) - pull * m, slope=lambda m: LOGISTIC.slope(m) - pull)
    y = problem.y
    Z = np.column_stack([np.ones(len(y)), problem.X])

    start = np.zeros(Z.shape[1])
    margin, residual, falls = np.zeros(len(y)), 1.0, False
    steepest = float(np.abs(Z.T @ (y * loss.slope(margin))).max()) or 1.0
    for theta in newton(loss, Z, y, start):
        if not theta.any():
            continue
        before, margin = margin, y * (Z @ theta)
        residual = float(np.abs(Z.T @ (y * loss.slope(margin))).max()) / steepest
        forever = (1.0 - q) * np.maximum(0.0, -margin).mean() < q * np.maximum(0.0, margin).mean()
        falls = endless(margin, before, residual)
        known = None if falls else residual
        yield Iterate(theta[1:], objective=float(loss.loss(margin).mean()), residual=known, note=f"q = {q:g}.")
        if forever or margin.min() > 0:
            return Stop.NO_MINIMUM
    if falls:
        return Stop.NO_MINIMUM
    return Stop.CONVERGED if residual <= OPTIMAL else Stop.STALLED


ENTRY = single_index_entry(
    title="Unbiased logistic regression",
    update=r"(b, c) \leftarrow (b, c) - t\, (\nabla^2 F)^{-1} \nabla F, \qquad F = \tfrac1n \sum_i"
    r" \frac{(1 - q)\, \ell(m_i) - q\, \ell(-m_i)}{1 - 2 q}, \quad m_i = y_i (\langle x_i, b\rangle + c)",
    summary="Logistic regression whose loss corrects for a known flip probability.",
    run=unbiased_logistic,
    oracle=("flip",),
    memory=2.1,
    refuse=needs_first_moment,
)

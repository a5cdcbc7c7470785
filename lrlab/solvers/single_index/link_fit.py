"""Penalised maximum likelihood for the log-odds of `link_smoothing`, and the choice of their stiffness."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from lrlab.arrays import Array
from lrlab.solvers.single_index.link_smoothing import (
    COEFFICIENTS,
    SMOOTHNESS,
    IndexedAnswers,
    LogOdds,
    Smoothness,
    loss,
)

NEWTON_STEPS = 30
# Half the squared Newton decrement at which the loss summed over all rows has settled to ten decimals.
DECREMENT = 1e-10
# Keeps the normal matrix regular where cells are empty; too small to be felt.
RIDGE = 1e-10
LARGEST_LEVERAGE = 0.99


class Fit(NamedTuple):
    """A fitted link: its log-odds, the leave-one-out loss of each row (n,), and its effective number of parameters."""

    smoothness: Smoothness
    log_odds: LogOdds
    held_out: Array
    parameters: float

    @property
    def mean_held_out(self) -> float:
        """The mean leave-one-out loss, an estimate of the loss on new data."""
        return float(self.held_out.mean())


class _Design(NamedTuple):
    rows: IndexedAnswers
    penalty: Array
    free: Array


class _State:
    """Objective, gradient and curvature at coefficients c (19,)."""

    def __init__(self, design: _Design, c: Array) -> None:
        self.design, self.c = design, c
        self.eta = design.rows.times(c)
        self.chance = expit(self.eta)
        self.weight = self.chance * (1.0 - self.chance)
        self.information = (design.free * self.weight[:, None]).T @ design.free
        self.value = (
            loss(self.eta, design.rows.answers).sum()
            + c @ design.penalty @ c / 2.0
            - np.linalg.slogdet(self.information)[1] / 2.0
        )

    @cached_property
    def residual(self) -> Array:
        # d/d eta of log det(information) / 2 is h (1/2 - chance), with h the leverages of the free polynomials.
        free = self.design.free
        h = self.weight * ((free @ np.linalg.inv(self.information)) * free).sum(axis=1)
        return self.design.rows.answers - self.chance + h * (0.5 - self.chance)

    @cached_property
    def curvature(self) -> Array:
        return self.design.rows.gram(self.weight) + self.design.penalty

    def step(self) -> tuple[Array, float]:
        gradient = self.design.rows.adjoint(self.residual) - self.design.penalty @ self.c
        step = np.linalg.solve(self.curvature, gradient)
        return step, float(gradient @ step)


def fit(rows: IndexedAnswers, smoothness: Smoothness, start: Array) -> Fit:
    r"""Fit the log-odds of one smoothness by Newton's method from coefficients `start` (19,).

    minimise    sum_i loss(eta(z_i), y_i) + c^T P c / 2 - log det(Q^T W Q) / 2
                P the penalty, W = diag(p_i (1 - p_i)), Q the polynomials free of penalty at the indices; the last
                term (Firth 1993, "Bias reduction of maximum likelihood estimates") keeps the slope finite where the
                index separates the answers
    held out    without its own answer eta_i moves by -(y_i - p_i) l_i / (1 - w_i l_i) to first order, l_i the diagonal
                of B (B^T W B + P)^{-1} B^T (approximate leave-one-out; Rad & Maleki 2020)
    """
    design = _Design(rows, smoothness.penalty + RIDGE * np.eye(COEFFICIENTS), rows.times(smoothness.free))
    state = _State(design, start)
    for _ in range(NEWTON_STEPS):
        step, slope = state.step()
        lower = _lower(state, step, slope) if slope > DECREMENT else None
        if lower is None:
            break
        state = lower
    spread = rows.diagonal(np.linalg.inv(state.curvature))
    leverage = state.weight * spread
    without = state.eta - state.residual * spread / (1.0 - np.minimum(leverage, LARGEST_LEVERAGE))
    held_out = np.empty_like(without)
    held_out[rows.order] = loss(without, rows.answers)
    return Fit(smoothness, LogOdds(state.c), held_out, float(leverage.sum()))


def _lower(state: _State, step: Array, slope: float) -> _State | None:
    size = 1.0
    while size > 1e-4:
        trial = _State(state.design, state.c + size * step)
        if trial.value <= state.value - 1e-4 * size * slope:
            return trial
        size /= 2.0
    return None


def fit_all(rows: IndexedAnswers, before: Sequence[Fit] = ()) -> list[Fit]:
    """Fit every smoothness, each from its own fit `before`, or else from the next stiffer one."""
    fits: list[Fit] = []
    for index, smoothness in enumerate(SMOOTHNESS):
        nearest = before[index : index + 1] or fits[-1:]
        fits.append(fit(rows, smoothness, nearest[0].log_odds.coefficients if nearest else np.zeros(COEFFICIENTS)))
    return fits


def chosen(fits: Sequence[Fit]) -> int:
    """Return which fit to take: the stiffest whose held-out loss is within one standard error of the lowest.

    The standard error is that of the mean difference, row by row, so that what both fits get wrong cancels. A wiggle
    that does not pay on held-out data would pull the direction along (the one-standard-error rule of Hastie, Tibshirani
    & Friedman 2009, section 7.10).
    """
    lowest = min(fits, key=lambda fit: fit.mean_held_out)
    for index, candidate in enumerate(fits):
        excess = candidate.held_out - lowest.held_out
        if excess.mean() <= excess.std() / np.sqrt(len(excess)):
            return index
    raise AssertionError("the lowest is within its own error")

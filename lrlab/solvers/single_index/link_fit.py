"""Penalised maximum likelihood for the log-odds of `link_smoothing`, and the choice of their stiffness."""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dposv

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
# The same where smoothnesses are compared, whose losses differ by more than a nat.
ROUGH = 1e-3
# Where cells of the spline are empty the curvature is singular; so small a one is not felt elsewhere.
SMALLEST_EIGENVALUE = 1e-13
TINY = 1e-200
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


# Coordinates of the coefficients: the polynomials that a penalty may leave free come first. A sum of the curvature,
# which may be 1e-9, and a penalty of 1e7 would lose the curvature of those to rounding where answers are nearly
# separable.
BASIS = np.linalg.qr(max(SMOOTHNESS, key=lambda s: s.order).free, mode="complete")[0]


@lru_cache(maxsize=len(SMOOTHNESS))
def _penalty(smoothness: Smoothness) -> Array:
    """Return the penalty in coordinates (19, 19), exactly zero on the polynomials that are free."""
    stiff, penalty = BASIS[:, smoothness.order :], np.zeros((COEFFICIENTS, COEFFICIENTS))
    penalty[smoothness.order :, smoothness.order :] = stiff.T @ smoothness.penalty @ stiff
    return penalty


class _Design(NamedTuple):
    """Rows, their splines in coordinates (G, 19), those of the free polynomials (G, order), and the penalty."""

    rows: IndexedAnswers
    splines: Array
    free: Array
    penalty: Array


class _State:
    """Objective, gradient and curvature at coordinates a (19,) of the coefficients."""

    def __init__(self, design: _Design, a: Array) -> None:
        self.design, self.a = design, a
        self.eta = design.splines @ a
        e = np.exp(-np.abs(self.eta))
        self.chance = np.where(self.eta > 0, 1.0, e) / (1.0 + e)
        self.weight = design.rows.count * e / np.square(1.0 + e)
        self.information = (design.free.T * self.weight) @ design.free
        self.value = (
            design.rows.count @ (np.maximum(self.eta, 0.0) + np.log1p(e))
            - design.rows.ones @ self.eta
            + a @ design.penalty @ a / 2.0
            - np.linalg.slogdet(self.information)[1] / 2.0
        )

    @cached_property
    def residual(self) -> tuple[Array, Array]:
        """Of a group, the sum of y - p, and of its rows' pull by the determinant."""
        # d/d eta of log det(information) / 2 is h (1/2 - chance), with h the leverages of the free polynomials.
        free, rows = self.design.free, self.design.rows
        _, solved, failed = dposv(self.information, free.T)
        solved = inverse(self.information) @ free.T if failed else solved
        h = self.weight * (solved.T * free).sum(axis=1)
        return rows.ones - rows.count * self.chance, h * (0.5 - self.chance)

    @cached_property
    def curvature(self) -> Array:
        return (self.design.splines.T * self.weight) @ self.design.splines + self.design.penalty

    def step(self) -> tuple[Array, float]:
        gradient = sum(self.residual) @ self.design.splines - self.design.penalty @ self.a
        _, step, failed = dposv(self.curvature, gradient)
        step = inverse(self.curvature) @ gradient if failed else step
        return step, float(gradient @ step)


def inverse(A: Array) -> Array:
    """Return the inverse of a symmetric positive semidefinite A, scaled to a unit diagonal, eigenvalues at least 1e-13.

    The scale takes out the different sizes of coordinates; what is singular beyond that is made regular.
    """
    scale = 1.0 / np.sqrt(np.maximum(A.diagonal(), TINY))
    values, vectors = np.linalg.eigh(A * np.outer(scale, scale))
    half = scale[:, None] * vectors / np.sqrt(np.maximum(values, SMALLEST_EIGENVALUE))
    return half @ half.T


def fit(rows: IndexedAnswers, smoothness: Smoothness, start: Array, decrement: float = DECREMENT) -> Fit:
    r"""Fit the log-odds of one smoothness by Newton's method from coefficients `start` (19,).

    minimise    sum_i loss(eta(z_i), y_i) + c^T P c / 2 - log det(Q^T W Q) / 2
                P the penalty, W = diag(p_i (1 - p_i)), Q the polynomials free of penalty at the indices; the last
                term (Firth 1993, "Bias reduction of maximum likelihood estimates") keeps the slope finite where the
                index separates the answers
    held out    without its own answer eta_i moves by -(y_i - p_i) l_i / (1 - w_i l_i) to first order, l_i the diagonal
                of B (B^T W B + P)^{-1} B^T (approximate leave-one-out; Rad & Maleki 2020)
    """
    splines = rows.times(BASIS)
    design = _Design(rows, splines, np.ascontiguousarray(splines[:, : smoothness.order]), _penalty(smoothness))
    state = _State(design, BASIS.T @ start)
    if not np.isfinite(state.value):
        # From a link so steep that no row is left on its slope there is no way down.
        state = _State(design, np.zeros(COEFFICIENTS))
    for _ in range(NEWTON_STEPS):
        step, slope = state.step()
        lower = _lower(state, step, slope) if slope > decrement else None
        if lower is None:
            break
        state = lower
    spread = ((splines @ inverse(state.curvature)) * splines).sum(axis=1)
    leverage = state.weight / rows.count * spread
    moved, pull = spread / (1.0 - np.minimum(leverage, LARGEST_LEVERAGE)), state.residual[1] / rows.count
    yes, no = (state.eta - (y - state.chance + pull) * moved for y in (1.0, 0.0))
    held_out = np.empty(len(rows.order))
    held_out[rows.order] = np.where(rows.answers > 0, rows.each(loss(yes, 1.0)), rows.each(loss(no, 0.0)))
    return Fit(smoothness, LogOdds(BASIS @ state.a), held_out, float(rows.count @ leverage))


def _lower(state: _State, step: Array, slope: float) -> _State | None:
    size = 1.0
    while size > 1e-4:
        trial = _State(state.design, state.a + size * step)
        if trial.value <= state.value - 1e-4 * size * slope:
            return trial
        size /= 2.0
    return None


def fit_all(rows: IndexedAnswers, before: Sequence[Fit] = ()) -> list[Fit]:
    """Fit every smoothness, each from its own fit `before`, or else from the next stiffer one."""
    fits: list[Fit] = []
    for index, smoothness in enumerate(SMOOTHNESS):
        nearest = before[index : index + 1] or fits[-1:]
        start = nearest[0].log_odds.coefficients if nearest else np.zeros(COEFFICIENTS)
        fits.append(fit(rows, smoothness, start, ROUGH))
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

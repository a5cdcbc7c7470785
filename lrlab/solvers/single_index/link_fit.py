"""Penalised maximum likelihood for the log-odds of `link_smoothing`, and the choice of their stiffness."""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array, Mask
from lrlab.solvers.single_index.link_smoothing import (
    COEFFICIENTS,
    SMOOTHNESS,
    IndexedAnswers,
    LogOdds,
    Smoothness,
    loss,
)

NEWTON_STEPS = 30
SHORTEST_STEP = 1e-4
# Half the squared Newton decrement at which the loss summed over all rows has settled to ten decimals.
DECREMENT = 1e-10
# The same where smoothnesses are compared, whose losses differ by more than a nat.
ROUGH = 0.03
# Where cells of the spline are empty the curvature is singular; so small a share of it is not felt elsewhere.
SMALLEST_EIGENVALUE = 1e-13
TINY = 1e-200
LARGEST_LEVERAGE = 0.99
ORDER = max(smoothness.order for smoothness in SMOOTHNESS)


class Fit(NamedTuple):
    """A fitted link: its log-odds, its mean leave-one-out loss, and its effective number of parameters.

    losses (2, G): leave-one-out losses of an answer 0 and of an answer 1 in each group of `rows`.
    """

    smoothness: Smoothness
    log_odds: LogOdds
    rows: IndexedAnswers
    losses: Array
    parameters: float
    mean_held_out: float

    @property
    def held_out(self) -> Array:
        """The leave-one-out loss of each row (n,), an estimate of the loss on new data."""
        no, yes = (self.rows.each(own) for own in self.losses)
        losses = np.empty(len(self.rows.order))
        losses[self.rows.order] = np.where(self.rows.answers > 0, yes, no)
        return losses


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


class _Design:
    """Of C smoothnesses: rows, splines in coordinates (G, 19), their products (G, 361), and penalties (C, 19, 19).

    Of the first three coordinates those are `free` (C, 3, 3) that no penalty reaches, and `fixed` has 1 for the others.
    """

    def __init__(self, rows: IndexedAnswers, smoothnesses: Sequence[Smoothness]) -> None:
        free = np.array([np.arange(ORDER) < smoothness.order for smoothness in smoothnesses], dtype=float)
        self.rows, self.splines = rows, rows.splines @ BASIS
        self.products = (self.splines[:, :, None] * self.splines[:, None, :]).reshape(len(self.splines), -1)
        self.free = free[:, :, None] * free[:, None, :]
        self.fixed = (1.0 - free)[:, :, None] * np.eye(ORDER)
        self.penalty = np.array([_penalty(smoothness) for smoothness in smoothnesses])


class _State:
    """Objectives (C,), gradients and curvatures at coordinates a (C, 19) of the coefficients."""

    def __init__(self, design: _Design, a: Array) -> None:
        self.design, self.a = design, a
        self.eta = a @ design.splines.T
        e = np.exp(-np.abs(self.eta))
        self.chance = np.where(self.eta > 0, 1.0, e) / (1.0 + e)
        self.weight = design.rows.count * e / np.square(1.0 + e)
        self.gram = (self.weight @ design.products).reshape(-1, COEFFICIENTS, COEFFICIENTS)
        self.information = self.gram[:, :ORDER, :ORDER] * design.free + design.fixed
        self.pulled = (design.penalty @ a[:, :, None])[:, :, 0]
        self.value = (
            (np.maximum(self.eta, 0.0) + np.log1p(e)) @ design.rows.count
            - self.eta @ design.rows.ones
            + (a * self.pulled).sum(axis=1) / 2.0
            - np.linalg.slogdet(self.information)[1] / 2.0
        )

    @cached_property
    def residual(self) -> tuple[Array, Array]:
        """Of a group, the sum of y - p, and of its rows' pull by the determinant, each (C, G)."""
        # d/d eta of log det(information) / 2 is h (1/2 - chance), with h the leverages of the free polynomials.
        rows, small = self.design.rows, np.zeros_like(self.gram)
        small[:, :ORDER, :ORDER] = inverse(self.information) * self.design.free
        h = self.weight * self.along(small)
        return rows.ones - rows.count * self.chance, h * (0.5 - self.chance)

    @cached_property
    def inverse(self) -> Array:
        """The inverse of the Fisher information and the penalty (C, 19, 19)."""
        return inverse(self.gram + self.design.penalty)

    def along(self, A: Array) -> Array:
        """Return the diagonals of B A B^T (C, G), with B the splines and A (C, 19, 19)."""
        return A.reshape(len(A), -1) @ self.design.products.T

    def step(self) -> tuple[Array, Array]:
        """Return the Newton steps (C, 19) and what they promise (C,)."""
        gradient = sum(self.residual) @ self.design.splines - self.pulled
        step = (self.inverse @ gradient[:, :, None])[:, :, 0]
        return step, (gradient * step).sum(axis=1)

    def lower(self, step: Array, slope: Array, active: Mask) -> tuple["_State", Mask]:
        """Return the state after those steps that are active (C,), halved until they fall, and which of them did."""
        size: Array = active.astype(float)
        while True:
            trial = _State(self.design, self.a + size[:, None] * step)
            grown = active & ~(trial.value <= self.value - 1e-4 * size * slope)
            if not grown.any():
                return trial, active
            size[grown] /= 2.0
            active = active & (size > SHORTEST_STEP)
            size[~active] = 0.0


def inverse(A: Array) -> Array:
    """Return the inverses of symmetric positive semidefinite A (..., k, k), made regular by 1e-13 of their diagonals.

    The scale takes out the different sizes of coordinates.
    """
    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(A, axis1=-2, axis2=-1), TINY))
    scale = scale[..., None] * scale[..., None, :]
    return np.linalg.inv(A * scale + SMALLEST_EIGENVALUE * np.eye(A.shape[-1])) * scale


def fit(rows: IndexedAnswers, smoothness: Smoothness, start: Array, decrement: float = DECREMENT) -> Fit:
    """Fit the log-odds of one smoothness from coefficients `start` (19,): see `fit_each`."""
    return fit_each(rows, [smoothness], start[None], decrement)[0]


def fit_all(rows: IndexedAnswers, before: Sequence[Fit] = ()) -> list[Fit]:
    """Fit every smoothness, each from its own fit `before`, or else from even odds."""
    starts = [fit.log_odds.coefficients for fit in before] or [np.zeros(COEFFICIENTS)] * len(SMOOTHNESS)
    return fit_each(rows, SMOOTHNESS, np.array(starts), ROUGH)


def fit_each(rows: IndexedAnswers, smoothnesses: Sequence[Smoothness], starts: Array, decrement: float) -> list[Fit]:
    r"""Fit the log-odds of C smoothnesses by Newton's method, side by side, from coefficients `starts` (C, 19).

    minimise    sum_i loss(eta(z_i), y_i) + c^T P c / 2 - log det(Q^T W Q) / 2
                P the penalty, W = diag(p_i (1 - p_i)), Q the polynomials free of penalty at the indices; the last
                term (Firth 1993, "Bias reduction of maximum likelihood estimates") keeps the slope finite where the
                index separates the answers
    held out    without its own answer eta_i moves by -(y_i - p_i) l_i / (1 - w_i l_i) to first order, l_i the diagonal
                of B (B^T W B + P)^{-1} B^T (approximate leave-one-out; Rad & Maleki 2020)
    """
    design = _Design(rows, smoothnesses)
    state = _State(design, starts @ BASIS)
    if not np.isfinite(state.value).all():
        # From a link so steep that no row is left on its slope there is no way down.
        state = _State(design, np.where(np.isfinite(state.value)[:, None], state.a, 0.0))
    active = np.ones(len(starts), dtype=bool)
    for _ in range(NEWTON_STEPS):
        step, slope = state.step()
        active &= slope > decrement
        if not active.any():
            break
        state, active = state.lower(step, slope, active)
    return _fits(state, smoothnesses)


def _fits(state: _State, smoothnesses: Sequence[Smoothness]) -> list[Fit]:
    """Return the fits at a state, with their leave-one-out losses."""
    rows, spread = state.design.rows, state.along(state.inverse)
    leverage = state.weight / rows.count * spread
    moved, pull = spread / (1.0 - np.minimum(leverage, LARGEST_LEVERAGE)), state.residual[1] / rows.count
    losses = np.array([loss(state.eta - (y - state.chance + pull) * moved, y) for y in (0.0, 1.0)])
    means = (losses[0] @ (rows.count - rows.ones) + losses[1] @ rows.ones) / len(rows.order)
    links = [LogOdds(coefficients) for coefficients in state.a @ BASIS.T]
    parts = zip(smoothnesses, links, losses.transpose(1, 0, 2), leverage @ rows.count, means, strict=True)
    return [Fit(own, link, rows, each, float(used), float(mean)) for own, link, each, used, mean in parts]


def chosen(fits: Sequence[Fit], least: int = 0) -> int:
    """Return which fit to take, from `least`: the stiffest whose held-out loss is within one error of the lowest.

    The standard error is that of the mean difference, row by row, so that what both fits get wrong cancels. A wiggle
    that does not pay on held-out data would pull the direction along (the one-standard-error rule of Hastie, Tibshirani
    & Friedman 2009, section 7.10).
    """
    lowest, rows = min(fits[least:], key=lambda fit: fit.mean_held_out), fits[0].rows
    n, weight = len(rows.order), np.stack([rows.count - rows.ones, rows.ones])
    for index, candidate in enumerate(fits[least:], least):
        excess = candidate.mean_held_out - lowest.mean_held_out
        square = float((weight * np.square(candidate.losses - lowest.losses)).sum()) / n
        if excess <= np.sqrt(max(square - excess**2, 0.0) / n):
            return index
    raise AssertionError("the lowest is within its own error")

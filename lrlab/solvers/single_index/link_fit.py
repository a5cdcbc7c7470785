"""Penalised maximum likelihood for the log-odds of `link_smoothing`, and the choice of their stiffness."""

from collections.abc import Sequence
from functools import cached_property, lru_cache
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


class _Coordinates(NamedTuple):
    """An orthonormal basis of coefficients (19, 19), the `order` polynomials free of penalty first, and the penalty.

    A sum of the curvature, which may be 1e-9, and a penalty of 1e7 would lose the curvature of the free polynomials to
    rounding where answers are nearly separable.
    """

    basis: Array
    order: int
    penalty: Array


@lru_cache(maxsize=len(SMOOTHNESS))
def _coordinates(smoothness: Smoothness) -> _Coordinates:
    order = smoothness.order
    basis = np.linalg.qr(smoothness.free, mode="complete")[0]
    penalty = np.zeros((COEFFICIENTS, COEFFICIENTS))
    stiff = basis[:, order:]
    penalty[order:, order:] = stiff.T @ smoothness.penalty @ stiff
    return _Coordinates(basis, order, penalty)


class _Design(NamedTuple):
    rows: IndexedAnswers
    coordinates: _Coordinates
    free: Array


class _State:
    """Objective, gradient and curvature at coordinates a (19,) of the coefficients."""

    def __init__(self, design: _Design, a: Array) -> None:
        self.design, self.a = design, a
        self.coefficients = design.coordinates.basis @ a
        self.eta = design.rows.times(self.coefficients)
        self.chance = expit(self.eta)
        self.weight = self.chance * (1.0 - self.chance)
        self.information = (design.free * self.weight[:, None]).T @ design.free
        self.value = (
            loss(self.eta, design.rows.answers).sum()
            + a @ design.coordinates.penalty @ a / 2.0
            - np.linalg.slogdet(self.information)[1] / 2.0
        )

    @cached_property
    def residual(self) -> Array:
        # d/d eta of log det(information) / 2 is h (1/2 - chance), with h the leverages of the free polynomials.
        free = self.design.free
        h = self.weight * ((free @ inverse(self.information)) * free).sum(axis=1)
        return self.design.rows.answers - self.chance + h * (0.5 - self.chance)

    @cached_property
    def inverse_curvature(self) -> Array:
        basis = self.design.coordinates.basis
        return inverse(basis.T @ self.design.rows.gram(self.weight) @ basis + self.design.coordinates.penalty)

    def step(self) -> tuple[Array, float]:
        basis, penalty = self.design.coordinates.basis, self.design.coordinates.penalty
        gradient = basis.T @ self.design.rows.adjoint(self.residual) - penalty @ self.a
        step = self.inverse_curvature @ gradient
        return step, float(gradient @ step)


def inverse(A: Array) -> Array:
    """Return the inverse of a symmetric positive semidefinite A, scaled to a unit diagonal, eigenvalues at least 1e-13.

    The scale takes out the different sizes of coordinates; what is singular beyond that is made regular.
    """
    scale = 1.0 / np.sqrt(np.maximum(A.diagonal(), TINY))
    values, vectors = np.linalg.eigh(A * np.outer(scale, scale))
    half = scale[:, None] * vectors / np.sqrt(np.maximum(values, SMALLEST_EIGENVALUE))
    return half @ half.T


def fit(rows: IndexedAnswers, smoothness: Smoothness, start: Array) -> Fit:
    r"""Fit the log-odds of one smoothness by Newton's method from coefficients `start` (19,).

    minimise    sum_i loss(eta(z_i), y_i) + c^T P c / 2 - log det(Q^T W Q) / 2
                P the penalty, W = diag(p_i (1 - p_i)), Q the polynomials free of penalty at the indices; the last
                term (Firth 1993, "Bias reduction of maximum likelihood estimates") keeps the slope finite where the
                index separates the answers
    held out    without its own answer eta_i moves by -(y_i - p_i) l_i / (1 - w_i l_i) to first order, l_i the diagonal
                of B (B^T W B + P)^{-1} B^T (approximate leave-one-out; Rad & Maleki 2020)
    """
    coordinates = _coordinates(smoothness)
    design = _Design(rows, coordinates, rows.times(coordinates.basis[:, : coordinates.order]))
    state = _State(design, coordinates.basis.T @ start)
    if not np.isfinite(state.value):
        # From a link so steep that no row is left on its slope there is no way down.
        state = _State(design, np.zeros(COEFFICIENTS))
    for _ in range(NEWTON_STEPS):
        step, slope = state.step()
        lower = _lower(state, step, slope) if slope > DECREMENT else None
        if lower is None:
            break
        state = lower
    basis = coordinates.basis
    spread = rows.diagonal(basis @ state.inverse_curvature @ basis.T)
    leverage = state.weight * spread
    without = state.eta - state.residual * spread / (1.0 - np.minimum(leverage, LARGEST_LEVERAGE))
    held_out = np.empty_like(without)
    held_out[rows.order] = loss(without, rows.answers)
    return Fit(smoothness, LogOdds(state.coefficients), held_out, float(leverage.sum()))


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

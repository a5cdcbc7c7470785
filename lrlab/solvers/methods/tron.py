"""Conjugate gradients and trust-region Newton for functions of a matrix, from Hessian products."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from lrlab.arrays import Array

Product = Callable[[Array], Array]

ACCEPTED, GOOD, GREAT = 1e-4, 0.25, 0.75
SHRINK, SHRINK_SLOWLY, GROW = 0.25, 0.5, 4.0
"""Constants of Lin, Weng, Keerthi (2008), eq. 9-11."""


class Step(NamedTuple):
    """A step S, the residual of the Newton equation, -(gradient + Hessian S), and whether it met the trust region."""

    S: Array
    rest: Array
    at_edge: bool


def dot(P: Array, Q: Array) -> float:
    """Return the sum of the products of entries, or of real coordinates if they are complex."""
    return float(np.vdot(P, Q).real)


def conjugate_gradients(product: Product, gradient: Array, steps: int, accuracy: float, radius: float = np.inf) -> Step:
    """Return S with Hessian S = -gradient, up to ||rest|| <= accuracy ||gradient||, after at most so many steps.

    From S = 0, inside ||S|| <= radius (Steihaug). Measuring against the gradient at entry keeps warm starts moving:
    the right-hand side of a linear system may be larger than the remaining gain.
    """
    S, R = np.zeros_like(gradient), -gradient
    D, rr = R.copy(), dot(gradient, gradient)
    goal = accuracy**2 * rr
    for _ in range(steps):
        if rr <= goal:
            break
        HD = product(D)
        curvature = dot(D, HD)
        alpha = rr / curvature if curvature > 0 else np.inf
        if alpha * np.sqrt(dot(D, D)) >= radius or np.linalg.norm(S + alpha * D) >= radius:
            # To the edge, ||S + alpha D|| = radius.
            sd, dd, room = dot(S, D), dot(D, D), radius**2 - dot(S, S)
            root = np.sqrt(max(sd**2 + dd * room, 0.0))
            alpha = room / (sd + root) if sd >= 0 else (root - sd) / dd
            return Step(S + alpha * D, R - alpha * HD, True)
        if not np.isfinite(alpha):
            break
        S += alpha * D
        R -= alpha * HD
        rr, before = dot(R, R), rr
        D = R + (rr / before) * D
    return Step(S, R, False)


def each_column(product: Product, right: Array) -> Iterator[tuple[Array, Array]]:
    """Yield V and the residual right - product(V) after each conjugate gradient step, one step length per column.

    From V = 0, until all residuals are 0.
    """
    V, R, D = np.zeros_like(right), right, right
    square = (R * R).sum(axis=0)
    while (live := square > 0.0).any():
        HD = product(D)
        bend = (D * HD).sum(axis=0)
        length = np.where(live & (bend > 0), square / np.where(bend > 0, bend, 1.0), 0.0)
        V, R = V + length * D, R - length * HD
        before, square = square, (R * R).sum(axis=0)
        D = R + np.where(live, square / np.where(live, before, 1.0), 0.0) * D
        yield V, R


def newton(f: Any, W: Array, newton_steps: int, steps: int, accuracy: float) -> Array:
    """Return a W of lower value: trust-region Newton until the gradient is `accuracy` of the one at entry.

    f has value(W), and derivatives(W): the gradient and the product with the Hessian.
    Each of at most `newton_steps` directions takes at most `steps` conjugate gradients. The value never rises.
    Reference: Lin, Weng, Keerthi (2008), "Trust region Newton method for large-scale logistic regression", Algorithm 2.
    """
    value = f.value(W)
    gradient, product = f.derivatives(W)
    goal = accuracy * np.linalg.norm(gradient)
    radius = float(np.linalg.norm(gradient))
    for iteration in range(newton_steps):
        if np.linalg.norm(gradient) <= goal or radius == 0:
            break
        S, rest, at_edge = conjugate_gradients(product, gradient, steps, accuracy, radius)
        slope = dot(gradient, S)
        predicted = (slope - dot(S, rest)) / 2
        trial_value = f.value(W + S)
        length = float(np.linalg.norm(S))
        # Only the first radius is a guess: it comes down to the length of the first step.
        radius = min(radius, length) if iteration == 0 else radius
        actual = trial_value - value
        if predicted >= 0:
            break
        if -predicted <= 1e-11 * abs(value):
            # Rounding hides the decrease of the values; the model's, with an error of third order, is accurate.
            actual = predicted
        radius = resized(radius, length, slope, actual, predicted, at_edge)
        if actual < ACCEPTED * predicted:
            W, value = W + S, trial_value
            gradient, product = f.derivatives(W)
    return W


def resized(radius: float, length: float, slope: float, actual: float, predicted: float, at_edge: bool) -> float:
    """Return the next radius, from the decrease of the value relative to the quadratic model."""
    best = max(SHRINK, -slope / (2 * (actual - slope))) if actual > slope else GROW
    ratio = actual / predicted
    if ratio < ACCEPTED:
        return min(best * length, SHRINK_SLOWLY * radius)
    if ratio < GOOD:
        return max(SHRINK * radius, min(best * length, SHRINK_SLOWLY * radius))
    if ratio < GREAT:
        return max(SHRINK * radius, min(best * length, GROW * radius))
    return max(radius, min(best * length, GROW * radius)) if at_edge else max(radius, length)

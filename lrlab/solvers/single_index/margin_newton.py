"""Newton's method for convex losses of the margins y (<x, b> + c), and whether such a loss has a minimum."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.models.protocols import SingleIndexData
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solvers.methods.newton import conjugate_gradients

SEPARABLE = (
    "Responses are separable, but for ties: the likelihood has no maximum, and only the direction of b has a meaning."
)


class Point(NamedTuple):
    """At coefficients theta = (c, b), (p + 1,): margins (n,), the summed loss, its gradient, its curvatures (n,)."""

    theta: Array
    margin: Array
    value: float
    gradient: Array
    weight: Array


Derivatives = Callable[[Array], tuple[Array, Array, Array]]
"""The value, slope and curvature of a loss at margins, an array."""


def minimized(
    loss: Derivatives, problem: SingleIndexData, note: Callable[[Array], str] = lambda margin: ""
) -> Iterates:
    r"""Yield the Newton steps of min over (b, c) of F = mean loss(m_i), m_i = y_i (<x_i, b> + c), from 0.

    A step is halved until F falls. F has no minimum if it falls forever along (b, c), whose margins tell: the slopes of
    the loss at -inf and inf, times the margins below and above 0, sum to 0 or less; or if steps stay long while the
    gradient vanishes, as if some b separates the responses but for ties. Then only the direction of b has a meaning.
    note(margins): words for each step.
    """
    X, y = problem.X, problem.y
    n, p = X.shape

    def at(theta: Array) -> Point:
        margin = y * (X @ theta[1:] + theta[0])
        losses, slope, curvature = loss(margin)
        pull = y * slope
        return Point(theta, margin, float(losses.sum()), np.concatenate([[pull.sum()], pull @ X]), curvature)

    now = at(np.zeros(p + 1))
    before: Array = np.zeros(n)
    steepest = float(np.abs(now.gradient).max()) or 1.0
    _, (below, above), _ = loss(np.array([-700.0, 700.0]))
    while True:
        residual, value, separated = float(np.abs(now.gradient).max()) / steepest, now.value, False
        if now.theta.any():
            total, size = now.margin.sum(), np.abs(now.margin).sum()
            forever = (above * (size + total) - below * (size - total)) / 2
            separated = bool(forever <= 0) or (residual <= 1e-3 and np.abs(now.margin - before).max() > 0.1)
            unbounded = forever < -1e-8 * size
            # The distance from a missing minimum is undefined.
            known = None if separated else residual
            words = f"{note(now.margin)} {SEPARABLE if separated and not unbounded else ''}".strip()
            yield Iterate(now.theta[1:], objective=value / n, residual=known, note=words, optimal=not separated)
            if unbounded or (separated and residual <= 1e-8):
                return Stop.NO_MINIMUM
        direction = newton_direction(X, now, min(0.5, residual))
        # The predicted decrease, compared below with the rounding error of the objective.
        promised = float(now.gradient @ direction)
        trials = (at(now.theta - direction / 2.0**k) for k in range(30)) if promised > 0 else iter(())
        lower = next((trial for trial in trials if trial.value < value), None)
        if lower is None:
            if not now.theta.any():
                yield Iterate(now.theta[1:], objective=value / n, residual=residual, note="b = 0: no step improves it.")
            improvable = promised > 64 * np.finfo(float).eps * abs(value)
            return Stop.NO_MINIMUM if separated else Stop.STALLED if improvable else Stop.CONVERGED
        now, before = lower, now.margin


def newton_direction(X: Array, at: Point, accuracy: float) -> Array:
    """Return the solution (p + 1,) of H v = gradient, H the Hessian; beyond 300 entries, or n, to a relative accuracy.

    Conjugate gradients need two passes over X a step, and neither p x p memory nor a regular H.
    """
    n, p = X.shape
    if p > min(300, n // 2):

        def times(v: Array) -> Array:
            bent = at.weight * (X @ v[1:] + v[0])
            return np.concatenate([[bent.sum()], bent @ X])

        return -conjugate_gradients(times, at.gradient, p + 1, accuracy)
    # Blocks of rows stay in the cache.
    H, rows = np.zeros((p + 1, p + 1)), max(1, 2**16 // p)
    for start in range(0, n, rows):
        block, weight = X[start : start + rows], at.weight[start : start + rows]
        # The product of a matrix with itself takes three quarters of the time.
        scaled = block * np.sqrt(weight)[:, None]
        H[1:, 1:] += scaled.T @ scaled
        H[0, 1:] += weight @ block
    H[1:, 0], H[0, 0] = H[0, 1:], at.weight.sum()
    # Makes the system solvable if columns are dependent; it changes the path, never the solution.
    H.flat[:: p + 2] += 1e-10 * H.trace() + np.finfo(float).tiny
    return np.linalg.solve(H, at.gradient)

"""Conjugate gradients, Newton's method by few of them for functions with Hessian products, and exact quartic steps."""

from collections.abc import Callable

import numpy as np

from lrlab.arrays import Array

Product = Callable[[Array], Array]
Value = Callable[[Array], float]
Derivatives = Callable[[Array], tuple[Array, Product]]
"""The gradient at a point, and the product with the Hessian there."""


def dot(P: Array, Q: Array) -> float:
    """Return the sum of the products of entries, or of real coordinates if they are complex."""
    return float(np.vdot(P, Q).real)


def conjugate_gradients(product: Product, gradient: Array, steps: int, accuracy: float) -> Array:
    """Return S with Hessian S = -gradient, up to ||rest|| <= accuracy ||gradient||, after at most so many steps.

    From S = 0. Measuring against the gradient at entry keeps warm starts moving: the right-hand side of a linear system
    may be larger than the remaining gain.
    """
    S, R = np.zeros_like(gradient), -gradient
    D, rr = R.copy(), dot(gradient, gradient)
    goal = accuracy**2 * rr
    for _ in range(steps):
        if rr <= goal:
            break
        HD = product(D)
        if (curvature := dot(D, HD)) <= 0:
            break
        alpha = rr / curvature
        S += alpha * D
        R -= alpha * HD
        rr, before = dot(R, R), rr
        D = R + (rr / before) * D
    return S


def newton(f: Value, derivatives: Derivatives, W: Array, newton_steps: int, steps: int, accuracy: float) -> Array:
    """Return a W of lower value of a convex f: Newton steps until the gradient is `accuracy` of the one at entry.

    Each of at most `newton_steps` directions takes at most `steps` conjugate gradients, and is halved until f falls.
    Reference: Nocedal & Wright (2006), "Numerical optimization", Algorithm 7.1 (line-search Newton-CG).
    """
    value, goal = f(W), -1.0
    for _ in range(newton_steps):
        gradient, product = derivatives(W)
        size = float(np.linalg.norm(gradient))
        goal = accuracy * size if goal < 0 else goal
        if size <= goal:
            break
        S = conjugate_gradients(product, gradient, steps, accuracy)
        # Rounding hides a smaller decrease.
        slope, hidden = dot(gradient, S), 1e-11 * abs(value)
        for length in 0.5 ** np.arange(40):
            if (trial := f(W + length * S)) <= value + 1e-4 * length * slope + hidden:
                W, value = W + length * S, trial
                break
        else:
            break
    return W


def quartic_step(r: Array, s: Array, q: Array) -> float:
    """Return the t >= 0 that minimizes ||r + s t + q t^2||, the root of a cubic; 0 if there is none."""
    quartic = np.array([q @ q, 2.0 * (s @ q), s @ s + 2.0 * (r @ q), 2.0 * (r @ s), 0.0], float)
    # In units of the step that the quadratic part asks for, so that the roots stay well scaled.
    unit = abs(quartic[3]) / (2.0 * float(s @ s) or 1.0)
    scaled = quartic * unit ** np.arange(4, -1, -1)
    if not scaled.any():
        return 0.0
    roots = np.roots(np.polyder(scaled / np.abs(scaled).max()))
    steps = [0.0, *(float(root.real) for root in roots if root.real > 0)]
    return float(unit * min(steps, key=lambda t: np.polyval(scaled, t)))

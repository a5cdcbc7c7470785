"""Newton steps on the unit sphere for losses of an index X b, several columns at a time."""

from collections.abc import Callable
from itertools import islice

import numpy as np

from lrlab.arrays import Array, Mask
from lrlab.solvers.methods.tron import each_column

CG_STEPS = 25
CG_TOLERANCE = 0.01
# A singular direction would take an infinite step; this share of the summed weights is no obstacle to any other.
DAMPING = 1e-6
# Far beyond the longest step, so that it is felt by no other.
LONGEST_STEP, LONGEST_SOLVED = 0.5, 1e12


def normalised(B: Array) -> Array:
    """Return B (p, k) with columns of unit length; columns that vanish stay."""
    norms = np.linalg.norm(B, axis=0)
    return B / np.where(norms > 0, norms, 1.0)


def tangent(B: Array, V: Array) -> Array:
    """Return the columns of V (p, k) less their part along the unit columns of B."""
    return V - B * (B * V).sum(axis=0)


def newton_directions(
    curved: Callable[[Array], Array], B: Array, descent: Array, free: Array | Mask, damping: Array
) -> Array:
    r"""Solve (P H P + damping) D = P descent for each column by conjugate gradients, to 1%.

    P projects on the tangent space of the sphere at the column of B (p, k), within the coordinates that are `free`
    (p, k, 0 or 1). `curved(V)` returns H V. On the sphere the Hessian of a loss is P H P - <b, gradient> I, so that
    `damping` (k,) = <b, descent>, where positive, makes the step exact (Absil, Mahony & Sepulchre 2008, section 5.5).
    """
    base = normalised(free * B)
    V = np.zeros_like(B)

    def product(D: Array) -> Array:
        return tangent(base, free * curved(D)) + damping * D

    for step in islice(each_column(product, tangent(base, free * descent), CG_TOLERANCE), CG_STEPS):
        V = step[0]
    return V


def least_damping(right: Array) -> Array:
    """Return damping (...) by which no step (..., p) overflows, also where nothing bends."""
    return np.abs(right).max(axis=-1) / LONGEST_SOLVED + np.finfo(float).tiny


def exact_direction(H: Array, b: Array, descent: Array, damping: float) -> Array:
    """Solve (P H P + damping) D = P descent at b (p,), H (p, p); LinAlgError where that is not convex."""
    damping += float(least_damping(descent))
    along, scale = H @ b, np.abs(np.diag(H)).max() + damping
    outer = np.outer(along, b)
    # On b itself, where the right-hand side has no part, as much as elsewhere.
    curved = H - outer - outer.T + (along @ b + scale) * np.outer(b, b)
    curved[np.diag_indices(len(b))] += damping
    np.linalg.cholesky(curved)
    D: Array = np.linalg.solve(curved, descent - (b @ descent) * b)
    return D - (b @ D) * b


def shortened(D: Array) -> Array:
    """Return D with columns no longer than half a radian: a quadratic model says nothing farther off."""
    return D * np.minimum(1.0, LONGEST_STEP / np.maximum(np.linalg.norm(D, axis=0), LONGEST_STEP))

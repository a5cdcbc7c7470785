"""Projections of matrices onto bounds of the nuclear norm, of the entries, and of both."""

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank


def simplex(sizes: Array, total: float) -> Array:
    """Return the nearest numbers >= 0 whose sum is at most `total` to sizes (k,) >= 0 in falling order."""
    if sizes.sum() <= total:
        return sizes
    lowered = (np.cumsum(sizes) - total) / np.arange(1, len(sizes) + 1)
    return np.maximum(sizes - lowered[np.flatnonzero(sizes > lowered)[-1]], 0.0)


def trace_ball(V: Array, radius: float) -> LowRank:
    """Return the nearest matrix of trace norm at most `radius`."""
    W = lowrank.from_dense(V)
    s = simplex(W.s, radius)
    return LowRank(W.U, s, W.V).truncated(max(int(np.count_nonzero(s)), 1))


class BoundedTraceBall:
    """Nearest matrices of trace norm at most `radius` and entries at most `largest`, for a sequence of near problems.

    By Dykstra's alternation of both projections, which ascends the dual: it begins with the multipliers of the entries
    that were last found, scaled to the weight t of the distance ||W - V||^2 / (2 t).
    Reference: Boyle & Dykstra (1986), "A method for finding projections onto the intersection of convex sets".
    """

    def __init__(self, radius: float, largest: float) -> None:
        self.radius, self.largest, self.multipliers = radius, largest, 0.0

    def nearest(self, V: Array, t: float) -> LowRank:
        """Return the matrix nearest to V; its entries exceed the bound by 1e-4 of it, or what 100 rounds leave."""
        q = t * self.multipliers
        for _ in range(100):
            W = trace_ball(V - q, self.radius)
            Y = W.dense()
            X = np.clip(Y + q, -self.largest, self.largest)
            q = Y + q - X
            if np.abs(X - Y).max() <= 1e-4 * self.largest:
                break
        self.multipliers = q / t
        return W


def short_rows(F: Array, length: float) -> Array:
    """Return the nearest matrix whose rows have at most a length."""
    sizes = np.linalg.norm(F, axis=1, keepdims=True)
    return F * np.minimum(1.0, length / np.where(sizes > 0, sizes, 1.0))

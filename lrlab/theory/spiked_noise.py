"""Low-rank matrices in Gaussian noise: what becomes of singular values and singular vectors."""

import math
from typing import NamedTuple


class SpikeLimits(NamedTuple):
    """Limits for one singular value: its place, and the squared cosines of its two vectors with the truth."""

    value: float
    left: float
    right: float


def edge(variance: float, d1: int, d2: int) -> float:
    """Return the largest singular value of a d1 x d2 matrix of independent N(0, variance) entries."""
    return math.sqrt(variance) * (math.sqrt(d1) + math.sqrt(d2))


def spike(size: float, variance: float, d1: int, d2: int) -> SpikeLimits:
    """Return the limits of a singular value `size` in noise N(0, variance), for large d1 and d2.

    Above (variance^2 d1 d2)^(1/4) it stands out, at sqrt((size^2 + d1 v)(size^2 + d2 v)) / size; below, it is lost in
    the bulk and the vectors are orthogonal to the truth.
    Reference: Benaych-Georges & Nadakuditi (2012), section 3.1.
    """
    a, b, square = d1 * variance, d2 * variance, size**2
    if square**2 <= a * b:
        return SpikeLimits(edge(variance, d1, d2), 0.0, 0.0)
    value = math.sqrt((square + a) * (square + b)) / size
    left = (square**2 - a * b) / (square * (square + b))
    right = (square**2 - a * b) / (square * (square + a))
    return SpikeLimits(value, left, right)


def symmetric_edge(variance: float, p: int) -> float:
    """Return the largest eigenvalue of a symmetric p x p matrix, entries off the diagonal N(0, variance)."""
    return 2.0 * math.sqrt(variance * p)


def symmetric_spike(size: float, variance: float, p: int) -> SpikeLimits:
    """Return the limits of an eigenvalue of that size: size + p v / size, overlap 1 - p v / size^2.

    Reference: Benaych-Georges & Nadakuditi (2011), section 3.1; Feral & Peche (2007).
    """
    bulk = p * variance
    if size**2 <= bulk:
        return SpikeLimits(symmetric_edge(variance, p), 0.0, 0.0)
    return SpikeLimits(size + bulk / size, 1.0 - bulk / size**2, 1.0 - bulk / size**2)

"""The statistical dimension of the nuclear norm's descent cone: where its minimisation begins to succeed."""

import math
from functools import lru_cache

import numpy as np

NODES = 200


def marchenko_pastur(ratio: float, nodes: int = NODES) -> tuple[np.ndarray, np.ndarray]:
    """Return singular values and weights (sum 1) of a quadrature of the law of G / sqrt(columns), G Gaussian.

    ratio: rows over columns of G, in 0..1. The density is sqrt((s^2 - a^2)(b^2 - s^2)) / (pi ratio s) on a..b, where
    a = 1 - sqrt(ratio), b = 1 + sqrt(ratio); s^2 = (a^2 + b^2)/2 + (b^2 - a^2)/2 cos(angle) makes its root a sine.
    """
    angle = (np.arange(nodes) + 0.5) * math.pi / nodes
    a, b = (1 - math.sqrt(ratio)) ** 2, (1 + math.sqrt(ratio)) ** 2
    squares = (a + b) / 2 + (b - a) / 2 * np.cos(angle)
    weights = np.sin(angle) ** 2 / squares
    return np.sqrt(squares), weights / weights.sum()


@lru_cache(maxsize=4096)
def nuclear_norm(d1: int, d2: int, rank: int) -> float:
    """Return the statistical dimension of the nuclear norm's descent cone at a d1 x d2 matrix of a rank.

    With m dense Gaussian measurements and without noise, min ||W||_* s.t. A(W) = b finds W when m exceeds it by a
    margin of order sqrt(d1 d2), and fails below. It is

        min over tau >= 0 of  k (d1 + d2 - k + tau^2) + E sum_i max(sigma_i(G) - tau, 0)^2

    for G Gaussian (d1 - k, d2 - k), whose singular values are taken from the Marchenko-Pastur law: the distance of a
    Gaussian matrix to the subdifferential, scaled by tau. Within one part in the smaller side of the exact value.
    Reference: Amelunxen, Lotz, McCoy & Tropp (2014), "Living on the edge", Theorem II and Proposition 4.7.
    """
    from scipy.optimize import minimize_scalar

    rows, columns = sorted((d1 - rank, d2 - rank))
    if rows <= 0:
        return float(d1 * d2)
    s, weights = marchenko_pastur(rows / columns)
    sigma = math.sqrt(columns) * s

    def bound(tau: float) -> float:
        beyond = np.maximum(sigma - tau, 0.0)
        return rank * (d1 + d2 - rank + tau**2) + rows * float(weights @ beyond**2)

    minimum = minimize_scalar(bound, bounds=(0.0, float(sigma.max())), method="bounded")
    return float(min(minimum.fun, bound(0.0)))

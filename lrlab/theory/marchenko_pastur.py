"""The density of the bulk: eigenvalues of a Gaussian sample covariance matrix (Marchenko & Pastur 1967)."""

import math

import numpy as np

from lrlab.arrays import Array


def support(ratio: float, scale: float = 1.0) -> tuple[float, float]:
    """Return the edges of the bulk of scale (1/N) G^T G, G (N, p) standard normal, at ratio p/N."""
    root = math.sqrt(ratio)
    return scale * (1.0 - root) ** 2, scale * (1.0 + root) ** 2


def density(x: Array, ratio: float, scale: float = 1.0) -> Array:
    """Return the density at x of the eigenvalues that are not 0, which are a share min(1, 1/ratio) of all.

    sqrt((b - x)(x - a)) / (2 pi scale ratio x) on the support a..b integrates to that share.
    """
    low, high = support(ratio, scale)
    x = np.asarray(x, dtype=float)
    inside = np.clip((high - x) * (x - low), 0.0, None)
    return np.sqrt(inside) / (2.0 * math.pi * scale * ratio * np.where(x > 0, x, 1.0))

r"""Eigenvalues of noise: the largest of weighted sums of x x^T, the bulk of covariances, the statistical dimension.

A = sum_i w_i x_i x_i^T with x_i ~ N(0, I_p) independent of the weights. The inverse of the Stieltjes transform of
A / p is z(m) = -1/m + (1/p) sum_i w_i / (1 + w_i m); the largest eigenvalue is about p z at the m = -t, t in
(0, 1 / max w), with (1/p) sum (w t / (1 - w t))^2 = 1, and fluctuates about it by (z''/2)^(1/3) p^(1/3) times a
Tracy-Widom variable of order 1, whose mean is -1.21 and whose standard deviation is 1.27.

References: Silverstein & Choi (1995), "Analysis of the limiting spectral distribution of large dimensional random
matrices"; El Karoui (2007), "Tracy-Widom limit for the largest eigenvalue of a large class of complex sample
covariance matrices", Theorem 1; Lee & Schnelli (2016), "Tracy-Widom distribution for the largest eigenvalue of real
sample covariance matrices with general population".
"""

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.theory import root

TRACY_WIDOM_MEAN, TRACY_WIDOM_SECOND = -1.2065335745820, -3.2624279
"""Means of the Tracy-Widom variables of order 1 of the largest and second largest eigenvalue (Bornemann 2010, "On the
numerical evaluation of distributions in random matrix theory", table 1)."""

Terms = list[tuple[float, float]]
"""Weights w, and how often each occurs, divided by p."""


class Edge(NamedTuple):
    """Limit of the largest eigenvalue of noise, the unit of its fluctuation, and t; 0 without positive weights."""

    value: float
    scale: float
    dual: float

    @property
    def mean(self) -> float:
        """Mean of the largest eigenvalue of noise at this p."""
        return self.value + TRACY_WIDOM_MEAN * self.scale

    @property
    def second(self) -> float:
        """Mean of the second largest one."""
        return self.value + TRACY_WIDOM_SECOND * self.scale


class Chance(NamedTuple):
    """Mean and standard deviation of an eigenvalue of noise."""

    mean: float
    deviation: float

    def height(self, eigenvalue: float) -> float:
        """Return by how many standard deviations an eigenvalue exceeds the mean; -inf without noise."""
        return (eigenvalue - self.mean) / self.deviation if self.deviation > 0 else -math.inf


def largest_by_chance(weights: Iterable[float], counts: Iterable[float], p: int, size: float = 0.0) -> Chance:
    """Return mean and deviation of the largest eigenvalue of sum_i w_i x_i x_i^T + r r^T, r ~ N(0, (size / p) I_p).

    The eigenvalue of r r^T, whose mean is `size`, leaves the bulk at t = p / size if this is below the edge's t
    (Benaych-Georges & Nadakuditi 2011, "The eigenvalues and eigenvectors of finite, low rank perturbations of large
    random matrices", Theorem 2.1, with the Stieltjes transform t / p); |r|^2 has the deviation size sqrt(2 / p).
    """
    edge, terms = upper_edge(weights, counts, p), _terms(weights, counts, p)
    if edge.dual == 0.0:
        return Chance(size, size * math.sqrt(2.0 / p))
    # The standard deviation of the Tracy-Widom variable (Bornemann 2010, table 1).
    noise = Chance(edge.mean, 1.2679809 * edge.scale)
    if size * edge.dual <= p:
        return noise
    t = p / size
    # d place / d size = 1 - (1/p) sum u^2 scales the deviation of |r|^2.
    place, deviation = p * (1.0 + _mean(terms, t, 1)) / t, (1.0 - _mean(terms, t, 2)) * size * math.sqrt(2.0 / p)
    return Chance(place, max(deviation, noise.deviation)) if place > noise.mean else noise


def upper_edge(weights: Iterable[float], counts: Iterable[float], p: int) -> Edge:
    """Return the edge of sum_i w_i x_i x_i^T if weights[k] occurs counts[k] times."""
    terms = _terms(weights, counts, p)
    # The largest weight by itself makes the sum of u^2 p at such a t; the others increase it.
    t = min((1.0 / (w * (1.0 + math.sqrt(share))) for w, share in terms if w > 0), default=0.0)
    if t == 0.0:
        return Edge(0.0, 0.0, 0.0)
    if _mean(terms, t, 2) > 1.0:
        t = root(lambda t: _mean(terms, t, 2) - 1.0, 0.0, t)
    # z''/2 at m = -t is (1 + (1/p) sum u^3) / t^3.
    scale = (p * max(1.0 + _mean(terms, t, 3), 0.0)) ** (1.0 / 3.0) / t
    return Edge(p * (1.0 + _mean(terms, t, 1)) / t, scale, t)


def _terms(weights: Iterable[float], counts: Iterable[float], p: int) -> Terms:
    # Plain numbers: there are one or two, and arrays of them take ten times as long.
    return [(float(w), float(count) / p) for w, count in zip(weights, counts, strict=True) if count > 0]


def _mean(terms: Terms, t: float, power: int) -> float:
    """Return (1/p) sum u^power, u = w t / (1 - w t)."""
    return float(sum(share * (w * t / (1.0 - w * t)) ** power for w, share in terms))


def support(ratio: float, scale: float = 1.0) -> tuple[float, float]:
    """Return the ends of the bulk (Marchenko & Pastur 1967) of scale (1/N) G^T G, G (N, p) standard normal, at p/N."""
    return scale * (1.0 - math.sqrt(ratio)) ** 2, scale * (1.0 + math.sqrt(ratio)) ** 2


def density(x: Array, ratio: float, scale: float = 1.0) -> Array:
    """Return the density at x of the eigenvalues that are not 0, which are a share min(1, 1/ratio) of all.

    sqrt((b - x)(x - a)) / (2 pi scale ratio x) on the support a..b integrates to that share.
    """
    low, high = support(ratio, scale)
    x = np.asarray(x, dtype=float)
    inside = np.clip((high - x) * (x - low), 0.0, None)
    return np.sqrt(inside) / (2.0 * math.pi * scale * ratio * np.where(x > 0, x, 1.0))


def marchenko_pastur(ratio: float) -> tuple[Array, Array]:
    """Return singular values and weights (sum 1) of a quadrature of the law of G / sqrt(columns), G Gaussian.

    ratio: rows over columns of G, in 0..1. The density is sqrt((s^2 - a^2)(b^2 - s^2)) / (pi ratio s) on a..b with a =
    1 - sqrt(ratio), b = 1 + sqrt(ratio); s^2 = (a^2 + b^2)/2 + (b^2 - a^2)/2 cos(angle) makes its root a sine.
    """
    angle = (np.arange(200) + 0.5) * math.pi / 200
    a, b = support(ratio)
    squares = (a + b) / 2 + (b - a) / 2 * np.cos(angle)
    weights = np.sin(angle) ** 2 / squares
    return np.sqrt(squares), weights / weights.sum()


@lru_cache(maxsize=4096)
def nuclear_norm(d1: int, d2: int, rank: int) -> float:
    """Return the statistical dimension of the nuclear norm's descent cone at a d1 x d2 matrix of a rank.

    With m dense Gaussian measurements and without noise, min ||W||_* s.t. A(W) = b finds W when m exceeds it by a
    margin of order sqrt(d1 d2), and fails below. It is

        min over tau >= 0 of  k (d1 + d2 - k + tau^2) + E sum_i max(sigma_i(G) - tau, 0)^2

    for G Gaussian (d1 - k, d2 - k), with singular values by the Marchenko-Pastur law: the distance of a
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

"""The best overlap and error on average over signals in large problems: limits with the fluctuations of a finite p."""

import math
from functools import lru_cache

import numpy as np

from lrlab.arrays import Array
from lrlab.theory.links import Link
from lrlab.theory.posterior_scores import SMALLEST
from lrlab.theory.state_evolution import overlaps

NODES = 5
"""Of the quadrature over what a sample of p unknowns says by chance."""
LIMIT_DRAWS, SEED = 4000, 7_262_024

Statistics = tuple[float, float, float, float]
"""Mean, points that 10% are below and above, standard error."""


@lru_cache(maxsize=4096)
def limit_statistics(link: Link, n: int, p: int) -> tuple[Statistics, Statistics]:
    """Return the limits of overlap and error for large p, with fluctuations.

    They are those of a posterior that is Gaussian but for the unit length.
    If q is the limit, b = g / |g| with g = sqrt(q) v + sqrt((1 - q) / p) e, e ~ N(0, I_p): for q near 1 the p - 1
    coordinates off v make the squared error (1 - q) chi^2_{p-1} / p; for q = 0 the overlap has the mean 1/p of a guess.
    """
    h, weights = np.polynomial.hermite_e.hermegauss(NODES)
    around = np.array([overlaps(link, n / p * math.exp(x * math.sqrt(2.0 / max(n, p)))).best for x in h])
    # By chance a sample says as much as one of another n/p, which tells near a transition.
    q, rng = float(weights @ around / weights.sum()), np.random.default_rng(SEED)
    bend = abs(q - overlaps(link, n / p).best)
    along = math.sqrt(q) + math.sqrt((1.0 - q) / p) * rng.standard_normal(LIMIT_DRAWS)
    across = (1.0 - q) / p * rng.chisquare(p - 1, LIMIT_DRAWS)
    length = np.sqrt(along**2 + across)
    overlap = np.square(along / length)
    error = np.sqrt(2.0 * across / (length * (length + np.abs(along))))
    return (
        _statistics(overlap, (1.0 - q) / p + bend),
        _statistics(error, float(error.mean()) / p + bend / max(float(error.mean()), SMALLEST)),
    )


def _statistics(score: Array, unsure: float) -> Statistics:
    """Return mean, ends and error of the limit at finite p; unsure: terms of order 1/p, and what bends near n/p."""
    low, high = np.quantile(score, [0.1, 0.9])
    return float(score.mean()), float(low), float(high), unsure + float(score.std()) / math.sqrt(LIMIT_DRAWS)

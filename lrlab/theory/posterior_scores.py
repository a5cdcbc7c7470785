"""Scores of the directions that are best for a posterior of unit vectors, from draws of it."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.theory.posterior_draws import Draws

FIXED_POINT, SMALLEST = 20, 1e-9
SAMPLED = 10
"""Draws of each half whose scores are kept."""
NEAR = 1e-6
"""1 - |<b, v>| below which a distance is not computed from it, as digits cancel."""


class Scores(NamedTuple):
    """What the best estimates of one problem, of overlap and of error, score.

    means, doubts (2,): posterior expectations of overlap and error, and by how much they may be too good as a direction
    fits the draws that it is computed from; overlaps, errors (draws,): the scores on draws of the posterior. short: the
    share by which 1 - overlap is too small where chains from the truth have not parted.
    """

    means: Array
    doubts: Array
    overlaps: Array
    errors: Array
    short: float


def scored(draws: Draws) -> Scores:
    """Return the scores of the best estimates on draws of one posterior.

    The direction v of one half of the draws is too good on its own half, by Jensen's inequality, and is less than the
    best on the other: both scores bracket what is looked for. If v misses the best direction by the angle a, it gains
    on its own half what it loses on the other up to the share a^2, so that the middle is right where halves agree on v.
    Where they do not, the middle may be too good by half of what the scores are apart. The share between is taken to be
    sin^2 of the angle between the directions of both halves, twice a^2 on average.

    If the squared distance D of chains tends to its limit as 1 - exp(-t / tau), and has grown by the factor 1 + x since
    half the steps, then D is short of the limit by its part x^2.
    """
    part = min(max(draws.growth - 1.0, 0.0), 0.9) ** 2
    halves = [(draws.b[k::2], _shares(draws.weights[k::2])) for k in (0, 1)]
    tops = [largest_eigenvector(*half) for half in halves]
    nears = [nearest_direction(b, top, weights) for (b, weights), top in zip(halves, tops, strict=True)]
    overlaps, *overlap = _across(halves, tops, lambda b, v: np.square(b @ v))
    errors, *error = _across(halves, nears, distances)
    means, doubts = np.array([overlap, error]).T
    return Scores(means, doubts, overlaps, errors, part / (1.0 - part))


def _shares(weights: Array) -> Array:
    return weights / weights.sum()


def _across(
    halves: list[tuple[Array, Array]], directions: list[Array], score: Callable[[Array, Array], Array]
) -> tuple[Array, float, float]:
    """Return scores of the directions of both halves on draws of both, their mean, and by how much it may be off."""
    means, sampled = np.empty((2, 2)), []
    for k, v in enumerate(directions):
        for j, (b, weights) in enumerate(halves):
            scores = score(b, v)
            means[k, j] = weights @ scores
            at = np.searchsorted(np.cumsum(weights), (np.arange(SAMPLED) + 0.5) / SAMPLED)
            sampled.append(scores[np.minimum(at, len(b) - 1)])
    apart = abs(float(means[0, 0] + means[1, 1] - means[0, 1] - means[1, 0])) / 2.0
    sine = 1.0 - min(float(directions[0] @ directions[1]) ** 2, 1.0)
    return np.concatenate(sampled), float(means.mean()), apart / 2.0 * sine


def largest_eigenvector(b: Array, weights: Array) -> Array:
    """Return the unit vector v that maximises the weighted mean of <b, v>^2 over rows b (draws, p)."""
    return np.linalg.eigh((b.T * weights) @ b)[1][:, -1]


def nearest_direction(b: Array, v: Array, weights: Array) -> Array:
    """Return the unit vector near v with the least weighted mean distance to rows b (draws, p), by Weiszfeld."""
    for _ in range(FIXED_POINT):
        towards = (weights * np.sign(b @ v) / np.maximum(distances(b, v), SMALLEST)) @ b
        v = towards / np.linalg.norm(towards)
    return v


def distances(b: Array, v: Array) -> Array:
    """Return the sign-free distances (draws,) of unit vectors b (draws, p) from the unit vector v."""
    cosines = b @ v
    rest = 1.0 - np.abs(cosines)
    lengths = np.sqrt(2.0 * np.maximum(rest, 0.0))
    if (near := rest < NEAR).any():
        lengths[near] = np.linalg.norm(b[near] - np.sign(cosines[near])[:, None] * v, axis=1)
    return lengths

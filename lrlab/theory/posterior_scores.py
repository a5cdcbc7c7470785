"""Scores of the directions that are best for a posterior of unit vectors, from draws of it."""

from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.theory.posterior_draws import Draws

FIXED_POINT, SMALLEST = 20, 1e-9


class Scores(NamedTuple):
    """What the best estimates of one problem, of overlap and of error, score.

    means, gaps (2,): posterior expectations of overlap and error, and how far two estimates of each are apart;
    overlaps, errors (draws,): the scores on draws of the posterior. short: the share by which 1 - overlap is too small
    where chains from the truth have not parted.
    """

    means: Array
    gaps: Array
    overlaps: Array
    errors: Array
    short: float


def scored(draws: Draws) -> Scores:
    """Return the scores of the best estimates on draws of one posterior.

    If the squared distance D of chains tends to its limit as 1 - exp(-t / tau), and has grown by the factor 1 + x since
    half the steps, then D is short of the limit by its part x^2.
    """
    b, part = draws.b, min(max(draws.growth - 1.0, 0.0), 0.9) ** 2
    scores: list[list[Array]] = [[], []]
    for own, other in ((b[::2], b[1::2]), (b[1::2], b[::2])):
        top = largest_eigenvector(own)
        near = nearest_direction(own, top)
        scores[0] += [np.square(half @ top) for half in (own, other)]
        scores[1] += [distances(half, near) for half in (own, other)]
    means = np.array([[np.mean(half) for half in each] for each in scores])
    gaps = np.abs(means[:, ::2] - means[:, 1::2]).mean(axis=1)
    return Scores(means.mean(axis=1), gaps, np.concatenate(scores[0]), np.concatenate(scores[1]), part / (1.0 - part))


def largest_eigenvector(b: Array) -> Array:
    """Return the unit vector v that maximises the mean of <b, v>^2 over rows b (draws, p)."""
    return np.linalg.svd(b, full_matrices=False)[2][0]


def nearest_direction(b: Array, v: Array) -> Array:
    """Return the unit vector near v with the least mean distance to rows b (draws, p), by Weiszfeld's iteration."""
    for _ in range(FIXED_POINT):
        towards = (np.sign(b @ v) / np.maximum(distances(b, v), SMALLEST)) @ b
        v = towards / np.linalg.norm(towards)
    return v


def distances(b: Array, v: Array) -> Array:
    """Return the sign-free distances (draws,) of unit vectors b (draws, p) from the unit vector v."""
    return np.minimum(np.linalg.norm(b - v, axis=1), np.linalg.norm(b + v, axis=1))

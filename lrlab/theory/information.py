r"""Information of responses: about an index, for state evolution, and about the signal, which bounds every method.

I(q) = E_w sum_y P g^2, w ~ N(0, q), z ~ N(w, 1 - q): for binary responses sum_y P g^2 = P g^2 / (1 - P) of either
response y, Fisher's information of w. It changes over distances of S, S^2 = 1 - q + noise^2 (`theory.channels`), near
jumps, kinks and steep parts of the base link: these are edges of its cells (`theory.smoothing`). The integral over w is
split there, and pieces are halved until they converge.

For b uniform on the sphere, a response carries at most I(z; y) about b, z ~ N(0, 1): given b the responses are
independent, and an index <x, b> has this law. For a distance d between directions and every s > 0,

    n I(z; y) >= I(b; estimate) >= -s E d - log E_uniform exp(-s d)

(the Shannon lower bound, by the variational formula of Donsker & Varadhan). At the s that makes the right-hand side at
its own mean of d equal n I(z; y), that mean is the smallest possible E d at any n and p: the rate-distortion function.
Reference: Cover & Thomas (2006), "Elements of information theory", sections 2.8 and 10.3.
"""

from functools import lru_cache, singledispatch
from typing import Any

import numpy as np
from scipy.special import expit, logsumexp, xlogy

from lrlab.arrays import Array, Indices
from lrlab.theory import root
from lrlab.theory.channels import TINY, answer
from lrlab.theory.links import Link, normal_density
from lrlab.theory.smoothing import base_cells, index_nodes, inside

LEVELS = np.concatenate([np.arange(-18.0, -4.0), np.arange(-4.0, 12.0, 0.5), np.arange(12.0, 31.0)])
"""log(q / (1 - q)) of overlaps from 1e-8 to within 1e-13 of 1; a cubic spline between them is within 2e-4 of log I."""
SPREAD = np.linspace(-8.5, 8.5, 7)
"""Ends of the first pieces, in standard deviations of w."""
AROUND = np.array([-9.0, -3.0, 3.0, 9.0])
"""Ends of pieces around a jump or a narrow cell, in multiples of S; beyond nine of them a jump is not felt."""
EDGES = np.geomspace(1e-6, np.pi / 2.0, 4001)
ANGLES = (EDGES[1:] + EDGES[:-1]) / 2.0
"""Angles between two directions up to the sign, in the middle of the intervals between EDGES."""


@singledispatch
def log_information(link: Any, levels: Array) -> Array:
    """Return log I(q) at q = expit(levels) (k,); -inf without information."""
    q, S = expit(levels), np.sqrt(expit(-levels) + link.noise**2)
    level, begin, end = _first_pieces(link, np.sqrt(q), S)
    information = np.zeros(len(levels))
    while level.size:
        # The difference of two rules bounds the error.
        coarse, fine = (_integral(link, q, S, level, begin, end, order) for order in (10, 16))
        whole = information + np.bincount(level, fine, len(levels))
        # No n/p below e^20 makes a smaller I / q visible than 1e-9.
        rough = np.abs(fine - coarse) > 1e-8 * np.maximum(whole, 1e-9 * q)[level]
        rough &= end - begin > 0.125 * S[level]
        information += np.bincount(level[~rough], fine[~rough], len(levels))
        level, begin, end = level[rough], begin[rough], end[rough]
        middle = (begin + end) / 2.0
        level, begin, end = np.tile(level, 2), np.concatenate([begin, middle]), np.concatenate([middle, end])
    with np.errstate(divide="ignore"):
        return np.log(information)


def _first_pieces(link: Link, sd: Array, S: Array) -> tuple[Indices, Array, Array]:
    """Return the level, the beginning and the end of the first pieces of w at all levels."""
    cells, pieces = base_cells(link), []
    for k in range(len(S)):
        narrow = cells.edges[cells.width < S[k]] / S[k]
        edges = np.concatenate([cells.edges / S[k], np.add.outer(narrow, AROUND).ravel()])
        # An index of the deviation S does not separate edges closer to each other than that.
        edges = S[k] * np.unique(np.round(edges))
        ends = sd[k] * SPREAD
        ends = np.union1d(ends, edges[np.abs(edges) < ends[-1]])
        pieces.append((np.full(len(ends) - 1, k), ends[:-1], ends[1:]))
    level, begin, end = (np.concatenate(each) for each in zip(*pieces, strict=True))
    return level, begin, end


def _integral(link: Link, q: Array, S: Array, level: Indices, begin: Array, end: Array, order: int) -> Array:
    """Return the integral of the information over each piece of w, with the density of w at its level."""
    w, weights = inside(begin, end, order)
    variance, sd = np.broadcast_arrays((np.square(S) - link.noise**2)[level, None], w)[0], np.sqrt(q)[level, None]
    # The less likely response: 1 - P of the other one cancels.
    at = answer(link, w, variance, np.where(link.base(w) > 0, -1.0, 1.0))
    fisher = np.exp(at.log_chance) * np.square(at.score) / np.maximum(-np.expm1(at.log_chance), TINY)
    integral: Array = (weights * fisher * normal_density(w / sd) / sd).sum(axis=1)
    return integral


@lru_cache(maxsize=1024)
def information(link: Link) -> float:
    """Return I(z; y) in nats for an index z ~ N(0, 1)."""
    z, weights = index_nodes(link)
    f = np.asarray(link(z), dtype=float)
    return max(float(_entropy(weights @ f) - weights @ _entropy(f)), 0.0)


def _entropy(f: Array | float) -> Array:
    """Return the entropy of a response of mean f, in nats."""
    chances = np.clip(np.stack([1.0 + f, 1.0 - f]) / 2.0, 0.0, 1.0)
    entropy: Array = -xlogy(chances, chances).sum(axis=0)
    return entropy


@lru_cache(maxsize=4096)
def information_limits(link: Link, n: int, p: int) -> tuple[float, float]:
    """Return the largest mean squared overlap and the smallest mean error that n responses allow."""
    nats = n * information(link)
    return 1.0 - _least_mean(np.sin(ANGLES) ** 2, p, nats), _least_mean(2.0 * np.sin(ANGLES / 2.0), p, nats)


def _least_mean(d: Array, p: int, nats: float) -> float:
    """Return the smallest mean of a distance d at ANGLES from so many nats about a direction in p dimensions."""
    logs = (p - 2) * np.log(np.sin(ANGLES)) + np.log(np.diff(EDGES))
    logs -= logsumexp(logs)

    def at(log_scale: float) -> tuple[float, float]:
        tilted = logs - np.exp(log_scale) * d
        total = logsumexp(tilted)
        mean = float(np.exp(tilted - total) @ d)
        return -float(np.exp(log_scale)) * mean - float(total), mean

    low, high = -20.0, 25.0
    if at(high)[0] <= nats:
        return 0.0
    return at(root(lambda x: at(x)[0] - nats, low, high))[1] if at(low)[0] < nats else at(low)[1]

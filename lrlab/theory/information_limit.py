r"""The largest overlap and the smallest error that the information in n responses allows any method, at any n and p.

For b uniform on the sphere, a response carries at most I(z; y) about b, z ~ N(0, 1): given b the responses are
independent, and an index <x, b> has this law. For a distance d between directions and every s > 0,

    n I(z; y) >= I(b; estimate) >= -s E d - log E_uniform exp(-s d)

(the Shannon lower bound, by the variational formula of Donsker & Varadhan). At the s that makes the right-hand side at
its own mean of d equal n I(z; y), that mean is the smallest possible E d: the rate-distortion function.
Reference: Cover & Thomas (2006), "Elements of information theory", sections 2.8 and 10.3.
"""

from functools import lru_cache

import numpy as np
from scipy.special import logsumexp, xlogy

from lrlab.arrays import Array
from lrlab.theory.links import Link, normal_density
from lrlab.theory.separability import index_nodes

EDGES = np.geomspace(1e-6, np.pi / 2.0, 4001)
ANGLES = (EDGES[1:] + EDGES[:-1]) / 2.0
"""Angles between two directions up to the sign, in the middle of the intervals between EDGES."""
LOG_SCALES = -20.0, 25.0
"""Range of log s."""


@lru_cache(maxsize=1024)
def information(link: Link) -> float:
    """Return I(z; y) in nats for an index z ~ N(0, 1)."""
    z, weights = index_nodes(link)
    density, f = weights * normal_density(z), np.asarray(link(z), dtype=float)
    return max(float(_entropy(density @ f) - density @ _entropy(f)), 0.0)


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
    # Imported here: it is not needed to start the lab.
    from scipy.optimize import brentq

    logs = (p - 2) * np.log(np.sin(ANGLES)) + np.log(np.diff(EDGES))
    logs -= logsumexp(logs)

    def at(log_scale: float) -> tuple[float, float]:
        tilted = logs - np.exp(log_scale) * d
        total = logsumexp(tilted)
        mean = float(np.exp(tilted - total) @ d)
        return -float(np.exp(log_scale)) * mean - float(total), mean

    low, high = LOG_SCALES
    if at(high)[0] <= nats:
        return 0.0
    return at(brentq(lambda x: at(x)[0] - nats, low, high))[1] if at(low)[0] < nats else at(low)[1]

r"""Draws of the direction of a single-index model before its answers, weighted by the likelihood of the answers.

Where the answers leave the posterior broad this is exact up to what finitely many draws leave out, whatever parts the
posterior has: no path between them is needed. The effective number of draws (sum w)^2 / sum w^2 says whether they are
enough. The truth, an exact draw of the posterior, is counted in it: where the draws miss the part in which it lies, its
weight outdoes theirs.

All problems of one p share the same draws, made of orthonormal frames: before any answer the mean of b b^T is I / p
without error, so that little is left by chance where the answers say little.
"""

from functools import lru_cache

import numpy as np

from lrlab.arrays import Array, Indices
from lrlab.theory.links import Link
from lrlab.theory.posterior_draws import Draws, log_likelihood

SEED = 7_262_025
PILOT, MOST, NUMBERS = 2**12, 2**17, 2**20
"""Draws that say whether more are of use, and the most draws, and entries of draws."""
MOST_WORK = 2**22
"""Answers of all draws up to which they are weighted; where that is too few, chains take less time."""
FEWEST, ENOUGH, ENOUGH_PER_UNKNOWN = 300, 1000, 100
"""Effective draws without which there are none, and with which there are enough."""
ROWS = 8
"""Answers that are taken at a time; draws that they rule out are left out of the next."""
NEGLIGIBLE = 25.0
"""Logarithm of the factor by which a draw may be less likely than the likeliest before it is left out."""


def prior_draws(link: Link, X: Array, y: Array, truth: Array) -> Draws | None:
    """Return weighted draws (draws, p) of the posterior of answers y to X (n, p); None where too few are effective."""
    n, p = X.shape
    # Whole pairs of frames, as in the pool.
    pool = prior_pool(p)[: max(MOST_WORK // n // (2 * p), 1) * 2 * p]
    places: Indices = np.empty(0, dtype=np.intp)
    logs = np.empty(0)
    reference = float(log_likelihood(link, y)((X @ truth)[None]).sum())
    last, size = 0, min(PILOT // (2 * p) * 2 * p, len(pool))
    while True:
        # Half of what is needed may still become enough by chance.
        new = _likely(link, X, y, pool[last:size], FEWEST / 2.0 * (size - last) / len(pool))
        if new is None:
            return None
        places, logs = np.concatenate([places, last + new[0]]), np.concatenate([logs, new[1]])
        effective = effective_draws(np.append(logs, reference))
        if size == len(pool) or effective >= max(ENOUGH, ENOUGH_PER_UNKNOWN * p):
            break
        last, size = size, min(4 * size, len(pool))
    if effective < FEWEST:
        return None
    weights = np.exp(logs - logs.max())
    return Draws(pool[places], 1.0, weights / weights.sum())


def _likely(link: Link, X: Array, y: Array, b: Array, needed: float) -> tuple[Indices, Array] | None:
    """Return the places of the draws b (draws, p) that answers leave, and the logarithms of their likelihoods.

    None where fewer are effective than are needed.
    """
    places: Indices = np.arange(len(b))
    logs = np.zeros(len(b))
    for first in range(0, len(y), ROWS):
        rows = slice(first, first + ROWS)
        logs = logs + log_likelihood(link, y[rows])(b[places] @ X[rows].T).sum(axis=1)
        stay = logs > logs.max(initial=-np.inf) - NEGLIGIBLE
        places, logs = places[stay], logs[stay]
        if effective_draws(logs) < needed:
            return None
    return places, logs


def effective_draws(logs: Array) -> float:
    """Return the effective number of draws whose weights have these logarithms."""
    if not len(logs) or logs.max() == -np.inf:
        return 0.0
    weights = np.exp(logs - logs.max())
    return float(weights.sum() ** 2 / np.square(weights).sum())


@lru_cache(maxsize=8)
def prior_pool(p: int) -> Array:
    """Return unit vectors (draws, p), uniform on the sphere: two orthonormal frames in turn, then the next two.

    In turn, so that each half, of every second draw, has whole frames.
    """
    frames = 2 * -(-min(MOST, NUMBERS // p) // (2 * p))
    normal = np.random.default_rng([SEED, p]).standard_normal((frames, p, p))
    # The Q of a normal matrix is uniform up to signs of its columns, of which b b^T knows nothing.
    q, r = np.linalg.qr(normal)
    vectors = (q * np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None, :]).transpose(0, 2, 1)
    pool: Array = vectors.reshape(-1, 2, p, p).transpose(0, 2, 1, 3).reshape(-1, p)
    pool.flags.writeable = False
    return pool

r"""Samples from the posterior of the direction of a single-index model, uniform on the sphere before the responses.

The true direction of a simulated problem is itself a sample of its posterior, so chains that start there are stationary
from their first step; they only have to decorrelate. A step draws a great circle through b and slices the likelihood
along it (Habeck, Hasenpflug, Kodgirwar & Rudolf 2023, "Geodesic slice sampling on the sphere"). Responses without noise
and flips allow one side of known walls: between the nearest two on the circle the posterior is uniform.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from lrlab.arrays import Array
from lrlab.theory.links import Link, SignLink, ThresholdLink

REACH, STEP = 12.0, 0.005
"""Largest index of the tables of log-likelihoods, and the largest distance between their nodes."""
ACROSS = 25
"""Every ACROSS-th step slices the whole circle, so that chains cross walls and leave narrow brackets."""

LogLikelihood = Callable[[Array, Array], Array]


def posterior_samples(
    link: Link, X: Array, y: Array, truth: Array, steps: range, width: float, rng: np.random.Generator
) -> Array:
    """Return samples (problems, 2, len(steps), p) of two chains from each truth (problems, p).

    X (problems, n, p), y (problems, n): the data. steps: numbers of the steps whose states are kept. width: the
    expected posterior standard deviation of b in one direction; a wrong one only costs steps.
    """
    terms, index = log_likelihood(link), np.einsum("kij,kj->ki", X, truth)
    reach = 8.0 * width * np.linalg.norm(X, axis=2)
    with np.errstate(invalid="ignore"):
        changes = np.ptp([terms(index + side * reach, y) for side in np.linspace(-1.0, 1.0, 9)], axis=0)
    # Responses that say nothing near the truth come last, and are omitted.
    silent = changes <= 1e-7
    order, count = np.argsort(silent, axis=1, kind="stable"), int((~silent).sum(axis=1).max())
    X, y = np.take_along_axis(X, order[:, :, None], axis=1), np.take_along_axis(y, order, axis=1)
    samples = _chains(link, X[:, :count], y[:, :count], truth, steps, width, rng)
    states = np.concatenate([truth[:, None], samples[:, :, ::ACROSS].reshape(len(X), -1, X.shape[2])], axis=1)
    omitted = terms(states @ X[:, count:].mT, y[:, None, count:]).sum(axis=2)
    if np.abs(omitted - omitted[:, :1]).max() < 1e-3:
        return samples
    return _chains(link, X, y, truth, steps, width, rng)


def _chains(
    link: Link, X: Array, y: Array, truth: Array, steps: range, width: float, rng: np.random.Generator
) -> Array:
    (problems, n, p), terms = X.shape, log_likelihood(link)
    y = np.repeat(y, 2, axis=0)
    b = np.repeat(truth, 2, axis=0)
    samples = np.empty((2 * problems, len(steps), p))

    def product(v: Array) -> Array:
        return (v.reshape(problems, 2, p) @ X.mT).reshape(2 * problems, n)

    index = product(b)
    for step in range(steps.stop):
        tangent = rng.standard_normal(b.shape)
        tangent -= (tangent * b).sum(axis=1, keepdims=True) * b
        tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
        across, whole = product(tangent), step % ACROSS == 0
        if _has_walls(link) and n and not whole:
            angle: Array = rng.uniform(*_walls(link, index, across))
        else:
            bracket = 2.0 * math.pi if whole else min(10.0 * width, 2.0 * math.pi)
            angle = _slice(terms, y, index, across, bracket, rng)
        c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
        b, index = c * b + s * tangent, c * index + s * across
        if step in steps:
            samples[:, steps.index(step)] = b
    return samples.reshape(problems, 2, len(steps), p)


def _slice(
    terms: LogLikelihood, y: Array, index: Array, across: Array, bracket: float, rng: np.random.Generator
) -> Array:
    """Return an angle per chain, by slice sampling with shrinkage (Neal 2003) from a bracket that holds the angle 0."""
    chains = len(index)
    level = terms(index, y).sum(axis=1) + np.log(rng.random(chains))
    low = -bracket * rng.random(chains)
    high = low + bracket
    angle, moving = rng.uniform(low, high), np.arange(chains)
    while True:
        at = np.cos(angle[moving])[:, None] * index[moving] + np.sin(angle[moving])[:, None] * across[moving]
        # A bracket that rounding has closed holds nothing but the present place.
        out = (terms(at, y[moving]).sum(axis=1) < level[moving]) & (high[moving] - low[moving] > 1e-12)
        moving = moving[out]
        if not moving.size:
            return angle
        back = angle[moving] < 0.0
        low[moving[back]], high[moving[~back]] = angle[moving[back]], angle[moving[~back]]
        angle[moving] = rng.uniform(low[moving], high[moving])


def _has_walls(link: Link) -> bool:
    sure = link.noise == 0.0 and link.flip == 0.0
    return sure and (isinstance(link, SignLink) or (isinstance(link, ThresholdLink) and link.threshold > 0.0))


def _walls(link: Link, index: Array, across: Array) -> tuple[Array, Array]:
    """Return the nearest angles (chains,) below and above 0 that change a response: index cos + across sin = +-t.

    For a sign, t = 0, those are the angles whose cotangent is -across / index.
    """
    if isinstance(link, ThresholdLink):
        size, phase = np.hypot(index, across), np.arctan2(across, index)
        turn = np.arccos(np.minimum(link.threshold / size, 1.0))
        angles = np.stack([phase + turn, phase - turn]) % math.pi
        meets = size > link.threshold
        return np.where(meets, angles, 0.0).max(axis=(0, 2)) - math.pi, np.where(meets, angles, math.pi).min(
            axis=(0, 2)
        )
    cotangent = -across / index
    return -np.arctan2(1.0, -cotangent.min(axis=1)), np.arctan2(1.0, cotangent.max(axis=1))


def log_likelihood(link: Link) -> LogLikelihood:
    """Return the function that gives log P(y | index) for arrays of indices and responses.

    By a table if the link is smooth: many links integrate over their noise at each index.
    """
    if link.noise < STEP / 4.0:

        def exact(index: Array, y: Array) -> Array:
            with np.errstate(divide="ignore"):
                return np.log((1.0 + y * link(index)) / 2.0)

        return exact
    table, per_unit = _table(link)
    rows, last = len(table) // 2, len(table) // 2 - 1.001

    def tabled(index: Array, y: Array) -> Array:
        place = np.clip((index + REACH) * per_unit, 0.0, last)
        left = place.astype(np.intp)
        place -= left
        left += rows * (y < 0)
        start = table.take(left)
        return start + place * (table.take(left + 1) - start)

    return tabled


@lru_cache(maxsize=64)
def _table(link: Link) -> tuple[Array, float]:
    """Return log P(1 | z), then log P(-1 | z), at nodes on -REACH..REACH, and the nodes per unit."""
    count = 2 * math.ceil(REACH / min(link.noise / 16.0, STEP)) + 1
    f = np.asarray(link(np.linspace(-REACH, REACH, count)), dtype=float)
    return np.log(np.maximum(np.concatenate([1.0 + f, 1.0 - f]) / 2.0, 1e-16)), (count - 1) / (2.0 * REACH)

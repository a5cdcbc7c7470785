r"""Draws of the posterior of a single-index model by a population that takes in the answers one after another.

It begins with draws of the prior, in which all parts of the posterior have their share, and ends with draws of the
posterior: each answer gives weights, and where too few draws are effective they are drawn anew by their weights and
moved by steps of elliptical slice sampling that leave the posterior of the answers so far as it is (Chopin 2002, "A
sequential particle filter method for static models"). Unlike chains from the truth it finds parts that no chain gets
to.
"""

import numpy as np

from lrlab.arrays import Array
from lrlab.theory.links import Link
from lrlab.theory.posterior_draws import Draws, log_likelihood, slice_step
from lrlab.theory.prior_draws import effective_draws, prior_pool

FIRST_SIZE, SIZE, MOVES = 2**14, 1000, 4
"""Draws of the prior, later draws, and the steps by which each is moved after they were drawn anew."""


def population_draws(link: Link, X: Array, y: Array, rng: np.random.Generator) -> Draws:
    """Return weighted draws of the posterior of answers y to X (n, p)."""
    Z = prior_pool(X.shape[1])[:FIRST_SIZE]
    logs = np.zeros(len(Z))
    for known in range(1, len(y) + 1):
        index = (Z @ X[known - 1]) / np.linalg.norm(Z, axis=1)
        logs = logs + log_likelihood(link, y[known - 1 : known])(index[:, None]).sum(axis=1)
        if effective_draws(logs) < SIZE / 2.0:
            Z, logs = _drawn_anew(Z, logs, rng), np.zeros(SIZE)
            _move(link, X[:known], y[:known], Z, rng)
    weights = np.exp(logs - logs.max())
    return Draws(Z / np.linalg.norm(Z, axis=1)[:, None], 1.0, weights / weights.sum())


def _drawn_anew(Z: Array, logs: Array, rng: np.random.Generator) -> Array:
    """Return SIZE of the draws Z (draws, p) by their weights, of lengths that normal vectors have."""
    sums = np.cumsum(np.exp(logs - logs.max()))
    at = np.searchsorted(sums, (np.arange(SIZE) + rng.random()) / SIZE * sums[-1])
    b = Z[np.minimum(at, len(Z) - 1)]
    return b / np.linalg.norm(b, axis=1)[:, None] * np.sqrt(rng.chisquare(Z.shape[1], SIZE))[:, None]


def _move(link: Link, X: Array, y: Array, Z: Array, rng: np.random.Generator) -> None:
    terms, A = log_likelihood(link, y), X.T.copy()
    index = Z @ A

    def log_target(Z: Array, index: Array) -> Array:
        return terms(index / np.linalg.norm(Z, axis=1)[:, None]).sum(axis=1)

    for _ in range(MOVES):
        slice_step(Z, index, A, log_target, rng)

r"""Scores of the best estimates of one problem with a dense truth, by the kind of draws that its posterior allows.

Where the answers leave the posterior broad, weighted draws of the prior serve. Where they do not, chains from the
truth do, if the chances of answers are log-concave. Otherwise the posterior may have parts that no chain gets to:
small problems have a population that begins with the prior, and larger ones a bracket. Whatever chains miss, each of
their draws is by itself one of the posterior, so that on average over problems they score a direction v that was
found without the truth at what it attains, which is no more than the best; and what they say of their own part is no
less.
"""

from functools import lru_cache

import numpy as np

from lrlab.arrays import Array
from lrlab.theory.finite_fixed_points import uninformed_direction
from lrlab.theory.links import Link
from lrlab.theory.population_draws import population_draws
from lrlab.theory.posterior_draws import REACH, Draws, posterior_draws
from lrlab.theory.posterior_scores import Scores, distances, largest_eigenvector, scored
from lrlab.theory.prior_draws import prior_draws

CHAINS, STEPS = 20, 1500
MORE_CHAINS, DOUBT = (80, 320), 0.002
"""Numbers of chains tried next where the overlap may be off by more than this, as a direction fits its own draws."""
POPULATION_P, POPULATION_ROWS = 8, 60
"""Largest p and n at which a population is taken: it agrees there with exact posteriors, and takes long beyond."""
POPULATION_SHORT = 0.1
"""Share of 1 - overlap by which a population may be off: up to .01 was seen where the overlap is .7 to .96."""
WITHIN = 9.0
"""Directions are of one part where 1 - <v, u>^2 is less than so many times 1 - overlap, three standard deviations."""
NODES, LEAST_CHANCE, ROUNDING = 2001, 1e-6, 1e-8
"""Nodes at which chances are tried, the least that counts as possible, and what differences of logarithms are off."""


def dense_scores(link: Link, X: Array, y: Array, truth: Array, rng: np.random.Generator) -> Scores:
    """Return the scores of the best estimates from answers y to X (n, p) for one truth (p,)."""
    n, p = X.shape
    if (broad := prior_draws(link, X, y, truth)) is not None:
        return scored(broad)
    one_part = is_log_concave(link)
    if not one_part and p <= POPULATION_P and n <= POPULATION_ROWS:
        return scored(population_draws(link, X, y, rng))._replace(short=POPULATION_SHORT)
    draws = posterior_draws(link, X, y, truth, CHAINS, STEPS, rng)
    scores = scored(draws)
    for more in MORE_CHAINS:
        if scores.doubts[0] <= DOUBT:
            break
        draws = posterior_draws(link, X, y, truth, more, STEPS, rng)
        scores = scored(draws)
    return scores if one_part else _bracketed(scores, draws, uninformed_direction(link, X, y))


def _bracketed(scores: Scores, draws: Draws, v: Array) -> Scores:
    """Return the middle of the scores that chains state and of those of a direction v found without the truth.

    Where v is in the part of the chains, what they state is attained by chains that start at v.
    """
    top = largest_eigenvector(draws.b, draws.weights)
    if 1.0 - float(v @ top) ** 2 <= WITHIN * (1.0 - scores.means[0]):
        return scores
    overlaps, errors = np.square(draws.b @ v), distances(draws.b, v)
    half = (np.array([overlaps.mean(), errors.mean()]) - scores.means) / 2.0
    same = len(scores.overlaps)
    return scores._replace(
        means=scores.means + half,
        doubts=scores.doubts + np.abs(half),
        overlaps=np.concatenate([scores.overlaps[::2], np.resize(overlaps, same // 2)]),
        errors=np.concatenate([scores.errors[::2], np.resize(errors, same // 2)]),
    )


@lru_cache(maxsize=256)
def is_log_concave(link: Link) -> bool:
    """Return whether the chance of each answer is log-concave in the index, so that a posterior has one part only.

    Flips end that: an answer far on the wrong side is one that was flipped, wherever it is.
    """
    f = np.asarray(link(np.linspace(-REACH, REACH, NODES)), dtype=float)
    for chances in ((1.0 + f) / 2.0, (1.0 - f) / 2.0):
        possible = np.flatnonzero(chances > LEAST_CHANCE)
        if len(possible) and len(possible) <= possible[-1] - possible[0]:
            return False
        if np.any(np.diff(np.log(chances[possible]), 2) > ROUNDING):
            return False
    return True

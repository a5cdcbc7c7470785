r"""Scores of the best estimates of one problem with a dense truth, by the kind of draws that its posterior allows.

If the responses leave the posterior broad, weighted draws of the prior serve, whatever parts it has. Otherwise chains
from the truth do. They never leave their part of the posterior, so `finite_best` refuses links that may have several.
"""

import numpy as np

from lrlab.arrays import Array
from lrlab.theory.links import Link
from lrlab.theory.posterior_draws import posterior_draws
from lrlab.theory.posterior_scores import Scores, scored
from lrlab.theory.prior_draws import prior_draws

CHAINS, STEPS = 20, 1500
MORE_CHAINS, DOUBT = (80, 320), 0.002
"""Numbers of chains tried next where the overlap may be off by more than this, as a direction fits its own draws."""


def dense_scores(link: Link, X: Array, y: Array, truth: Array, rng: np.random.Generator) -> Scores:
    """Return the scores of the best estimates from answers y to X (n, p) for one truth (p,)."""
    if (broad := prior_draws(link, X, y, truth)) is not None:
        return scored(broad)
    scores = scored(posterior_draws(link, X, y, truth, CHAINS, STEPS, rng))
    for more in MORE_CHAINS:
        if scores.doubts[0] <= DOUBT:
            break
        scores = scored(posterior_draws(link, X, y, truth, more, STEPS, rng))
    return scores

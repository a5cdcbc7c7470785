r"""Hermite coefficients of a link, and the n that polynomial-time methods need if the first of them vanish.

c_k = E[f(Z) He_k(Z)], Z ~ N(0, 1), with He_k of leading coefficient 1. The information exponent is the first k >= 1
with c_k other than 0. For binary responses all E[He_k(Z) | y] are multiples of c_k: it is the generative exponent,
too, and polynomial-time methods (statistical queries, polynomials of low degree) need n of order p^max(1, k/2) (Damian,
Pillaud-Vivien, Lee & Bruna 2024, "Computational-statistical gaps in Gaussian single-index models", Theorems 1.3-1.6).
"""

import math
from functools import lru_cache, partial

import numpy as np
from scipy.special import eval_hermitenorm

from lrlab.arrays import Array
from lrlab.theory.links import Link
from lrlab.theory.smoothing import base_moments

HIGHEST = 12
"""Largest k to try: 10 million responses to 20 unknowns are p^5.4."""
VANISHING = 1e-9
"""Size of c_k / sqrt(k!), a correlation, that no feasible number of responses can tell from 0."""


@lru_cache(maxsize=1024)
def hermite_coefficients(link: Link) -> Array:
    """Return c_k / sqrt(k!) for k = 0..HIGHEST; with all k, the sum of their squares is E f^2."""
    # E[Z | V] = V / tau^2 for the noisy index V, and He_k(Z) has the mean He_k(V / tau) / tau^k.
    base = base_moments(link, [partial(_normalised, k) for k in range(HIGHEST + 1)])
    return (1.0 - 2.0 * link.flip) * np.array(base) / link.tau ** np.arange(HIGHEST + 1)


def _normalised(k: int, z: Array) -> Array:
    """Return He_k(z) / sqrt(k!)."""
    return np.asarray(eval_hermitenorm(k, z)) / math.sqrt(math.factorial(k))


@lru_cache(maxsize=1024)
def is_constant(link: Link) -> bool:
    """Return whether responses do not depend on the index at all."""
    mean, square = base_moments(link, (np.ones_like, lambda z: link.sharp(link.tau * z)))
    return (1.0 - 2.0 * link.flip) ** 2 * (square - mean**2) < VANISHING**2


@lru_cache(maxsize=1024)
def information_exponent(link: Link) -> int | None:
    """Return the first k >= 1 with c_k other than 0; None if there is none up to HIGHEST."""
    other = np.flatnonzero(np.abs(hermite_coefficients(link)[1:]) > VANISHING)
    return int(other[0]) + 1 if other.size else None


def answers_needed(link: Link, p: int) -> float | None:
    """Return n = C p^(k/2), the order that polynomial-time methods need at k >= 3; None for other links.

    C = 2^j j! (1 - mu_0^2) / c_k^2, j = (k - 1) // 2: above it, the Hermite tensor, traced over j pairs of indices
    (Algorithms 1 and 2 there), has an eigenvalue outside its bulk for even k, and for odd k an overlap of 1 / sqrt(p),
    whose root is far above a guess.
    """
    k = information_exponent(link)
    if k is None or k < 3:
        return None
    j, coefficient = (k - 1) // 2, float(hermite_coefficients(link)[k]) * math.sqrt(math.factorial(k))
    noise = 2.0**j * math.factorial(j) * (1.0 - link.moments.mu0**2)
    return noise * p ** (k / 2.0) / coefficient**2

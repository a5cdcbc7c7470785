r"""What the pairwise moment does at finite n and p: draws of its two largest eigenvalues and of the overlap.

With g_i = dx_i / sqrt 2 ~ N(0, I_p) and w_i in {0, 1} over the N = n/2 pairs (see `spiked`), M/4 is (2/N) G^T G, where
G (K, p) has the rows with w_i = 1. Only the column G b depends on the link: given K ~ Bin(N, pi) its squared length S
is a sum of K independent terms, taken as Gaussian; all else in G is standard normal. Householder reflections from the
left, and from the right on the complement of b, make G bidiagonal without moving b = e_1, with independent entries

    diagonal sqrt S, chi_{K-1}, chi_{K-2}, ...;  above it chi_{p-1}, chi_{p-2}, ..., chi_1

(the reduction of Dumitriu & Edelman 2002, "Matrix models for beta ensembles", section III, with one column that is not
normal). So 2 p random numbers and a tridiagonal matrix stand for a sample of n vectors, whatever n.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.theory.links import Link, normal_density

DRAWS = 200
REACH, NODES = 9.0, 4001


class FiniteMoment(NamedTuple):
    """Draws, each of shape (draws,): the two largest eigenvalues of M/4 or M'/4, and the squared overlap with b."""

    top: Array
    second: Array
    overlap: Array


@lru_cache(maxsize=4096)
def finite_moment(link: Link, n: int, p: int, moment: str, draws: int = DRAWS) -> FiniteMoment:
    """Return draws for n measurements of p unknowns; moment: "M" or "M'". The same arguments give the same draws."""
    rng = np.random.default_rng([n, p, draws])
    pairs, share, (mean, variance) = n // 2, _share(link, moment), _surviving_squares(link, moment)
    survivors = rng.binomial(pairs, share, size=draws)
    lengths = rng.normal(survivors * mean, np.sqrt(survivors * variance))
    leading = [_leading(int(K), max(float(S), 0.0), p, rng) for K, S in zip(survivors, lengths, strict=True)]
    top, second, overlap = np.array(leading).T
    return FiniteMoment(2.0 / pairs * top, 2.0 / pairs * second, overlap)


def _leading(K: int, S: float, p: int, rng: Generator) -> tuple[float, float, float]:
    """Return the two largest eigenvalues of G^T G, and the squared first entry of the leading eigenvector."""
    # Imported here: scipy.linalg would slow down the start of the shell.
    from scipy.linalg import eigh_tridiagonal

    rows = np.arange(p)
    freedom = np.maximum(np.r_[K - rows[1:], p - rows[1:]], 0)
    chi = np.sqrt(2.0 * rng.standard_gamma(freedom / 2.0))
    diagonal, above = np.r_[np.sqrt(S) if K else 0.0, chi[: p - 1]], np.where(rows[:-1] < K, chi[p - 1 :], 0.0)
    square = diagonal**2 + np.r_[0.0, above**2]
    values, vectors = eigh_tridiagonal(square, diagonal[:-1] * above, select="i", select_range=(p - 2, p - 1))
    return float(values[1]), float(values[0]), float(vectors[0, 1] ** 2)


def _share(link: Link, moment: str) -> float:
    return (1.0 - (1.0 if moment == "M" else -1.0) * link.moments.mu0**2) / 2.0


def _surviving_squares(link: Link, moment: str) -> tuple[float, float]:
    """Return mean and variance of (g^T b)^2 over the pairs with w = 1."""
    z = np.linspace(-REACH, REACH, NODES)
    weighted = link(z) * normal_density(z) * (z[1] - z[0])
    mu = [float(weighted @ z**k) for k in range(5)]
    sign = 1.0 if moment == "M" else -1.0
    share = max((1.0 - sign * mu[0] ** 2) / 2.0, np.finfo(float).tiny)
    # E[w u^2] and E[w u^4] with w = (1 -+ f(z) f(z')) / 2 and u = (z - z') / sqrt 2.
    second = (1.0 - sign * (mu[0] * mu[2] - mu[1] ** 2)) / 2.0
    fourth = (3.0 - sign * (2.0 * mu[4] * mu[0] - 8.0 * mu[3] * mu[1] + 6.0 * mu[2] ** 2) / 4.0) / 2.0
    mean = second / share
    return mean, max(fourth / share - mean**2, 0.0)

r"""Spiked random matrices: the pairwise moment at finite n/p and at finite n, and low-rank matrices in noise.

M / 8 = (1/N) sum_i w_i g_i g_i^T over N = n/2 pairs, with g_i = dx_i / sqrt 2 ~ N(0, I_p) and w_i in {0, 1} telling
whether the two answers differ (for M' whether they agree): a spiked weighted covariance, whose limits at
alpha = N/p follow from Lu & Li (2017), "Phase transitions of spectral initialization for high-dimensional nonconvex
estimation", Theorem 1 with 0/1 weights. With pi = E w, kappa = E[w (g^T b)^2] = pi +- phi/2 and
x = alpha (kappa - pi): above alpha (kappa - pi)^2 > pi the top eigenvalue leaves the bulk.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.linalg import eigh_tridiagonal

from lrlab.arrays import Array
from lrlab.theory import root
from lrlab.theory.links import Link, Moments, normal_density

DRAWS = 200
ROUNDING = 1e-9


class Prediction(NamedTuple):
    """Limits for M/4 (or M'/4) of consecutive pairs at one ratio n/p.

    moment: "M" or "M'". top, second: the two largest eigenvalues of M/4 (the second is the bulk edge).
    overlap: <b, b-hat>^2. threshold: the n/p above which the overlap is positive (inf when phi = 0).
    population_top, population_rest: the eigenvalues of E[M]/4 (Lemma 3.2, Corollary 3.3).
    """

    moment: str
    top: float
    second: float
    overlap: float
    threshold: float
    population_top: float
    population_rest: float


def predict(moments: Moments, ratio: float, moment: str = "auto") -> Prediction:
    """Return the limits at n/p = `ratio` for the moment "M", "M'", or the one whose gap is positive ("auto")."""
    if moment == "auto":
        moment = "M" if moments.phi >= 0 else "M'"
    sign = 1.0 if moment == "M" else -1.0
    gap = sign * moments.phi
    rest = 1.0 - sign * moments.mu0**2
    pi, alpha, x = rest / 2.0, ratio / 2.0, ratio * gap / 4.0
    edge = bulk_edge(pi, alpha)
    separated = x > 0 and x * x > alpha * pi
    return Prediction(
        moment=moment,
        top=2.0 * (1.0 + x) * (pi + gap / 2.0) / x if separated else 2.0 * edge,
        second=2.0 * edge,
        overlap=(x * x - alpha * pi) / (x * x + x) if separated else 0.0,
        threshold=2.0 * pi / (gap / 2.0) ** 2 if gap > 0 else math.inf,
        population_top=gap + rest,
        population_rest=rest,
    )


def bulk_edge(pi: float, alpha: float) -> float:
    """Return the right edge of the bulk of (1/N) sum w g g^T: (1 + q)(1/alpha + pi/q), q = sqrt(alpha pi)."""
    q = math.sqrt(alpha * pi)
    return (1.0 + q) * (1.0 / alpha + pi / q) if q > 0 else 0.0


class FiniteMoment(NamedTuple):
    """Draws, each of shape (draws,): the two largest eigenvalues of M/4 or M'/4, and the squared overlap with b."""

    top: Array
    second: Array
    overlap: Array


@lru_cache(maxsize=4096)
def finite_moment(link: Link, n: int, p: int, moment: str, draws: int = DRAWS) -> FiniteMoment:
    """Return draws for n measurements of p unknowns; moment: "M" or "M'". The same arguments give the same draws.

    With g_i = dx_i / sqrt 2 ~ N(0, I_p) and w_i in {0, 1} over the N = n/2 pairs, M/4 is (2/N) G^T G; the rows of G (K,
    p) are the g_i with w_i = 1. Only the column G b depends on the link: given K ~ Bin(N, pi) its squared length S is a
    sum of K independent terms, approximated as Gaussian; all else in G is standard normal. Householder reflections from
    the left, and from the right on the complement of b, make G bidiagonal without moving b = e_1, with independent
    entries

        diagonal sqrt S, chi_{K-1}, chi_{K-2}, ...;  above it chi_{p-1}, chi_{p-2}, ..., chi_1

    (the reduction of Dumitriu & Edelman 2002, "Matrix models for beta ensembles", section III, with one column that is
    not normal). So 2 p random numbers and a tridiagonal matrix replace a sample of n vectors, whatever n.
    """
    rng = np.random.default_rng([n, p, draws])
    pairs, sign = n // 2, 1.0 if moment == "M" else -1.0
    mean, variance = surviving_squares(link, sign)
    survivors = rng.binomial(pairs, (1.0 - sign * link.moments.mu0**2) / 2.0, size=draws)
    lengths = rng.normal(survivors * mean, np.sqrt(survivors * variance))
    leading = [_leading(int(K), max(float(S), 0.0), p, rng) for K, S in zip(survivors, lengths, strict=True)]
    top, second, overlap = np.array(leading).T
    return FiniteMoment(2.0 / pairs * top, 2.0 / pairs * second, overlap)


def _leading(K: int, S: float, p: int, rng: Generator) -> tuple[float, float, float]:
    """Return the two largest eigenvalues of G^T G, and the squared first entry of the leading eigenvector."""
    values, vectors = eigh_tridiagonal(*tridiagonal(K, S, p, rng), select="i", select_range=(p - 2, p - 1))
    return float(values[1]), float(values[0]), float(vectors[0, 1] ** 2)


def tridiagonal(K: int, S: float, p: int, rng: Generator) -> tuple[Array, Array]:
    """Return the diagonal (p,) and the next one (p - 1,) of a draw of G^T G, G (K, p) as in `finite_moment`."""
    rows = np.arange(p)
    freedom = np.maximum(np.concatenate([K - rows[1:], p - rows[1:]]), 0)
    chi = np.sqrt(2.0 * rng.standard_gamma(freedom / 2.0))
    diagonal, above = np.empty(p), np.where(rows[:-1] < K, chi[p - 1 :], 0.0)
    diagonal[0], diagonal[1:] = np.sqrt(S) if K else 0.0, chi[: p - 1]
    square = diagonal**2
    square[1:] += above**2
    return square, diagonal[:-1] * above


def surviving_squares(link: Link, sign: float) -> tuple[float, float]:
    """Return mean and variance of (g^T b)^2 over the pairs with w = 1."""
    z = np.linspace(-9.0, 9.0, 4001)
    weighted = link(z) * normal_density(z) * (z[1] - z[0])
    mu = [float(weighted @ z**k) for k in range(5)]
    share = max((1.0 - sign * mu[0] ** 2) / 2.0, np.finfo(float).tiny)
    # E[w u^2] and E[w u^4] with w = (1 -+ f(z) f(z')) / 2 and u = (z - z') / sqrt 2.
    second = (1.0 - sign * (mu[0] * mu[2] - mu[1] ** 2)) / 2.0
    fourth = (3.0 - sign * (2.0 * mu[4] * mu[0] - 8.0 * mu[3] * mu[1] + 6.0 * mu[2] ** 2) / 4.0) / 2.0
    mean = second / share
    with np.errstate(over="ignore"):
        return mean, max(fourth / share - mean**2, 0.0)


class SpikeLimits(NamedTuple):
    """Limits for one singular value: its location, and the squared cosines of its two vectors with the truth."""

    value: float
    left: float
    right: float


class BlockNoise(NamedTuple):
    """Variances of the entries of a noisy matrix in the bases of its singular vectors u_j and v_j.

    rest: of entries orthogonal to all u and all v. left (k,): of entries orthogonal to all u, along v_j, which perturb
    u_j.
    right (k,): of entries along u_j, orthogonal to all v.
    """

    rest: float
    left: Array
    right: Array


def edge(variance: float, d1: int, d2: int) -> float:
    """Return the largest singular value of a d1 x d2 matrix of N(0, variance) entries, independent or symmetric."""
    return math.sqrt(variance) * (math.sqrt(d1) + math.sqrt(d2))


def spike(size: float, noise: BlockNoise, j: int, d1: int, d2: int) -> SpikeLimits:
    """Return the limits of the j-th singular value, `size`, in independent normal noise, for large d1 and d2.

    With a = d1 v, b = d2 v of the rest, a_j = d1 left_j and b_j = d2 right_j, and traces g1 = (1 + b q) / z and g2 = (1
    + a q) / z for a b q^2 + (a + b - z^2) q + 1 = 0, its limit is the largest z with (z - b_j g2) (z - a_j g1) =
    size^2, if this is above the edge; else it is lost in the bulk. For equal variances the limits are those in
    Benaych-Georges & Nadakuditi (2012), section 3.1; else they follow in the same way from the Schur complement of the
    rest. An eigenvalue of a symmetric matrix, d1 = d2 and left = right, has the same limits (Benaych-Georges &
    Nadakuditi 2011, section 3.1): for equal variances v the value size + d v / size, with overlap 1 - d v / size^2.
    """
    a, b, a_j, b_j = d1 * noise.rest, d2 * noise.rest, d1 * float(noise.left[j]), d2 * float(noise.right[j])
    bulk = edge(noise.rest, d1, d2)

    def traces(z: float) -> tuple[float, float, float]:
        t = z * z - a - b
        gap = math.sqrt(max(t * t - 4.0 * a * b, 0.0))
        q = 2.0 / (t + gap)
        return (1.0 + b * q) / z, (1.0 + a * q) / z, -2.0 * z * q / gap if gap else -math.inf

    def above(z: float) -> float:
        g1, g2, _ = traces(z)
        sides = z - b_j * g2, z - a_j * g1
        return sum(sides) / 2.0 - math.hypot((sides[0] - sides[1]) / 2.0, size)

    if bulk and above(bulk * (1.0 + ROUNDING)) >= 0.0:
        return SpikeLimits(bulk, 0.0, 0.0)
    highest = bulk + size + math.sqrt(a_j) + math.sqrt(b_j)
    z = root(above, max(bulk, ROUNDING * highest) * (1.0 + ROUNDING), highest * (1.0 + ROUNDING))
    g1, g2, slope = traces(z)
    ratio = ((z - b_j * g2) / size) ** 2
    left = 2.0 / (1.0 - b_j * (a * slope - g2) / z + ratio * (1.0 - a_j * (b * slope - g1) / z))
    return SpikeLimits(z, left, ratio * left)

r"""What the pairwise moment does at finite n/p, exactly in the limit of large n and p.

M / 8 = (1/N) sum_i w_i g_i g_i^T over N = n/2 pairs, with g_i = dx_i / sqrt 2 ~ N(0, I_p) and w_i in {0, 1} telling
whether the two answers differ (for M' whether they agree): a spiked weighted covariance, whose limits at
alpha = N/p follow from Lu & Li (2017), "Phase transitions of spectral initialization for high-dimensional nonconvex
estimation", Theorem 1 with 0/1 weights. With pi = E w, kappa = E[w (g^T b)^2] = pi +- phi/2 and
x = alpha (kappa - pi): above alpha (kappa - pi)^2 > pi the top eigenvalue leaves the bulk.
"""

import math
from typing import NamedTuple

from lrlab.theory.links import Moments


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

    @property
    def slope(self) -> float:
        """2 sqrt(1 - mu_0^2 + phi) / phi for M: what (1 - overlap) n/p tends to, as a root."""
        gap = self.population_top - self.population_rest
        return 2.0 * math.sqrt(self.population_top) / gap if gap > 0 else math.inf


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

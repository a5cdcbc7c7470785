r"""The direction given the first and second moments of either answer's rows: its posterior, averaged over links.

Given its answer y an index <x, b> is taken to be normal with mean m_y and variance v_y, of all links with these moments
the least informative one. Then the likelihood of a unit vector b is exp(b^T W b / 2 + <h, b>) up to a constant, with

    W = sum_y (1 - 1 / v_y) S_y,  h = sum_y (m_y / v_y) s_y,    S_y = sum x x^T, s_y = sum x over the answers y

The integral over the sphere is taken at its saddle point s, where sum_j 1 / (s - w_j) + h_j^2 / (s - w_j)^2 = 1 (Kume &
Wood 2005, "Saddlepoint approximations for the Bingham and Fisher-Bingham normalising constants"): there b has the mean
(s - W)^{-1} h and the covariance (s - W)^{-1}. A link has a first or a second moment, of strengths from where noise
hides it to the largest that there is; the mean of b b^T is taken over all of them.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.special import softmax

from lrlab.arrays import Array

STRENGTHS = 5
# Multiples of sqrt(p / n) below which neither moment can be seen.
WEAKEST_FIRST, WEAKEST_SECOND = 0.5, 1.1
# The least variance that an answer leaves an index.
NARROWEST = 0.07
NEWTON_STEPS, SETTLED = 50, 1e-9
# Prior odds: links with a first moment to even ones, and the share of even links whose answers are equally frequent, as
# those of all odd links are.
FIRST, BALANCED = 7.0, 0.08
# A hypothesis with a smaller share of the posterior is not averaged over.
NEGLIGIBLE = 1e-3


class Sums(NamedTuple):
    """Of the answers 0 and 1: their number (2,), the sums of x (2, p), and of x x^T (2, p, p)."""

    number: Array
    x: Array
    xx: Array

    @classmethod
    def of(cls, X: Array, answers: Array) -> "Sums":
        """Sum over the rows of X (n, p), with answers (n,) in {0, 1}."""
        own = [X[answers == answer] for answer in (0.0, 1.0)]
        number = np.array([len(rows) for rows in own], dtype=float)
        return cls(number, np.array([rows.sum(axis=0) for rows in own]), np.array([rows.T @ rows for rows in own]))


class Hypothesis(NamedTuple):
    """Means and variances of the index given either answer (2,); log-evidence, with the prior's, and saddle point."""

    mean: Array
    variance: Array
    evidence: float = 0.0
    saddle: float = 0.0

    def quadratic(self, sums: Sums) -> tuple[Array, Array]:
        """Return W (p, p) and h (p,)."""
        weights = 1.0 - 1.0 / self.variance
        return weights[0] * sums.xx[0] + weights[1] * sums.xx[1], (self.mean / self.variance) @ sums.x

    def judged(self, sums: Sums, prior: float) -> "Hypothesis":
        """Return it with the logarithm of its prior and of its likelihood, averaged over all directions."""
        W, h = self.quadratic(sums)
        p = len(W)
        if h.any():
            w, U = np.linalg.eigh(W)
            pull = np.square(h @ U)
        else:
            w, pull = np.linalg.eigvalsh(W), np.zeros(p)
        s = saddle_point(w, pull)
        r = s - w
        value = s - p - np.log(r / p).sum() + (pull / r).sum() - np.log(p * (r**-2 + 2.0 * pull * r**-3).sum())
        value -= sums.number @ (self.mean**2 / self.variance + np.log(self.variance))
        return self._replace(evidence=prior + float(value) / 2.0, saddle=s)

    def moments(self, sums: Sums) -> tuple[Array, Array]:
        """Return the mean (p,) of b, and its covariance (p, p)."""
        W, h = self.quadratic(sums)
        W *= -1.0
        W[np.diag_indices(len(W))] += self.saddle
        covariance = np.linalg.inv(W)
        return covariance @ h, covariance

    def direction(self, sums: Sums) -> Array:
        """Return the unit vector of the largest expected overlap (p,), if it is true."""
        return leading(*self.moments(sums))


def saddle_point(w: Array, pull: Array) -> float:
    """Return s above all w (p,), ascending, where sum 1 / (s - w) + pull / (s - w)^2 = 1, pull (p,) >= 0."""
    s = float(np.max(w + (1.0 + np.sqrt(1.0 + 4.0 * pull)) / 2.0))
    for _ in range(NEWTON_STEPS):
        r = s - w
        excess = float((1.0 / r + pull / r**2).sum()) - 1.0
        if excess < SETTLED:
            break
        s += excess / float((1.0 / r**2 + 2.0 * pull / r**3).sum())
    return s


def hypotheses(sums: Sums) -> list[Hypothesis]:
    """Return first moments alone, of one variance, as for least squares, and second moments of either sign alone.

    Of each the evidence, with its prior: the answers of an odd link are equally frequent, even links and others may
    have any share.
    """
    n, p = float(sums.number.sum()), sums.x.shape[1]
    size, share = math.sqrt(p / n), sums.number / n
    odd = math.sqrt(2.0 * n / math.pi) * math.exp(-n * float(share[1] - share[0]) ** 2 / 2.0)
    first, second = math.log((odd + FIRST) / STRENGTHS), math.log((BALANCED * odd + 1.0 - BALANCED) / (2 * STRENGTHS))
    unit = np.array([-1.0, 1.0]) * math.sqrt(share[0] * share[1]) / share
    candidates, most = list[Hypothesis](), math.sqrt(1.0 - NARROWEST)
    for strength in np.geomspace(min(WEAKEST_FIRST * size, most), most, STRENGTHS):
        candidates.append(Hypothesis(strength * unit, np.full(2, 1.0 - strength**2)).judged(sums, first))
    for signed in (-unit, unit):
        most = (NARROWEST - 1.0) / float(signed.min())
        for strength in np.geomspace(min(WEAKEST_SECOND * size, most), most, STRENGTHS):
            candidates.append(Hypothesis(np.zeros(2), 1.0 + strength * signed).judged(sums, second))
    return candidates


def leading(mean: Array, covariance: Array) -> Array:
    """Return the unit vector v of the largest E <v, b>^2 (p,): the first eigenvector of covariance + mean mean^T."""
    last = len(mean) - 1
    vectors: Array = eigh(covariance + np.outer(mean, mean), subset_by_index=(last, last))[1]
    return vectors[:, 0]


class Posterior(NamedTuple):
    """The unit vector of the largest expected overlap (p,), the likeliest hypothesis, the share of first moments."""

    b: Array
    likeliest: Hypothesis
    first: float

    @classmethod
    def of(cls, sums: Sums) -> "Posterior":
        """Average over hypotheses by their evidence."""
        candidates = hypotheses(sums)
        weights = softmax([own.evidence for own in candidates])
        total = np.zeros(sums.xx[0].shape)
        for own, weight in zip(candidates, weights, strict=True):
            if weight > NEGLIGIBLE:
                mean, covariance = own.moments(sums)
                total += weight * (covariance + np.outer(mean, mean))
        first = float(weights[:STRENGTHS].sum())
        return cls(leading(np.zeros(len(total)), total), candidates[int(weights.argmax())], first)

r"""Which moment carries the direction: evidence of first and second moments from their sums over either answer.

Given its answer an index <x, b> is taken to be normal with mean m_y and variance v_y, of all links with these moments
the least informative one. Then the likelihood of a unit vector b is exp(b^T W b / 2 + <h, b>) up to a constant, with

    W = sum_y (1 - 1 / v_y) S_y,  h = sum_y (m_y / v_y) s_y,    S_y = sum x x^T, s_y = sum x over the answers y

For m = 0 its maximum is the eigenvector of the optimal weights 1 - 1 / v_y (`theory.spectral`); of a first moment alone
it is a ridge regression, between the mean of y x and least squares. The integral over the sphere is taken at its saddle
point s, where sum_j 1 / (s - w_j) + h_j^2 / (s - w_j)^2 = 1 (Kume & Wood 2005, "Saddlepoint approximations for the
Bingham and Fisher-Bingham normalising constants"): there the mean of b is (s - W)^{-1} h, and its covariance
(s - W)^{-1}. The moments' strength is averaged over, from where noise hides it to the largest that there is.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.special import logsumexp

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
# Of a ridge, relative to the trace: where there are hardly more rows than entries.
SMALLEST_EIGENVALUE = 1e-9
# Logarithms of odds beyond say no more.
LONGEST = 600.0


class Sums(NamedTuple):
    """Of the answers 0 and 1: their number (2,), the sums of x (2, p), and of x x^T (2, p, p)."""

    number: Array
    x: Array
    xx: Array

    @classmethod
    def of(cls, X: Array, answers: Array) -> "Sums":
        """Sum over the rows of X (n, p), with answers (n,) in {0, 1}."""
        own = [X[answers == answer] for answer in (0.0, 1.0)]
        return cls(
            np.array([len(rows) for rows in own], dtype=float),
            np.array([rows.sum(axis=0) for rows in own]),
            np.array([rows.T @ rows for rows in own]),
        )

    def plus(self, rows: "Sums") -> "Sums":
        """Return the sums over both."""
        return Sums(self.number + rows.number, self.x + rows.x, self.xx + rows.xx)

    def without(self, rows: "Sums") -> "Sums":
        """Return the sums over all rows but these."""
        return Sums(self.number - rows.number, self.x - rows.x, self.xx - rows.xx)


class Hypothesis(NamedTuple):
    """Means and variances of the index given either answer (2,)."""

    mean: Array
    variance: Array

    def quadratic(self, sums: Sums) -> tuple[Array, Array]:
        """Return W (p, p) and h (p,)."""
        weights = 1.0 - 1.0 / self.variance
        return weights[0] * sums.xx[0] + weights[1] * sums.xx[1], (self.mean / self.variance) @ sums.x

    def constant(self, sums: Sums) -> float:
        """Return what the log-likelihood has beside b^T W b / 2 + <h, b>."""
        return -float(sums.number @ (self.mean**2 / self.variance + np.log(self.variance))) / 2.0


class Judged(NamedTuple):
    """A hypothesis, its log-evidence over that of answers without an index, its saddle point, its expected overlap."""

    hypothesis: Hypothesis
    evidence: float
    saddle: float
    overlap: float

    def direction(self, sums: Sums) -> Array:
        """Return the unit vector of the largest expected overlap (p,)."""
        W, h = self.hypothesis.quadratic(sums)
        last = len(W) - 1
        if not h.any():
            return eigh(W, subset_by_index=(last, last), overwrite_a=True)[1][:, 0]
        W *= -1.0
        W[np.diag_indices(len(W))] += max(self.saddle, SMALLEST_EIGENVALUE * float(W.trace()))
        b: Array = cho_solve(cho_factor(W, overwrite_a=True), h)
        return b / np.linalg.norm(b)


def first_moments(sums: Sums, size: float) -> Iterator[Hypothesis]:
    """Yield first moments alone, from a multiple of `size` = sqrt(p / n) up: one variance, as for least squares."""
    share = sums.number / sums.number.sum()
    unit = np.array([-1.0, 1.0]) * math.sqrt(share[0] * share[1]) / share
    most = math.sqrt(1.0 - NARROWEST)
    for strength in np.geomspace(min(WEAKEST_FIRST * size, most), most, STRENGTHS):
        yield Hypothesis(strength * unit, np.full(2, 1.0 - strength**2))


def second_moments(sums: Sums, size: float) -> Iterator[Hypothesis]:
    """Yield second moments alone: either answer may narrow the index."""
    share = sums.number / sums.number.sum()
    for sign in (-1.0, 1.0):
        unit = sign * np.array([-1.0, 1.0]) * math.sqrt(share[0] * share[1]) / share
        most = (NARROWEST - 1.0) / unit.min()
        for strength in np.geomspace(min(WEAKEST_SECOND * size, most), most, STRENGTHS):
            yield Hypothesis(np.zeros(2), 1.0 + strength * unit)


def judged(sums: Sums, hypothesis: Hypothesis) -> Judged:
    """Return the evidence of a hypothesis, averaged over all directions."""
    W, h = hypothesis.quadratic(sums)
    p = len(W)
    if h.any():
        w, U = np.linalg.eigh(W)
        pull = np.square(h @ U)
    else:
        w, pull = np.linalg.eigvalsh(W), np.zeros(p)
    s = saddle_point(w, pull)
    r = s - w
    value = (s - p - np.log(r / p).sum() + (pull / r).sum() - np.log(p * (r**-2 + 2.0 * pull * r**-3).sum())) / 2.0
    overlap = float(1.0 / r[-1] + (pull / r**2).sum())
    return Judged(hypothesis, float(value) + hypothesis.constant(sums), s, min(overlap, 1.0))


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


def likeliest(candidates: list[Judged]) -> Judged:
    """Return the candidate of the largest evidence."""
    return max(candidates, key=lambda own: own.evidence)


class Moments(NamedTuple):
    """Sums over the answers, and the first and second moments that they may have."""

    sums: Sums
    first: list[Judged]
    second: list[Judged]

    @classmethod
    def of(cls, sums: Sums) -> "Moments":
        """Judge moments of all strengths."""
        size = math.sqrt(sums.x.shape[1] / sums.number.sum())
        parts = ([judged(sums, own) for own in part(sums, size)] for part in (first_moments, second_moments))
        return cls(sums, *parts)

    @property
    def odds_of_first(self) -> float:
        """The ratio of the overlaps to be expected, all told, of a first and of a second moment.

        The answers of an odd link are equally frequent; even links and others may have any share. An even link has no
        first moment, and an odd one no second.
        """
        n = float(self.sums.number.sum())
        difference = float(self.sums.number[1] - self.sums.number[0]) / n
        odd = math.sqrt(2.0 * n / math.pi) * math.exp(-n * difference**2 / 2.0)
        expected = [
            logsumexp([own.evidence for own in part], b=[own.overlap for own in part])
            for part in (self.first, self.second)
        ]
        ratio = min(max(float(expected[0] - expected[1]), -LONGEST), LONGEST)
        return (odd + FIRST) / (BALANCED * odd + 1.0 - BALANCED) * math.exp(ratio)

    @property
    def all_second(self) -> list[Judged]:
        """The weakest and the strongest of either sign."""
        return [self.second[number] for number in (0, STRENGTHS - 1, STRENGTHS, -1)]

r"""Initializations of link-free refinement: directions from the moments of either response's rows, averaged over links.

Assume that given its response y an index <x, b> is normal with mean m_y and variance v_y: the least informative link
with these moments. Then the likelihood of a unit vector b is exp(b^T W b / 2 + <h, b>) up to a constant:

    W = sum_y (1 - 1 / v_y) S_y,  h = sum_y (m_y / v_y) s_y,    S_y = sum x x^T, s_y = sum x over the responses y

The saddle point s approximates the integral over the sphere, with sum_j 1 / (s - w_j) + h_j^2 / (s - w_j)^2 = 1 (Kume &
Wood 2005, "Saddlepoint approximations for the Bingham and Fisher-Bingham normalizing constants"): there b has the mean
(s - W)^{-1} h and the covariance (s - W)^{-1}. A link has a first or a second moment, of strengths from the noise level
to the largest possible one; the mean of b b^T averages over all of them.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.linalg import eigh
from scipy.special import softmax

from lrlab.arrays import Array, Mask
from lrlab.linalg import hard_threshold, unit
from lrlab.solvers.single_index.link_free_rounds import SMALLEST_REST, Data, Direction, columns

STRENGTHS, NARROWEST = 5, 0.07
"""Strengths of a moment that are averaged over, and the least variance that a response leaves an index."""
FIRST, BALANCED = 7.0, 0.08
"""Prior odds of links with a first moment to even ones; fraction of even links with equally frequent responses."""
POWER_STEPS, RESTRICTED = 30, 10
CLEAR = 0.1
"""Fraction of noise in the squared length of the first moment below which no other start is tried."""


class Start(NamedTuple):
    """A direction, a sentence, and whether no other start is needed."""

    at: Direction
    note: str
    clear: bool = False


def starts(data: Data, rng: Generator) -> list[Start]:
    """Return the first moment if it is clear, else the posterior of both moments; two supports of sparse b."""
    X, answers, s = data.X, data.answers, data.s
    n, p = X.shape
    scale = answers - answers.mean()
    b = hard_threshold(scale @ X / n, s)
    noise = s * (1.0 + math.log(p / s)) * float(scale @ scale) / n**2
    if noise < CLEAR * float(b @ b):
        own = columns(X, b != 0)
        held_out = own @ b[b != 0] - scale * np.einsum("ij,ij->i", own, own) / n
        at = Direction.of(X, b, held_out)
        return [Start(at, "Start: the first moment, which stands out from the noise.", clear=True)]
    if not data.sparse:
        return [posterior_start(data, np.ones(p, dtype=bool), "")]
    supports = {"first": b != 0, "second": second_support(data, scale, rng)}
    # If responses of both signs are as frequent at each entry, a moment has none.
    return [
        posterior_start(data, own, f", on the entries of the {name}") for name, own in supports.items() if own.any()
    ]


class Sums(NamedTuple):
    """For responses 0 and 1: their number (2,), the sums of x (2, p), and of x x^T (2, p, p)."""

    number: Array
    x: Array
    xx: Array

    @classmethod
    def of(cls, X: Array, answers: Array) -> "Sums":
        """Sum over the rows of X (n, p), with responses (n,) in {0, 1}."""
        own = [X[answers == answer] for answer in (0.0, 1.0)]
        number = np.array([len(rows) for rows in own], dtype=float)
        return cls(number, np.array([rows.sum(axis=0) for rows in own]), np.array([rows.T @ rows for rows in own]))


class Hypothesis(NamedTuple):
    """Means and variances of the index given either response (2,); log-evidence with the prior's; saddle point."""

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
        w, U = np.linalg.eigh(W)
        p, pull = len(w), np.square(h @ U)
        s = saddle_point(w, pull)
        r = s - w
        value = s - p - np.log(r / p).sum() + (pull / r).sum() - np.log(p * (r**-2 + 2.0 * pull * r**-3).sum())
        value -= sums.number @ (self.mean**2 / self.variance + np.log(self.variance))
        return self._replace(evidence=prior + float(value) / 2.0, saddle=s)

    def moments(self, sums: Sums) -> tuple[Array, Array]:
        """Return the mean (p,) of b, and its covariance (p, p)."""
        W, h = self.quadratic(sums)
        covariance = np.linalg.inv(self.saddle * np.eye(len(W)) - W)
        return covariance @ h, covariance

    def direction(self, sums: Sums) -> Array:
        """Return the unit vector of the largest expected overlap (p,), if it is true."""
        mean, covariance = self.moments(sums)
        return leading(covariance + np.outer(mean, mean))


def leading(M: Array) -> Array:
    """Return the eigenvector of the largest eigenvalue of a symmetric M (p, p)."""
    vectors: Array = eigh(M, subset_by_index=(len(M) - 1, len(M) - 1))[1]
    return vectors[:, 0]


def saddle_point(w: Array, pull: Array) -> float:
    """Return the s above all w (p,), ascending, with sum 1 / (s - w) + pull / (s - w)^2 = 1, pull (p,) >= 0."""
    s = float(np.max(w + (1.0 + np.sqrt(1.0 + 4.0 * pull)) / 2.0))
    for _ in range(50):
        r = s - w
        excess = float((1.0 / r + pull / r**2).sum()) - 1.0
        if excess < 1e-9:
            break
        s += excess / float((1.0 / r**2 + 2.0 * pull / r**3).sum())
    return s


def hypotheses(sums: Sums) -> list[Hypothesis]:
    """Return hypotheses with a first moment and one variance, and with second moments of either sign.

    Of each the evidence, with its prior: the responses of an odd link are equally frequent, even links and others may
    have any rate.
    """
    n, p = float(sums.number.sum()), sums.x.shape[1]
    size, rate = math.sqrt(p / n), sums.number / n
    odd = math.sqrt(2.0 * n / math.pi) * math.exp(-n * float(rate[1] - rate[0]) ** 2 / 2.0)
    first, second = math.log((odd + FIRST) / STRENGTHS), math.log((BALANCED * odd + 1.0 - BALANCED) / (2 * STRENGTHS))
    scale = np.array([-1.0, 1.0]) * math.sqrt(rate[0] * rate[1]) / rate
    candidates, most = list[Hypothesis](), math.sqrt(1.0 - NARROWEST)
    # Multiples of sqrt(p / n) below which neither moment is detectable: .5 and 1.1.
    for strength in np.geomspace(min(0.5 * size, most), most, STRENGTHS):
        candidates.append(Hypothesis(strength * scale, np.full(2, 1.0 - strength**2)).judged(sums, first))
    for signed in (-scale, scale):
        most = (NARROWEST - 1.0) / float(signed.min())
        for strength in np.geomspace(min(1.1 * size, most), most, STRENGTHS):
            candidates.append(Hypothesis(np.zeros(2), 1.0 + strength * signed).judged(sums, second))
    return candidates


def posterior_start(data: Data, own: Mask, words: str) -> Start:
    """Return the direction of the largest expected overlap over some entries, hypotheses averaged by their evidence."""
    X = columns(data.X, own)
    sums = Sums.of(X, data.answers)
    candidates = hypotheses(sums)
    weights = softmax([one.evidence for one in candidates])
    total = np.zeros(sums.xx[0].shape)
    for one, weight in zip(candidates, weights, strict=True):
        if weight > 1e-3:
            mean, covariance = one.moments(sums)
            total += weight * (covariance + np.outer(mean, mean))
    first = float(weights[:STRENGTHS].sum())
    probability, name = (first, "first") if first > 0.5 else (1.0 - first, "second")
    b = np.zeros(len(own))
    b[own] = leading(total)
    at = Direction.of(data.X, b, held_out(X, data.answers, sums, candidates[int(weights.argmax())], b[own]))
    return Start(at, f"Start: both moments, the one that carries b {probability:.2g} likely to be the {name}{words}.")


def held_out(X: Array, answers: Array, sums: Sums, moment: Hypothesis, b: Array) -> Array:
    """Return the index of each row under the direction of a moment without its response, its length that of b (n,).

    Without row x, A = (s - W)^{-1} and h change by c x x^T and d x: <x, A h> becomes (<x, A h> - d l) / (1 + c l), with
    l = x^T A x; for h = 0, the eigenvector of the largest eigenvalue changes only with l across it.
    """
    which = answers.astype(np.intp)
    c, d = (1.0 - 1.0 / moment.variance)[which], (moment.mean / moment.variance)[which]
    mean, A = moment.moments(sums)
    own, length = moment.direction(sums), float(np.linalg.norm(mean)) or 1.0
    own *= np.copysign(1.0, own @ mean)
    along = X @ own
    leverage = np.einsum("ij,ij->i", X @ A, X)
    if not mean.any():
        leverage -= along**2 * float(own @ A @ own)
    left = (along - d * leverage / length) / np.maximum(1.0 + c * leverage, SMALLEST_REST)
    # Of the average over moments the part along this one is corrected.
    return X @ b + float(own @ b) * (left - along)


def second_support(data: Data, scale: Array, rng: Generator) -> Mask:
    r"""Return the support (p,) of an s-sparse eigenvector of M = mean (y_i - mean y) x_i x_i^T, largest in size.

    E[M] = (mu_2 - mu_0) b b^T. Truncated power iteration (Yuan & Zhang 2013) from a random vector, first on the s, then
    on the 4 s largest entries of the diagonal; the one with the larger eigenvalue wins.
    """
    X, s = data.X, data.s
    diagonal, random, ends = scale @ np.square(X), rng.standard_normal(X.shape[1]), list[tuple[float, Array]]()
    for k in (s, min(4 * s, X.shape[1])):
        own = hard_threshold(diagonal, k) != 0
        b = unit(random * own)
        for step in range(POWER_STEPS):
            image = X.T @ (scale * (X @ b))
            following = unit(image * own if step < RESTRICTED else hard_threshold(image, s))
            following *= np.copysign(1.0, following @ b)
            change, b = np.abs(following - b).max(), following
            if change < 0.01 and step >= RESTRICTED:
                break
        ends.append((abs(float(b @ (X.T @ (scale * (X @ b))))), b))
    support: Mask = max(ends, key=lambda pair: pair[0])[1] != 0
    return support


def other_starts(data: Data) -> Iterator[Start]:
    """Yield the direction of the likeliest first moment, and of the weakest and strongest second ones.

    For links with several turns. A direction with an error of .7 blurs such a link so much that a parabola predicts
    held-out responses as well as a spline, and leads nowhere. A spline, used whether or not it pays at first, finds the
    turns within a few rounds: with 300 responses, 20 entries and the link sin 2z from nearly every moment.
    """
    sums = Sums.of(data.X, data.answers)
    candidates = hypotheses(sums)
    first = max(candidates[:STRENGTHS], key=lambda own: own.evidence)
    seconds = [candidates[place] for place in (STRENGTHS, 2 * STRENGTHS - 1, 2 * STRENGTHS, -1)]
    for name, moment in [("first", first), *(("second", own) for own in seconds)]:
        b = moment.direction(sums)
        at = Direction.of(data.X, b, held_out(data.X, data.answers, sums, moment, b))
        yield Start(at, f"Start: the {name} moment, then rounds with a spline.")

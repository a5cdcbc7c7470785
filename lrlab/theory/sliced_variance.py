r"""What sliced average variance estimation does at finite n/p, exactly in the limit of large n and p at fixed g = p/n.

Relative to the sample covariance S = L L^T let D = I - V_+, V_+ the covariance of the rows with y = 1, and d the
difference of the means of both answers. As q_+ V_+ + q_- V_- + q_+ q_- d d^T = I, the estimator's matrix is

    q_+ (I - V_+)^2 + q_- (I - V_-)^2 = (q_+ / q_-) K,
    K = D^2 - q_+ q_- (D d d^T + d d^T D) + q_+ q_-^2 ||d||^2 d d^T.

Eigenvalues s^2 of K outside the bulk of D^2 are zeros of a 2 x 2 determinant in H(s) = d^T (s - D)^{-1} d and H(-s),
and their eigenvectors are combinations of (s - D)^{-1} d and (s + D)^{-1} d. With d = L^{-1} delta they are told by

    L (s - D) L^T = M + (s - 1) q_+ q_- delta delta^T,  M = (s - 1 + 1/q_+) q_+ C_+ + (s - 1) q_- C_-,

C_+- the covariances of the rows of either answer, delta the difference of their means. Off b, M = sum e_i w_i w_i^T
with rows w_i that are independent of z = <x, b>. With the traces of `theory.principal_hessian`, which for a product of
two resolvents is t_12 = t_1 / sum_i e_2i / ((1 + e_1i t_1) (1 + e_2i t_2)),

    delta^T M^{-1} delta = (1/n_+ + 1/n_-) t + delta_b^2 / m,   m = sum_i (z_i - mean)^2 e_i / (1 + e_i t).

The overlap is that of L^{-T} times the eigenvector of the largest eigenvalue with b, 0 where none leaves the bulk. Of
links with mu_1 = 0 the difference of means is noise, and the limit that of a small mu_1.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.theory.links import Moments
from lrlab.theory.principal_hessian import Shares, sample_edges, shares

LEAST_MEAN = 1e-4
"""mu_1 below which it is taken for this: of no mean at all the eigenvector is a quotient of zeros."""
FARTHEST, NODES, OUTSIDE = 1e3, 500, 1e-9
"""Largest s in units of the edge, places between which zeros are looked for, and the first one's distance from it."""


class Sliced(NamedTuple):
    """Limits: the largest eigenvalue of the estimator's matrix, the upper edge of its bulk, the overlap with b."""

    value: float
    edge: float
    overlap: float


class _Answers(NamedTuple):
    """Of both answers: shares q (2,), parts of the variance of z within them, q Var(z | y) (2,); g = p/n.

    apart: difference of the means of z.
    """

    q: Array
    within: Array
    g: float
    apart: float

    @property
    def product(self) -> float:
        return float(self.q.prod())


class _Resolvent(NamedTuple):
    """M at places s (k,), nan in the bulk: n e (2, k) of answers, t / n, 1 + e t (2, k), m; H(s) = upper / lower."""

    e: Array
    t: Array
    rest: Array
    m: Array
    upper: Array
    lower: Array


@lru_cache(maxsize=4096)
def predict(moments: Moments, ratio: float) -> Sliced:
    """Return the limits at n/p = `ratio` > 1."""
    given = shares(moments)
    q_pos = given.q_pos
    if min(q_pos, given.q_neg) <= 0.0:
        return Sliced(math.nan, math.inf, 0.0)
    lower, upper = (edge / 2.0 + q_pos for edge in sample_edges(moments, ratio))
    edge, scale = max(abs(1.0 - upper / q_pos), abs(1.0 - lower / q_pos)), q_pos / given.q_neg
    answers = _answers(moments, given, 1.0 / ratio)
    s = _largest_zero(answers, edge)
    if s is None:
        return Sliced(math.nan, scale * edge**2, 0.0)
    return Sliced(scale * s**2, scale * edge**2, _overlap(answers, s))


def _answers(moments: Moments, given: Shares, g: float) -> _Answers:
    q, k = np.array([given.q_pos, given.q_neg]), np.array([given.k_pos, given.k_neg])
    means = max(abs(moments.mu1), LEAST_MEAN) / 2.0 / q
    return _Answers(q, k - q * means**2, g, float(means.sum()))


def _resolvent(of: _Answers, s: Array) -> _Resolvent:
    """Return M at places s (k,), on the side of the bulk that each is on.

    sum_i e_i t / (1 + e_i t) = p is a quadratic equation in t / n, whose root nearest to 0 on the side of s counts.
    """
    e = np.stack([s - 1.0 + 1.0 / of.q[0], s - 1.0])
    a, b = (1.0 - of.g) * e.prod(axis=0), of.q @ e - of.g * e.sum(axis=0)
    with np.errstate(all="ignore"):
        root = np.sqrt(b * b + 4.0 * a * of.g)
        # Written so that a root at infinity, where a is 0, does no harm.
        roots = 2.0 * of.g / np.stack([b + root, b - root])
        inside = (roots * s > 0.0) & (1.0 + e[0] * roots > 0.0) & (1.0 + e[1] * roots > 0.0)
        t = np.sign(s) * np.where(inside, np.abs(roots), np.inf).min(axis=0)
        t = np.where(np.isfinite(t), t, np.nan)
        rest = 1.0 + e * t
        m = of.within @ (e / rest)
    upper = t * m / of.product + of.apart**2
    return _Resolvent(e, t, rest, m, upper, m + (s - 1.0) * of.product * upper)


def _length(of: _Answers) -> float:
    """Return ||d||^2: the difference of means relative to the covariance within answers, then to S."""
    t = of.g / (1.0 - of.g)
    within = t / of.product + of.apart**2 * (1.0 + t) / float(of.within.sum())
    return within / (1.0 + of.product * within)


def _determinant(of: _Answers, s: Array) -> Array:
    """Return the determinant of s^2 - K over that of s^2 - D^2, times the denominators of H(s) and H(-s), at s (k,)."""
    right, left, N, c = _resolvent(of, s), _resolvent(of, -s), _length(of), of.product
    over, under = right.upper * left.lower, left.upper * right.lower
    mixed = c * of.q[1] ** 2 * N * (over - under) / (2.0 * s) - c * (over + under)
    return right.lower * left.lower - mixed + c**2 * right.upper * left.upper


def _largest_zero(of: _Answers, edge: float) -> float | None:
    """Return the largest zero of the determinant outside the bulk, which ends at `edge`; None where there is none."""
    # Imported here: it is not needed to start the lab.
    from scipy.optimize import brentq

    places = edge * (1.0 + np.geomspace(OUTSIDE, FARTHEST, NODES))
    signs = np.sign(_determinant(of, places))
    changes = np.flatnonzero(signs[1:] * signs[:-1] < 0)
    if not changes.size:
        return None
    low, high = places[changes[-1] : changes[-1] + 2]
    return float(brentq(lambda s: _determinant(of, np.array([s]))[0], low, high, xtol=1e-300, rtol=1e-14))


def _overlap(of: _Answers, s: float) -> float:
    """Return the squared overlap of the eigenvector at a zero s of the determinant."""
    at, c = _resolvent(of, np.array([s, -s])), of.product
    w = _coefficients(of, s, at)
    product = at.rest[:, :, None] * at.rest[:, None, :]
    # Between both places (2, 2); of the trace of a product of resolvents, and of what b has in them.
    t = at.t[:, None] / np.einsum("a,ak,ajk->jk", of.q, at.e, 1.0 / product)
    across = np.einsum("a,aj,ak,ajk->jk", of.within, at.e, at.e, 1.0 / product)
    square = float(w @ (t * (np.outer(at.m, at.m) / c + of.apart**2 * across)) @ w)
    along = of.apart**2 * float(w.sum()) ** 2
    return along / (along + square)


def _coefficients(of: _Answers, s: float, at: _Resolvent) -> Array:
    """Return w (2,) of the eigenvector, taken back from S: the sum of w_k m_k M_k^{-1} delta at s and -s."""
    N, c, (right, left) = _length(of), of.product, at.upper / at.lower
    X, Y = (right - left) / (2.0 * s), (right + left) / 2.0
    # K = D^2 + U B U^T with U = (d, D d), and G = U^T (s^2 - D^2)^{-1} U.
    B, G = np.array([[c * of.q[1] * N, -c], [-c, 0.0]]), np.array([[X, Y], [Y, s**2 * X - N]])
    a, b = np.linalg.svd(np.eye(2) - B @ G)[2][-1]
    return np.array([b + a / s, b - a / s]) / at.lower

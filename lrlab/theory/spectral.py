r"""Limits of spectral methods for two responses: eigenvectors of (1/p) sum T(y_i) x_i x_i^T, and Hessian directions.

With e_y = E[z^2 - 1 | y], z = <x, b>, and u(t) = T t / (1 - T t) the limits at n/p = delta are (Lu & Li 2017, "Phase
transitions of spectral initialization for high-dimensional nonconvex estimation", Theorem 1; Mondelli & Montanari
2018, "Fundamental limits of weak recovery with applications to phase retrieval", Lemma 2)

    eigenvalue      lambda(t) = 1/t + delta E[T / (1 - T t)] with delta E[e_y u(t)] = 1
    bulk edge       lambda(t_edge) with delta E[u(t_edge)^2] = 1; the eigenvalue leaves the bulk if t < t_edge
    overlap         (1 - delta E[u^2]) / (1 + delta E[e_y u^2])

No weights recover anything below delta = 1 / E[e_y^2], since E[e_y u]^2 <= E[e_y^2] E[u^2]. Two choices attain it:

    T = e_y / (1 + e_y), which has the largest overlap at each delta (Luo, Alghamdi & Lu 2019, "Optimal spectral
    initialization for signal recovery with applications to phase retrieval"); its eigenvalue is 1
    T = c_y / (1 + c_y) with c_y = k e_y, k^2 = 1 / (delta E[e_y^2]) (Mondelli & Montanari 2018, eq. 10); its edge is 1

Since E[e_y] = 0, the link determines only the sign of c_y: with fractions P_+ and P_- of the two responses,
c_+ = +-sqrt(P_- / (delta P_+)) and c_- = -+sqrt(P_+ / (delta P_-)). The second choice needs no link.

Principal Hessian directions take the eigenvector of M = (1/n) sum (y_i - mean y) x_i x_i^T that is largest in size
relative to the sample second moment S = (1/n) sum x_i x_i^T. Write an eigenvector as (1, w) with 1 along b; w lives on
the other coordinates W (n, p - 1), which are independent of y and of z. With g = p/n and the weights e_i = y_i - mu_0 -
lambda, which take two values, w = -R W^T E z with R = (W^T E W)^{-1}, and leaving one row out gives, for t = tr R and
t_2 = tr R^2,

    sum_i e_i t / (1 + e_i t) = p,    t_2 = t / (sum_i e_i / (1 + e_i t)^2),
    the eigenvalue equation  sum_i z_i^2 e_i / (1 + e_i t) = 0,    |w|^2 = t_2 sum_i z_i^2 e_i^2 / (1 + e_i t)^2.

The overlap is 1 / (1 + |w|^2). Since y_i = +-1, these reduce to algebra in q = P(y = +-1), k = E[z^2 1{y = +-1}].
"""

import math
from typing import NamedTuple

from lrlab.theory.links import Moments


class Shares(NamedTuple):
    """q = P(y = +-1) and k = E[z^2 1{y = +-1}]."""

    q_pos: float
    q_neg: float
    k_pos: float
    k_neg: float


def shares(moments: Moments) -> Shares:
    """Return the parts of both responses in 1 and in E[z^2]."""
    return Shares(
        (1.0 + moments.mu0) / 2.0, (1.0 - moments.mu0) / 2.0, (1.0 + moments.mu2) / 2.0, (1.0 - moments.mu2) / 2.0
    )


class Weights(NamedTuple):
    """T(y) for y = +1 and y = -1."""

    pos: float
    neg: float


class Spike(NamedTuple):
    """Limits for one choice of weights.

    value: eigenvalue along the truth, nan inside the bulk. overlap: <b, b-hat>^2. dual: t at the eigenvalue, nan inside
    the bulk; for a measurement (x, y), (1 - t T(y)) <x, b-hat> tends to <x, b'>, b' the eigenvector without it.
    """

    value: float
    overlap: float
    dual: float


INSIDE_BULK = Spike(math.nan, 0.0, math.nan)


def excess(moments: Moments) -> Weights:
    """Return e_y = E[z^2 | y] - 1 for both responses; 0 for a response with probability 0."""
    q_pos, q_neg, k_pos, k_neg = shares(moments)
    return Weights(k_pos / q_pos - 1.0 if q_pos > 0 else 0.0, k_neg / q_neg - 1.0 if q_neg > 0 else 0.0)


def known_link_weights(moments: Moments) -> Weights:
    """Return T = e_y / (1 + e_y), the weights of the largest overlap."""
    return Weights(*(e / max(1.0 + e, 1e-12) for e in excess(moments)))


def link_free_weights(share_pos: float, ratio: float, sign: int) -> Weights | None:
    """Return T = c_y / (1 + c_y) from the fraction of responses +1; sign: the sign of E[z^2 | y = 1] - 1.

    None if some 1 + c_y <= 0: no link of that sign can be recovered at this n/p, as E[z^2 | y] would be negative.
    """
    if not 0.0 < share_pos < 1.0:
        return None
    odds = math.sqrt((1.0 - share_pos) / share_pos)
    c_pos, c_neg = sign * odds / math.sqrt(ratio), -sign / (odds * math.sqrt(ratio))
    return Weights(c_pos / (1.0 + c_pos), c_neg / (1.0 + c_neg)) if min(c_pos, c_neg) > -1.0 else None


def spike(moments: Moments, ratio: float, weights: Weights) -> Spike:
    """Return the limits of (1/p) sum T(y_i) x_i x_i^T at n/p = `ratio`."""
    q_pos, q_neg = shares(moments)[:2]
    e, (T_pos, T_neg) = excess(moments), weights
    # P_+ e_+ = -P_- e_- makes delta E[e_y u] = 1 a quadratic equation in t.
    a, b = T_pos * T_neg, T_pos + T_neg + ratio * q_pos * e.pos * (T_pos - T_neg)
    root = b * b - 4.0 * a
    if root < 0 or (a == 0 and b <= 0):
        return INSIDE_BULK
    candidates = [1.0 / b] if a == 0 else [(b - s * math.sqrt(root)) / (2.0 * a) for s in (1.0, -1.0)]
    inside = [t for t in candidates if t > 0 and min(1.0 - T_pos * t, 1.0 - T_neg * t) > 0]
    if not inside:
        return INSIDE_BULK
    t = min(inside)
    u_pos, u_neg = T_pos * t / (1.0 - T_pos * t), T_neg * t / (1.0 - T_neg * t)
    left = 1.0 - ratio * (q_pos * u_pos**2 + q_neg * u_neg**2)
    if left <= 0:
        return INSIDE_BULK
    square = ratio * (q_pos * (1.0 + e.pos) * u_pos**2 + q_neg * (1.0 + e.neg) * u_neg**2)
    return Spike((1.0 + ratio * (q_pos * u_pos + q_neg * u_neg)) / t, left / (left + square), t)


def hessian_overlap(moments: Moments, ratio: float) -> float:
    """Return the limit of <b, b-hat>^2 of principal Hessian directions: 0 for n <= p, or if the bulk is larger."""
    if ratio <= 1.0:
        return 0.0
    (lower, upper), (value, off) = hessian_edges(moments, ratio), hessian_spike(moments, ratio)
    return 1.0 / (1.0 + off) if abs(value) > max(-lower, upper) else 0.0


def hessian_spike(moments: Moments, ratio: float) -> tuple[float, float]:
    """Return lambda and |w|^2 relative to S at n/p = `ratio`; |w|^2 is inf if no eigenvalue leaves the bulk.

    With A = 1 / (1 + e_+ t) and C = 1 / (1 + e_- t) the two equations are linear, q_+ A + q_- C = 1 - g and k_+ A + k_-
    C = 1; then t = 1/A - 1/C, since e_+ - e_- = 2 is scaled to 1.
    """
    q_pos, q_neg, k_pos, k_neg = shares(moments)
    left, difference = 1.0 - 1.0 / ratio, q_pos - k_pos
    if difference == 0.0:
        return math.nan, math.inf
    A, C = (left * k_neg - q_neg) / difference, (q_pos - left * k_pos) / difference
    spread = q_pos * A * (1.0 - A) + q_neg * C * (1.0 - C)
    if min(A, C) <= 0 or spread <= 0:
        return math.nan, math.inf
    # 1{y = 1} - l has the values e_+ = 1 - l and e_- = -l; y - mu_0 - lambda is twice that, lambda = 2 (l - q_+).
    level = 1.0 - (1.0 / A - 1.0) / (1.0 / A - 1.0 / C)
    return 2.0 * (level - q_pos), (k_pos * (1.0 - A) ** 2 + k_neg * (1.0 - C) ** 2) / spread


def hessian_edges(moments: Moments, ratio: float) -> tuple[float, float]:
    """Return the edges of the bulk of M relative to S: Wachter's law of a product of two random projections.

    With fewer than p responses of one sign, directions orthogonal to all their x make an atom at that end.
    """
    (q_pos, q_neg), g = shares(moments)[:2], 1.0 / ratio
    inner, outer = math.sqrt(q_pos * (1.0 - g)), math.sqrt(g * q_neg)
    lower = (inner - outer) ** 2 if g < q_pos else 0.0
    upper = (inner + outer) ** 2 if g < q_neg else 1.0
    return 2.0 * (lower - q_pos), 2.0 * (upper - q_pos)

r"""Principal Hessian directions at finite n/p, exactly in the limit of large n and p at fixed g = p/n.

The estimator is the eigenvector of M = (1/n) sum (y_i - mean y) x_i x_i^T that is largest in size relative to the
sample second moment S = (1/n) sum x_i x_i^T. Write an eigenvector as (1, w) with 1 along b; w lives on the other
coordinates W (n, p - 1), which are independent of y and of z = <x, b>. With the weights e_i = y_i - mu_0 - lambda,
which take two values, w = -R W^T E z with R = (W^T E W)^{-1}, and leaving one row out gives, for t = tr R and t_2 = tr
R^2,

    sum_i e_i t / (1 + e_i t) = p,    t_2 = t / (sum_i e_i / (1 + e_i t)^2),
    the eigenvalue equation  sum_i z_i^2 e_i / (1 + e_i t) = 0,    |w|^2 = t_2 sum_i z_i^2 e_i^2 / (1 + e_i t)^2.

The overlap is 1 / (1 + |w|^2). Since y_i = +-1, these reduce to algebra in q = P(y = +-1), k = E[z^2 1{y = +-1}].
Compare the equations of Mondelli & Montanari (2018), "Fundamental limits of weak recovery with applications to phase
retrieval", for M alone.
"""

import math

from lrlab.theory.links import Moments
from lrlab.theory.spectral import shares


def overlap(moments: Moments, ratio: float) -> float:
    """Return the limit of <b, b-hat>^2 at n/p = `ratio`: 0 for n <= p, or if the bulk is larger in size."""
    if ratio <= 1.0:
        return 0.0
    (lower, upper), (value, off) = sample_edges(moments, ratio), sample_spike(moments, ratio)
    return 1.0 / (1.0 + off) if abs(value) > max(-lower, upper) else 0.0


def sample_spike(moments: Moments, ratio: float) -> tuple[float, float]:
    """Return lambda and |w|^2 relative to S; |w|^2 is inf if no eigenvalue leaves the bulk.

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


def sample_edges(moments: Moments, ratio: float) -> tuple[float, float]:
    """Return the edges of the bulk relative to S: Wachter's law of a product of two random projections.

    With fewer than p responses of one sign, directions orthogonal to all their x make an atom at that end.
    """
    (q_pos, q_neg), g = shares(moments)[:2], 1.0 / ratio
    inner, outer = math.sqrt(q_pos * (1.0 - g)), math.sqrt(g * q_neg)
    lower = (inner - outer) ** 2 if g < q_pos else 0.0
    upper = (inner + outer) ** 2 if g < q_neg else 1.0
    return 2.0 * (lower - q_pos), 2.0 * (upper - q_pos)

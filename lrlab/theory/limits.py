"""Rates and closed-form limits for estimators of single-index models."""

import math

from lrlab.theory.links import Moments


def dense_rate(n: int, p: int) -> float:
    """Return sqrt(p / n), the rate of Algorithm 1 (Yi et al. 2015, Theorem 3.5, constants left out)."""
    return math.sqrt(p / n)


def sparse_rate(n: int, p: int, sparsity: int) -> float:
    """Return sqrt(s log p / n), the rate of Algorithm 2 (Theorem 3.7, constants left out)."""
    return math.sqrt(sparsity * math.log(p) / n)


def marginal_mean_overlap(moments: Moments, ratio: float) -> float:
    """Return the limit of <b, b-hat>^2 for b-hat along mean(y x) at n/p = `ratio`.

    Off the truth, each of the p - 1 coordinates of mean(y x) has variance 1/n since y^2 = 1, so the squared cosine is
    mu_1^2 / (mu_1^2 + p/n).
    """
    return moments.mu1**2 / (moments.mu1**2 + 1.0 / ratio) if moments.mu1 else 0.0


def least_squares_overlap(moments: Moments, ratio: float) -> float:
    """Return the limit of <b, b-hat>^2 for least squares of y on x and an intercept (two-slice SIR) at n/p = `ratio`.

    Let W be the p - 1 coordinates off the truth; they are independent of z = <x, b> and y. The coefficient along b,
    from z with W regressed out, tends to mu_1. Those off it are (W^T Q W)^{-1} W^T Q y with Q the projection off z and
    the intercept; |Q y|^2 / n -> v = 1 - mu_0^2 - mu_1^2, so their squared norm tends to v times the trace of an
    inverse Wishart matrix, v (p/n) / (1 - p/n). Hence mu_1^2 / (mu_1^2 + v / (n/p - 1)).
    """
    if ratio <= 1.0 or not moments.mu1:
        return 0.0
    rest = 1.0 - moments.mu0**2 - moments.mu1**2
    return moments.mu1**2 / (moments.mu1**2 + rest / (ratio - 1.0))

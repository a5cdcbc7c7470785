"""Numbers of theorems for a spec: bounds and exact expectations, by name, for lines in figures."""

import math
from collections.abc import Callable
from typing import Any

from scipy.special import ndtri

from lrlab.theory import spiked

BOUNDS: dict[str, Callable[[Any], float]] = {
    # Jain & Dhillon 2013, Theorem 1: delta = 1 / (100 k^1.5 beta).
    "accuracy-for-altmin": lambda spec: 1.0 / (100.0 * spec.rank**1.5 * spec.condition),
    # Their Claim 3: E ||A(Z)||^2 / (m ||Z||_F^2) of Z = x_1 y_1^T, of all m one term is ||x_1||^2 ||y_1||^2.
    "isometry-rank-one": lambda spec: 1.0 + (spec.d1 * spec.d2 - 1.0) / spec.m,
    # The same of dense measurements at the leading singular pair of A_1, ||A_1|| about sqrt(d1) + sqrt(d2).
    "isometry-dense": lambda spec: 1.0 + ((math.sqrt(spec.d1) + math.sqrt(spec.d2)) ** 2 - 1.0) / spec.m,
    # Soltani & Hegde 2018, Theorem 5 with C = noise, and the exact limit for p large: entries of A*(e) / m off the
    # diagonal have variance noise^2 / m.
    "network-floor": lambda spec: spec.noise * math.sqrt(spec.p * math.log(spec.p) ** 3 / spec.m),
    "network-floor-exact": lambda spec: 2.0 * spec.noise * math.sqrt(spec.p / spec.m),
    "one": lambda spec: 1.0,
    # Jain & Dhillon 2013, section 4: n1 + n2, k (n1 + n2) log(n1 + n2); Lemma 6: k^3 beta^2 d1 d2 log(d1 + d2); what
    # no method recovers with fewer of, by counting, with features and without.
    "table-sides": lambda spec: spec.n1 + spec.n2,
    "samples-of-completion": lambda spec: spec.rank * (spec.n1 + spec.n2) * math.log(spec.n1 + spec.n2),
    "samples-of-inductive": lambda spec: (
        spec.rank**3 * spec.condition**2 * spec.d1 * spec.d2 * math.log(spec.d1 + spec.d2)
    ),
    # Their Lemma 7, d1 L, k and beta being constant.
    "samples-of-regression": lambda spec: spec.d * spec.labels,
    # Their Lemma 4, k^4 beta^2 (d1 + d2) log^3(d1 + d2), without its constant.
    "samples-of-rank-one": lambda spec: (
        spec.rank**4 * spec.condition**2 * (spec.d1 + spec.d2) * math.log(spec.d1 + spec.d2) ** 3
    ),
    "unknowns": lambda spec: spec.degrees_of_freedom,
    # Yu et al. 2014, Theorem 4 at eta^2 = 2/d, sigma_1 = 1/d, Sigma = 1 (Claim 8), times sqrt(n), without its constant.
    "trace-ball": lambda spec: math.sqrt(3.0 / spec.labels),
    # Spectral norm of a d x L matrix with independent entries of variance 1 / (d L).
    "trace-ball-exact": lambda spec: 1.0 / math.sqrt(spec.labels) + 1.0 / math.sqrt(spec.d),
    # Their Theorems 3 and 4 with s = 1, without constants. Columns of W have length 1 at E||x||^2 = d: with features of
    # mean length 1, ||Z||_F = sqrt(d L), and ||Z||_tr is at most sqrt(k) times that.
    "excess-frobenius": lambda spec: math.sqrt(spec.labels * spec.d / spec.n),
    "excess-trace": lambda spec: math.sqrt(2.0 * spec.rank * spec.d / spec.n),
    # Yi et al. 2015, eq. 3.9, statistical error without its constant.
    "statistical-error": lambda spec: statistical_error(spec),
    "statistical-error-twice": lambda spec: 2.0 * statistical_error(spec),
    # Their Corollary 3.6, and Lemma 3.4, without constants.
    "corollary-rate": lambda spec: max(1.0, 1.0 / gap_bound(spec)) * math.sqrt(spec.p / spec.n),
    "gap-bound": lambda spec: gap_bound(spec),
    # For sparse signals, s log p replaces p; eq. 3.12 with the power 5/2; Theorem 3.8. Without constants.
    "sparse-error": lambda spec: sparse_error(spec),
    "sparse-bound": lambda spec: sparse_bound(spec),
    "minimax-sparse": lambda spec: minimax_sparse(spec),
    # The exact limit of Algorithm 1 for p large at this n/p.
    "pairwise-limit": lambda spec: dense_error(spec, spec.n / spec.p),
    # The exact limit for n/p large: sqrt(1 - overlap) of the leading eigenvector of M, see theory.spiked.
    "pairwise-error": lambda spec: 2.0 * statistical_error(spec) / math.sqrt(scale(spec)),
}

STEP_BOUNDS: dict[str, Callable[[Any, float], float]] = {
    # Yi et al. 2015, eq. 3.9 with C_3 = 2 and alpha^2 = 1/p, its mean for a random start.
    "power-iteration": lambda spec, t: 2.0 * statistical_error(spec) + math.sqrt(spec.p - 1.0) * contraction(spec) ** t,
    # Jain & Dhillon 2013, eq. 11: the squared sine halves in each half-step, a sweep has two.
    "half-a-sweep": lambda spec, t: 0.5**t,
    # Qiu et al. 2017, Theorem 2 with C = 1, at ||W - W'|| = distance, and over max{distance, distance^1/2}.
    "perturbation": lambda spec, distance: sign_error(spec) * max(distance, math.sqrt(distance)),
    "perturbation-ratio": lambda spec, distance: sign_error(spec),
    # Both sides of their Lemma 2 over ||w - w'||, exactly: the plane of w and w' has eigenvalues angle +- sin(angle).
    "sign-matrix": lambda spec, distance: 4.0 / math.pi * (angle(distance) + math.sin(angle(distance))) / distance,
    "sign-length": lambda spec, distance: 4.0 / math.pi * angle(distance) / distance,
    # Yu et al. 2014, section 3.1: multiplications with a stored table of rows, relative to fast products.
    "multiplications": lambda spec, features: (
        spec.observed_entries * features / (spec.observed_entries + spec.n * features + spec.d)
    ),
    # Yu et al. 2014, Theorem 6: as "trace-ball", but P replaces 1/L; and its exact limit.
    "frequent-label": lambda spec, largest: math.sqrt(3.0 * largest),
    "frequent-label-exact": lambda spec, largest: frequent_label(spec, largest),
}
"""Bounds that also depend on a place: the iteration t, a distance, or a frequency."""


def dense_error(spec: Any, ratio: float) -> float:
    """Return the exact limit of Algorithm 1's error, sqrt(2 - 2 <b, b-hat>), under the link of a spec at n/p."""
    return math.sqrt(2.0 - 2.0 * math.sqrt(spiked.predict(spec.link_function.moments, ratio).overlap))


def frequent_label(spec: Any, largest: float) -> float:
    """Return the norm of a (L, d) matrix of independent entries of variance p_l / d for large L and d.

    p_l is `largest` in the first row and the same in all others, 1 in sum. The first row adds a term of rank one to the
    Gram matrix of the others, whose eigenvalues follow the law of Marchenko and Pastur; the largest one leaves these
    if R(1/P) + P exceeds their edge, R being the R-transform of that law.
    """
    rest, rows = 1.0 - largest, spec.labels - 1.0
    if largest <= rest / rows * (1.0 + math.sqrt(rows / spec.d)):
        return math.sqrt(rest) * (1.0 / math.sqrt(rows) + 1.0 / math.sqrt(spec.d))
    return math.sqrt(largest + rest / spec.d / (1.0 - rest / (rows * largest)))


def sign_error(spec: Any) -> float:
    """Return sqrt(d1 d2 k^(1/2) / m), the order of delta (Qiu et al. 2017, Theorem 2)."""
    return math.sqrt(spec.d1 * spec.d2 * math.sqrt(spec.rank) / spec.m)


def angle(distance: float) -> float:
    """Return the angle between unit vectors at a distance."""
    return 2.0 * math.asin(distance / 2.0)


def contraction(spec: Any) -> float:
    """Return gamma, the factor of an iteration (Yi et al. 2015, eq. 3.8)."""
    return (width(spec) / scale(spec) + 1.0) / 2.0


def sparse_error(spec: Any) -> float:
    """Return (phi + 1 - mu_0^2) / phi sqrt(s log p / n)."""
    return statistical_error(spec) * math.sqrt(spec.sparsity * math.log(spec.p) / spec.p)


def sparse_bound(spec: Any) -> float:
    """Return (phi + w)^(5/2) w^(1/2) / phi^3 sqrt(s log p / n) with w = 1 - mu_0^2 (Yi et al. 2015, eq. 3.12).

    The statement prints the power 2/2, the proof 3/2. Theorem 1 of Yuan & Zhang (2013) gives
    sqrt(s') rho / (phi (1 - kappa)) for a perturbation of order rho = (phi + w) sqrt(log p / n) per entry. Here
    sqrt(s' / s) = 1 / (kappa^(-1/2) - 1) is of order ((phi + w) w)^(1/2) / phi and 1 / (1 - kappa) of order
    (phi + w) / phi. Only the sum of these powers, 5/2, leaves the bound unchanged if M is scaled.
    """
    return sparse_error(spec) * scale(spec) ** 1.5 * math.sqrt(width(spec)) / spec.link_function.moments.phi**2


def minimax_sparse(spec: Any) -> float:
    """Return sqrt(m (1 - m)) / L sqrt(s log(p / s) / n) (Yi et al. 2015, Theorem 3.8) for flipped logistic regression.

    1 - m = 1 - 2 flip is the supremum of |f|, L = (1 - 2 flip) / 2 its Lipschitz constant; 0 without flips.
    """
    margin, slope = 2.0 * spec.flip, (1.0 - 2.0 * spec.flip) / 2.0
    rate = math.sqrt(spec.sparsity * math.log(spec.p / spec.sparsity) / spec.n)
    return math.sqrt(margin * (1.0 - margin)) / slope * rate


def gap_bound(spec: Any) -> float:
    """Return what bounds |phi| from below (Yi et al. 2015, Lemma 3.4), with constants 1."""
    if spec.model == "flipped-logistic":
        return float((1.0 - 2.0 * spec.flip) ** 2)
    if spec.model == "one-bit-sensing":
        variance = spec.noise**2
        small = ((1.0 - variance) / (1.0 + variance)) ** 2
        return small if variance < 0.5 else variance**2 / (1.0 + variance**1.5) ** 2
    median = float(ndtri(0.75))
    return float(spec.threshold * abs(spec.threshold - median) * math.exp(-(spec.threshold**2)))


def width(spec: Any) -> float:
    """Return 1 - mu_0^2 of the link, the smaller eigenvalue of E[M/4] (Yi et al. 2015, eq. 3.2)."""
    return 1.0 - float(spec.link_function.moments.mu0) ** 2


def scale(spec: Any) -> float:
    """Return phi + 1 - mu_0^2 of the link, the larger eigenvalue of E[M/4]."""
    return float(spec.link_function.moments.phi) + width(spec)


def statistical_error(spec: Any) -> float:
    """Return (phi + 1 - mu_0^2) / phi sqrt(p / n), with phi and mu_0 of the link (Yi et al. 2015, eq. 3.9)."""
    return scale(spec) / float(spec.link_function.moments.phi) * math.sqrt(spec.p / spec.n)

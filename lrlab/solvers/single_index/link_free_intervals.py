r"""95% intervals for the entries of a direction b that is refined together with its link, or why there are none.

With an index z_i = <x_i, b>, log-odds eta and p_i the chance of an answer 1, b minimises the loss on the sphere. Let
psi_i = eta'(z_i) (y_i - p_i), h_i = eta'(z_i)^2 p_i (1 - p_i), x~_i = x_i - E[x | z_i] (linear in z for elliptical x),
and lambda = sum psi_i z_i, the multiplier of the constraint: sum psi_i x_i = lambda b. When p is no small part of n, b
behaves as the truth, shrunk by a factor, plus normal noise, both of which the data show (Bellec 2022, "Observable
adjustments in single-index models for regularized M-estimators"; Sawaya, Uematsu & Imaizumi 2023, "High-dimensional
single-index models: link estimation and marginal inference"): with the leverages

    l_i = h_i x~_i^T (sum h x~ x~^T + lambda)^+ x~_i,    v = sum h_i (1 - l_i)

c = b + (lambda / v) Omega b is the truth times a factor, and normal with the covariance C = (sum psi_i^2 / v^2) Omega,
Omega the inverse covariance of x; of few entries among many rows C is that of the efficient score (Hardle, Hall &
Ichimura 1993, "Optimal smoothing in single-index models"). An entry of the unit vector is the cosine of an angle, and
all angles are in its interval whose ray is not further from c than q standard errors (Fieller 1954, "Some problems in
interval estimation"), which stays true where the error is large.

Where links are steep few rows decide: (sum h)^2 / sum h^2 of them carry information, less the parameters of the link,
and q is Student's t for the uncertainty of C. Columns that are far from normal are not elliptical: there E[x | z] is a
fit of the link's own functions to each column, and C the sandwich of squared scores, each over 1 - l_i (MacKinnon &
White 1985, HC3), which takes several informative rows an entry.
"""

import numpy as np
from scipy.special import stdtrit

from lrlab.arrays import Array, Intervals
from lrlab.linalg import DAMPING, tangent_inverse
from lrlab.solvers.single_index.index_links import Link, LogOdds, Steps
from lrlab.solvers.single_index.interval_requirements import Scores, effective, scores, too_small, unfit

TINY = np.finfo(float).tiny
LEVEL = 0.975
SPHERICAL = 3.0
"""Standard errors within which a covariance passes for a multiple of the identity."""
ROUNDING = 1e-9
LARGEST_LEVERAGE = 0.999
LEVERAGES = 3.0


def intervals(
    X: Array, answers: Array, b: Array, link: Link, held_out: float, *, minimal: bool = True, rows: Array | None = None
) -> Intervals:
    """Return intervals for a unit vector b (p,) that is the best direction under a link.

    X (n, p); answers (n,) in {0, 1}; held_out: mean loss of unseen answers; minimal: whether b is that direction, or
    will be. rows (q, p): of a dense b, whose products with it have the intervals. Entries of zero have none, nor has an
    entry of a chosen support that is not clearly larger than what chance would choose.
    """
    none, support = np.full(len(b if rows is None else rows), np.nan), b != 0
    k = int(support.sum())
    refusal = too_small(k, answers, held_out)
    if not minimal:
        refusal = "the direction is not the best one under its link"
    if not refusal and isinstance(link, Steps):
        refusal = "errors at jumps of the link are not normal"
    if refusal:
        return Intervals(none, none, f"No intervals: {refusal}.")
    at = scores(X[:, support], answers, X @ b, b[support], link)
    refusal, normal = unfit(at)
    if refusal:
        return Intervals(none, none, f"No intervals: {refusal}.")
    rows = None if rows is None else rows[:, support]
    centre, C, freedom = adjusted(at, link.parameters) if normal else sandwich(at, link, rows)
    low, high, error = angles(centre, C, freedom, rows)
    estimate = at.b if rows is None else rows @ at.b
    if np.any((estimate < low - ROUNDING) | (estimate > high + ROUNDING)):
        return Intervals(none, none, "No intervals: the errors of the direction are too large and too unequal.")
    if rows is not None:
        return Intervals(low, high, "")
    # The largest of p normal numbers is sqrt(2 log p) standard deviations: what is chosen below that may be chance.
    doubtful = np.abs(centre) < (np.sqrt(2.0 * np.log(len(b))) + 1.0) * error if k < len(b) else np.zeros(k, dtype=bool)
    low[doubtful] = high[doubtful] = np.nan
    ends = none, none.copy()
    ends[0][support], ends[1][support] = low, high
    left = "Intervals: only for entries that are clearly not chosen by chance." if k < len(b) else ""
    return Intervals(*ends, left)


def adjusted(at: Scores, parameters: float) -> tuple[Array, Array, float]:
    """Return c (k,), its covariance (k, k), and degrees of freedom: observable adjustments for elliptical rows."""
    index = at.rows @ at.b
    rest = at.rows - np.outer(index, index @ at.rows / max(float(index @ index), TINY))
    h, psi, k, multiplier = at.h, at.psi, len(at.b), at.multiplier
    inverse = tangent_inverse((rest * h[:, None]).T @ rest + multiplier * np.eye(k), at.b)
    leverage = h * np.einsum("ij,ij->i", rest @ inverse, rest)
    v = float((h * (1.0 - leverage)).sum())
    informative, omega = effective(h), precision(at.rows)
    lost = informative / max(informative - parameters, 1.0)
    C = float(psi @ psi) * lost / v**2 * omega
    # Of few informative rows the leverages, k / informative, and with them v, are uncertain, too.
    freedom = 1.0 / (1.0 / effective(psi * psi) + LEVERAGES * k / informative**2)
    return at.b + multiplier / v * (omega @ at.b), C, freedom


def precision(rows: Array) -> Array:
    """Return the inverse covariance of centred rows (n, k).

    A multiple of the identity where it passes for one: by John's test of all entries together (Ledoit & Wolf 2002,
    "Some hypothesis tests for the covariance matrix when the dimension is large compared to the sample size"), and by
    the largest difference, which shows a single pair of columns.
    """
    n, k = rows.shape
    S = rows.T @ rows / n
    variance = S.trace() / k
    apart = np.square(S / variance - np.eye(k)) * n / (1.0 + np.eye(k))
    together = (float((apart * (1.0 + np.eye(k))).sum()) / k - k - 1.0) / 2.0
    if together < SPHERICAL and np.sqrt(apart.max()) < np.sqrt(4.0 * np.log(k)) + SPHERICAL - 1.0:
        return np.eye(k) / variance
    return np.linalg.inv(S) * max(n - k - 1.0, 1.0) / n


def sandwich(at: Scores, link: Link, contrasts: Array | None = None) -> tuple[Array, Array, Array]:
    """Return the same from the sandwich of scores, less what the functions that the link may be explain of columns."""
    steep, functions = at.slope[:, None] * at.rows, link.functions(at.z)
    gram = (functions.T * at.weights) @ functions
    gram += link.penalty if isinstance(link, LogOdds) else 0.0
    gram += DAMPING**2 * gram.trace() * np.eye(len(gram))
    rest = steep - functions @ np.linalg.solve(gram, (functions.T * at.weights) @ steep)
    inverse = tangent_inverse((rest * at.weights[:, None]).T @ rest + at.multiplier * np.eye(len(at.b)), at.b)
    moved = rest @ inverse
    leverage = np.minimum(at.weights * np.einsum("ij,ij->i", moved, rest), LARGEST_LEVERAGE)
    moved *= (at.errors / (1.0 - leverage))[:, None]
    # Of heavy-tailed columns few rows decide the error of an entry.
    squares = np.square(moved if contrasts is None else moved @ contrasts.T)
    return at.b, moved.T @ moved, np.square(squares.sum(axis=0)) / np.maximum(np.square(squares).sum(axis=0), TINY)


def angles(c: Array, C: Array, freedom: Array | float, rows: Array | None = None) -> tuple[Array, Array, Array]:
    """Return low and high (k,) for the entries of the unit vector of which c, with covariance C, is a multiple.

    Of the k - 1 directions across, one is in the angle of an entry; the others make c longer than its mean. rows
    (q, k): for their products with the unit vector instead (q,). Third, standard errors of entries of c, or products.
    """
    lengths = np.ones(len(c)) if rows is None else np.linalg.norm(rows, axis=1)
    axes = np.eye(len(c)) if rows is None else rows / np.maximum(lengths, TINY)[:, None]
    length = float(np.linalg.norm(c))
    u = c / length
    P = np.eye(len(c)) - np.outer(u, u)
    spread = P @ C @ P
    across = np.maximum(np.einsum("ij,ij->i", axes @ spread, axes), 0.0)
    others = max(float(spread.trace()), 0.0) * (len(c) - 2) / (len(c) - 1)
    mean = np.sqrt(max(length**2 - others, TINY))
    angle = np.arccos(np.clip(axes @ c / mean, -1.0, 1.0))
    sine = np.sqrt(across / np.maximum(1.0 - (axes @ u) ** 2, TINY)) * stdtrit(np.maximum(freedom, 1.0), LEVEL) / mean
    reach = np.where(sine < 1.0, np.arcsin(np.minimum(sine, 1.0)), np.pi)
    low, high = np.cos(np.minimum(angle + reach, np.pi)), np.cos(np.maximum(angle - reach, 0.0))
    return low * lengths, high * lengths, np.sqrt(across) * lengths

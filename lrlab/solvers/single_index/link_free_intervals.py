r"""95% intervals for the entries of a direction b that is refined together with its link, or why there are none.

With an index z_i = <x_i, b>, log-odds eta and p_i the probability of a response 1, b minimizes the loss on the sphere.
Let psi_i = eta'(z_i) (y_i - p_i), h_i = eta'(z_i)^2 p_i (1 - p_i), x~_i = x_i - E[x | z_i] (linear in z for elliptical
x), and lambda = sum psi_i z_i, the multiplier of the constraint: sum psi_i x_i = lambda b. Unless p is a small part of
n, b behaves as the ground truth, shrunk by a factor, plus normal noise, both of which the data show (Bellec 2022,
"Observable adjustments in single-index models for regularized M-estimators"; Sawaya, Uematsu & Imaizumi 2023,
"High-dimensional single-index models: link estimation and marginal inference"): with the leverages

    l_i = h_i x~_i^T (sum h x~ x~^T + lambda)^+ x~_i,    v = sum h_i (1 - l_i)

c = b + (lambda / v) Omega b is the ground truth times a factor, and normal with the covariance
C = (sum psi_i^2 / v^2) Omega, Omega the inverse covariance of x; with few entries and many rows C is the covariance of
the efficient score (Hardle, Hall & Ichimura 1993, "Optimal smoothing in single-index models"). An entry of the unit
vector is the cosine of an angle, and all angles are in its interval whose ray is not further from c than q standard
errors (Fieller 1954, "Some problems in interval estimation"), which stays true if the error is large.

If links are steep few rows decide: (sum h)^2 / sum h^2 of them carry information, less the parameters of the link, and
q is Student's t for the uncertainty of C. Columns that are far from normal are not elliptical: then E[x | z] is a fit
of the link's own functions to each column, and C the sandwich of squared scores, each over 1 - l_i (MacKinnon & White
1985, HC3), which takes several informative rows per entry. Intervals are too short for links that jump.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit, stdtrit

from lrlab.arrays import Array, Intervals
from lrlab.linalg import DAMPING, tangent_inverse
from lrlab.solvers.single_index.index_links import LogOdds

TINY = np.finfo(float).tiny
MOST_ENTRIES, FEWEST_ANSWERS, FEWEST_SCORES = 500, 100, 6.0
"""Above it the matrices outgrow the method; fewer responses, or deciding ones, tell too little about the spread."""
RARE, RARE_PER_ENTRY = 0.1, 2.5
"""Responses of one kind are rare below this rate, and then so many of them are needed per entry."""
WEAK, WEAK_PER_ENTRY = 0.8, 7
"""A link that leaves so much of the entropy of unseen responses may be an accident of so few responses per entry."""
DECIDING_PER_ENTRY, MOST_TURNING = 10.0, 0.05
"""With columns that are not normal, fewer deciding responses per entry, or links that turn more, are not enough."""
NORMAL_KURTOSIS, SPHERICAL = 0.5, 3.0
"""Excess kurtosis, and standard errors of a covariance, within which columns pass for normal and independent ones."""
MOST_CONDITION, COARSE = 1000.0, 0.3
"""Largest condition number of the columns' correlations; largest change of the log-odds between values of the index."""


class Scores(NamedTuple):
    """Of k entries b: centered rows (n, k), index (n,), weights p (1 - p), errors y - p and slopes of the log-odds."""

    b: Array
    rows: Array
    z: Array
    weights: Array
    errors: Array
    slope: Array

    @property
    def psi(self) -> Array:
        """The scores (n,)."""
        return self.slope * self.errors

    @property
    def h(self) -> Array:
        """The Fisher information of each row (n,)."""
        return self.slope * self.slope * self.weights

    @property
    def multiplier(self) -> float:
        """The multiplier of the unit length, at least 0."""
        return max(0.0, float(self.psi @ (self.rows @ self.b)))


def intervals(
    X: Array,
    answers: Array,
    b: Array,
    link: LogOdds,
    held_out: float,
    *,
    minimal: bool = True,
    rows: Array | None = None,
) -> Intervals:
    """Return intervals for a unit vector b (p,) that is the best direction under a link.

    X (n, p); answers (n,) in {0, 1}; held_out: mean loss of unseen responses; minimal: whether b is that direction, or
    will be. rows (q, p): of a dense b, whose products with it have the intervals. Entries of zero have none, nor has an
    entry of a chosen support that is not clearly larger than what chance would choose.
    """
    none, support = np.full(len(b if rows is None else rows), np.nan), b != 0
    k, normal = int(support.sum()), True
    refusal = too_small(k, answers, held_out)
    if not minimal:
        refusal = "the direction is not the best one under its link"
    if not refusal:
        own, z = X[:, support], X @ b
        eta, slope = link(z)
        chance = expit(eta)
        at = Scores(b[support], own - own.mean(axis=0), z, chance * (1.0 - chance), answers - chance, slope)
        refusal, normal = unfit(at)
    if refusal:
        return Intervals(none, none, f"No intervals: {refusal}.")
    rows = None if rows is None else rows[:, support]
    center, C, freedom = adjusted(at, link.parameters) if normal else sandwich(at, link, rows)
    low, high, error = angles(center, C, freedom, rows)
    estimate = at.b if rows is None else rows @ at.b
    if np.any((estimate < low - 1e-9) | (estimate > high + 1e-9)):
        return Intervals(none, none, "No intervals: the errors of the direction are too large and too unequal.")
    if rows is not None:
        return Intervals(low, high, "")
    # The largest of p normal numbers has about sqrt(2 log p) standard deviations: smaller ones may be chance.
    doubtful = (k < len(b)) & (np.abs(center) < (np.sqrt(2.0 * np.log(len(b))) + 1.0) * error)
    low[doubtful] = high[doubtful] = np.nan
    ends = none, none.copy()
    ends[0][support], ends[1][support] = low, high
    left = "Intervals: only for entries that are clearly not chosen at random." if k < len(b) else ""
    return Intervals(*ends, left)


def too_small(k: int, answers: Array, held_out: float) -> str:
    """Return why responses (n,), whose link has this mean loss on unseen ones, are too few for k entries, or ""."""
    n, rare = len(answers), int(min(answers.sum(), len(answers) - answers.sum()))
    if k < 2:
        return "a single entry is 1 or -1"
    if k > MOST_ENTRIES:
        return f"they are for at most {MOST_ENTRIES} entries, this has {k}"
    if n < max(FEWEST_ANSWERS, k + 3):
        return f"{n} responses are too few for {k} entries, at least max({FEWEST_ANSWERS}, {k} + 3) are needed"
    if rare < RARE * n and rare < RARE_PER_ENTRY * k:
        return f"only {rare} responses belong to the rarer kind, less than {RARE_PER_ENTRY:g} for each of {k} entries"
    rate = rare / n
    entropy = -(rate * np.log(max(rate, TINY)) + (1.0 - rate) * np.log1p(-rate))
    if n < WEAK_PER_ENTRY * k and held_out > WEAK * entropy:
        fraction = max(0.0, 1.0 - held_out / max(entropy, TINY))
        words = f"the link predicts {fraction:.0%} of the information in unseen responses"
        return f"{words}, which takes at least {WEAK_PER_ENTRY} responses per entry, this has {n / k:.3g}"
    return ""


def unfit(at: Scores) -> tuple[str, bool]:
    """Return the reason to refuse intervals, or nothing; and whether the columns pass for normal ones."""
    (n, k), h = at.rows.shape, at.h
    if float(h.sum()) < 1e-12:
        return "the link is flat at all responses", True
    deciding = effective(np.square(at.psi))
    if deciding < FEWEST_SCORES:
        return f"about {deciding:.0f} responses determine the direction, too few to tell its error", True
    sizes = np.linalg.norm(at.rows, axis=0)
    values = np.linalg.eigvalsh((at.rows.T @ at.rows) / np.outer(sizes, sizes)) if sizes.all() else np.zeros(1)
    if not values[-1] < MOST_CONDITION * values[0]:
        return "a column is nearly a combination of others (of your data and a dense b take scaling=whitened)", True
    values, places = np.unique(at.z.round(9), return_inverse=True)
    if len(values) < n / 2:
        steps = np.gradient(values)[places] if len(values) > 1 else np.full(n, np.inf)
        if float((h * np.abs(at.slope) * steps).sum() / h.sum()) > COARSE:
            return f"the index has {len(values)} values only, between which the link is not seen", True
    square = np.square(at.rows)
    kurtosis = float(np.mean(np.mean(square * square, axis=0) / np.mean(square, axis=0) ** 2)) - 3.0
    if abs(kurtosis) < NORMAL_KURTOSIS + 4.0 * np.sqrt(24.0 / (n * k)):
        return "", True
    rising = float(h @ (at.slope > 0)) / float(h.sum())
    if MOST_TURNING < rising < 1.0 - MOST_TURNING:
        return "columns are far from normal and the link is not monotone: another direction may fit better", False
    informative = min(effective(h), deciding)
    if informative < DECIDING_PER_ENTRY * k:
        words = f"columns are far from normal (excess kurtosis {kurtosis:.2g})"
        return f"{words}, and only about {informative:.0f} responses determine the direction", False
    return "", False


def effective(weights: Array) -> float:
    """Return by how many equal weights these (n,) could be replaced."""
    return float(weights.sum()) ** 2 / max(float(weights @ weights), TINY)


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
    freedom = 1.0 / (1.0 / effective(psi * psi) + 3.0 * k / informative**2)
    return at.b + multiplier / v * (omega @ at.b), C, freedom


def precision(rows: Array) -> Array:
    """Return the inverse covariance of centered rows (n, k).

    A multiple of the identity if it passes for one: by John's test of all entries together (Ledoit & Wolf 2002, "Some
    hypothesis tests for the covariance matrix when the dimension is large compared to the sample size"), and by the
    largest difference, which shows a single pair of columns.
    """
    n, k = rows.shape
    S = rows.T @ rows / n
    variance = S.trace() / k
    apart = np.square(S / variance - np.eye(k)) * n / (1.0 + np.eye(k))
    together = (float((apart * (1.0 + np.eye(k))).sum()) / k - k - 1.0) / 2.0
    if together < SPHERICAL and np.sqrt(apart.max()) < np.sqrt(4.0 * np.log(k)) + SPHERICAL - 1.0:
        return np.eye(k) / variance
    return np.linalg.inv(S) * max(n - k - 1.0, 1.0) / n


def sandwich(at: Scores, link: LogOdds, contrasts: Array | None = None) -> tuple[Array, Array, Array]:
    """Return the same from the sandwich of scores, less the parts of the columns that the link's functions explain."""
    steep, functions = at.slope[:, None] * at.rows, link.functions(at.z)
    gram = (functions.T * at.weights) @ functions + link.penalty
    gram += DAMPING**2 * gram.trace() * np.eye(len(gram))
    rest = steep - functions @ np.linalg.solve(gram, (functions.T * at.weights) @ steep)
    inverse = tangent_inverse((rest * at.weights[:, None]).T @ rest + at.multiplier * np.eye(len(at.b)), at.b)
    moved = rest @ inverse
    leverage = np.minimum(at.weights * np.einsum("ij,ij->i", moved, rest), 0.999)
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
    sine = np.sqrt(across / np.maximum(1.0 - (axes @ u) ** 2, TINY)) * stdtrit(np.maximum(freedom, 1.0), 0.975) / mean
    reach = np.where(sine < 1.0, np.arcsin(np.minimum(sine, 1.0)), np.pi)
    low, high = np.cos(np.minimum(angle + reach, np.pi)), np.cos(np.maximum(angle - reach, 0.0))
    return low * lengths, high * lengths, np.sqrt(across) * lengths

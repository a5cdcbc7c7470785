r"""95% intervals for the entries of a direction b that is refined together with its link, or why there are none.

With an index z_i = <x_i, b>, log-odds eta and p_i the probability of a response 1, b minimizes the loss on the sphere.
Let psi_i = eta'(z_i) (y_i - p_i), h_i = eta'(z_i)^2 p_i (1 - p_i), x~_i = x_i - E[x | z_i] (linear in z for elliptical
x), and lambda = sum psi_i z_i, the multiplier of the constraint: sum psi_i x_i = lambda b. Unless p is a small part of
n, b behaves as the ground truth, shrunk by a factor, plus normal noise; the data show both (Bellec 2022,
"Observable adjustments in single-index models for regularized M-estimators"; Sawaya, Uematsu & Imaizumi 2023,
"High-dimensional single-index models: link estimation and marginal inference"): with the leverages

    l_i = h_i x~_i^T (sum h x~ x~^T + lambda)^+ x~_i,    v = sum h_i (1 - l_i)

c = b + (lambda / v) Omega b is the ground truth times a factor, and normal with the covariance
C = (sum psi_i^2 / v^2) Omega, Omega the inverse covariance of x; with few entries and many rows C is the covariance of
the efficient score (Hardle, Hall & Ichimura 1993, "Optimal smoothing in single-index models"). An entry of the unit
vector is the cosine of an angle, and all angles are in its interval whose ray is not further from c than q standard
errors (Fieller 1954, "Some problems in interval estimation"), which stays true if the error is large. If links are
steep few rows decide: (sum h)^2 / sum h^2 of them carry information, less the parameters of the link, and q is
Student's t. Columns that are far from normal are not elliptical: then E[x | z] is a fit of the link's splines to each
column, and C the sandwich of squared scores, each over 1 - l_i (MacKinnon & White 1985, HC3), which takes more of such
rows. Intervals are too short for links that jump.
"""

import numpy as np
from scipy.special import expit, stdtrit

from lrlab.arrays import Array, Intervals
from lrlab.linalg import tangent_inverse
from lrlab.solvers.single_index.index_links import expanded, regular_inverse
from lrlab.solvers.single_index.link_free_steps import TINY, Data, Step


def intervals(data: Data, one: Step) -> Intervals:
    """Return intervals for the direction of a step, or for its products with the rows of `contrasts` (q, p).

    Entries of zero have none, nor has an entry of a chosen support that is not clearly larger than what chance would
    choose.
    """
    b, contrasts = one.at.b, data.contrasts
    none, support = np.full(len(b if contrasts is None else contrasts), np.nan), b != 0
    k = int(support.sum())
    axes = np.eye(k) if contrasts is None else contrasts[:, support]
    refusal, normal = too_small(data, one, k), True
    if not refusal:
        rows = data.X[:, support] - data.X[:, support].mean(axis=0)
        refusal, normal = unfit(data, one, rows)
    if refusal:
        return Intervals(none, none, f"No intervals: {refusal}.")
    c, C, freedom = spread(data, one, rows, axes, elliptical=normal)
    low, high, error = angles(c, C, freedom, axes)
    if np.any((axes @ b[support] < low - 1e-9) | (axes @ b[support] > high + 1e-9)):
        return Intervals(none, none, "No intervals: the errors of the direction are too large and too unequal.")
    if contrasts is not None:
        return Intervals(low, high)
    # The largest of p normal numbers has about sqrt(2 log p) standard deviations: smaller ones may be chance.
    doubtful = (k < len(b)) & (np.abs(c) < (np.sqrt(2.0 * np.log(len(b))) + 1.0) * error)
    low[doubtful] = high[doubtful] = np.nan
    ends = none, none.copy()
    ends[0][support], ends[1][support] = low, high
    return Intervals(*ends, "Intervals: only for entries that are clearly not chosen at random." if k < len(b) else "")


def too_small(data: Data, one: Step, k: int) -> str:
    """Return why the responses are too few for k entries, or ""."""
    n, ones = len(data.answers), int(data.answers.sum())
    rare = min(ones, n - ones)
    if k < 2:
        return "a single entry is 1 or -1"
    # More would make the matrices too large.
    if k > 500:
        return f"they are for at most 500 entries, this has {k}"
    if n < max(100, k + 3):
        return f"{n} responses are too few for {k} entries, at least max(100, {k} + 3) are needed"
    if rare < min(0.1 * n, 2.5 * k):
        return f"only {rare} responses belong to the rarer kind, less than 2.5 for each of {k} entries"
    unexplained = one.unexplained(data)
    if n < 7 * k and unexplained > 0.8:
        words = f"the link predicts {max(0.0, 1.0 - unexplained):.0%} of the information in unseen responses"
        return f"{words}, which takes at least 7 responses per entry, this has {n / k:.3g}"
    if one.pursuing:
        return "the support may still change, more iterations settle it"
    return "" if one.is_short else "the direction is not the best one under its link"


def unfit(data: Data, one: Step, rows: Array) -> tuple[str, bool]:
    """Return why the centered rows (n, k) do not suit intervals, or "", and whether they pass for normal."""
    (n, k), h, slope = rows.shape, one.h, one.link(one.at.z)[1]
    deciding = float(effective(np.square(one.psi)))
    if float(h.sum()) < 1e-12:
        return "the link is flat at all responses", True
    if deciding < 6.0:
        return f"about {deciding:.0f} responses determine the direction, too few to tell its error", True
    sizes = np.linalg.norm(rows, axis=0)
    values = np.linalg.eigvalsh((rows.T @ rows) / np.outer(sizes, sizes)) if sizes.all() else np.zeros(1)
    if not values[-1] < 1000.0 * values[0]:
        return "a column is nearly a combination of others (of your data and a dense b take scaling=whitened)", True
    different = len(np.unique(one.at.z.round(9)))
    if different < n / 2:
        return f"the index has {different} values only, and the data say nothing about the link between them", True
    square = np.square(rows)
    kurtosis = float(np.mean(np.mean(square * square, axis=0) / np.mean(square, axis=0) ** 2)) - 3.0
    # Its standard deviation is sqrt(24 / (n k)) for normal columns.
    if abs(kurtosis) < 0.5 + 4.0 * np.sqrt(24.0 / (n * k)):
        return "", True
    words = f"columns are far from normal (excess kurtosis {kurtosis:.2g})"
    if kurtosis > 10.0:
        return f"{words}, with tails too heavy for them", False
    if 0.05 < float(h @ (slope > 0)) / float(h.sum()) < 0.95:
        return "columns are far from normal and the link is not monotone: another direction may fit better", False
    informative = min(float(effective(h)), deciding)
    few = f"{words}, and only about {informative:.0f} responses determine the direction"
    skewness = float(np.mean(np.mean(square * rows, axis=0) ** 2 / np.mean(square, axis=0) ** 3))
    # With 40 deciding responses per entry, intervals of skewed columns held .87 to .90.
    return few if informative < (60.0 if skewness > 0.3 else 10.0) * k else "", False


def effective(weights: Array) -> Array:
    """Return how many equal weights could replace these (n,), or those of each column (n, q)."""
    return np.square(weights.sum(axis=0)) / np.maximum(np.square(weights).sum(axis=0), TINY)


def spread(data: Data, one: Step, rows: Array, axes: Array, *, elliptical: bool) -> tuple[Array, Array, Array]:
    """Return c (k,), its covariance (k, k), and degrees of freedom of axes (q, k), from centered rows (n, k).

    Less E[x | z], which is linear in z for elliptical x, and otherwise a fit of the link's splines.
    """
    b, h, psi, (eta, slope, _) = one.at.b[one.at.b != 0], one.h, one.psi, one.link(one.at.z)
    yes, z, steep = expit(eta), rows @ b, slope[:, None] * rows
    weights = yes * (1.0 - yes)
    if elliptical:
        rest = steep - np.outer(slope * z, z @ rows / max(float(z @ z), TINY))
    else:
        B = expanded(np.eye(19), one.at.z)[0]
        rest = steep - B @ (regular_inverse((B.T * weights) @ B + one.link.bend()) @ ((B.T * weights) @ steep))
    multiplier = max(0.0, float(psi @ z))
    moved = rest @ tangent_inverse((rest * weights[:, None]).T @ rest + multiplier * np.eye(len(b)), b)
    leverages = weights * np.einsum("ij,ij->i", moved, rest)
    if not elliptical:
        moved *= ((data.answers - yes) / (1.0 - np.minimum(leverages, 0.999)))[:, None]
        # Of heavy-tailed columns few rows decide the error of an entry.
        return b, moved.T @ moved, effective(np.square(moved @ axes.T))
    v, informative, (n, k) = float(h @ (1.0 - leverages)), float(effective(h)), rows.shape
    # The inverse of a sample covariance is too large on average.
    omega = np.linalg.inv(rows.T @ rows) * max(n - k - 1.0, 1.0)
    lost = informative / max(informative - one.link.parameters, 1.0)
    # Of few informative rows the leverages, k / informative, and with them v, are uncertain, too.
    freedom = 1.0 / (1.0 / effective(np.square(psi)) + 3.0 * k / informative**2)
    return b + multiplier / v * (omega @ b), float(psi @ psi) * lost / v**2 * omega, np.array(freedom)


def angles(c: Array, C: Array, freedom: Array | float, axes: Array) -> tuple[Array, Array, Array]:
    """Return low and high (q,) for the products of axes (q, k) with the unit vector along c.

    C (k, k): the covariance of c. Of the k - 1 directions across, one is in the angle of an entry; the others make c
    longer than its mean. Third, standard errors of the products with c.
    """
    lengths, length = np.linalg.norm(axes, axis=1), float(np.linalg.norm(c))
    u, axes = c / length, axes / np.maximum(lengths, TINY)[:, None]
    P = np.eye(len(c)) - np.outer(u, u)
    spread = P @ C @ P
    error = np.sqrt(np.maximum(np.einsum("ij,ij->i", axes @ spread, axes), 0.0))
    mean = np.sqrt(max(length**2 - max(float(spread.trace()), 0.0) * (len(c) - 2) / (len(c) - 1), TINY))
    angle = np.arccos(np.clip(axes @ c / mean, -1.0, 1.0))
    sine = error / np.sqrt(np.maximum(1.0 - (axes @ u) ** 2, TINY)) * stdtrit(np.maximum(freedom, 1.0), 0.975) / mean
    reach = np.where(sine < 1.0, np.arcsin(np.minimum(sine, 1.0)), np.pi)
    low, high = np.cos(np.minimum(angle + reach, np.pi)), np.cos(np.maximum(angle - reach, 0.0))
    return low * lengths, high * lengths, error * lengths

r"""Steps of link-free refinement, Newton's on the sphere, and intervals for their last direction.

At a unit b under log-odds eta, with p_i = P(y_i = 1), psi_i = eta'(z_i) (y_i - p_i) and h_i = eta'(z_i)^2 p_i (1 - p_i)
the Newton step D solves (P H P + m) D = P X^T psi on the tangent space of the sphere, H = X^T diag(h) X, m = <b, X^T
psi>; without row i it moves the index z_i by (x_i^T D - l_i psi_i) / (1 - h_i l_i), l_i = x_i^T (P H P + m)^{-1} x_i.

Intervals are 95% intervals for the entries of b. Let x~_i = x_i - E[x | z_i], linear in z for elliptical
x, and lambda = sum psi_i z_i, the multiplier of the constraint: sum psi_i x_i = lambda b. Unless p is a small part of
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
Student's t. Skewed or heavy-tailed columns, for which E[x | z] bends, have none. Intervals are too short for links that
jump.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import entr, expit, stdtrit

from lrlab.arrays import Array, Intervals, Mask
from lrlab.linalg import hard_threshold, length, tangent_inverse, unit
from lrlab.solvers.single_index.index_links import LogOdds

TINY = np.finfo(float).tiny


class Data(NamedTuple):
    """Rows X (n, p), responses (n,) in {0, 1}, the number s of entries of a direction, and `Problem.contrasts`."""

    X: Array
    answers: Array
    s: int
    contrasts: Array | None = None

    def loss(self, eta: Array) -> float:
        """Return the summed loss -log P(y_i) = log(1 + exp(eta_i)) - y_i eta_i of log-odds (n,)."""
        return float(np.logaddexp(0.0, eta).sum() - self.answers @ eta)


class Direction(NamedTuple):
    """A vector b (p,), its index X b (n,), and held_out (n,): the index of each row under a b without that row."""

    b: Array
    z: Array
    held_out: Array


def scaled(b: Array, z: Array, held_out: Array) -> Direction:
    """Return the direction along b (p,), with its indices."""
    size = length(b) + TINY
    return Direction(b / size, z / size, held_out / size)


class Step(NamedTuple):
    """A direction, its link and summed loss, and the end of the Newton step from there, whose b is not scaled.

    ascent (p,): minus the gradient of the loss, X^T psi. unsettled: 1 while the support may still change, .01 while
    links compete, as a direction that stands still under one of them may move under the next.
    """

    at: Direction
    link: LogOdds
    loss: float
    end: Direction
    ascent: Array
    psi: Array
    h: Array
    unsettled: float = 0.0

    @classmethod
    def of(cls, data: Data, at: Direction, link: LogOdds, support: Mask, *, exact: bool = False) -> "Step":
        """Return the step to the minimum over the entries of a support (p,).

        exact: with the second derivatives of the losses instead of h, if those lead downhill.
        """
        own, y, b = data.X if support.all() else data.X[:, support], data.answers, at.b[support]
        eta, slope, bend = link(at.z)
        yes, z = expit(eta), own @ b
        psi, h = slope * (y - yes), slope * slope * yes * (1.0 - yes)
        ascent = data.X.T @ psi
        # The entries that leave pull, too.
        right = ascent[support] + own.T @ (h * (at.z - z))
        # The least multiplier keeps a flat link in place.
        multiplier = max(0.0, float(at.b @ ascent)) + 1e-12 * (np.abs(ascent).max() + 1.0)
        m = multiplier * np.eye(len(b))
        inverse = tangent_inverse((own.T * h) @ own + m, unit(b))
        D = inverse @ right
        if exact:
            newton = tangent_inverse((own.T * (h - bend * (y - yes))) @ own + m, unit(b)) @ right
            D = newton if newton @ right > 0 else D
        leverages, along = np.einsum("ij,ij->i", own @ inverse, own), own @ D
        # A row leaves at least a twentieth of its information to the others.
        held_out = z + (along - leverages * psi) / np.maximum(1.0 - h * leverages, 0.05)
        end = np.zeros(len(at.b))
        end[support] = b + D
        return cls(at, link, data.loss(eta), Direction(end, z + along, held_out), ascent, psi, h)

    @property
    def length(self) -> float:
        """Length of the step."""
        return length(self.end.b - self.at.b)

    @property
    def is_short(self) -> bool:
        """Whether the step is small against the error of the direction."""
        # The error is about the square root of the number of entries over the summed information.
        return self.length * math.sqrt(self.h.sum()) < 0.05 * math.sqrt(np.count_nonzero(self.at.b))

    def held_out(self, data: Data) -> float:
        """Return the summed loss of responses held out of the index, and, by what chance gains, of the link."""
        return data.loss(self.link(self.at.held_out)[0]) + self.link.parameters

    def unexplained(self, data: Data) -> float:
        """Return that loss as a fraction of the entropy of the responses."""
        rate = float(data.answers.mean())
        return self.held_out(data) / (len(data.answers) * float(entr(rate) + entr(1.0 - rate)) + TINY)

    def moved(self, data: Data) -> Direction:
        """Return the direction after the step, halved until the loss does not grow."""
        # Beyond half a radian a quadratic model says nothing.
        for t in min(1.0, 0.5 / (self.length + TINY)) / 2.0 ** np.arange(8):
            trial = scaled(*((1.0 - t) * one + t * other for one, other in zip(self.at, self.end, strict=True)))
            if data.loss(self.link(trial.z)[0]) <= self.loss * (1.0 + 1e-12) + 1e-12:
                return trial
        return self.at

    def pursued(self, data: Data) -> tuple[Direction, bool]:
        r"""Return the next direction, on the wanted entries if that is better, and whether it is (Foucart 2011).

        Every coordinate is an isotropic Gaussian one, so that h, the summed information, is the curvature along each:
        by itself, entry j is best at b_j + g_j / h and saves h (b_j + g_j / h)^2 / 2. The s entries that save most are
        wanted, if they save their price: the gain that makes an entry more likely in than out, when s of p entries,
        drawn with the variance 1/s, are in, log((p - s) / s) + log(1 + h / s) / 2.
        """
        b, g, h, moved = self.at.b, self.ascent, float(self.h.sum()) + TINY, self.moved(data)
        p, s = len(b), data.s
        price = max(0.0, math.log((p - s) / s) + math.log1p(h / s) / 2.0)
        alone = np.abs(b + (g - b * (b @ g)) / h)
        wanted = (hard_threshold(alone, s) != 0) & (h * alone**2 / 2.0 > price)
        if not wanted.any() or (wanted == (b != 0)).all():
            return moved, False
        trial = scaled(*Step.of(data, self.at, self.link, wanted).end)
        costs = [data.loss(self.link(one.z)[0]) + price * np.count_nonzero(one.b) for one in (trial, moved)]
        return (trial, True) if costs[0] < costs[1] - 1e-12 else (moved, False)


def intervals(data: Data, one: Step) -> Intervals:
    """Return intervals for the direction of a step, or for its products with the rows of `contrasts` (q, p).

    Entries of zero have none, nor has an entry of a chosen support that is not clearly larger than what chance would
    choose.
    """
    b, contrasts, support = one.at.b, data.contrasts, one.at.b != 0
    k, none = int(support.sum()), np.full(len(b if contrasts is None else contrasts), np.nan)
    axes = np.eye(k) if contrasts is None else contrasts[:, support]
    rows = data.X[:, support] - data.X[:, support].mean(axis=0)
    if refusal := why_none(data, one, rows):
        return Intervals(none, none, f"No intervals: {refusal}.")
    c, C, freedom = spread(one, rows)
    low, high, error = angles(c, C, freedom, axes)
    if np.any((axes @ b[support] < low - 1e-9) | (axes @ b[support] > high + 1e-9)):
        return Intervals(none, none, "No intervals: the errors of the direction are too large and too unequal.")
    if contrasts is not None:
        return Intervals(low, high)
    # The largest of p normal numbers has about sqrt(2 log p) standard deviations: smaller ones may be chance.
    doubtful = (k < len(b)) & (np.abs(c) < (np.sqrt(2.0 * np.log(len(b))) + 1.0) * error)
    ends = none, none.copy()
    ends[0][support], ends[1][support] = np.where(doubtful, np.nan, [low, high])
    return Intervals(*ends, "Intervals: only for entries that are clearly not chosen at random." if k < len(b) else "")


def why_none(data: Data, one: Step, rows: Array) -> str:
    """Return the reason why entries of centered rows (n, k) have no intervals, "" if they have."""
    (n, k), ones, deciding = rows.shape, int(data.answers.sum()), effective(np.square(one.psi))
    rare = min(ones, n - ones)
    if k < 2:
        return "a single entry is 1 or -1"
    # More would make the matrices too large.
    if k > 500:
        return f"they are for at most 500 entries, this has {k}"
    if n < (least := max(100, k + 3)):
        return f"{n} responses are too few for {k} entries, at least {least} are needed"
    if rare < min(0.1 * n, 2.5 * k):
        return f"only {rare} responses belong to the rarer kind, less than 2.5 for each of {k} entries"
    if n < 7 * k and (unexplained := one.unexplained(data)) > 0.8:
        words = f"the link predicts {max(0.0, 1.0 - unexplained):.0%} of the information in unseen responses"
        return f"{words}, which takes at least 7 responses per entry, this has {n / k:.3g}"
    if one.unsettled == 1.0:
        return "the support may still change, more iterations settle it"
    if not one.is_short:
        return "the direction is not the best one under its link"
    if float(one.h.sum()) < 1e-12:
        return "the link is flat at all responses"
    if deciding < 6.0:
        return f"about {deciding:.0f} responses determine the direction, too few to tell its error"
    sizes = np.linalg.norm(rows, axis=0)
    values = np.linalg.eigvalsh((rows.T @ rows) / np.outer(sizes, sizes)) if sizes.all() else np.zeros(1)
    if not values[-1] < 1000.0 * values[0]:
        return "a column is nearly a combination of others (of your data and a dense b take scaling=whitened)"
    if (different := len(np.unique(one.at.z.round(9)))) < n / 2:
        return f"the index has {different} values only, and the data say nothing about the link between them"
    # Products: powers of arrays take ten times as long, as long as the rest of an iteration.
    rows = rows / rows.std(axis=0)
    square = rows * rows
    skewness = float(np.mean(np.mean(square * rows, axis=0) ** 2))
    kurtosis = float(np.mean(square * square)) - 3.0
    rising = float(one.h @ (one.link(one.at.z)[1] > 0)) / float(one.h.sum())
    # Under a link that turns, another direction may fit columns better that differ more from normal ones than chance.
    most = 0.5 + 4.0 * np.sqrt(24.0 / (n * k)) if 0.05 < rising < 0.95 else 5.0
    if skewness > 0.3 or abs(kurtosis) > most:
        return f"columns are far from normal (mean squared skewness {skewness:.2g}, excess kurtosis {kurtosis:.2g})"
    return ""


def effective(weights: Array) -> float:
    """Return how many equal weights could replace these (n,)."""
    return float(weights.sum()) ** 2 / max(float(weights @ weights), TINY)


def spread(one: Step, rows: Array) -> tuple[Array, Array, float]:
    """Return c (k,), its covariance (k, k), and the degrees of freedom of its scale, from centered rows (n, k)."""
    b, h, psi, (n, k) = one.at.b[one.at.b != 0], one.h, one.psi, rows.shape
    z, informative = rows @ b, effective(h)
    rest = rows - np.outer(z, z @ rows / max(float(z @ z), TINY))
    multiplier = max(0.0, float(psi @ z))
    inverse = tangent_inverse((rest.T * h) @ rest + multiplier * np.eye(k), b)
    v = float(h @ (1.0 - h * np.einsum("ij,ij->i", rest @ inverse, rest)))
    # The inverse of a sample covariance is too large on average.
    omega = np.linalg.inv(rows.T @ rows) * max(n - k - 1.0, 1.0)
    lost = informative / max(informative - one.link.parameters, 1.0)
    # Of few informative rows the leverages, k / informative, and with them v, are uncertain, too.
    freedom = 1.0 / (1.0 / effective(np.square(psi)) + 3.0 * k / informative**2)
    return b + multiplier / v * (omega @ b), float(psi @ psi) * lost / v**2 * omega, freedom


def angles(c: Array, C: Array, freedom: float, axes: Array) -> tuple[Array, Array, Array]:
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
    sine = error / np.sqrt(np.maximum(1.0 - (axes @ u) ** 2, TINY)) * stdtrit(max(freedom, 1.0), 0.975) / mean
    reach = np.where(sine < 1.0, np.arcsin(np.minimum(sine, 1.0)), np.pi)
    low, high = np.cos(np.minimum(angle + reach, np.pi)), np.cos(np.maximum(angle - reach, 0.0))
    return low * lengths, high * lengths, error * lengths

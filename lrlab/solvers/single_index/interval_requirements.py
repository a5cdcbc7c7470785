"""What a direction, its link and its data need for 95% intervals; and the scores of the rows."""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from lrlab.arrays import Array
from lrlab.solvers.single_index.index_links import Link

MOST_ENTRIES = 500
"""Above it A would take more time and memory than the method itself."""
LEAST_INFORMATION = 1e-12
"""Less is rounding: the link is flat."""
TINY = np.finfo(float).tiny
FEWEST_ANSWERS = 100
RARE, RARE_PER_ENTRY = 0.1, 2.5
"""Answers of one kind are rare below this share of all, and then so many of them are needed for an entry."""
WEAK, WEAK_PER_ENTRY = 0.8, 7
"""A link that leaves so much of the entropy of unseen answers may be an accident of so few answers an entry."""
FEWEST_SCORES = 6.0
"""Fewer answers that decide tell too little of their own spread."""
DECIDING_PER_ENTRY = 10.0
"""With fewer deciding answers per entry, intervals from columns that are not normal held 88% to 92% of the entries."""
MOST_TURNING = 0.05
"""With more, and columns that are not normal, the best direction is often not reached: intervals held 0% to 92%."""
NORMAL_KURTOSIS, KURTOSIS_ERRORS = 0.5, 4.0
MOST_CONDITION = 1000.0
"""Largest condition number of the columns' correlations: above it intervals held far fewer than 95% of the entries."""
COARSE = 0.3
"""Change of the log-odds between neighbouring values of the index above which they do not show the link."""


class Scores(NamedTuple):
    """Of k entries b: centred rows (n, k), index (n,), weights p (1 - p), errors y - p and slopes of the log-odds."""

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
    def turning(self) -> float:
        """The fraction of the information where the link slopes the rarer way, 0 if it is monotone."""
        rising = float(self.h @ (self.slope > 0)) / max(float(self.h.sum()), TINY)
        return min(rising, 1.0 - rising)

    @property
    def multiplier(self) -> float:
        """The multiplier of the unit length, at least 0."""
        return max(0.0, float(self.psi @ (self.rows @ self.b)))


def too_small(k: int, answers: Array, held_out: float) -> str:
    """Return why answers (n,), whose link has this mean loss on unseen ones, are too few for k entries, or nothing."""
    n, rare = len(answers), int(min(answers.sum(), len(answers) - answers.sum()))
    if k < 2:
        return "a single entry is 1 or -1"
    if k > MOST_ENTRIES:
        return f"they are for at most {MOST_ENTRIES} entries, this has {k}"
    if n < max(FEWEST_ANSWERS, k + 3):
        return f"{n} answers are too few for {k} entries, at least max({FEWEST_ANSWERS}, {k} + 3) are needed"
    if rare < RARE * n and rare < RARE_PER_ENTRY * k:
        return f"only {rare} answers are of the rarer kind, less than {RARE_PER_ENTRY:g} for each of {k} entries"
    share = rare / n
    entropy = -(share * np.log(max(share, TINY)) + (1.0 - share) * np.log1p(-share))
    if n < WEAK_PER_ENTRY * k and held_out > WEAK * entropy:
        words = f"the link predicts {max(0.0, 1.0 - held_out / max(entropy, TINY)):.0%} of what unseen answers tell"
        return f"{words}, which takes at least {WEAK_PER_ENTRY} answers an entry, this has {n / k:.3g}"
    return ""


def scores(rows: Array, answers: Array, z: Array, b: Array, link: Link) -> Scores:
    """Return the scores at an index z (n,); rows (n, k) are centred, which changes the level of the link alone."""
    eta, slope = link(z)
    chance = expit(eta)
    return Scores(b, rows - rows.mean(axis=0), z, chance * (1.0 - chance), answers - chance, slope)


def effective(weights: Array) -> float:
    """Return by how many equal weights these (n,) could be replaced."""
    return float(weights.sum()) ** 2 / max(float(weights @ weights), TINY)


def condition(rows: Array) -> float:
    """Return the condition number of the correlations of centred rows (n, k): inf where they do not have full rank."""
    sizes = np.linalg.norm(rows, axis=0)
    values = np.linalg.eigvalsh((rows.T @ rows) / np.outer(sizes, sizes)) if sizes.all() else np.zeros(1)
    return float(values[-1] / values[0]) if values[0] > 0 else np.inf


def unfit(at: Scores) -> tuple[str, bool]:
    """Return why there are no intervals, or nothing; and whether the columns pass for normal ones."""
    if float(at.h.sum()) < LEAST_INFORMATION:
        return "the link is flat at all answers", True
    deciding = effective(np.square(at.psi))
    if deciding < FEWEST_SCORES:
        return f"about {deciding:.0f} answers decide the direction, too few to tell its error", True
    if not condition(at.rows) < MOST_CONDITION:
        return (
            "a column is nearly a combination of others (of own data and a dense direction take scaling=whitened)",
            True,
        )
    values, places = np.unique(at.z.round(9), return_inverse=True)
    if len(values) < len(at.z) / 2:
        steps = np.gradient(values)[places] if len(values) > 1 else np.full(len(at.z), np.inf)
        if float((at.h * np.abs(at.slope) * steps).sum() / at.h.sum()) > COARSE:
            return f"the index has {len(values)} values only, between which the link is not seen", True
    n, k = at.rows.shape
    square = np.square(at.rows)
    kurtosis = float(np.mean(np.mean(square * square, axis=0) / np.mean(square, axis=0) ** 2)) - 3.0
    normal = abs(kurtosis) < NORMAL_KURTOSIS + KURTOSIS_ERRORS * np.sqrt(24.0 / (n * k))
    if not normal and at.turning > MOST_TURNING:
        return "columns are far from normal and the link is not monotone: another direction may fit better", False
    informative = min(effective(at.h), deciding)
    if not normal and informative < DECIDING_PER_ENTRY * k:
        words = f"columns are far from normal (excess kurtosis {kurtosis:.2g})"
        return f"{words}, and only about {informative:.0f} answers decide the direction", False
    return "", normal

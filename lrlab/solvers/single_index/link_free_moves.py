"""The moves of link-free refinement: a sharper link, steps down, an exchange of entries.

`one_step` and `stepped` move all columns from the direction that all data have given so far. The others differ from it
by no more than a tenth of the data moves it: to first order they are one Newton step from there away, whose gradient
and curvature leave a fold out. The link is then evaluated once for each answer, and not once for each answer and fold.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from lrlab.arrays import Array, Indices, Mask
from lrlab.linalg import hard_threshold
from lrlab.solvers.methods.sphere import DAMPING, exact_directions, normalised, shortened, tangent
from lrlab.solvers.single_index.cross_fitting import CrossFit, Derivatives
from lrlab.solvers.single_index.link_smoothing import IndexLink, LogOdds, loss

HALVINGS = 8
# What rounding may add to a sum of losses, relative to it.
SLACK = 1e-12
MOST_BLUR = 0.8
TINY = np.finfo(float).tiny
MOST_ENTRIES, FEWEST_ROWS = 50, 1000
"""With more entries conjugate gradients on the directions side by side are faster than the curvatures of all folds; of
fewer rows a tenth moves a direction by more than a step to first order can tell."""


class Moved(NamedTuple):
    """Directions B (p, K + 1), their indices X B (n, K + 1) and summed losses (K + 1,)."""

    B: Array
    Z: Array
    loss: Array

    def where(self, mask: Mask, other: "Moved") -> "Moved":
        """Return these columns where the mask (K + 1,) is true, and the other's elsewhere."""
        return Moved(*(np.where(mask, mine, others) for mine, others in zip(self, other, strict=True)))


def sharpened(log_odds: LogOdds, held_out: Array, entries: int) -> LogOdds:
    r"""Return the link of held-out indices (n,), made steeper for the indices of the sample itself.

    Held-out indices scatter about the true ones with the variance v = (entries - 1) / sum h_i of the direction's error,
    h_i = eta'^2 p (1 - p) the curvature of the loss. On fitted indices, which have moved towards their answers, the
    best loss is the one of curvature h / (1 - v h) (Bean, Bickel, El Karoui & Yu 2013, "Optimal M-estimation in
    high-dimensional regression"): all log-odds grow by the square root of that factor, at the mean of h weighted by h.
    It is felt only where the link changes within the error of the direction, as without noise.
    """
    eta, slope = log_odds(held_out)
    chance = expit(eta)
    h = slope * slope * chance * (1.0 - chance)
    share = h / max(float(h.sum()), TINY)
    blur = (entries - 1) * float(share @ share)
    return LogOdds(log_odds.coefficients / np.sqrt(1.0 - min(blur, MOST_BLUR)))


def descended(data: CrossFit, link: IndexLink, now: Moved, step: Array) -> Moved:
    """Return all columns moved along their steps, halved until no loss grows; a column that cannot fall stays."""
    step = shortened(step)
    allowed = now.loss * (1.0 + SLACK) + SLACK
    for _ in range(HALVINGS):
        trial = _at(data, link, now.B + step)
        grown = trial.loss > allowed
        if not grown.any():
            return trial
        step = np.where(grown, step / 2.0, step)
    return now.where(grown, trial)


def exchanged(
    data: CrossFit, link: IndexLink, at: Derivatives, now: Moved, moved: Moved, exchanges: Indices, s: int
) -> tuple[Moved, Indices]:
    r"""Return the columns with a better support where there is one, and how many entries may change next time.

    Every coordinate is an isotropic Gaussian one, so that h = sum of the Fisher weights is the curvature along each:
    alone, b_j + g_j / h would be its best value and h (b_j + g_j / h)^2 / 2 what it saves. The s entries that save most
    are wanted, if they save their price. That of an entry is what it must gain to be more likely in than out, when s of
    p entries, drawn with the variance 1/s, are in: log((p - s) / s) + log(1 + h / s) / 2.
    """
    h = at.weights.sum(axis=0) + TINY
    p, support = len(now.B), now.B != 0
    price = np.maximum(0.0, np.log((p - s) / s) + np.log1p(h / s) / 2.0)
    alone = now.B + tangent(now.B, at.descent) / h
    wanted = (largest(alone, s) != 0) & (h * alone**2 / 2.0 > price)
    support_new = nearer(support, wanted, np.abs(alone), exchanges)
    step = data.newton(at, now.B, support_new, dropped=np.where(support_new, 0.0, now.B))
    # The dropped entries become exact zeros: a sum would leave rounding there.
    trial = _at(data, link, np.where(support_new, now.B + step, 0.0))
    better = trial.loss + price * support_new.sum(axis=0) < moved.loss + price * support.sum(axis=0) - SLACK
    better &= (support_new != support).any(axis=0)
    return trial.where(better, moved), np.where(better, exchanges, exchanges // 2)


def nearer(support: Mask, wanted: Mask, size: Array, most: Indices) -> Mask:
    """Return the support (p, k) with at most `most` (k,) entries let in, largest first, and out, smallest first.

    A column that would be left without entries stays as it was.
    """
    changed = support.copy()
    for column, number in enumerate(most):
        enter = np.flatnonzero(wanted[:, column] & ~support[:, column])
        leave = np.flatnonzero(support[:, column] & ~wanted[:, column])
        changed[enter[np.argsort(-size[enter, column], kind="stable")][:number], column] = True
        changed[leave[np.argsort(size[leave, column], kind="stable")][:number], column] = False
    return np.where(changed.any(axis=0), changed, support)


def _at(data: CrossFit, link: IndexLink, B: Array) -> Moved:
    B = normalised(B)
    Z = data.indices(B)
    return Moved(B, Z, data.losses(Z, link))


def largest(B: Array, s: int) -> Array:
    """Return B with all but the s largest entries of each column set to zero."""
    return B if s >= len(B) else np.stack([hard_threshold(b, s) for b in B.T], axis=1)


def suits_one_step(data: CrossFit) -> bool:
    """Return whether steps from one direction are faster here, and as good while the link is chosen."""
    n, p = data.X.shape
    return p <= MOST_ENTRIES and n >= FEWEST_ROWS


def one_step(data: CrossFit, B: Array, Z: Array, link: IndexLink) -> tuple[Derivatives, Array]:
    """Return loss and weights at the last column, b, and the Newton steps of all columns from there (p, K + 1).

    The steps are tangent to the sphere at b, of F without a fold each. B (p, K + 1), Z = X B.
    """
    b, z = B[:, -1], Z[:, -1]
    eta, slope = link(z)
    e = np.exp(-np.abs(eta))
    chance = np.where(eta > 0, 1.0, e) / (1.0 + e)
    weights, scores = slope * slope * e / np.square(1.0 + e), slope * (data.answers - chance)
    pulls = _without(np.array([scores[rows] @ X for rows, X in data.by_fold])).T
    bends = _without(np.array([(X.T * weights[rows]) @ X for rows, X in data.by_fold]))
    total = float((np.maximum(eta, 0.0) + np.log1p(e) - data.answers * eta).sum())
    at = Derivatives(np.array([total]), pulls, weights[:, None])
    damping = np.maximum(b @ pulls, 0.0) + DAMPING * np.trace(bends, axis1=1, axis2=2) / len(b)
    return at, exact_directions(bends, b, pulls, damping)


def _without(parts: Array) -> Array:
    """Return the sums of all parts (K, ...) but one each, and last the sum of all."""
    total = parts.sum(axis=0, keepdims=True)
    return np.concatenate([total - parts, total])


def stepped(data: CrossFit, link: IndexLink, now: Moved, step: Array) -> Moved:
    """Return all columns at their steps from the last one, halved until its loss no longer grows."""
    b, step = now.B[:, -1:], shortened(step)
    allowed = now.loss[-1] * (1.0 + SLACK) + SLACK
    for _ in range(HALVINGS):
        B = normalised(b + step)
        reached = float(loss(link(data.X @ B[:, -1])[0], data.answers).sum())
        if reached <= allowed:
            return Moved(B, data.indices(B), np.array([reached]))
        step = step / 2.0
    return now

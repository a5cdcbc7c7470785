"""The moves of link-free refinement: a sharper link, a step down, an exchange of entries."""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from lrlab.arrays import Array, Indices, Mask
from lrlab.solvers.methods.sphere import normalised, shortened, tangent
from lrlab.solvers.single_index.cross_fitting import CrossFit, Derivatives
from lrlab.solvers.single_index.link_free_start import largest
from lrlab.solvers.single_index.link_smoothing import IndexLink, LogOdds

HALVINGS = 8
# What rounding may add to a sum of losses, relative to it.
SLACK = 1e-12
MOST_BLUR = 0.8
TINY = np.finfo(float).tiny


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
    total = max(float(h.sum()), TINY)
    blur = (entries - 1) / total * float(h @ h) / total
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

"""Directions without a fold each, by one Newton step from the direction that all data have given so far.

Beside a direction of all data, b, the others differ from it by no more than a tenth of the data moves it: to first
order they are one Newton step from b away, whose gradient and curvature leave a fold out. The link is then evaluated
once for each answer, and not once for each answer and fold.
"""

import numpy as np

from lrlab.arrays import Array
from lrlab.solvers.methods.sphere import DAMPING, exact_directions, normalised, shortened
from lrlab.solvers.single_index.cross_fitting import CrossFit, Derivatives
from lrlab.solvers.single_index.link_free_moves import HALVINGS, SLACK, Moved
from lrlab.solvers.single_index.link_smoothing import IndexLink, loss

MOST_ENTRIES, FEWEST_ROWS = 50, 1000
"""With more entries conjugate gradients on the directions side by side are faster than the curvatures of all folds; of
fewer rows a tenth moves a direction by more than a step to first order can tell."""


def suits(data: CrossFit) -> bool:
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

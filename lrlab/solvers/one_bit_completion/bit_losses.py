"""The loss of bits of a table, given estimates of its entries."""

from lrlab.arrays import Array
from lrlab.models.protocols import BitEntries

CURVATURE = {"probit": 1.0, "logistic": 0.25}
"""Largest second derivative of a bit's loss in its margin."""


def losses(problem: BitEntries, entries: Array) -> tuple[float, Array]:
    """Return the mean loss of the bits at estimates of their entries (m,), and its derivative by each of these."""
    y, width = problem.y, problem.width
    loss, slope, _ = problem.likelihood.derivatives(y * entries / width)
    return float(loss.mean()), y * slope / (width * len(y))


def first_step(problem: BitEntries) -> float:
    """Return 1 over the largest curvature of the mean loss in an entry."""
    return problem.width**2 * len(problem.y) / CURVATURE[problem.likelihood.name]

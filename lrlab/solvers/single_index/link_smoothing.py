r"""Log-odds of a binary answer as a smooth function of one index: a cubic spline on 19 coefficients.

With y in {0, 1} and an index z, P(y = 1 | z) = 1 / (1 + exp(-eta(z))), eta = sum_k c_k B_k a cubic B-spline with
equidistant knots and a penalty on differences of its coefficients (Eilers & Marx 1996, "Flexible smoothing with
B-splines and penalties"). Steep and even links need no fine knots in the log-odds: a
parabola switches the answer twice.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from lrlab.arrays import Array, Indices

# A standard normal index leaves -4..4 once in 16,000 times; beyond, the log-odds go on in a straight line.
EDGE = 4.0
CELLS = 16
WIDTH = 2.0 * EDGE / CELLS
COEFFICIENTS = CELLS + 3
# Powers of t in 0..1 across a cell -> weights of the four cubic B-splines that are not zero there.
CUBIC = np.array([[1.0, -3.0, 3.0, -1.0], [4.0, 0.0, -6.0, 3.0], [1.0, 3.0, 3.0, -3.0], [0.0, 0.0, 0.0, 1.0]]) / 6.0


IndexLink = Callable[[Array], tuple[Array, Array]]
"""Log-odds of an answer and their slope at indices."""


class Smoothness(NamedTuple):
    """A penalty weight * ||Delta^order c||^2 on the coefficients; polynomials of degree order - 1 are free of it."""

    name: str
    order: int
    weight: float

    @property
    def penalty(self) -> Array:
        """The penalty as a matrix (19, 19)."""
        differences = np.diff(np.eye(COEFFICIENTS), self.order, axis=0)
        return self.weight * differences.T @ differences

    @property
    def free(self) -> Array:
        """Coefficients of the polynomials that are not penalised (19, order)."""
        return np.linspace(-1.0, 1.0, COEFFICIENTS)[:, None] ** np.arange(self.order)


POLYNOMIAL = 1e6
"""A weight that leaves the polynomials alone."""
SMOOTHNESS = (
    Smoothness("a straight line", 2, POLYNOMIAL),
    Smoothness("a parabola", 3, POLYNOMIAL),
    Smoothness("a stiff spline (penalty 10)", 3, 10.0),
    Smoothness("a spline (penalty 0.1)", 3, 0.1),
    Smoothness("a flexible spline (penalty 0.001)", 3, 0.001),
)
"""The candidates, the stiffest first; a straight line is the logistic model."""


class LogOdds:
    """The function eta(z) = sum_k c_k B_k(z), c (19,), and its slope; linear beyond -4..4."""

    def __init__(self, coefficients: Array) -> None:
        """Expand the spline in powers of t on each cell."""
        self.coefficients = coefficients
        self._powers = (np.lib.stride_tricks.sliding_window_view(coefficients, 4) @ CUBIC).T.copy()

    def __call__(self, z: Array) -> tuple[Array, Array]:
        """Return eta(z) and eta'(z), both shaped like z."""
        cell, t, beyond = locate(z)
        a, b, c, d = (power.take(cell) for power in self._powers)
        slope = (b + t * (2.0 * c + 3.0 * t * d)) / WIDTH
        return a + t * (b + t * (c + t * d)) + beyond * slope, slope


def locate(z: Array) -> tuple[Indices, Array, Array]:
    """Return the cell 0..15 of each index, its place t in 0..1 there, and how far it lies beyond -4..4."""
    inside = np.clip(z, -EDGE, EDGE)
    scaled = (inside + EDGE) / WIDTH
    cell = np.minimum(scaled.astype(np.intp), CELLS - 1)
    return cell, scaled - cell, z - inside


def loss(eta: Array, answers: Array | float) -> Array:
    """Return -log P(y | eta) = log(1 + exp(eta)) - y eta for y in {0, 1}, elementwise."""
    return np.maximum(eta, 0.0) + np.log1p(np.exp(-np.abs(eta))) - answers * eta


@dataclass(frozen=True)
class IndexedAnswers:
    """Answers in {0, 1} sorted by their index, and pooled: G groups of neighbours, taken to lie at their mean index.

    z (G,), the mean index of each group; splines (G, 19), the B-splines there; count (G,) of its rows, and of those
    with y = 1, ones (G,); answers (n,) in sorted order; order (n,), the sorting permutation.
    """

    z: Array
    splines: Array
    count: Array
    ones: Array
    answers: Array
    order: Indices

    @classmethod
    def of(cls, z: Array, answers: Array, groups: int = 0, link: IndexLink | None = None) -> "IndexedAnswers":
        """Sort the pairs (z_i, y_i); in about this many groups, each answer by itself where it is 0.

        Groups hold equal sums of shares of the rows, of the range of indices and, with a link, of the information
        eta'^2 p (1 - p), so that they are narrow in the tails, too, and as narrow as a steep link needs.
        """
        order = np.argsort(z)
        z, answers = z[order], answers[order]
        if not 0 < groups < len(z) or not z[-1] > z[0]:
            return cls(z, splines(z), np.ones(len(z)), answers, answers, order)
        shares = [np.arange(1, len(z) + 1) / len(z), (z - z[0]) / (z[-1] - z[0])]
        if link is not None:
            eta, slope = link(z)
            chance = expit(eta)
            total = np.cumsum(slope * slope * chance * (1.0 - chance))
            shares += [total / total[-1]] if total[-1] > 0 else []
        share = sum(shares[1:], shares[0]) / len(shares)
        group = np.minimum((share * groups).astype(np.intp), groups - 1)
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        count = np.diff(starts, append=len(z)).astype(float)
        mean, ones = np.add.reduceat(z, starts) / count, np.add.reduceat(answers, starts)
        return cls(mean, splines(mean), count, ones, answers, order)

    def each(self, values: Array) -> Array:
        """Return values (G,) of groups for each row, in sorted order (n,)."""
        return values if len(values) == len(self.order) else np.repeat(values, self.count.astype(np.intp))


def splines(z: Array) -> Array:
    """Return the 19 B-splines at indices z (n,), straight beyond -4..4 (n, 19)."""
    cell, t, beyond = locate(z)
    powers = np.stack([np.ones_like(t), t, t * t, t**3], axis=1)
    slopes = np.stack([np.zeros_like(t), np.ones_like(t), 2.0 * t, 3.0 * t * t], axis=1)
    splines = np.zeros((len(z), COEFFICIENTS))
    local = (powers + beyond[:, None] / WIDTH * slopes) @ CUBIC.T
    np.put_along_axis(splines, cell[:, None] + np.arange(4), local, axis=1)
    return splines

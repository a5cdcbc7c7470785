r"""Log-odds of a binary answer as a smooth function of one index: a cubic spline on 19 coefficients.

With y in {0, 1} and an index z, P(y = 1 | z) = 1 / (1 + exp(-eta(z))), eta = sum_k c_k B_k a cubic B-spline with
equidistant knots and a penalty on differences of its coefficients (Eilers & Marx 1996, "Flexible smoothing with
B-splines and penalties"). Steep and even links need no fine knots in the log-odds: a
parabola switches the answer twice.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

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


SMOOTHNESS = (
    Smoothness("a straight line", 2, 1e6),
    Smoothness("a parabola", 3, 1e6),
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


def loss(eta: Array, answers: Array) -> Array:
    """Return -log P(y | eta) = log(1 + exp(eta)) - y eta for y in {0, 1}, elementwise."""
    return np.maximum(eta, 0.0) + np.log1p(np.exp(-np.abs(eta))) - answers * eta


@dataclass(frozen=True)
class IndexedAnswers:
    """Answers in {0, 1} sorted by the cell of their index, with the four B-splines that are not zero there.

    local (n, 4); answers (n,); ends (17,), where the rows of each cell begin; order (n,), the sorting permutation.
    """

    local: Array
    answers: Array
    ends: Indices
    order: Indices

    @classmethod
    def of(cls, z: Array, answers: Array) -> "IndexedAnswers":
        """Sort the pairs (z_i, y_i)."""
        cell, t, beyond = locate(z)
        order = np.argsort(cell, kind="stable")
        cell, t, beyond = cell[order], t[order], beyond[order]
        powers = np.stack([np.ones_like(t), t, t * t, t**3], axis=1)
        slopes = np.stack([np.zeros_like(t), np.ones_like(t), 2.0 * t, 3.0 * t * t], axis=1)
        local = (powers + beyond[:, None] / WIDTH * slopes) @ CUBIC.T
        return cls(local, answers[order], np.searchsorted(cell, np.arange(CELLS + 1)), order)

    def cells(self) -> Iterator[tuple[slice, slice]]:
        """Yield the rows of each cell and the coefficients that they depend on."""
        for cell in range(CELLS):
            yield slice(self.ends[cell], self.ends[cell + 1]), slice(cell, cell + 4)

    def times(self, C: Array) -> Array:
        """Return B C, with C (19,) or (19, k)."""
        return np.concatenate([self.local[rows] @ C[four] for rows, four in self.cells()])

    def adjoint(self, r: Array) -> Array:
        """Return B^T r (19,)."""
        total = np.zeros(COEFFICIENTS)
        for rows, four in self.cells():
            total[four] += r[rows] @ self.local[rows]
        return total

    def gram(self, weight: Array) -> Array:
        """Return B^T diag(weight) B (19, 19)."""
        total = np.zeros((COEFFICIENTS, COEFFICIENTS))
        for rows, four in self.cells():
            total[four, four] += self.local[rows].T @ (weight[rows, None] * self.local[rows])
        return total

    def diagonal(self, A: Array) -> Array:
        """Return the diagonal of B A B^T (n,)."""
        parts = (((self.local[rows] @ A[four, four]) * self.local[rows]).sum(axis=1) for rows, four in self.cells())
        return np.concatenate(list(parts))

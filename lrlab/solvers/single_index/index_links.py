r"""Log-odds of a binary response along one index: parabolas and splines.

With y in {0, 1} and an index z, P(y = 1 | z) = 1 / (1 + exp(-eta(z))), eta = sum_k c_k B_k with 19 cubic B-splines on
equidistant knots and a penalty on third differences of c (Eilers & Marx 1996, "Flexible smoothing with B-splines and
penalties"). Steep and even links need no fine knots: a parabola switches the response twice.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from lrlab.arrays import Array

EDGE, CELLS = 4.0, 16
"""A standard normal index leaves -4..4 once in 16,000 times; beyond, the log-odds continue in a straight line."""
WIDTH, COEFFICIENTS = 2.0 * EDGE / CELLS, CELLS + 3
NEWTON_STEPS, DECREMENT, SHORTEST = 40, 1e-3, 1e-4
GROUPS = 256
"""Groups of neighboring indices for fitting links."""
PRIOR = 0.01
"""Of one response, half a 1 and half a 0, spread over all indices: a link that separates the responses stays finite."""
PRICE = 2.0
"""Nats that an effective parameter of a link must gain: twice the gain by chance."""


class Rows(NamedTuple):
    """Groups of answers at about the same index z (G,), how many they are (G,), and how many of them are 1 (G,)."""

    z: Array
    number: Array
    ones: Array

    @classmethod
    def of(cls, z: Array, answers: Array, information: Array) -> "Rows":
        """Group answers in {0, 1} at indices z (n,) by equal shares of rows, of range and of information (n,) >= 0."""
        order = np.argsort(z)
        z, answers = z[order], answers[order]
        if len(z) <= GROUPS or not z[-1] > z[0]:
            return cls(z, np.ones(len(z)), answers)
        total = np.cumsum(information[order])
        share = np.arange(1, len(z) + 1) / len(z) + (z - z[0]) / (z[-1] - z[0])
        share += total / total[-1] if total[-1] > 0 else 0.0
        starts = np.flatnonzero(np.diff((share / share[-1] * GROUPS).astype(np.intp), prepend=-1))
        count = np.diff(starts, append=len(z)).astype(float)
        return cls(np.add.reduceat(z, starts) / count, count, np.add.reduceat(answers, starts))

    def loss(self, link: "LogOdds") -> float:
        """Return the summed loss under a link, with the prior's share of an answer."""
        eta, _ = link(self.z)
        prior = PRIOR / len(self.z)
        return float(((self.number + prior) * np.logaddexp(0.0, eta) - (self.ones + prior / 2.0) * eta).sum())


class LogOdds(NamedTuple):
    """eta(z) = sum_k c_k B_k(z), c = basis @ a (19,), straight beyond -4..4; a penalty weight * ||Delta^3 c||^2 / 2.

    parameters: their effective number; width: a small change of the index.
    """

    kind: str
    basis: Array
    a: Array
    weight: float = 0.0
    parameters: float = 0.0
    width: float = WIDTH

    @classmethod
    def even(cls, kind: str, basis: Array, weight: float = 0.0) -> "LogOdds":
        """Return even odds."""
        return cls(kind, basis, np.zeros(basis.shape[1]), weight)

    @property
    def name(self) -> str:
        """Its description in a note."""
        return f"Log-odds: {self.kind}, {self.parameters:.1f} effective parameters"

    @property
    def penalty(self) -> Array:
        """The penalty as a matrix (d, d)."""
        differences = np.diff(self.basis, 3, axis=0)
        return self.weight * differences.T @ differences

    def __call__(self, z: Array) -> tuple[Array, Array]:  # noqa: D102
        return expanded(self.basis @ self.a, z)

    def functions(self, z: Array) -> Array:  # noqa: D102
        return expanded(self.basis, z)[0]

    def fitted(self, rows: Rows) -> "LogOdds":
        """Minimize loss + a^T P a / 2 by Newton's method, halved until it falls."""
        B, P, prior = self.functions(rows.z), self.penalty, PRIOR / len(rows.z)
        count, ones = rows.number + prior, rows.ones + prior / 2.0

        def objective(a: Array) -> float:
            eta = B @ a
            return float((count * np.logaddexp(0.0, eta) - ones * eta).sum() + a @ P @ a / 2.0)

        a, used = self.a, 0.0
        value = objective(a)
        for _ in range(NEWTON_STEPS):
            chance = expit(B @ a)
            gram = (B.T * (count * chance * (1.0 - chance))) @ B
            inverse = regular_inverse(gram + P)
            used, gradient = float((gram * inverse).sum()), B.T @ (ones - count * chance) - P @ a
            step, size = inverse @ gradient, 1.0
            if not gradient @ step > DECREMENT:
                break
            while (reached := objective(a + size * step)) > value and size > SHORTEST:
                size /= 2.0
            if reached > value:
                break
            a, value = a + size * step, reached
        return self._replace(a=a, parameters=used)


POWERS = np.linspace(-1.0, 1.0, COEFFICIENTS)[:, None] ** np.arange(3)
SPLINES = np.hstack([POWERS, np.linalg.qr(POWERS, mode="complete")[0][:, 3:]])
SMOOTH = (
    LogOdds.even("a parabola", POWERS),
    LogOdds.even("a spline (penalty 0.1)", SPLINES, 0.1),
    LogOdds.even("a flexible spline (penalty 0.001)", SPLINES, 0.001),
)
"""The kinds of smooth log-odds, from the stiffest."""


def chosen(rows: Rows, links: Sequence[LogOdds]) -> LogOdds:
    """Return which of several fitted links has the lowest loss with the price of its parameters."""
    return min(links, key=lambda link: rows.loss(link) + PRICE * link.parameters)


def regular_inverse(A: Array) -> Array:
    """Return the inverse of a symmetric positive semidefinite A (k, k), scaled to a unit diagonal, made regular."""
    scale = 1.0 / np.sqrt(np.maximum(A.diagonal(), 1e-200))
    scale = np.outer(scale, scale)
    inverse: Array = np.linalg.inv(A * scale + 1e-12 * np.eye(len(A))) * scale
    return inverse


def expanded(c: Array, z: Array) -> tuple[Array, Array]:
    """Return the spline with coefficients c (19,) or (19, d), straight beyond -4..4, and its slope, at z (n,)."""
    inside = np.clip(z, -EDGE, EDGE)
    place = (inside + EDGE) / WIDTH
    cell = np.minimum(place.astype(np.intp), CELLS - 1)
    t = place - cell
    rest = 1.0 - t
    # Between equidistant knots four cubic B-splines are not 0.
    values = np.stack([rest**3, 3.0 * t**3 - 6.0 * t**2 + 4.0, 3.0 * rest**3 - 6.0 * rest**2 + 4.0, t**3]) / 6.0
    slopes = np.stack([-(rest**2), 3.0 * t**2 - 4.0 * t, 4.0 * rest - 3.0 * rest**2, t**2]) / (2.0 * WIDTH)
    near = c[cell + np.arange(4)[:, None]]
    eta, slope = (np.einsum("kn,kn...->n...", basis, near) for basis in (values, slopes))
    beyond = z - inside
    return eta + (beyond if c.ndim == 1 else beyond[:, None]) * slope, slope


def loss(eta: Array, answers: Array) -> Array:
    """Return -log P(y | eta) = log(1 + exp(eta)) - y eta for y in {0, 1}, elementwise."""
    return np.logaddexp(0.0, eta) - answers * eta

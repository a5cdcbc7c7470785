r"""Log-odds of a binary response along one index: penalized splines.

With y in {0, 1} and an index z, P(y = 1 | z) = 1 / (1 + exp(-eta(z))), eta = sum_k c_k B_k with 19 cubic B-splines on
equidistant knots and a penalty on third differences of c (Eilers & Marx 1996, "Flexible smoothing with B-splines and
penalties"). The strongest penalty leaves a parabola, which fits steep and even links.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from lrlab.arrays import Array

EDGE, CELLS = 4.0, 16
"""Range of the knots, which a normal index leaves once in 16,000 times; number of intervals between them."""
WIDTH = 2.0 * EDGE / CELLS
GROUPS = 256
"""Groups of neighboring indices for fitting links."""
PRIOR = 0.01
"""Weight of a prior response, half a 1 and half a 0, that keeps a separating link finite."""
PRICE = 2.0
"""Nats that an effective parameter of a link must gain: twice the gain by chance."""
KINDS = {1e9: "a parabola", 0.1: "a spline (penalty 0.1)", 0.001: "a flexible spline (penalty 0.001)"}
"""Descriptions of links by their penalty, from the stiffest."""
DIFFERENCES = np.diff(np.eye(CELLS + 3), 3, axis=0)
# Between equidistant knots four B-splines are not 0: coefficients of powers of the place between two knots.
CUBICS = np.array([[1.0, 4.0, 1.0, 0.0], [-3.0, 0.0, 3.0, 0.0], [3.0, -6.0, 3.0, 0.0], [-1.0, 3.0, -3.0, 1.0]]) / 6.0


class Rows(NamedTuple):
    """Groups of responses at about the same index: its mean, their number, and the number of ones, each (G,).

    number and ones include a prior response that is spread over the groups. splines (G, 19): the B_k at z.
    """

    z: Array
    splines: Array
    number: Array
    ones: Array

    @classmethod
    def of(cls, z: Array, answers: Array, information: Array) -> "Rows":
        """Group responses in {0, 1} at indices z (n,) by equal parts of rows, of range and of information (n,) >= 0."""
        order = np.argsort(z)
        z, answers, total = z[order], answers[order], np.cumsum(information[order])
        level = np.linspace(0.0, 1.0, len(z)) + (z - z[0]) / max(z[-1] - z[0], WIDTH) + total / max(total[-1], 1.0)
        starts = np.flatnonzero(np.diff((level / level[-1] * (GROUPS - 1)).astype(np.intp), prepend=-1))
        count = np.diff(starts, append=len(z)).astype(float)
        each = PRIOR / len(starts)
        z, ones = np.add.reduceat(z, starts) / count, np.add.reduceat(answers, starts) + each / 2.0
        return cls(z, expanded(np.eye(CELLS + 3), z)[0], count + each, ones)

    def loss(self, eta: Array) -> float:
        """Return the summed loss of log-odds (G,)."""
        return float(self.number @ np.logaddexp(0.0, eta) - self.ones @ eta)


class LogOdds(NamedTuple):
    """eta(z) = sum_k c_k B_k(z), straight beyond -4..4, with a penalty on third differences of c (19,).

    parameters: their effective number.
    """

    penalty: float
    c: Array = np.zeros(CELLS + 3)
    parameters: float = 0.0

    def __str__(self) -> str:
        return f"Log-odds: {KINDS[self.penalty]}, {self.parameters:.1f} effective parameters"

    def __call__(self, z: Array) -> tuple[Array, Array]:
        """Return log-odds and their slopes at z (n,)."""
        return expanded(self.c, z)

    def bend(self) -> Array:
        """Return the penalty as a matrix (19, 19)."""
        return self.penalty * DIFFERENCES.T @ DIFFERENCES

    def fitted(self, rows: Rows) -> "LogOdds":
        """Minimize loss + c^T P c / 2 by Newton's method, halved until it falls."""
        B, P = rows.splines, self.bend()

        def objective(c: Array) -> float:
            return rows.loss(B @ c) + float(c @ P @ c) / 2.0

        c, value, inverse, gram = self.c, objective(self.c), P, P
        for _ in range(40):
            yes = expit(B @ c)
            gram = (B.T * (rows.number * yes * (1.0 - yes))) @ B
            inverse, gradient = regular_inverse(gram + P), B.T @ (rows.ones - rows.number * yes) - P @ c
            step = inverse @ gradient
            trials = (c + step / 2.0**k for k in range(14))
            lower = next((trial for trial in trials if objective(trial) <= value), None)
            if lower is None or gradient @ step < 1e-3:
                break
            c, value = lower, objective(lower)
        return self._replace(c=c, parameters=float((gram * inverse).sum()))

    def cost(self, rows: Rows) -> float:
        """Return the summed loss with the price of the parameters."""
        return rows.loss(rows.splines @ self.c) + PRICE * self.parameters


SMOOTH = tuple(LogOdds(penalty) for penalty in KINDS)


def regular_inverse(A: Array) -> Array:
    """Return the inverse of a symmetric positive semidefinite A (k, k), scaled to a unit diagonal, made regular."""
    scale = 1.0 / np.sqrt(np.maximum(A.diagonal(), 1e-200))
    scale = np.outer(scale, scale)
    inverse: Array = np.linalg.inv(A * scale + 1e-12 * np.eye(len(A))) * scale
    return inverse


def expanded(c: Array, z: Array) -> tuple[Array, Array]:
    """Return the spline with coefficients c (19,) or (19, d), straight beyond -4..4, and its slope, at z (n,)."""
    column = z.reshape(-1, *[1] * (c.ndim - 1))
    inside = np.clip(column, -EDGE, EDGE)
    cell = np.minimum(((inside + EDGE) / WIDTH).astype(np.intp), CELLS - 1)
    t = (inside + EDGE) / WIDTH - cell
    cell = cell.reshape(len(z))
    a0, a1, a2, a3 = np.tensordot(CUBICS, [c[k : k + CELLS] for k in range(4)], 1)[:, cell]
    slope = (a1 + t * (2.0 * a2 + t * 3.0 * a3)) / WIDTH
    return a0 + t * (a1 + t * (a2 + t * a3)) + (column - inside) * slope, slope


def loss(eta: Array, answers: Array) -> Array:
    """Return -log P(y | eta) = log(1 + exp(eta)) - y eta for y in {0, 1}, elementwise."""
    return np.logaddexp(0.0, eta) - answers * eta

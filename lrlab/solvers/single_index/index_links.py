r"""Log-odds of a binary response along one index: penalized splines.

With y in {0, 1} and an index z, P(y = 1 | z) = 1 / (1 + exp(-eta(z))), eta = sum_k c_k B_k with 19 cubic B-splines on
knots at -4, -3.5, ..., 4 and a penalty on third differences of c (Eilers & Marx 1996, "Flexible smoothing with
B-splines and penalties"). The strongest penalty leaves a parabola, which fits steep and even links. A normal index
leaves the knots once in 16,000 times; eta is straight there.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit

from lrlab.arrays import Array

if TYPE_CHECKING:
    import pandas as pd

KINDS = {1e9: "a parabola", 0.1: "a spline (penalty 0.1)", 0.001: "a flexible spline (penalty 0.001)"}
"""Descriptions of links by their penalty, from the stiffest."""
DIFFERENCES = np.diff(np.eye(19), 3, axis=0)
# Between equidistant knots four B-splines are not 0: coefficients of powers of the place between two knots.
CUBICS = np.array([[1.0, 4.0, 1.0, 0.0], [-3.0, 0.0, 3.0, 0.0], [3.0, -6.0, 3.0, 0.0], [-1.0, 3.0, -3.0, 1.0]]) / 6.0


class Rows(NamedTuple):
    """Groups of responses at about the same index: its mean, their number, and the number of ones, each (G,).

    splines (G, 19): the B_k at z. number and ones include a hundredth of a response, half a 1 and half a 0, which keeps
    a separating link finite.
    """

    z: Array
    splines: Array
    number: Array
    ones: Array

    @classmethod
    def of(cls, z: Array, answers: Array, information: Array) -> "Rows":
        """Group responses in {0, 1} at indices z (n,), at most 256 groups of equal parts of rows, range, information.

        information (n,) >= 0: about a steep part of a link few rows carry much of it.
        """
        order = np.argsort(z)
        z, answers, total = z[order], answers[order], np.cumsum(information[order])
        level = np.linspace(0.0, 1.0, len(z)) + (z - z[0]) / max(z[-1] - z[0], 0.5) + total / max(total[-1], 1.0)
        starts = np.flatnonzero(np.diff((level / level[-1] * 255).astype(np.intp), prepend=-1))
        count = np.diff(starts, append=len(z)).astype(float)
        z, ones, prior = np.add.reduceat(z, starts) / count, np.add.reduceat(answers, starts), 0.01 / len(starts)
        return cls(z, expanded(np.eye(19), z)[0], count + prior, ones + prior / 2.0)

    def loss(self, eta: Array) -> float:
        """Return the summed loss of log-odds (G,)."""
        return float(self.number @ np.logaddexp(0.0, eta) - self.ones @ eta)


class LogOdds(NamedTuple):
    """eta(z) = sum_k c_k B_k(z) with a penalty on third differences of c (19,).

    parameters: their effective number. covariance (19, 19) of c: the inverse of the penalized information.
    """

    penalty: float
    c: Array = np.zeros(19)
    parameters: float = 0.0
    covariance: Array = np.zeros((19, 19))

    def __str__(self) -> str:
        return f"Log-odds: {KINDS[self.penalty]}, {self.parameters:.1f} effective parameters"

    def __call__(self, z: Array) -> tuple[Array, Array, Array]:
        """Return log-odds, their slopes and their second derivatives at z (n,)."""
        return expanded(self.c, z)

    def fitted(self, rows: Rows) -> "LogOdds":
        """Minimize loss + penalty |D c|^2 / 2 from c by Newton's method; a step is halved until that falls."""
        B, D = rows.splines, DIFFERENCES
        P: Array = self.penalty * D.T @ D
        c, step, lowest = self.c, np.zeros(19), np.inf
        gram = inverse = P
        for _ in range(60):
            trial = c + step
            eta, differences = B @ trial, D @ trial
            value = rows.loss(eta) + self.penalty * float(differences @ differences) / 2.0
            if value > lowest:
                step = step / 2.0
                continue
            c, lowest, yes = trial, value, expit(eta)
            gram = (B.T * (rows.number * yes * (1.0 - yes))) @ B
            # Of a strong penalty, P c would be rounded too coarsely.
            gradient = B.T @ (rows.ones - rows.number * yes) - self.penalty * D.T @ differences
            inverse = regular_inverse(gram + P)
            step = inverse @ gradient
            if gradient @ step < 1e-3:
                c = c + step
                break
        return self._replace(c=c, parameters=float((gram * inverse).sum()), covariance=inverse)

    def cost(self, rows: Rows) -> float:
        """Return the summed loss and 2 nats for each effective parameter, twice what a parameter gains by chance."""
        return rows.loss(rows.splines @ self.c) + 2.0 * self.parameters


SMOOTH = tuple(LogOdds(penalty) for penalty in KINDS)


def regular_inverse(A: Array) -> Array:
    """Return the inverse of a symmetric positive semidefinite A (k, k), scaled to a unit diagonal, made regular."""
    scale = 1.0 / np.sqrt(np.maximum(A.diagonal(), 1e-200))
    scale = np.outer(scale, scale)
    inverse: Array = np.linalg.inv(A * scale + 1e-12 * np.eye(len(A))) * scale
    return inverse


def expanded(c: Array, z: Array) -> tuple[Array, Array, Array]:
    """Return the spline with coefficients c (19,) or (19, d), its slope and its second derivative, at z (n,)."""
    column = z.reshape(-1, *[1] * (c.ndim - 1))
    inside = np.clip(column, -4.0, 4.0)
    cell = np.minimum((2.0 * (inside + 4.0)).astype(np.intp), 15)
    t = 2.0 * (inside + 4.0) - cell
    a0, a1, a2, a3 = np.tensordot(CUBICS, [c[k : k + 16] for k in range(4)], 1)[:, cell.reshape(len(z))]
    slope, bend = 2.0 * (a1 + t * (2.0 * a2 + t * 3.0 * a3)), 8.0 * (a2 + t * 3.0 * a3) * (column == inside)
    return a0 + t * (a1 + t * (a2 + t * a3)) + (column - inside) * slope, slope, bend


class IndexLink(NamedTuple):
    """Log-odds along z = (<x, b> - center) / scale, and the data they were fitted to: rows, and their y in +-1."""

    b: Array
    center: float
    scale: float
    link: LogOdds
    rows: Rows

    @classmethod
    def fitted(cls, X: Array, y: Array, b: Array) -> "IndexLink":
        """Return the link that answers y (n,) in +-1 show along b (p,): a parabola or a spline, at a price."""
        index = X @ b
        center, scale = float(index.mean()), float(index.std()) or 1.0
        rows = Rows.of((index - center) / scale, (y > 0).astype(float), np.zeros(len(y)))
        link = min((kind.fitted(rows) for kind in SMOOTH), key=lambda kind: kind.cost(rows))
        return cls(b, center, scale, link, rows)

    def log_odds(self, X: Array) -> Array:
        """Return the log-odds of y = 1 at rows X (n, p)."""
        return self.link((X @ self.b - self.center) / self.scale)[0]

    @property
    def table(self) -> "pd.DataFrame":
        """The curve: index, probability, and the ends low and high of its pointwise 95% band, given the direction."""
        import pandas as pd

        z = np.linspace(self.rows.z.min(), self.rows.z.max(), 101)
        eta, B = self.link(z)[0], expanded(np.eye(19), z)[0]
        wide = 1.96 * np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", B, self.link.covariance, B), 0.0))
        columns = {"probability": expit(eta), "low": expit(eta - wide), "high": expit(eta + wide)}
        return pd.DataFrame({"index": self.center + self.scale * z, **columns})

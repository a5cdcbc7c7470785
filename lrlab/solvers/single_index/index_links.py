r"""Log-odds of a binary answer along one index: parabolas, splines, and a few soft steps.

With y in {0, 1} and an index z, P(y = 1 | z) = 1 / (1 + exp(-eta(z))). Smooth log-odds are eta = sum_k c_k B_k with 19
cubic B-splines on equidistant knots and a penalty on third differences of c (Eilers & Marx 1996, "Flexible smoothing
with B-splines and penalties"). Steep and even links need no fine knots: a parabola switches the answer twice. Chances
that jump to a level between 0 and 1 do: P = q_0 + sum_k (q_k - q_{k-1}) Phi((z - c_k) / w), of one width w.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtr

from lrlab.arrays import Array, Indices

# A standard normal index leaves -4..4 once in 16,000 times; beyond, the log-odds go on in a straight line.
EDGE, CELLS = 4.0, 16
WIDTH, COEFFICIENTS = 2.0 * EDGE / CELLS, CELLS + 3
KNOTS = -EDGE + WIDTH * np.arange(-3, COEFFICIENTS + 1)
NEWTON_STEPS, DECREMENT, SHORTEST = 40, 1e-3, 1e-4
# Groups of neighbouring indices to which links are fitted, and bins between which jumps are looked for.
GROUPS, BINS = 256, 64
# Of one answer, half a 1 and half a 0, spread over all indices: a link that separates the answers stays finite.
PRIOR = 0.01
SMALLEST_EIGENVALUE = 1e-12
# Nats that an effective parameter of a link must gain: the double of what chance gains.
PRICE = 2.0
JUMPS, FIRST_WIDTH, NARROWEST = (2, 3), 0.1, 1e-3
LEAST = 1e-12


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

    def loss(self, link: "LogOdds | Steps") -> float:
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
        """What it is, for a note."""
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
        """Minimise loss + a^T P a / 2 by Newton's method, halved until it falls."""
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


class Steps(NamedTuple):
    """Chances as log-odds. a: logits of K + 1 levels, the first step, logarithms of distances to others, of width."""

    a: Array
    kind: str = "jumps"

    @property
    def parameters(self) -> float:
        """Their number, 2 K + 2."""
        return float(len(self.a))

    @property
    def parts(self) -> tuple[Array, Array, float]:
        """Levels (K + 1,), places (K,) and width."""
        k = len(self.a) // 2
        apart = np.exp(np.minimum(self.a[k + 1 :], 2.0))
        return expit(self.a[:k]), self.a[k] + np.cumsum(np.append(0.0, apart[:-1])), NARROWEST + float(apart[-1])

    @property
    def width(self) -> float:
        """The standard deviation of what is added to the index."""
        return self.parts[2]

    @property
    def name(self) -> str:
        """What it is, for a note."""
        return f"Link: jumps between the chances {', '.join(f'{level:.2f}' for level in self.parts[0])}"

    def __call__(self, z: Array) -> tuple[Array, Array]:  # noqa: D102
        q, places, width = self.parts
        u = (z[..., None] - places) / width
        chance = np.clip(q[0] + ndtr(u) @ np.diff(q), LEAST, 1.0 - LEAST)
        slope = np.exp(-u * u / 2.0) @ np.diff(q) / (width * math.sqrt(2.0 * math.pi))
        return logit(chance), slope / (chance * (1.0 - chance))

    def at_least(self, width: float) -> "Steps":
        """Return steps that are no narrower."""
        return Steps(np.append(self.a[:-1], math.log(max(self.width, width) - NARROWEST + LEAST)))

    def functions(self, z: Array) -> Array:  # noqa: D102
        moves = 1e-5 * np.eye(len(self.a))
        return np.stack([(Steps(self.a + move)(z)[0] - Steps(self.a - move)(z)[0]) / 2e-5 for move in moves], axis=-1)

    def fitted(self, rows: Rows) -> "Steps":
        """Minimise the loss, with half an answer of either kind for each level, by BFGS."""
        from scipy.optimize import minimize  # Takes a tenth of a second to import.

        def objective(a: Array) -> float:
            q, _, _ = Steps(a).parts
            return rows.loss(Steps(a)) - float(np.log(np.maximum(q * (1.0 - q), LEAST)).sum()) / 2.0

        return Steps(minimize(objective, self.a, method="BFGS", options={"gtol": 0.05}).x)


Link = LogOdds | Steps


def jumps(rows: Rows) -> list[Steps]:
    """Return steps of the largest likelihood between bins of equally many answers, fitted to rows.

    Every division of the first bins into pieces extends a best division of fewer bins (Bellman 1961, "On the
    approximation of curves by line segments using dynamic programming").
    """
    before = np.concatenate([[0.0], np.cumsum(rows.number)])
    edges = np.unique(np.searchsorted(before, np.linspace(0.0, before[-1], BINS + 1)).clip(0, len(rows.z)))
    every, ones = before[edges], np.concatenate([[0.0], np.cumsum(rows.ones)])[edges]
    count, total = every[None, :] - every[:, None], ones[None, :] - ones[:, None]
    share = np.where(count > 0, (total + 0.5) / (np.maximum(count, 0.0) + 1.0), 0.5)
    cost = np.where(count > 0, -(total * np.log(share) + (count - total) * np.log1p(-share)), np.inf)
    best, cuts, fitted_steps = cost[0], list[Indices](), list[Steps]()
    for number in range(1, max(JUMPS) + 1):
        through = best[:, None] + cost
        cuts.append(through.argmin(axis=0))
        best, bounds = through.min(axis=0), [len(edges) - 1]
        for cut in reversed(cuts):
            bounds.insert(0, int(cut[bounds[0]]))
        if number in JUMPS:
            places, levels = rows.z[edges[bounds[:-1]]], logit(share[[0, *bounds[:-1]], bounds])
            apart = np.log(np.append(np.maximum(np.diff(places), NARROWEST), FIRST_WIDTH))
            fitted_steps.append(Steps(np.concatenate([levels, places[:1], apart])).fitted(rows))
    return fitted_steps


def chosen(rows: Rows, links: Sequence[Link]) -> Link:
    """Return which of several fitted links has the lowest loss with the price of its parameters."""
    return min(links, key=lambda link: rows.loss(link) + PRICE * link.parameters)


def regular_inverse(A: Array) -> Array:
    """Return the inverse of a symmetric positive semidefinite A (k, k), scaled to a unit diagonal, made regular."""
    scale = 1.0 / np.sqrt(np.maximum(A.diagonal(), 1e-200))
    scale = np.outer(scale, scale)
    inverse: Array = np.linalg.inv(A * scale + SMALLEST_EIGENVALUE * np.eye(len(A))) * scale
    return inverse


def expanded(c: Array, z: Array) -> tuple[Array, Array]:
    """Return the spline with coefficients c (19,) or (19, d), straight beyond -4..4, and its slope, at z (n,)."""
    from scipy.interpolate import BSpline  # Takes a tenth of a second to import.

    spline, inside = BSpline(KNOTS, c, 3), np.clip(z, -EDGE, EDGE)
    slope = spline.derivative()(inside)
    beyond = z - inside
    return spline(inside) + (beyond if c.ndim == 1 else beyond[:, None]) * slope, slope


def loss(eta: Array, answers: Array) -> Array:
    """Return -log P(y | eta) = log(1 + exp(eta)) - y eta for y in {0, 1}, elementwise."""
    return np.logaddexp(0.0, eta) - answers * eta

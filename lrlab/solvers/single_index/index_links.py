r"""Log-odds of a binary answer along one index: lines, parabolas, splines, and a few soft steps.

With y in {0, 1} and an index z, P(y = 1 | z) = 1 / (1 + exp(-eta(z))). Smooth log-odds are eta = sum_k c_k B_k with 19
cubic B-splines on equidistant knots and a penalty on third differences of c (Eilers & Marx 1996, "Flexible smoothing
with B-splines and penalties"). Steep and even links need no fine knots: a parabola switches the answer twice. Chances
that jump to a level between 0 and 1 do: P = q_0 + sum_k (q_k - q_{k-1}) Phi((z - c_k) / w), of one width w.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit, ndtr

from lrlab.arrays import Array, Indices

# A standard normal index leaves -4..4 once in 16,000 times; beyond, the log-odds go on in a straight line.
EDGE, CELLS = 4.0, 16
WIDTH, COEFFICIENTS = 2.0 * EDGE / CELLS, CELLS + 3
# Powers of t in 0..1 across a cell -> weights of the four cubic B-splines that are not zero there.
CUBIC = np.array([[1.0, -3.0, 3.0, -1.0], [4.0, 0.0, -6.0, 3.0], [1.0, 3.0, 3.0, -3.0], [0.0, 0.0, 0.0, 1.0]]) / 6.0
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
    count: Array
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

    def loss(self, link: "Link") -> float:
        """Return the summed loss under a link, with the prior's share of an answer."""
        eta, _ = link(self.z)
        prior = PRIOR / len(self.z)
        return float(((self.count + prior) * np.logaddexp(0.0, eta) - (self.ones + prior / 2.0) * eta).sum())


class Link(Protocol):
    """Log-odds of an answer: their name, the effective number of their parameters, and the smallest change of index."""

    name: str
    parameters: float
    width: float

    def __call__(self, z: Array) -> tuple[Array, Array]:
        """Return the log-odds at z, and their slope, both shaped like z."""
        ...

    def functions(self, z: Array) -> Array:
        """Return by which functions of z the log-odds may change (n, k)."""
        ...

    def fitted(self, rows: Rows) -> "Link":
        """Return the link of the same kind that fits rows best."""
        ...


class Smoothness(NamedTuple):
    """Coefficients are basis @ a (19, d); a penalty weight * ||third differences of c||^2."""

    name: str
    basis: Array
    weight: float = 0.0

    @property
    def penalty(self) -> Array:
        """The penalty as a matrix (d, d)."""
        differences = np.diff(self.basis, 3, axis=0)
        return self.weight * differences.T @ differences


POWERS = np.linspace(-1.0, 1.0, COEFFICIENTS)[:, None] ** np.arange(3)
SPLINES = np.hstack([POWERS, np.linalg.qr(POWERS, mode="complete")[0][:, 3:]])
SMOOTHNESS = (
    Smoothness("a straight line", POWERS[:, :2]),
    Smoothness("a parabola", POWERS),
    Smoothness("a stiff spline (penalty 10)", SPLINES, 10.0),
    Smoothness("a spline (penalty 0.1)", SPLINES, 0.1),
    Smoothness("a flexible spline (penalty 0.001)", SPLINES, 0.001),
)
"""From the stiffest; a straight line is the logistic model."""


class LogOdds(NamedTuple):
    """The function eta(z) = sum_k c_k B_k(z), c = basis @ a, and its slope; linear beyond -4..4."""

    smoothness: Smoothness
    a: Array
    parameters: float = 0.0
    width: float = WIDTH

    @property
    def name(self) -> str:
        """What it is, for a note."""
        return f"Log-odds: {self.smoothness.name}, {self.parameters:.1f} effective parameters"

    def __call__(self, z: Array) -> tuple[Array, Array]:  # noqa: D102
        powers = (np.lib.stride_tricks.sliding_window_view(self.smoothness.basis @ self.a, 4) @ CUBIC).T
        cell, t, beyond = located(z)
        a, b, c, d = (power[cell] for power in powers)
        slope = (b + t * (2.0 * c + 3.0 * t * d)) / WIDTH
        return a + t * (b + t * (c + t * d)) + beyond * slope, slope

    def functions(self, z: Array) -> Array:  # noqa: D102
        return splines(z) @ self.smoothness.basis

    def fitted(self, rows: Rows) -> "LogOdds":
        """Minimise loss + a^T P a / 2 by Newton's method, halved until it falls."""
        B, P, prior = self.functions(rows.z), self.smoothness.penalty, PRIOR / len(rows.z)
        count, ones = rows.count + prior, rows.ones + prior / 2.0

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


SMOOTH = tuple(LogOdds(own, np.zeros(own.basis.shape[1])) for own in SMOOTHNESS)
"""Even odds, of every smoothness."""


class Steps(NamedTuple):
    """The chance as log-odds: logits of the levels (K + 1,), the first of the steps, logarithms of the distances to the others and of the width."""

    a: Array

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

    def functions(self, z: Array) -> Array:  # noqa: D102
        moves = 1e-5 * np.eye(len(self.a))
        return np.stack([(Steps(self.a + move)(z)[0] - Steps(self.a - move)(z)[0]) / 2e-5 for move in moves], axis=-1)

    def fitted(self, rows: Rows) -> "Steps":
        """Minimise the loss, with half an answer of either kind for each level, by BFGS."""

        def objective(a: Array) -> float:
            q, _, _ = Steps(a).parts
            return rows.loss(Steps(a)) - float(np.log(np.maximum(q * (1.0 - q), LEAST)).sum()) / 2.0

        return Steps(minimize(objective, self.a, method="BFGS", options={"gtol": 0.05}).x)


def jumps(rows: Rows) -> list[Steps]:
    """Return steps of the largest likelihood between bins of equally many answers, fitted to rows.

    Every division of the first bins into pieces extends a best division of fewer bins (Bellman 1961, "On the
    approximation of curves by line segments using dynamic programming").
    """
    before = np.concatenate([[0.0], np.cumsum(rows.count)])
    edges = np.unique(np.searchsorted(before, np.linspace(0.0, before[-1], BINS + 1)).clip(0, len(rows.z)))
    every, ones = before[edges], np.concatenate([[0.0], np.cumsum(rows.ones)])[edges]
    count, total = every[None, :] - every[:, None], ones[None, :] - ones[:, None]
    share = np.where(count > 0, (total + 0.5) / (np.maximum(count, 0.0) + 1.0), 0.5)
    cost = np.where(count > 0, -(total * np.log(share) + (count - total) * np.log1p(-share)), np.inf)
    best, cuts, found = cost[0], list[Indices](), list[Steps]()
    for number in range(1, max(JUMPS) + 1):
        through = best[:, None] + cost
        cuts.append(through.argmin(axis=0))
        best, bounds = through.min(axis=0), [len(edges) - 1]
        for cut in reversed(cuts):
            bounds.insert(0, int(cut[bounds[0]]))
        if number in JUMPS:
            places, levels = rows.z[edges[bounds[:-1]]], logit(share[[0, *bounds[:-1]], bounds])
            apart = np.log(np.append(np.maximum(np.diff(places), NARROWEST), FIRST_WIDTH))
            found.append(Steps(np.concatenate([levels, places[:1], apart])).fitted(rows))
    return found


def chosen(rows: Rows, links: Sequence[Link]) -> Link:
    """Return which of several fitted links has the lowest loss with the price of its parameters."""
    return min(links, key=lambda link: rows.loss(link) + PRICE * link.parameters)


def regular_inverse(A: Array) -> Array:
    """Return the inverse of a symmetric positive semidefinite A (k, k), scaled to a unit diagonal, made regular."""
    scale = 1.0 / np.sqrt(np.maximum(A.diagonal(), 1e-200))
    scale = np.outer(scale, scale)
    inverse: Array = np.linalg.inv(A * scale + SMALLEST_EIGENVALUE * np.eye(len(A))) * scale
    return inverse


def located(z: Array) -> tuple[Indices, Array, Array]:
    """Return the cell 0..15 of each index, its place t in 0..1 there, and how far it lies beyond -4..4."""
    inside = np.clip(z, -EDGE, EDGE)
    scaled = (inside + EDGE) / WIDTH
    cell = np.minimum(scaled.astype(np.intp), CELLS - 1)
    return cell, scaled - cell, z - inside


def splines(z: Array) -> Array:
    """Return the 19 B-splines at indices z (n,), straight beyond -4..4 (n, 19)."""
    cell, t, beyond = located(z)
    powers = np.stack([np.ones_like(t), t, t * t, t**3], axis=1)
    slopes = np.stack([np.zeros_like(t), np.ones_like(t), 2.0 * t, 3.0 * t * t], axis=1)
    found = np.zeros((len(z), COEFFICIENTS))
    local = (powers + beyond[:, None] / WIDTH * slopes) @ CUBIC.T
    np.put_along_axis(found, cell[:, None] + np.arange(4), local, axis=1)
    return found


def loss(eta: Array, answers: Array) -> Array:
    """Return -log P(y | eta) = log(1 + exp(eta)) - y eta for y in {0, 1}, elementwise."""
    return np.logaddexp(0.0, eta) - answers * eta

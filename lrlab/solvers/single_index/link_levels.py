r"""Chances of an answer that are constant but for a few jumps, seen from an index that is not quite the true one.

P(y = 1 | z) = q_0 + sum_k (q_k - q_{k-1}) Phi((z - c_k) / w): levels q_0..q_K, jumps at c_1 < ... < c_K, and one
width w, which holds the error of the index and the noise before the quantiser. A spline for the log-odds cannot follow
jumps between levels such as 0, 1/2, 1, whose log-odds are -inf, 0, inf: its knots are too far apart.
"""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import expit, logit, ndtr

from lrlab.arrays import Array
from lrlab.solvers.single_index.link_smoothing import loss

BINS = 128
FIRST_WIDTH = 0.1
NARROWEST, WIDEST = 1e-4, 1.0
SCORING_STEPS, HALVINGS, DECREMENT = 20, 10, 1e-6
# Chances nearer to 0 or 1 than this are taken for this: a single answer against them costs 28 nats, not infinity.
LEAST = 1e-12
SMALLEST_EIGENVALUE = 1e-6
ROOT_TWO_PI = math.sqrt(2.0 * math.pi)


@dataclass(frozen=True)
class Levels:
    """The chance as log-odds: logits of the levels (K + 1,), jumps (K,) and the logarithm of the width."""

    logits: Array
    jumps: Array
    log_width: float

    @property
    def parameters(self) -> int:
        """Their number, 2 K + 2."""
        return len(self.logits) + len(self.jumps) + 1

    @property
    def width(self) -> float:
        """The standard deviation of what is added to the index."""
        return math.exp(self.log_width)

    @property
    def name(self) -> str:
        """What it is, for a note."""
        levels = ", ".join(f"{level:.2f}" for level in expit(self.logits))
        return f"jumps between the chances {levels}"

    def __call__(self, z: Array) -> tuple[Array, Array]:
        """Return the log-odds at z, and their slope, both shaped like z."""
        q, width = expit(self.logits), self.width
        chance, rest, slope = np.full(z.shape, q[0]), np.full(z.shape, 1.0 - q[0]), np.zeros(z.shape)
        for c, rise in zip(self.jumps, np.diff(q), strict=True):
            u = (z - c) / width
            share = ndtr(u)
            chance += rise * share
            rest -= rise * share
            slope += rise / (width * ROOT_TWO_PI) * np.exp(-u * u / 2.0)
        chance, rest = np.maximum(chance, LEAST), np.maximum(rest, LEAST)
        return np.log(chance / rest), slope / (chance * rest)

    def derivatives(self, z: Array) -> Array:
        """Return the derivatives of the log-odds at z (n,) in logits, jumps and the log width (n, 2 K + 2)."""
        q, width = expit(self.logits), self.width
        u = (z[:, None] - self.jumps) / width
        share, rise = ndtr(u), np.diff(q)
        density = rise / (width * ROOT_TWO_PI) * np.exp(-u * u / 2.0)
        above, below = np.hstack([np.ones((len(z), 1)), share]), np.hstack([share, np.zeros((len(z), 1))])
        chance = np.clip(q[0] + share @ rise, LEAST, 1.0 - LEAST)
        columns = ((above - below) * (q * (1.0 - q)), -density, -(density * u * width).sum(axis=1, keepdims=True))
        return np.hstack(columns) / (chance * (1.0 - chance))[:, None]

    def moved(self, step: Array) -> Self:
        """Return it with its parameters moved by `step` (2 K + 2,), the width within its bounds."""
        k = len(self.logits)
        log_width = min(max(self.log_width + float(step[-1]), math.log(NARROWEST)), math.log(WIDEST))
        return replace(self, logits=self.logits + step[:k], jumps=self.jumps + step[k:-1], log_width=log_width)

    def objective(self, z: Array, answers: Array, count: Array | float = 1.0) -> float:
        """Return the summed loss less log sqrt(q (1 - q)) of each level; infinite where jumps are out of order."""
        if not np.all(np.diff(self.jumps) > 0):
            return math.inf
        q = expit(self.logits)
        return float((count * loss(self(z)[0], answers)).sum() - np.log(np.maximum(q * (1.0 - q), LEAST)).sum() / 2.0)


def first_levels(z: Array, answers: Array, number: int, count: Array | None = None) -> Levels:
    """Return levels and `number` jumps of the largest likelihood between bins of equally many indices z (n,).

    With `count` as in `fit_levels`. Every division of the first bins into pieces extends a best division of fewer bins
    (Bellman 1961, "On the approximation of curves by line segments using dynamic programming").
    """
    order = np.argsort(z, kind="stable")
    edges = np.unique(np.linspace(0, len(z), min(BINS, len(z)) + 1).astype(np.intp))
    weight = np.ones(len(z)) if count is None else count[order]
    every, ones = (np.concatenate([[0.0], np.cumsum(part)])[edges] for part in (weight, weight * answers[order]))
    rows, total = every[None, :] - every[:, None], ones[None, :] - ones[:, None]
    share = np.where(rows > 0, (total + 0.5) / (np.maximum(rows, 0) + 1.0), 0.5)
    cost = np.where(rows > 0, -(total * np.log(share) + (rows - total) * np.log1p(-share)), np.inf)
    best, cuts = cost[0], list[Array]()
    for _ in range(number):
        through = best[:, None] + cost
        cuts.append(through.argmin(axis=0))
        best = through.min(axis=0)
    bounds = [len(edges) - 1]
    for cut in reversed(cuts):
        bounds.insert(0, int(cut[bounds[0]]))
    levels = share[[0, *bounds[:-1]], bounds]
    return Levels(logit(levels), z[order[edges[bounds[:-1]]]], math.log(FIRST_WIDTH))


def fit_levels(
    z: Array,
    answers: Array,
    start: Levels,
    steps: int = SCORING_STEPS,
    *,
    width: bool = True,
    count: Array | float = 1.0,
    decrement: float = DECREMENT,
) -> Levels:
    r"""Maximise the likelihood of answers (n,) in {0, 1} at indices z (n,) by Fisher scoring, halved until it grows.

    Levels carry the prior (q (1 - q))^{1/2}, half an answer of either kind, so that one without exceptions stays
    finite. The width is kept where `width` is false. With `count` (n,) an index stands for so many answers, and
    `answers` are the shares of 1 among them.
    """
    now, value = start, start.objective(z, answers, count)
    for _ in range(steps):
        step, gain = _scoring(now, z, answers, count, width=width)
        if not gain > decrement:
            break
        trials = (now.moved(step / 2.0**k) for k in range(HALVINGS))
        values = ((trial, trial.objective(z, answers, count)) for trial in trials)
        lower = next((pair for pair in values if pair[1] < value), None)
        if lower is None:
            break
        now, value = lower
    return now


def _scoring(at: Levels, z: Array, answers: Array, count: Array | float, *, width: bool) -> tuple[Array, float]:
    J, chance, q = at.derivatives(z), expit(at(z)[0]), expit(at.logits)
    prior = np.zeros(at.parameters)
    prior[: len(q)] = q * (1.0 - q)
    information = (J.T * (count * chance * (1.0 - chance))) @ J + np.diag(prior)
    gradient = J.T @ (count * (answers - chance))
    gradient[: len(q)] += 0.5 - q
    free = slice(None) if width else slice(-1)
    step = np.zeros(at.parameters)
    step[free] = _solved(information[free, free], gradient[free])
    return step, float(gradient @ step)


def _solved(A: Array, right: Array) -> Array:
    """Return A^{-1} right for a symmetric semidefinite A, scaled to a unit diagonal, eigenvalues at least 1e-6."""
    scale = 1.0 / np.sqrt(np.maximum(A.diagonal(), LEAST))
    values, vectors = np.linalg.eigh(A * np.outer(scale, scale))
    turned = vectors.T @ (scale * right) / np.maximum(values, SMALLEST_EIGENVALUE)
    return scale * (vectors @ turned)

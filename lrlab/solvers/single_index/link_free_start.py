"""Starts of link-free refinement: directions from the moments of either answer's rows, with held-out indices."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array, Mask
from lrlab.linalg import hard_threshold, unit
from lrlab.solvers.single_index.link_free_rounds import SMALLEST_REST, Data, Direction, columns
from lrlab.solvers.single_index.moment_posterior import STRENGTHS, Hypothesis, Posterior, Sums, hypotheses

POWER_STEPS, RESTRICTED = 30, 10
POWER_TOLERANCE = 0.01
# Share of noise in the squared length of the first moment below which no other start is tried.
CLEAR = 0.1


class Start(NamedTuple):
    """A direction, a sentence, and whether no other start is needed."""

    at: Direction
    note: str
    clear: bool = False


def starts(data: Data, rng: Generator) -> list[Start]:
    """Return the first moment alone where it is clear, else the posterior of both moments; two supports of sparse b."""
    X, answers, s = data.X, data.answers, data.s
    n, p = X.shape
    scale = answers - answers.mean()
    b = hard_threshold(scale @ X / n, s)
    noise = s * (1.0 + math.log(p / s)) * float(scale @ scale) / n**2
    if noise < CLEAR * float(b @ b):
        own = columns(X, b != 0)
        held_out = own @ b[b != 0] - scale * np.einsum("ij,ij->i", own, own) / n
        at = Direction.of(X, b, held_out)
        return [Start(at, "Start: the first moment, which stands out from the noise.", clear=True)]
    if not data.sparse:
        return [posterior_start(data, np.ones(p, dtype=bool), "")]
    first, second = b != 0, second_support(data, scale, rng)
    supports = {", on the entries of the first": first, ", on the entries of the second": second}
    # Where answers of both signs are as frequent at each entry, a moment has none.
    return [posterior_start(data, own, text) for text, own in supports.items() if own.any()]


def posterior_start(data: Data, own: Mask, words: str) -> Start:
    """Return the direction of the posterior of some entries."""
    X = columns(data.X, own)
    sums = Sums.of(X, data.answers)
    posterior = Posterior.of(sums)
    first = posterior.first > 0.5
    share, name = (posterior.first, "first") if first else (1.0 - posterior.first, "second")
    b = np.zeros(len(own))
    b[own] = posterior.b
    at = Direction.of(data.X, b, held_out(X, data.answers, sums, posterior.likeliest, posterior.b))
    return Start(at, f"Start: both moments, the one that carries b {share:.2g} likely to be the {name}{words}.")


def held_out(X: Array, answers: Array, sums: Sums, moment: Hypothesis, b: Array) -> Array:
    """Return the index of each row under the direction of a moment without its answer, its length that of b (n,).

    Without row x, A = (s - W)^{-1} and h change by c x x^T and d x: <x, A h> becomes (<x, A h> - d l) / (1 + c l), with
    l = x^T A x; for h = 0, the eigenvector of the largest eigenvalue changes with l across it alone.
    """
    which = answers.astype(np.intp)
    c, d = (1.0 - 1.0 / moment.variance)[which], (moment.mean / moment.variance)[which]
    mean, A = moment.moments(sums)
    own, length = moment.direction(sums), float(np.linalg.norm(mean)) or 1.0
    own *= np.copysign(1.0, own @ mean)
    along = X @ own
    leverage = np.einsum("ij,ij->i", X @ A, X)
    if not mean.any():
        leverage -= along**2 * float(own @ A @ own)
    left = (along - d * leverage / length) / np.maximum(1.0 + c * leverage, SMALLEST_REST)
    # Of the average over moments the part along this one is corrected.
    return X @ b + float(own @ b) * (left - along)


def second_support(data: Data, scale: Array, rng: Generator) -> Mask:
    r"""Return the support (p,) of an s-sparse eigenvector of M = mean (y_i - mean y) x_i x_i^T, largest in size.

    E[M] = (mu_2 - mu_0) b b^T. Truncated power iteration (Yuan & Zhang 2013) from a random vector, first on the s, then
    on the 4 s largest entries of the diagonal alone, of which the one with the larger eigenvalue is taken.
    """
    X, s = data.X, data.s
    diagonal, random, ends = scale @ np.square(X), rng.standard_normal(X.shape[1]), list[tuple[float, Array]]()
    for k in (s, min(4 * s, X.shape[1])):
        own = hard_threshold(diagonal, k) != 0
        b = unit(random * own)
        for step in range(POWER_STEPS):
            image = X.T @ (scale * (X @ b))
            following = unit(image * own if step < RESTRICTED else hard_threshold(image, s))
            following *= np.copysign(1.0, following @ b)
            change, b = np.abs(following - b).max(), following
            if change < POWER_TOLERANCE and step >= RESTRICTED:
                break
        ends.append((abs(float(b @ (X.T @ (scale * (X @ b))))), b))
    support: Mask = max(ends, key=lambda pair: pair[0])[1] != 0
    return support


def other_starts(data: Data) -> Iterator[Start]:
    """Yield the direction of the likeliest first moment, and of the weakest and strongest second ones.

    For links with several turns. A direction with an error of .7 blurs such a link so much that a parabola predicts
    held-out answers as well as a spline, and leads nowhere. A spline, used whether or not it pays at first, finds the
    turns within a few rounds: with 300 answers, 20 entries and the link sin 2z from nearly every moment.
    """
    sums = Sums.of(data.X, data.answers)
    candidates = hypotheses(sums)
    first = max(candidates[:STRENGTHS], key=lambda own: own.evidence)
    seconds = [candidates[place] for place in (STRENGTHS, 2 * STRENGTHS - 1, 2 * STRENGTHS, -1)]
    for name, moment in [("first", first), *(("second", own) for own in seconds)]:
        b = moment.direction(sums)
        at = Direction.of(data.X, b, held_out(data.X, data.answers, sums, moment, b))
        yield Start(at, f"Start: the {name} moment, then rounds with a spline.")

"""Initial directions without the link: cross-fitted moments, the choice between them, and spline fits."""

import math
from collections.abc import Iterator
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.linalg import hard_threshold
from lrlab.solvers.methods.sphere import normalised
from lrlab.solvers.single_index import link_free_evidence as evidence
from lrlab.solvers.single_index.cross_fitting import CrossFit
from lrlab.solvers.single_index.link_fit import ROUGH, Fit, chosen, fit, fit_all
from lrlab.solvers.single_index.link_free_moves import Moved, descended, largest, sharpened
from lrlab.solvers.single_index.link_smoothing import COEFFICIENTS, SMOOTHNESS, LogOdds

POWER_STEPS, RESTRICTED = 30, 10
POWER_TOLERANCE = 0.01
# Nats by which a start with a spline must win: weak links are followed by chance to 11.
DECIDED = 13.0
TINY = np.finfo(float).tiny
MOST_ODDS = 1000
# Share of noise in the squared length of the first moment below which no other start is tried.
CLEAR = 0.1
ROUNDS = 8
STIFF = SMOOTHNESS[2]


class Start(NamedTuple):
    """Directions B (p, K + 1), X B, the fits of every smoothness and which was chosen, and a sentence on the choice.

    least: the first smoothness that may be chosen. A straight line cannot have shown a second moment.
    """

    B: Array
    Z: Array
    fits: list[Fit]
    choice: int
    note: str
    least: int = 0
    clear: bool = False

    @classmethod
    def of(cls, data: CrossFit, B: Array, note: str, least: int = 0) -> "Start":
        """Fit links of every smoothness to the held-out indices of directions B (p, K + 1)."""
        Z = data.indices(B)
        fits = fit_all(data.sample(Z))
        return cls(B, Z, fits, chosen(fits, least), note, least)

    @property
    def held_out(self) -> float:
        """The mean loss of the chosen fit on held-out answers."""
        return self.fits[self.choice].mean_held_out


def best_start(data: CrossFit, s: int, rng: Generator) -> Start:
    """Return the direction of the moment that is more likely to carry it; of a clear first moment at once.

    The choice between dense directions is that of `link_free_evidence`. Links fitted to indices whose answers are
    nearly all noise differ by chance. Sparse ones are compared by their links on held-out answers.
    """
    if is_clear(data, s):
        clear = Start.of(data, first_moment(data, s), "Start: the first moment, which stands out from the noise.")
        return clear._replace(clear=True)
    if s >= data.X.shape[1]:
        moments = evidence.Moments.of(total_sums(data))
        odds = moments.odds_of_first
        if odds >= 1.0:
            note = f"Start: the first moment, {times(odds)} as promising as the second."
            return Start.of(data, columns(data, moments, evidence.likeliest(moments.first)), note)
        note = f"Start: the second moment, {times(1.0 / max(odds, TINY))} as promising as the first."
        return Start.of(data, columns(data, moments, evidence.likeliest(moments.second)), note, 1)
    first_start = Start.of(data, first_moment(data, s), "Start: the first moment, by held-out answers.")
    second_start = Start.of(data, second_moment(data, s, rng), "Start: the second moment, by held-out answers.", 1)
    return min(first_start, second_start, key=lambda start: start.held_out)


def times(odds: float) -> str:
    """Return odds above 1 in words; beyond 1,000 their size says no more."""
    return f"{odds:.3g} times" if odds <= MOST_ODDS else f"more than {MOST_ODDS:,} times"


def is_clear(data: CrossFit, s: int) -> bool:
    """Return whether noise is only a small part of the first moment: its direction is then as good a start as any."""
    n, p = data.X.shape
    scale = data.answers - data.answers.mean()
    noise = min(s, p) * (1.0 + math.log(p / min(s, p))) * float(scale @ scale) / n**2
    return noise < CLEAR * float(np.square(hard_threshold(scale @ data.X / n, s)).sum())


def fold_sums(data: CrossFit, fold: int) -> evidence.Sums:
    """Return the sums over the answers of one fold."""
    rows = data.fold == fold
    return evidence.Sums.of(data.X[rows], data.answers[rows])


def total_sums(data: CrossFit) -> evidence.Sums:
    """Return the sums over all answers."""
    return reduce(evidence.Sums.plus, (fold_sums(data, fold) for fold in range(data.folds)))


def columns(data: CrossFit, moments: evidence.Moments, moment: evidence.Judged) -> Array:
    """Return the direction of a moment without each fold, and last that of all data (p, K + 1)."""
    parts = (moments.sums.without(fold_sums(data, fold)) for fold in range(data.folds))
    return aligned(np.stack([*(moment.direction(part) for part in parts), moment.direction(moments.sums)], axis=1))


def first_moment(data: CrossFit, s: int) -> Array:
    """Return the s largest entries of mean (y_i - mean y) x_i as unit columns (p, K + 1); E = mu_1 b."""
    return normalised(largest(data.moment(data.answers - data.answers.mean()), s))


def second_moment(data: CrossFit, s: int, rng: Generator) -> Array:
    r"""Return eigenvectors of M = mean (y_i - mean y) x_i x_i^T, largest in size, s < p entries each (p, K + 1).

    E[M] = (mu_2 - mu_0) b b^T. Truncated power iteration (Yuan & Zhang 2013) from one random vector for all columns,
    first on the s, and then on the 4 s largest entries of the diagonal alone; each column takes what is larger in size.
    The last one may take any other's: on all data a support that a column missed may have the larger eigenvalue.
    """
    scale, p = data.answers - data.answers.mean(), data.X.shape[1]
    random: Array = np.repeat(rng.standard_normal((p, 1)), data.folds + 1, axis=1)
    diagonal = data.squares(scale)
    ends = [
        truncated_power(data, scale, random * (largest(diagonal, k) != 0), s, RESTRICTED) for k in (s, min(4 * s, p))
    ]
    sizes, B = np.array([size for _, size in ends]), np.array([end for end, _ in ends])
    B = np.take_along_axis(B, sizes.argmax(axis=0)[None, None], axis=0)[0]
    on_all = np.abs(np.einsum("ij,ij->j", data.X @ B, (data.X @ B) * scale[:, None]))
    last = np.repeat(B[:, [on_all.argmax()]], data.folds + 1, axis=1)
    B[:, -1] = truncated_power(data, scale, last, s)[0][:, -1]
    return aligned(B)


def truncated_power(data: CrossFit, scale: Array, B: Array, s: int, restricted: int = 0) -> tuple[Array, Array]:
    """Return truncated power iterates (p, K + 1) from B, and the sizes of their eigenvalues (K + 1,).

    The first `restricted` steps stay within the entries of B instead of keeping the s largest of all.
    """
    own, B = B != 0, normalised(B)
    for step in range(POWER_STEPS):
        image = data.moment(scale, B)
        following = normalised(image * own if step < restricted else largest(image, s))
        following *= np.where((following * B).sum(axis=0) < 0, -1.0, 1.0)
        change, B = np.abs(following - B).max(), following
        if change < POWER_TOLERANCE and step >= restricted:
            break
    return B, np.abs((B * data.moment(scale, B)).sum(axis=0))


def aligned(B: Array) -> Array:
    """Return the columns, as an eigenvector has no sign, with that of the last."""
    return B * np.where((B * B[:, -1:]).sum(axis=0) < 0, -1.0, 1.0)


def doubtful(data: CrossFit, settled: Fit) -> bool:
    """Return whether the answers' uncertainty has not even been halved, in nats."""
    share = data.answers.mean()
    entropy = -(share * np.log(share) + (1.0 - share) * np.log(1.0 - share))
    return bool(settled.mean_held_out > entropy / 2.0)


def spline_starts(data: CrossFit, below: float) -> Iterator[Start]:
    """Yield each moment's direction after rounds with a stiff spline; nothing where the first moment is clear.

    For links with several turns. A direction with an error of .7 blurs such a link so much that a straight line
    predicts held-out answers as well as a spline, and a line leads nowhere. A stiff spline, used whether or not it pays
    at first, finds the turns within a few rounds: with 300 answers, 20 entries and the link sin 2z it leads to the best
    direction from nearly every moment. A direction is given up when half of its rounds have not brought the loss on
    held-out answers `below`.
    """
    p = data.X.shape[1]
    moments = evidence.Moments.of(total_sums(data))
    named = [("first", evidence.likeliest(moments.first)), *(("second", own) for own in moments.all_second)]
    for name, moment in named:
        B = columns(data, moments, moment)
        link, free = LogOdds(np.zeros(COEFFICIENTS)), np.ones_like(B, dtype=bool)
        now = Moved(B, data.indices(B), np.zeros(0))
        for round in range(ROUNDS):
            fitted = fit(data.rows(now.Z, link), STIFF, link.coefficients, ROUGH)
            if round == ROUNDS // 2 and fitted.mean_held_out > below:
                break
            link = fitted.log_odds
            sharp = sharpened(link, data.held_out(now.Z), p)
            at = data.derivatives(now.Z, sharp)
            now = descended(data, sharp, now._replace(loss=at.loss), data.newton(at, now.B, free))
        else:
            yield Start.of(data, now.B, f"Start: the {name} moment, then {ROUNDS} rounds with a stiff spline.")

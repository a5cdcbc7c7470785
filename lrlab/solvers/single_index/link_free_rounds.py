"""Rounds of link-free refinement: a link of held-out indices, a Newton step, an exchange of entries."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from lrlab.arrays import Array, Mask
from lrlab.linalg import hard_threshold, tangent_inverse
from lrlab.solvers.single_index.index_links import WIDTH, LogOdds, Rows, chosen, loss

CHOICES, NEARLY_SETTLED = 6, 0.05
"""Most rounds that choose the kind of link again; length of a small step, in errors of the direction."""
HALVINGS, LONGEST_STEP, LONGEST_SOLVED = 8, 0.5, 1e12
"""Longest step in radians, beyond which a quadratic model says nothing; a length that no other step reaches."""
SLACK, FLAT = 1e-12, 1e-12
"""Relative rounding of a sum of losses; curvature that keeps a flat link in place."""
SMALLEST_REST = 0.05
"""Least fraction of a row's information that it leaves to others."""
TINY = np.finfo(float).tiny


class Data(NamedTuple):
    """Rows X (n, p), answers (n,) in {0, 1}, the number s of entries of a direction, and `Problem.contrasts`."""

    X: Array
    answers: Array
    s: int
    contrasts: Array | None = None

    @property
    def sparse(self) -> bool:
        """Whether a direction has fewer entries than there are."""
        return self.s < self.X.shape[1]


class Direction(NamedTuple):
    """A unit vector b (p,), its index X b (n,), and the indices (n,) of rows held out of the direction."""

    b: Array
    z: Array
    held_out: Array

    @classmethod
    def of(cls, X: Array, b: Array, held_out: Array) -> "Direction":
        """Scale a vector b (p,), and the held-out indices with it."""
        scale, own = float(np.linalg.norm(b)) + TINY, b != 0
        return cls(b / scale, products(X, own, b) / scale, held_out / scale)


def columns(X: Array, own: Mask) -> Array:
    """Return the columns of some entries."""
    return X if own.all() else X[:, own]


def products(X: Array, own: Mask, v: Array) -> Array:
    """Return X v (n,) from some entries."""
    return columns(X, own) @ v[own]


class Newton(NamedTuple):
    """At a direction under a link, loss summed; Newton step (p,) and minus the gradient (p,); weights and leverages.

    weights (n,): Fisher information of the rows about their index; leverages (n,): variances of the index without its
    own row, by the other rows; without (n,): change of each index by the step without its row.
    """

    loss: float
    step: Array
    descent: Array
    weights: Array
    leverages: Array
    without: Array

    @classmethod
    def of(cls, data: Data, at: Direction, link: LogOdds, support: Mask, *, exact: bool = False) -> "Newton":
        r"""Return the step to the minimum on the sphere, over entries of a support, that also drops the others.

        (P H P + m) D = P X^T psi on the tangent space, psi = eta' (y - p), H = X^T diag(h) X, m = <b, X^T psi>; without
        row i, x_i^T D = (x_i^T D - l_i psi_i) / (1 - h_i l_i), l_i = x_i^T (P H P + m)^{-1} x_i.
        `exact`: h are the second derivatives of the losses instead of eta'^2 p (1 - p), if those lead downhill.
        """
        X, answers = data.X, data.answers
        eta, slope = link(at.z)
        chance = expit(eta)
        psi, h = slope * (answers - chance), slope * slope * chance * (1.0 - chance)
        descent, own = X.T @ psi, columns(X, support)
        base = at.b[support] / (np.linalg.norm(at.b[support]) + TINY)
        right, step = descent[support], np.zeros(len(at.b))
        dropped = (at.b != 0) & ~support
        if dropped.any():
            right = right + own.T @ (h * products(X, dropped, at.b))
        multiplier = max(0.0, float(at.b @ descent)) + float(np.abs(descent).max()) / LONGEST_SOLVED + FLAT
        inverse = tangent_inverse((own.T * h) @ own + multiplier * np.eye(len(base)), base)
        D = inverse @ right
        if exact:
            curved = (own.T * curvatures(data, at.z, link)) @ own + multiplier * np.eye(len(base))
            newton = tangent_inverse(curved, base) @ right
            D = newton if newton @ right > 0 else D
        step[support] = D
        leverages = np.einsum("ij,ij->i", own @ inverse, own)
        without = (own @ D - leverages * psi) / np.maximum(1.0 - h * leverages, SMALLEST_REST)
        return cls(float(loss(eta, answers).sum()), step, descent, h, leverages, without)

    @property
    def information(self) -> float:
        """The summed information of the rows."""
        return float(self.weights.sum()) + TINY

    @property
    def error(self) -> float:
        """The standard error of the direction, by the information."""
        return math.sqrt(np.count_nonzero(self.step) / self.information)

    def moved(self, data: Data, at: Direction, link: LogOdds) -> tuple[Direction, float]:
        """Return the direction after the step, halved until the loss does not grow, and its loss."""
        t = min(1.0, LONGEST_STEP / (float(np.linalg.norm(self.step)) + TINY))
        along = products(data.X, self.step != 0, self.step)
        for _ in range(HALVINGS):
            b = at.b + t * self.step
            held_out = (1.0 - t) * at.held_out + t * (at.z + self.without)
            scale = float(np.linalg.norm(b))
            trial = Direction(b / scale, (at.z + t * along) / scale, held_out / scale)
            reached = float(loss(link(trial.z)[0], data.answers).sum())
            if reached <= self.loss * (1.0 + SLACK) + SLACK:
                return trial, reached
            t /= 2.0
        return at, self.loss


def curvatures(data: Data, z: Array, link: LogOdds) -> Array:
    """Return the second derivatives of the losses at z (n,), by differences."""
    h = 1e-3 * WIDTH
    (above, up), (below, down) = link(z + h), link(z - h)
    return (down * (data.answers - expit(below)) - up * (data.answers - expit(above))) / (2.0 * h)


class Round(NamedTuple):
    """A direction, the link of its held-out indices, the step to come, and how many entries may change."""

    at: Direction
    link: LogOdds
    newton: Newton
    exchanges: int = 0
    choosing: bool = False

    @property
    def nearly_settled(self) -> bool:
        """Whether the choices are made and the step is small against the error of the direction."""
        small = float(np.linalg.norm(self.newton.step)) < NEARLY_SETTLED * self.newton.error
        return small and not self.choosing and not self.exchanges

    def held_out(self, data: Data) -> Array:
        """Return the loss of each answer (n,) without it: of its index, and, by what chance gains, of the link."""
        own = loss(self.link(self.at.held_out)[0], data.answers)
        return own + self.link.parameters / len(own)


def rounds(data: Data, at: Direction, links: Sequence[LogOdds]) -> Iterator[Round]:
    """Yield rounds from a start, with the best link of some kinds, without end."""
    information: Array = np.zeros(len(at.z))
    same, number = 0, 0
    exchanges, link = data.s if data.sparse else 0, links[0]
    support = at.b != 0 if data.sparse else np.ones(len(at.b), dtype=bool)
    while True:
        rows = Rows.of(at.held_out, data.answers, information)
        # Chosen anew only while the direction still changes much: then the rounds converge.
        choosing = len(links) > 1 and number < CHOICES and same < 2
        if choosing:
            links, before = [kind.fitted(rows) for kind in links], link
            link = chosen(rows, links)
            same = same + 1 if number and before.kind == link.kind else 0
        else:
            link = link.fitted(rows)
        step = Newton.of(data, at, link, support)
        information = step.weights
        yield Round(at, link, step, exchanges, choosing)
        moved, reached = step.moved(data, at, link)
        if exchanges:
            moved, exchanges = exchanged(data, link, at, step, moved, reached, exchanges)
            support = moved.b != 0
        at, number = moved, number + 1


def exchanged(
    data: Data, link: LogOdds, at: Direction, step: Newton, moved: Direction, reached: float, exchanges: int
) -> tuple[Direction, int]:
    r"""Return the direction with a better support if there is one, and how many entries may change next time.

    Every coordinate is an isotropic Gaussian one, so that h, the summed information, is the curvature along each: by
    itself, entry j is best at b_j + g_j / h and saves h (b_j + g_j / h)^2 / 2. The s entries that save most are wanted,
    if they save their price. The price of an entry is the gain that makes it more likely in than out, when s of p
    entries, drawn with the variance 1/s, are in: log((p - s) / s) + log(1 + h / s) / 2.
    """
    h, p, s = step.information, len(at.b), data.s
    price = max(0.0, math.log((p - s) / s) + math.log1p(h / s) / 2.0)
    alone = at.b + (step.descent - at.b * (at.b @ step.descent)) / h
    support = nearer(
        at.b != 0, (hard_threshold(alone, s) != 0) & (h * alone**2 / 2.0 > price), np.abs(alone), exchanges
    )
    if (support == (at.b != 0)).all():
        return moved, exchanges // 2
    to = Newton.of(data, at, link, support)
    b = np.where(support, at.b + to.step, 0.0)
    trial = Direction.of(data.X, b, products(data.X, support, at.b) + to.without)
    value = float(loss(link(trial.z)[0], data.answers).sum()) + price * np.count_nonzero(b)
    better = value < reached + price * np.count_nonzero(moved.b) - SLACK
    return (trial, exchanges) if better else (moved, exchanges // 2)


def nearer(support: Mask, wanted: Mask, size: Array, most: int) -> Mask:
    """Return the support (p,) with at most `most` entries let in, largest first, and out, smallest first.

    It stays unchanged if no entry would remain.
    """
    changed = support.copy()
    enter, leave = np.flatnonzero(wanted & ~support), np.flatnonzero(support & ~wanted)
    changed[enter[np.argsort(-size[enter], kind="stable")][:most]] = True
    changed[leave[np.argsort(size[leave], kind="stable")][:most]] = False
    return changed if changed.any() else support


def last_rounds(data: Data, last: Round) -> Iterator[Round]:
    """Yield rounds under the link of `last`, without end: F is one function, and they converge."""
    at, support = last.at, last.at.b != 0
    while True:
        step = Newton.of(data, at, last.link, support, exact=True)
        yield last._replace(at=at, newton=step, choosing=False, exchanges=0)
        at, _ = step.moved(data, at, last.link)

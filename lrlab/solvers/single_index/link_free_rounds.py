r"""Rounds of link-free refinement: a link of held-out indices, a Newton step, an exchange of entries.

At a unit b under log-odds eta, with p_i = P(y_i = 1), psi_i = eta'(z_i) (y_i - p_i) and h_i = eta'(z_i)^2 p_i (1 - p_i)
the Newton step D solves (P H P + m) D = P X^T psi on the tangent space of the sphere, H = X^T diag(h) X, m = <b, X^T
psi>; without row i it moves the index z_i by (x_i^T D - l_i psi_i) / (1 - h_i l_i), l_i = x_i^T (P H P + m)^{-1} x_i.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from lrlab.arrays import Array, Mask
from lrlab.linalg import hard_threshold, tangent_inverse
from lrlab.solvers.single_index.index_links import WIDTH, LogOdds, Rows, loss

CHOICES = 6
"""Rounds that choose the kind of link."""
LONGEST_STEP = 0.5
"""Radians beyond which a quadratic model says nothing."""
SMALLEST_REST = 0.05
"""Least fraction of a row's information that it leaves to others."""
SLACK, TINY = 1e-12, np.finfo(float).tiny


class Data(NamedTuple):
    """Rows X (n, p), responses (n,) in {0, 1}, the number s of entries of a direction, and `Problem.contrasts`."""

    X: Array
    answers: Array
    s: int
    contrasts: Array | None = None

    def times(self, v: Array) -> Array:
        """Return X v (n,)."""
        return self.X @ v if v.all() else self.X[:, v != 0] @ v[v != 0]

    def loss(self, link: LogOdds, z: Array) -> float:
        """Return the summed loss at indices z (n,)."""
        return float(loss(link(z)[0], self.answers).sum())


class Direction(NamedTuple):
    """A unit vector b (p,), its index X b (n,), and the indices (n,) of rows held out of the direction."""

    b: Array
    z: Array
    held_out: Array

    @classmethod
    def of(cls, data: Data, b: Array, held_out: Array) -> "Direction":
        """Scale a vector b (p,), and the held-out indices with it."""
        scale = float(np.linalg.norm(b)) + TINY
        return cls(b / scale, data.times(b) / scale, held_out / scale)


class Round(NamedTuple):
    """A direction, the link of its held-out indices, the summed loss, and the Newton step (p,) to come.

    descent (p,): minus the gradient. information: sum of h, and h (n,) itself. without (n,): the change of each index
    by the step without its row. exchanges: how many entries may change. choosing: whether links compete.
    """

    at: Direction
    link: LogOdds
    loss: float
    step: Array
    descent: Array
    h: Array
    without: Array
    exchanges: int = 0
    choosing: bool = False

    @classmethod
    def of(cls, data: Data, at: Direction, link: LogOdds, support: Mask, *, exact: bool = False) -> "Round":
        """Return the step to the minimum over entries of a support (p,), which also drops the others.

        exact: with the second derivatives of the losses for h, if those lead downhill.
        """
        own, (eta, slope) = data.X if support.all() else data.X[:, support], link(at.z)
        yes = expit(eta)
        psi, h = slope * (data.answers - yes), slope * slope * yes * (1.0 - yes)
        descent, step = data.X.T @ psi, np.zeros(len(at.b))
        base = at.b[support] / (np.linalg.norm(at.b[support]) + TINY)
        right = descent[support] + own.T @ (h * data.times(np.where(support, 0.0, at.b)))
        # The least multiplier keeps a flat link in place.
        shift = (max(0.0, float(at.b @ descent)) + SLACK * (np.abs(descent).max() + 1.0)) * np.eye(len(base))
        inverse = tangent_inverse((own.T * h) @ own + shift, base)
        D = inverse @ right
        if exact:
            newton = tangent_inverse((own.T * curvatures(data, at.z, link)) @ own + shift, base) @ right
            D = newton if newton @ right > 0 else D
        step[support] = D
        leverages = np.einsum("ij,ij->i", own @ inverse, own)
        without = (own @ D - leverages * psi) / np.maximum(1.0 - h * leverages, SMALLEST_REST)
        return cls(at, link, float(loss(eta, data.answers).sum()), step, descent, h, without)

    @property
    def nearly_settled(self) -> bool:
        """Whether the choices are made and the step is small against the error of the direction."""
        error = math.sqrt(np.count_nonzero(self.step) / (self.h.sum() + TINY))
        return float(np.linalg.norm(self.step)) < 0.05 * error and not (self.choosing or self.exchanges)

    def held_out(self, data: Data) -> float:
        """Return the summed loss of responses held out of the index, and, by what chance gains, of the link."""
        return data.loss(self.link, self.at.held_out) + self.link.parameters

    def moved(self, data: Data) -> tuple[Direction, float]:
        """Return the direction after the step, halved until the loss does not grow, and its loss."""
        at, along = self.at, data.times(self.step)
        longest = min(1.0, LONGEST_STEP / (float(np.linalg.norm(self.step)) + TINY))
        for t in longest / 2.0 ** np.arange(8):
            b, held_out = at.b + t * self.step, (1.0 - t) * at.held_out + t * (at.z + self.without)
            scale = float(np.linalg.norm(b))
            trial = Direction(b / scale, (at.z + t * along) / scale, held_out / scale)
            reached = data.loss(self.link, trial.z)
            if reached <= self.loss * (1.0 + SLACK) + SLACK:
                return trial, reached
        return at, self.loss

    def exchanged(self, data: Data) -> tuple[Direction, int]:
        r"""Return the next direction, on a better support if there is one, and how many entries may change then.

        Every coordinate is an isotropic Gaussian one, so that h, the summed information, is the curvature along each:
        by itself, entry j is best at b_j + g_j / h and saves h (b_j + g_j / h)^2 / 2. The s entries that save most are
        wanted, if they save their price: the gain that makes an entry more likely in than out, when s of p entries,
        drawn with the variance 1/s, are in, log((p - s) / s) + log(1 + h / s) / 2.
        """
        (b, *_), (moved, reached) = self.at, self.moved(data)
        h, p, s, support = float(self.h.sum()) + TINY, len(b), data.s, b != 0
        price = max(0.0, math.log((p - s) / s) + math.log1p(h / s) / 2.0)
        alone = np.abs(b + (self.descent - b * (b @ self.descent)) / h)
        wanted = (hard_threshold(alone, s) != 0) & (h * alone**2 / 2.0 > price)
        changed = support.copy()
        for other, sign in ((wanted & ~support, -1.0), (support & ~wanted, 1.0)):
            entries = np.flatnonzero(other)
            changed[entries[np.argsort(sign * alone[entries], kind="stable")][: self.exchanges]] ^= True
        if changed.any() and (changed != support).any():
            to = Round.of(data, self.at, self.link, changed)
            target = np.where(changed, b + to.step, 0.0)
            trial = Direction.of(data, target, data.times(np.where(changed, b, 0.0)) + to.without)
            value = data.loss(self.link, trial.z) + price * np.count_nonzero(target)
            if value < reached + price * np.count_nonzero(moved.b) - SLACK:
                return trial, self.exchanges
        return moved, self.exchanges // 2


def curvatures(data: Data, z: Array, link: LogOdds) -> Array:
    """Return the second derivatives of the losses at z (n,), by differences."""
    h = 1e-3 * WIDTH
    (above, up), (below, down) = link(z + h), link(z - h)
    return (down * (data.answers - expit(below)) - up * (data.answers - expit(above))) / (2.0 * h)


def rounds(data: Data, at: Direction, links: Sequence[LogOdds], *, final: bool = False) -> Iterator[Round]:
    """Yield rounds from a start, with the best link of some kinds, without end.

    final: under one link as it is; F is then one function, and the rounds converge.
    """
    dense, same = data.s == len(at.b), 0
    information: Array = np.zeros(len(at.z))
    number, exchanges, link = 0, 0 if dense or final else data.s, links[0]
    while True:
        # Chosen anew only while the direction still changes much: then the rounds converge.
        choosing = len(links) > 1 and number < CHOICES and same < 2
        if not final:
            rows = Rows.of(at.held_out, data.answers, information)
            links = [kind.fitted(rows) for kind in (links if choosing else [link])]
            best = min(links, key=lambda kind: kind.cost(rows))
            same, link = same + 1 if number and best.penalty == link.penalty else 0, best
        support = (at.b != 0) | (dense and not final)
        last = Round.of(data, at, link, support, exact=final)._replace(exchanges=exchanges, choosing=choosing)
        yield last
        information, number = last.h, number + 1
        at, exchanges = last.exchanged(data) if exchanges else (last.moved(data)[0], 0)

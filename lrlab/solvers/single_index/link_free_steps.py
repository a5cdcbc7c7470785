r"""A step of link-free refinement: Newton's on the sphere, with the index of each row without it, and the support.

At a unit b under log-odds eta, with p_i = P(y_i = 1), psi_i = eta'(z_i) (y_i - p_i) and h_i = eta'(z_i)^2 p_i (1 - p_i)
the Newton step D solves (P H P + m) D = P X^T psi on the tangent space of the sphere, H = X^T diag(h) X, m = <b, X^T
psi>; without row i it moves the index z_i by (x_i^T D - l_i psi_i) / (1 - h_i l_i), l_i = x_i^T (P H P + m)^{-1} x_i.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import entr, expit

from lrlab.arrays import Array, Mask
from lrlab.linalg import hard_threshold, length, tangent_inverse, unit
from lrlab.solvers.single_index.index_links import LogOdds

TINY = np.finfo(float).tiny


class Data(NamedTuple):
    """Rows X (n, p), responses (n,) in {0, 1}, the number s of entries of a direction, and `Problem.contrasts`."""

    X: Array
    answers: Array
    s: int
    contrasts: Array | None = None

    def loss(self, eta: Array) -> float:
        """Return the summed loss -log P(y_i) = log(1 + exp(eta_i)) - y_i eta_i of log-odds (n,)."""
        return float(np.logaddexp(0.0, eta).sum() - self.answers @ eta)


class Direction(NamedTuple):
    """A vector b (p,), its index X b (n,), and held_out (n,): the index of each row under a b without that row."""

    b: Array
    z: Array
    held_out: Array


def scaled(b: Array, z: Array, held_out: Array) -> Direction:
    """Return the direction along b (p,), with its indices."""
    size = length(b) + TINY
    return Direction(b / size, z / size, held_out / size)


class Step(NamedTuple):
    """A direction, its link and summed loss, and the end of the Newton step from there, whose b is not scaled.

    ascent (p,): minus the gradient of the loss, X^T psi. unsettled: 1 while the support may still change, .01 while
    links compete, as a direction that stands still under one of them may move under the next.
    """

    at: Direction
    link: LogOdds
    loss: float
    end: Direction
    ascent: Array
    psi: Array
    h: Array
    unsettled: float = 0.0

    @classmethod
    def of(cls, data: Data, at: Direction, link: LogOdds, support: Mask, *, exact: bool = False) -> "Step":
        """Return the step to the minimum over the entries of a support (p,).

        exact: with the second derivatives of the losses instead of h, if those lead downhill.
        """
        own, y, b = data.X if support.all() else data.X[:, support], data.answers, at.b[support]
        eta, slope, bend = link(at.z)
        yes, z = expit(eta), own @ b
        psi, h = slope * (y - yes), slope * slope * yes * (1.0 - yes)
        ascent = data.X.T @ psi
        # The entries that leave pull, too.
        right = ascent[support] + own.T @ (h * (at.z - z))
        # The least multiplier keeps a flat link in place.
        multiplier = max(0.0, float(at.b @ ascent)) + 1e-12 * (np.abs(ascent).max() + 1.0)
        m = multiplier * np.eye(len(b))
        inverse = tangent_inverse((own.T * h) @ own + m, unit(b))
        D = inverse @ right
        if exact:
            newton = tangent_inverse((own.T * (h - bend * (y - yes))) @ own + m, unit(b)) @ right
            D = newton if newton @ right > 0 else D
        leverages, along = np.einsum("ij,ij->i", own @ inverse, own), own @ D
        # A row leaves at least a twentieth of its information to the others.
        held_out = z + (along - leverages * psi) / np.maximum(1.0 - h * leverages, 0.05)
        end = np.zeros(len(at.b))
        end[support] = b + D
        return cls(at, link, data.loss(eta), Direction(end, z + along, held_out), ascent, psi, h)

    @property
    def length(self) -> float:
        """Length of the step."""
        return length(self.end.b - self.at.b)

    @property
    def is_short(self) -> bool:
        """Whether the step is small against the error of the direction."""
        # The error is about the square root of the number of entries over the summed information.
        return self.length * math.sqrt(self.h.sum()) < 0.05 * math.sqrt(np.count_nonzero(self.at.b))

    def held_out(self, data: Data) -> float:
        """Return the summed loss of responses held out of the index, and, by what chance gains, of the link."""
        return data.loss(self.link(self.at.held_out)[0]) + self.link.parameters

    def unexplained(self, data: Data) -> float:
        """Return that loss as a fraction of the entropy of the responses."""
        rate = float(data.answers.mean())
        return self.held_out(data) / (len(data.answers) * float(entr(rate) + entr(1.0 - rate)) + TINY)

    def moved(self, data: Data) -> Direction:
        """Return the direction after the step, halved until the loss does not grow."""
        # Beyond half a radian a quadratic model says nothing.
        for t in min(1.0, 0.5 / (self.length + TINY)) / 2.0 ** np.arange(8):
            trial = scaled(*((1.0 - t) * one + t * other for one, other in zip(self.at, self.end, strict=True)))
            if data.loss(self.link(trial.z)[0]) <= self.loss * (1.0 + 1e-12) + 1e-12:
                return trial
        return self.at

    def pursued(self, data: Data) -> tuple[Direction, bool]:
        r"""Return the next direction, on the wanted entries if that is better, and whether it is (Foucart 2011).

        Every coordinate is an isotropic Gaussian one, so that h, the summed information, is the curvature along each:
        by itself, entry j is best at b_j + g_j / h and saves h (b_j + g_j / h)^2 / 2. The s entries that save most are
        wanted, if they save their price: the gain that makes an entry more likely in than out, when s of p entries,
        drawn with the variance 1/s, are in, log((p - s) / s) + log(1 + h / s) / 2.
        """
        b, g, h, moved = self.at.b, self.ascent, float(self.h.sum()) + TINY, self.moved(data)
        p, s = len(b), data.s
        price = max(0.0, math.log((p - s) / s) + math.log1p(h / s) / 2.0)
        alone = np.abs(b + (g - b * (b @ g)) / h)
        wanted = (hard_threshold(alone, s) != 0) & (h * alone**2 / 2.0 > price)
        if not wanted.any() or (wanted == (b != 0)).all():
            return moved, False
        trial = scaled(*Step.of(data, self.at, self.link, wanted).end)
        costs = [data.loss(self.link(one.z)[0]) + price * np.count_nonzero(one.b) for one in (trial, moved)]
        return (trial, True) if costs[0] < costs[1] - 1e-12 else (moved, False)

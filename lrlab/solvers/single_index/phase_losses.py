"""Likelihood of one-bit phase retrieval at widths of our choice, what it is at the truth, and where to start from."""

import math
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import log_ndtr

from lrlab.arrays import Array
from lrlab.linalg import unit
from lrlab.models.protocols import SingleIndexData
from lrlab.solvers.single_index.gamp import gamp
from lrlab.solvers.single_index.spectral_optimal import spectral_optimal
from lrlab.theory.channels import TINY
from lrlab.theory.links import ThresholdLink, normal_density

WIDEST = 0.5
# Standard deviations beyond which an answer is certain: its loss is 1e-19, and its information 1e-16 of the largest.
CERTAIN = 9.0
CELLS = 500
# A width at which hardly any answer is uncertain.
SHARP = 1e-6
STARTS, GAMP_STEPS, GAMP_RESTS = 6, 60, 0.01


class Likelihood(NamedTuple):
    """At indices z (n,): -log P(y | z), minus its derivative, and its second one, each (n,)."""

    loss: Array
    descent: Array
    curvature: Array

    @property
    def information(self) -> Array:
        """The Fisher information (n,), P'^2 / (P (1 - P)) with P of either answer; where P is 1, there is none."""
        other = -np.expm1(-self.loss)
        return self.descent**2 * np.divide(np.exp(-self.loss), other, out=np.zeros_like(other), where=other > 0)


def final_width(link: ThresholdLink, n: int, p: int) -> float:
    """Return the noise, or where that is smaller half the error p / (n q) that no smoothing can avoid, at most 1/2."""
    density = math.exp(-(link.threshold**2) / 2.0) * math.sqrt(2.0 / math.pi)
    return max(link.noise, min(WIDEST, p / (2.0 * n * density)))


def likelihood(z: Array, y: Array, link: ThresholdLink, width: float) -> Likelihood:
    """Return the likelihood of y = sign(|z + width e| - threshold), e ~ N(0, 1), flipped as often as the link says.

    With small widths most answers are certain, or certainly flipped: it is evaluated for the others.
    """
    margin = y * (np.abs(z) - link.threshold)
    rows = np.flatnonzero((margin if link.flip == 0 else np.abs(margin)) < CERTAIN * width)
    if len(rows) > len(z) / 2:
        return uncertain(z, y, link, width)
    whole = Likelihood(*(np.zeros(len(z)) for _ in range(3)))
    if link.flip > 0:
        whole.loss[:] = np.where(margin > 0, -math.log1p(-link.flip), -math.log(link.flip))
    for values, part in zip(whole, uncertain(z[rows], y[rows], link, width), strict=True):
        values[rows] = part
    return whole


def uncertain(z: Array, y: Array, link: ThresholdLink, width: float) -> Likelihood:
    """Return the likelihood of all answers, by logarithms throughout."""
    size, threshold, straight = np.abs(z), link.threshold, 1.0 - 2.0 * link.flip
    above, below = (size - threshold) / width, (-size - threshold) / width
    log_own = log_chance(above, below, y, link.flip)
    # |dP/dz| = (phi(above) - phi(below)) / w = phi(above) (1 - e^decay) / w, over the chance of the answer.
    decay = np.expm1(-2.0 * size * threshold / width**2)
    density = np.exp(-np.square(above) / 2.0 - log_own) * (straight / (width * math.sqrt(2.0 * math.pi)))
    descent = y * np.sign(z) * (density * -decay)
    bend = density * (2.0 * threshold / width - below * decay) / width
    return Likelihood(-log_own, descent, descent**2 - y * bend)


def log_chance(above: Array, below: Array, y: Array, flip: float) -> Array:
    """Return log P(y | z), P(y = 1) = Phi(above) + Phi(below), below <= above, mixed with the flips."""
    # P(no) = Phi(-above) - Phi(below), a difference that would cancel far out.
    log_first = log_ndtr(y * above)
    less = np.expm1(np.minimum(log_ndtr(below) - log_first, -TINY))
    log_own = log_first + np.log(np.where(y > 0, 2.0 + less, -less))
    return np.log(flip + (1.0 - 2.0 * flip) * np.exp(log_own)) if flip > 0 else log_own


def expected_loss(link: ThresholdLink, width: float, spread: float = 1.0) -> tuple[float, float]:
    """Return mean and standard deviation of an answer's loss at the truth, whose indices are N(0, spread^2)."""
    t, reach = link.threshold, 9.0 * spread
    edges = np.concatenate([np.linspace(0.0, reach, CELLS), t + 10.0 * width * np.linspace(-1.0, 1.0, CELLS + 1)])
    edges = np.unique(np.clip(edges, 0.0, max(reach, t)))
    # The threshold is an edge, so that answers without noise are the same throughout a cell.
    z = (edges[1:] + edges[:-1]) / 2.0
    mass, yes = 2.0 * np.diff(edges) * normal_density(z / spread) / spread, (1.0 + link(z)) / 2.0
    mean = square = 0.0
    for y, chance in ((1.0, yes), (-1.0, 1.0 - yes)):
        loss = np.where(chance > 0, -log_chance((z - t) / width, (-z - t) / width, np.full_like(z, y), link.flip), 0.0)
        mean, square = mean + float(mass * chance @ loss), square + float(mass * chance @ loss**2)
    return mean, math.sqrt(max(square - mean**2, 0.0))


def exact_loss(problem: SingleIndexData, b: Array) -> float:
    """Return the summed -log P(y | X b) of the link itself; without noise or flips, the number of answers it denies."""
    z, y, link = problem.X @ b, problem.y, problem.link
    if link.noise == 0.0 and link.flip == 0.0:
        return float(np.count_nonzero(y * (np.abs(z) - link.threshold) < 0.0))
    return float(likelihood(z, y, link, max(link.noise, SHARP)).loss.sum())


def starts(problem: SingleIndexData, rng: Generator) -> Iterator[Array]:
    """Yield the spectral estimate, the posterior mean by `gamp`, and random directions, each (p,) of unit length."""
    yield next(spectral_optimal(problem, weights="link", rng=rng)).estimate
    yield posterior_mean(problem, rng)
    for _ in range(STARTS - 2):
        yield unit(rng.standard_normal(problem.shape[1]))


def posterior_mean(problem: SingleIndexData, rng: Generator) -> Array:
    """Return the direction (p,) near which `gamp` comes to rest; the last one that is finite where it diverges."""
    estimate = np.zeros(problem.shape[1])
    with np.errstate(all="ignore"):
        for at in islice(gamp(problem, rng=rng), GAMP_STEPS):
            if not np.isfinite(at.estimate).all():
                break
            estimate = at.estimate
            if at.residual is not None and at.residual < GAMP_RESTS:
                break
    return estimate


def likeliest_width(problem: SingleIndexData, b: Array, narrowest: float) -> float:
    """Return the width, of those that the descent takes, at which b is likeliest: about the error of its indices."""
    widths, z = [narrowest], problem.X @ b
    while widths[-1] < WIDEST:
        widths.append(min(2.0 * widths[-1], WIDEST))
    return min(widths, key=lambda w: float(likelihood(z, problem.y, problem.link, w).loss.sum()))

"""Likelihood of one-bit phase retrieval at widths of our choice, and what the model promises of it at the truth."""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from lrlab.arrays import Array
from lrlab.theory.channels import log_of_rest
from lrlab.theory.links import ThresholdLink, normal_density

WIDEST = 0.5
# Standard deviations beyond which an answer is certain: its loss is 1e-19, and its information 1e-16 of the largest.
CERTAIN = 9.0
CELLS = 500


class Likelihood(NamedTuple):
    """At indices z (n,): -log P(y | z), minus its derivative, its second one, and the Fisher information, each (n,)."""

    loss: Array
    descent: Array
    curvature: Array
    information: Array


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
    whole = Likelihood(*(np.zeros(len(z)) for _ in range(4)))
    if link.flip > 0:
        whole.loss[:] = np.where(margin > 0, -math.log1p(-link.flip), -math.log(link.flip))
    for values, part in zip(whole, uncertain(z[rows], y[rows], link, width), strict=True):
        values[rows] = part
    return whole


def uncertain(z: Array, y: Array, link: ThresholdLink, width: float) -> Likelihood:
    """Return the likelihood of all answers, by logarithms throughout."""
    size, threshold, straight = np.abs(z), link.threshold, 1.0 - 2.0 * link.flip
    above, below = (size - threshold) / width, (-size - threshold) / width
    log_above, log_below, log_rest = log_ndtr(above), log_ndtr(below), log_ndtr(-above)
    # below <= above.
    log_yes = log_above + np.log1p(np.exp(log_below - log_above))
    # P(no) = Phi(-above) - Phi(below), a difference that would cancel far out; |dP/dz| = (phi(above) - phi(below)) / w.
    log_no = log_rest + log_of_rest(log_below - log_rest)
    if link.flip > 0:
        log_yes, log_no = (np.log(link.flip + straight * np.exp(own)) for own in (log_yes, log_no))
    log_density = -np.square(above) / 2.0 - math.log(width * math.sqrt(2.0 * math.pi) / straight)
    decay = -2.0 * size * threshold / width**2
    log_change, log_own = log_density + log_of_rest(decay), np.where(y > 0, log_yes, log_no)
    descent = y * np.sign(z) * np.exp(log_change - log_own)
    bend = np.exp(log_density - log_own) * (-above - below * np.exp(decay)) / width
    return Likelihood(-log_own, descent, descent**2 - y * bend, np.exp(2.0 * log_change - log_yes - log_no))


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
        loss = np.where(chance > 0, uncertain(z, np.full_like(z, y), link, width).loss, 0.0)
        mean, square = mean + float(mass * chance @ loss), square + float(mass * chance @ loss**2)
    return mean, math.sqrt(max(square - mean**2, 0.0))

r"""Information of a response about its index: I(q) = E_w sum_y P g^2, w ~ N(0, q), z ~ N(w, 1 - q).

With f = E f0(w + S e), S^2 = 1 - q + noise^2 (`theory.channels`), sum_y P g^2 = f'^2 / (1 - f^2), Fisher's information
of w. Its features have the width S at jumps, kinks and steep parts of the base link, and near +-1. The integral is
split there, and each piece integrated by Gauss-Legendre in x with w = place + scale sinh(x), so that
nodes are dense if an index of variance 1 - q distinguishes responses.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from lrlab.arrays import Array, Indices
from lrlab.theory.cells import inside, legendre
from lrlab.theory.channels import TINY, answer
from lrlab.theory.links import Link, SignLink, ThresholdLink, normal_density
from lrlab.theory.smoothing import base_cells, smoothed

LEVELS = np.concatenate([np.arange(-18.0, -4.0), np.arange(-4.0, 12.0, 0.5), np.arange(12.0, 31.0)])
"""log(q / (1 - q)) of overlaps from 1e-8 to within 1e-13 of 1; a cubic spline between them is within 2e-4 of log I."""
SPREAD = 8.5
"""Standard deviations of w in the integral."""
ORDERS = 16, 24, 36, 54, 80
"""Numbers of nodes per piece of w. A link takes the first one whose log I is within TOLERANCE, if I is informative at
an n/p below e^20."""
TOLERANCE = 5e-5
PROBES = np.array([-4.0, -1.0, 0.5, 2.0, 4.0, 7.0, 12.0, 20.0])
REACH, STEP, CLOSE = 6.0, 0.1, 1e-9
"""Range of the search for narrow features of smooth links; widest and narrowest cells in it."""


class Nodes(NamedTuple):
    """Nodes w of the quadratures at several levels: the level of each, S there, the weight with the density of w."""

    level: Indices
    w: Array
    S: Array
    weight: Array


class Curves(NamedTuple):
    """A link without flips at nodes: f and its slope in w."""

    at: Nodes
    f: Array
    slope: Array

    def log_information(self, count: int, share: float = 1.0) -> Array:
        """Return log I (count,) if flips leave the fraction `share` of f."""
        rest = np.maximum((1.0 - share * self.f) * (1.0 + share * self.f), 1e-14)
        return _log(np.bincount(self.at.level, self.at.weight * (share * self.slope) ** 2 / rest, count))


@singledispatch
def log_information(link: Any, levels: Array, order: int = 40) -> Array:
    """Return log I(q) at q = expit(levels) (k,); -inf without information. order: nodes for sharp links."""
    if isinstance(link, SignLink | ThresholdLink):
        at = _nodes(link, levels, order)
        return _log(np.bincount(at.level, at.weight * _sharp_fisher(link, at), len(levels)))
    smooth = replace(link, flip=0.0)
    curves = _table(smooth) if levels is LEVELS else _curves(smooth, levels, _fineness(smooth))
    return curves.log_information(len(levels), 1.0 - 2.0 * link.flip)


def _log(values: ArrayLike) -> Array:
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(values, dtype=float))


def _sharp_fisher(link: Link, at: Nodes) -> Array:
    # P g^2 / (1 - P) for either answer; taken for the less likely one, whose 1 - P does not cancel.
    likelihood = answer(link, at.w, np.square(at.S) - link.noise**2, np.where(link.base(at.w) > 0, -1.0, 1.0))
    return np.exp(likelihood.log_chance) * likelihood.score**2 / np.maximum(-np.expm1(likelihood.log_chance), TINY)


# Flips only scale f: a map along them needs the curves once.
@lru_cache(maxsize=64)
def _table(link: Link) -> Curves:
    return _curves(link, LEVELS, _fineness(link))


@lru_cache(maxsize=256)
def _fineness(link: Link) -> int:
    """Return the number of nodes per piece that brings log I of a link within TOLERANCE."""
    coarse = _curves(link, PROBES, ORDERS[0]).log_information(len(PROBES))
    for order, finer in itertools.pairwise(ORDERS):
        fine = _curves(link, PROBES, finer).log_information(len(PROBES))
        silent = fine < np.minimum(PROBES, 0.0) - 20.0
        if np.all(silent | (np.abs(np.maximum(fine, -700.0) - np.maximum(coarse, -700.0)) <= TOLERANCE)):
            return order
        coarse = fine
    return ORDERS[-1]


def _curves(link: Link, levels: Array, order: int) -> Curves:
    at = _nodes(link, levels, order)
    return Curves(at, *smoothed(link, at.w, at.S)[:2])


def _nodes(link: Link, levels: Array, order: int) -> Nodes:
    sharp = isinstance(link, SignLink | ThresholdLink)
    x, weights = legendre(order)
    parts = []
    for k, level in enumerate(levels):
        sd, S = math.sqrt(expit(level)), math.sqrt(expit(-level) + link.noise**2)
        place, begin, end = _pieces(_distinct(_places(link), S), S, sharp)
        lower, upper = (np.arcsinh((np.clip(at, -SPREAD * sd, SPREAD * sd) - place) / S) for at in (begin, end))
        kept = lower != upper
        place, lower, upper = (array[kept][:, None] for array in (place, lower, upper))
        t = (upper + lower) / 2.0 + (upper - lower) / 2.0 * x
        w = place + S * np.sinh(t)
        weight = np.abs(upper - lower) / 2.0 * weights * S * np.cosh(t) * normal_density(w / sd) / sd
        parts.append((np.full(w.size, k), w.ravel(), np.full(w.size, S), weight.ravel()))
    return Nodes(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _pieces(places: Array, S: float, sharp: bool) -> tuple[Array, Array, Array]:
    """Return the feature, the beginning and the end of pieces of the integral over w."""
    middles = np.concatenate([[-np.inf], (places[1:] + places[:-1]) / 2.0, [np.inf]])
    pieces = []
    for side, ends in ((1.0, middles[1:]), (-1.0, middles[:-1])):
        # Beyond nine widths S a sharp link is flat.
        turn = side * np.minimum(side * (places + side * 9.0 * S), side * ends)
        pieces.append((places, places, turn))
        pieces += [] if sharp else [(places, turn, ends)]
    place, begin, end = (np.concatenate([piece[k] for piece in pieces]) for k in range(3))
    return place, begin, end


def _distinct(places: Array, S: float) -> Array:
    """Return one of those features that an index with the deviation S does not separate."""
    by_size = places[np.argsort(np.abs(places))]
    _, first = np.unique(np.round(by_size / (0.25 * S)), return_index=True)
    return np.sort(by_size[first])


@lru_cache(maxsize=256)
def _places(link: Link) -> Array:
    """Return the locations of narrow features of the information."""
    if isinstance(link, SignLink):
        return np.zeros(1)
    if isinstance(link, ThresholdLink):
        return np.unique([-link.threshold, link.threshold])
    cells = base_cells(link)
    near = np.abs(cells.edges) < REACH
    sure = cells.edges[near & (cells.width == 0.0)]
    edges = np.union1d(cells.edges[near], np.arange(-REACH, REACH + STEP / 2.0, STEP))
    edges = edges[np.diff(edges, prepend=-np.inf) > CLOSE]
    v = inside(edges[:-1], edges[1:])[0]
    widths = np.repeat(np.diff(edges), v.shape[1])
    v = v.ravel()
    f = np.asarray(link.base(v), dtype=float)
    places = [*sure[np.diff(sure, prepend=-np.inf) > CLOSE]]
    # Steep parts, and parts near +-1.
    for height, least in ((np.abs(np.gradient(f, v)), 4.0), (np.abs(f), 0.98)):
        for k, top in _tops(v, height, least):
            # One location is enough for features closer to each other than their width.
            apart = min(2.0 * widths[k], 0.02)
            places += [top] if all(abs(top - other) > apart for other in places) else []
    # The integral is split at 0, since the density of w is narrow there for small q.
    places += [0.0] if all(abs(place) > 0.02 for place in places) else []
    return np.sort(np.array(places))


def _tops(v: Array, height: Array, least: float) -> Iterator[tuple[int, float]]:
    """Yield the nodes of local maxima, and the top of the parabola through each and its neighbors."""
    left, right = np.diff(height)[:-1], -np.diff(height)[1:]
    for k in np.flatnonzero((np.minimum(left, right) > 1e-9) & (height[1:-1] > least)):
        before, after = v[k + 1] - v[k], v[k + 2] - v[k + 1]
        shift = (after**2 * left[k] - before**2 * right[k]) / (2.0 * (after * left[k] + before * right[k]))
        yield int(k) + 1, float(v[k + 1] + shift)

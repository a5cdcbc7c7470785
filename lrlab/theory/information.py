r"""What an answer of a single-index model tells of its index: I(q) = E_w sum_y P g^2, w ~ N(0, q), z ~ N(w, 1 - q).

With f = E f0(w + S e), S^2 = 1 - q + noise^2 (`theory.channels`), sum_y P g^2 = f'^2 / (1 - f^2), Fisher's information
of w. Its features have the width S where the base link jumps, bends, is steep or reaches +-1. The integral over w is
split at these places, and each piece integrated by Gauss and Legendre in x with w = place + scale sinh(x), so that
nodes crowd where an index of variance 1 - q can tell answers apart.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from lrlab.arrays import Array, Indices
from lrlab.theory.channels import TINY, answer
from lrlab.theory.links import Link, SignLink, ThresholdLink, normal_density
from lrlab.theory.smoothing import breaks, legendre, smoothed

LEVELS = np.concatenate([np.arange(-18.0, -4.0), np.arange(-4.0, 12.0, 0.5), np.arange(12.0, 31.0)])
"""log(q / (1 - q)) of overlaps from 1e-8 to within 1e-13 of 1, between which a cubic spline is within 2e-4 of log I."""
SPREAD = 8.5
"""Deviations of w that are integrated over."""
NEAR = 9.0
"""Widths S from a place after which a sharp link is flat."""
ORDERS, STEPS = (16, 24, 36, 54, 80), (0.5, 0.25, 0.125, 0.0625, 0.03125)
"""Nodes for each piece of w; largest steps of the mean over e, in units of the index. Those of a link are the first
whose log I is within TOLERANCE, where I tells anything at an n/p below e^20."""
TOLERANCE = 5e-5
PROBES = np.array([-4.0, -1.0, 0.5, 2.0, 4.0, 7.0, 12.0, 20.0])
SMOOTHING, FEWEST = 7.0, 20
"""Deviations of the mean over e, and its fewest nodes."""
BLOCK = 2**16
REACH, CELLS = 6.0, 2400
"""Where narrow features of smooth links are looked for."""
STEEP, FULL = 4.0, 0.98
"""Slope of a base link above which it is steep, and size from which it all but reaches +-1."""


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
        """Return log I (count,) where flips leave the share of f."""
        rest = np.maximum((1.0 - share * self.f) * (1.0 + share * self.f), 1e-14)
        return _log(np.bincount(self.at.level, self.at.weight * (share * self.slope) ** 2 / rest, count))


def log_information(link: Link, levels: Array, order: int = 40) -> Array:
    """Return log I(q) at q = expit(levels) (k,); -inf where an answer says nothing. order: nodes for sharp links."""
    if isinstance(link, SignLink | ThresholdLink):
        at = _nodes(link, levels, order)
        return _log(np.bincount(at.level, at.weight * _sharp_fisher(link, at), len(levels)))
    smooth = replace(link, flip=0.0)
    curves = _table(smooth) if levels is LEVELS else _curves(smooth, levels, *_fineness(smooth))
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
    return _curves(link, LEVELS, *_fineness(link))


@lru_cache(maxsize=256)
def _fineness(link: Link) -> tuple[int, float]:
    """Return the nodes and the step with which log I of a link is within TOLERANCE."""
    order, _ = _first(link, [(order, STEPS[0]) for order in ORDERS])
    return _first(link, [(order, step) for step in STEPS])


def _first(link: Link, refined: Sequence[tuple[int, float]]) -> tuple[int, float]:
    coarse = _curves(link, PROBES, *refined[0]).log_information(len(PROBES))
    for fineness, finer in itertools.pairwise(refined):
        fine = _curves(link, PROBES, *finer).log_information(len(PROBES))
        silent = fine < np.minimum(PROBES, 0.0) - 20.0
        if np.all(silent | (np.abs(np.maximum(fine, -700.0) - np.maximum(coarse, -700.0)) <= TOLERANCE)):
            return fineness
        coarse = fine
    return refined[-1]


def _curves(link: Link, levels: Array, order: int, step: float) -> Curves:
    at = _nodes(link, levels, order)
    f, slope = np.empty_like(at.w), np.empty_like(at.w)
    counts = FEWEST * np.exp2(np.ceil(np.log2(np.maximum(2.0 * SMOOTHING * at.S / (step * FEWEST), 1.0)))).astype(int)
    for count in map(int, np.unique(counts)):
        # The trapezoidal rule converges geometrically for smooth links, from which `smoothed` takes jumps and kinks.
        e = np.linspace(-SMOOTHING, SMOOTHING, count)
        weights = normal_density(e) * (e[1] - e[0])
        alike, size = np.flatnonzero(counts == count), max(1, BLOCK // count)
        for start in range(0, len(alike), size):
            block = alike[start : start + size]
            f[block], slope[block], _ = smoothed(link, at.w[block], at.S[block], (e, weights))
    return Curves(at, f, slope)


def _nodes(link: Link, levels: Array, order: int) -> Nodes:
    sharp = isinstance(link, SignLink | ThresholdLink)
    sd, S = np.sqrt(expit(levels))[:, None], np.sqrt(expit(-levels) + link.noise**2)[:, None]
    places = _places(link)
    middles = np.concatenate([[-np.inf], (places[1:] + places[:-1]) / 2.0, [np.inf]])
    pieces = []
    for side, ends in ((1.0, middles[1:]), (-1.0, middles[:-1])):
        turn = side * np.minimum(side * (places + side * NEAR * S), side * ends)
        pieces.append((places + 0.0 * S, places + 0.0 * S, turn))
        # A sharp link is flat beyond.
        pieces += [] if sharp else [(places + 0.0 * S, turn, ends + 0.0 * S)]
    place, begin, end = (np.concatenate([piece[k] for piece in pieces], axis=1) for k in range(3))
    lower, upper = (np.arcsinh((np.clip(x, -SPREAD * sd, SPREAD * sd) - place) / S) for x in (begin, end))
    level, piece = np.nonzero(lower != upper)
    place, lower, upper = (array[level, piece][:, None] for array in (place, lower, upper))
    x, weights = legendre(order)
    t = (upper + lower) / 2.0 + (upper - lower) / 2.0 * x
    w = place + S[level] * np.sinh(t)
    weight = np.abs(upper - lower) / 2.0 * weights * S[level] * np.cosh(t) * normal_density(w / sd[level]) / sd[level]
    each = np.repeat(level, order)
    return Nodes(each, w.ravel(), S[each, 0], weight.ravel())


@lru_cache(maxsize=256)
def _places(link: Link) -> Array:
    """Return where the information has narrow features."""
    if isinstance(link, SignLink):
        return np.zeros(1)
    if isinstance(link, ThresholdLink):
        return np.unique([-link.threshold, link.threshold])
    v = np.linspace(-REACH, REACH, CELLS + 1) + 1e-4 * math.pi
    f = np.asarray(link.base(v), dtype=float)
    features = [b.place for b in breaks(link)]
    for height, least in ((np.abs(np.gradient(f, v)), STEEP), (np.abs(f), FULL)):
        rise, fall = height[1:-1] - height[:-2], height[1:-1] - height[2:]
        for k in np.flatnonzero((np.minimum(rise, fall) > 1e-9) & (height[1:-1] > least)):
            # The top of the parabola through three nodes.
            features.append(float(v[k + 1] + (v[1] - v[0]) * (rise[k] - fall[k]) / (2.0 * (rise[k] + fall[k]))))
    places: list[float] = []
    # At 0 the density of w is divided, which is narrow where q is small.
    for place in [*features, 0.0]:
        places += [place] if all(abs(place - other) > 0.02 for other in places) else []
    return np.sort(np.array(places))

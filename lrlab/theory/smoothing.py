r"""Gaussian smoothing of any link: E f0(w + S e), e ~ N(0, 1), and its first two derivatives in w.

If the cells of the base link (`theory.cells`) are wider than S, the trapezoidal rule converges geometrically. If
they are narrower, or it jumps between them, the mean over e is split at their edges, each piece by Gauss-Legendre.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from lrlab.arrays import Array, Indices
from lrlab.theory.cells import ORDER, Cells, inside, resolved
from lrlab.theory.links import Link, normal_density

FAR, PIECES = 8.5, 6
"""Standard deviations e in the mean, and the smallest number of their pieces."""
REACH = 12.0
"""Range of cells in standard deviations of the noisy index: w may be 8.5 of them away, w + S e FAR more."""
FINE = 35
"""Nodes of a trapezoidal rule that is exact up to rounding for cells twice as wide as S; cells narrower by 2, 4, ...
need 2, 4, ... times as many."""
BLOCK = 2**14
"""Rows of nodes per batch."""


def smoothed(link: Link, w: Array, S: Array | float) -> tuple[Array, Array, Array]:
    """Return E f0(w + S e), and its first and second derivatives in w; w and S are broadcast."""
    w, S = np.broadcast_arrays(np.asarray(w, dtype=float), np.asarray(S, dtype=float))
    shape, w, S = w.shape, w.ravel(), S.ravel()
    cells = base_cells(link)
    first, last = (np.searchsorted(cells.edges, w + side * FAR * S) for side in (-1.0, 1.0))
    narrow = np.minimum(_least(cells.width, first, last) / S, 2.0)
    halvings = np.ceil(1.0 - np.log2(np.maximum(narrow, 1e-9)))
    split = FINE * np.exp2(halvings) > ORDER * (PIECES + last - first)
    means = np.empty((3, w.size))
    for k in np.unique(halvings[~split]):
        e = np.linspace(-FAR, FAR, int((FINE - 1) * 2**k + 1))
        weights = normal_density(e) * (e[1] - e[0])
        for rows in _blocks(np.flatnonzero(~split & (halvings == k)), BLOCK * ORDER // len(e)):
            means[:, rows] = _means(link, w[rows], S[rows], e, weights)
    pieces = PIECES + int((last - first)[split].max(initial=0))
    for rows in _blocks(np.flatnonzero(split), max(1, BLOCK // pieces)):
        means[:, rows] = _split(link, w[rows], S[rows], cells, first[rows], last[rows])
    # By parts: the derivative of a smoothed function is the mean of f0 e / S.
    value, slope, bend = (each.reshape(shape) for each in (means[0], means[1] / S, means[2] / S**2))
    return value, slope, bend


def base_moments(link: Link, factors: Sequence[Callable[[Array], Array]]) -> list[float]:
    """Return E[f0(tau Z) g(Z)] of each factor g, Z ~ N(0, 1), without flips."""
    edges = np.union1d(base_cells(link).edges / link.tau, np.linspace(-REACH, REACH, 25))
    z, weights = inside(edges[:-1], edges[1:])
    mass = weights * normal_density(z) * link.sharp(link.tau * z)
    return [float((mass * factor(z)).sum()) for factor in factors]


def base_cells(link: Link) -> Cells:
    """Return the cells of the base link within its reach."""
    return _cells(replace(link, noise=0.0, flip=0.0), REACH * 1.5 ** math.ceil(math.log(link.tau, 1.5)))


@lru_cache(maxsize=64)
def _cells(link: Link, reach: float) -> Cells:
    return resolved(link.sharp, reach, link.breakpoints())


def _least(width: Array, first: Indices, last: Indices) -> Array:
    """Return the smallest width[first:last], inf for an empty range."""
    padded = np.append(width, np.inf)
    least = np.minimum.reduceat(padded, np.stack([first, last], axis=1).ravel())[::2]
    return np.where(first < last, least, np.inf)


def _blocks(rows: Indices, size: int) -> list[Indices]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _means(link: Link, w: Array, S: Array, e: Array, weights: Array) -> Array:
    """Return the means (3, rows) of f0, f0 e and f0 (e^2 - 1)."""
    values = link.base(w[:, None] + S[:, None] * e)
    mean = values @ weights
    # Subtracting the mean changes nothing, because these factors have mean 0, and avoids cancellation for small S.
    values = values - mean[:, None]
    return np.stack([mean, values @ (weights * e), values @ (weights * (e * e - 1.0))])


def _split(link: Link, w: Array, S: Array, cells: Cells, first: Indices, last: Indices) -> Array:
    """Return the same means by pieces between the edges of cells."""
    rows, count = np.arange(len(w)), last - first
    each = np.repeat(rows, count)
    edge = np.arange(len(each)) + np.repeat(first - np.cumsum(count) + count, count)
    turns = np.concatenate(
        [np.tile(np.linspace(-FAR, FAR, PIECES + 1), len(w)), (cells.edges[edge] - w[each]) / S[each]]
    )
    row = np.concatenate([np.repeat(rows, PIECES + 1), each])
    order = np.lexsort((turns, row))
    turns, row = turns[order], row[order]
    piece = np.flatnonzero(row[1:] == row[:-1])
    row = row[piece]
    e, weights = inside(turns[piece], turns[piece + 1])
    weights *= normal_density(e)
    values = link.base(w[row, None] + S[row, None] * e)

    def mean(of: Array) -> Array:
        sums: Array = np.bincount(row, (weights * of).sum(axis=1), len(w)).astype(float)
        return sums

    value = mean(values)
    values = values - value[row, None]
    return np.stack([value, mean(values * e), mean(values * (e * e - 1.0))])

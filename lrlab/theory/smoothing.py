r"""Integrals over any base link f0, however steep: cells with one polynomial each, averages, Gaussian smoothing.

E f0(w + S e), e ~ N(0, 1), and its first two derivatives in w: if the cells of the base link are wider than S, the
trapezoidal rule converges geometrically. If they are narrower, or it jumps between them, the mean over e is split at
their edges, each piece by Gauss-Legendre.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array, Indices, Mask
from lrlab.parameters import InputError
from lrlab.theory.links import Link, normal_density

ORDER = 16
"""Nodes of Gauss and Legendre in a cell; the polynomial through them has the degree 15."""
OFFSET = 0.04 * math.sqrt(2.0)
"""Offset of the first cells: steep features are often at round numbers, which then lie inside a cell."""
MOST = 400_000
"""Largest number of cells of a link."""
BLOCK = 512
"""Cells per batch of tests."""
FAR, PIECES = 8.5, 6
"""Standard deviations e in the mean, and the smallest number of their pieces."""
REACH = 12.0
"""Range of cells in standard deviations of the noisy index: w may be 8.5 of them away, w + S e FAR more."""
FINE = 35
"""Nodes of a trapezoidal rule that is exact up to rounding for cells twice as wide as S; cells narrower by 2, 4, ...
need 2, 4, ... times as many."""
NODE_ROWS = 2**14
"""Rows of nodes per batch."""


class Cells(NamedTuple):
    """Cells between `edges` (m + 1,). width (m + 1,): of the narrower neighbor of an edge, 0 at a jump or kink."""

    edges: Array
    width: Array


@lru_cache(maxsize=16)
def legendre(order: int) -> tuple[Array, Array]:
    """Return nodes and weights of Gauss and Legendre on -1..1."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    return nodes, weights


def inside(left: Array, right: Array, order: int = ORDER) -> tuple[Array, Array]:
    """Return nodes and weights (..., order) of the integral over cells (...)."""
    nodes, weights = legendre(order)
    half = (right - left)[..., None] / 2.0
    return left[..., None] + half * (1.0 + nodes), half * weights


def panels(edges: Array, order: int = ORDER) -> tuple[Array, Array]:
    """Return nodes and weights (order m,) of the integral over all cells between sorted edges (m + 1,)."""
    z, weights = inside(edges[:-1], edges[1:], order)
    return z.ravel(), weights.ravel()


@lru_cache(maxsize=64)
def _cells(link: Link, reach: float) -> Cells:
    """Return cells of -reach..reach; the search adds further jumps to the known jumps and kinks.

    InputError if more than MOST cells are needed.
    """
    first = np.linspace(-reach, reach, math.ceil(2.0 * reach / 4.0) + 1) + OFFSET
    breaks = np.array([place for place in link.breakpoints() if abs(place) < reach])
    edges, jumps = _halved(link.sharp, np.union1d(first, breaks))
    if jumps.size:
        # Cells next to a jump need not be narrow.
        breaks = np.union1d(breaks, jumps)
        edges, _ = _halved(link.sharp, np.union1d(first, breaks))
    width = np.minimum(np.diff(edges, prepend=-np.inf), np.diff(edges, append=np.inf))
    width[np.isin(edges, breaks)] = 0.0
    return Cells(edges, width)


def _halved(function: Callable[[Array], Array], edges: Array) -> tuple[Array, Array]:
    """Return the edges of cells that are halved until each holds a polynomial, and the middles of the narrowest."""
    # Sorted by width, as the widest cell of a block determines its number of test points.
    by_width = np.argsort(np.diff(edges))
    left, right = edges[:-1][by_width], edges[1:][by_width]
    done, jumps = [edges], list[Array]()
    while left.size:
        middle = (left + right) / 2.0
        blocks = [slice(start, start + BLOCK) for start in range(0, left.size, BLOCK)]
        rough = ~np.concatenate([_polynomial(function, left[block], right[block]) for block in blocks])
        # So narrow a cell holds a jump.
        narrow = right - left <= 1e-13 * (1.0 + np.abs(middle))
        jumps.append(middle[rough & narrow])
        rough &= ~narrow
        left, middle, right = left[rough], middle[rough], right[rough]
        done.append(middle)
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
        if left.size > MOST:
            got = f"one that oscillates too often for {MOST:,} cells"
            raise InputError("link", "one that can be integrated to 1e-6", got, "lower its frequencies")
    return np.unique(np.concatenate(done)), np.concatenate([*jumps, np.zeros(0)])


def _polynomial(function: Callable[[Array], Array], left: Array, right: Array) -> Mask:
    """Return whether a function is a polynomial in each cell (m,)."""
    widest = float((right - left).max())
    # Test points every 1e-3, at least nine.
    between, matrix = _interpolation(max(9, math.ceil(widest / 1e-3)))
    half = (right - left)[:, None] / 2.0
    at = function(inside(left, right)[0])
    beside = function(left[:, None] + half * (1.0 + between))
    # Rounding of z moves the values of a function that is as steep as the cell is narrow.
    rounding = 8.0 * np.finfo(float).eps * (1.0 + np.maximum(np.abs(left), np.abs(right))) / (right - left)
    away: Array = np.abs(at @ matrix - beside).max(axis=1)
    return away <= 1e-10 + rounding


@lru_cache(maxsize=16)
def _interpolation(count: int) -> tuple[Array, Array]:
    """Return points on -1..1 and the matrix (ORDER, count) that evaluates the polynomial through the nodes there."""
    legvander = np.polynomial.legendre.legvander
    # Up to the ends, since a steep feature may begin there, but not onto a jump.
    places, (nodes, weights) = np.linspace(-1.0 + 1e-9, 1.0 - 1e-9, count), legendre(ORDER)
    scale = np.arange(ORDER) + 0.5
    return places, (weights[:, None] * legvander(nodes, ORDER - 1) * scale) @ legvander(places, ORDER - 1).T


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
        for rows in _blocks(np.flatnonzero(~split & (halvings == k)), NODE_ROWS * ORDER // len(e)):
            means[:, rows] = _means(link, w[rows], S[rows], e, weights)
    pieces = PIECES + int((last - first)[split].max(initial=0))
    # Rows of a block have about as many edges.
    for rows in _blocks(np.flatnonzero(split)[np.argsort((last - first)[split])], max(1, NODE_ROWS // pieces)):
        nodes = _pieces(w[rows], S[rows], cells.edges, first[rows], last[rows])
        means[:, rows] = _means(link, w[rows], S[rows], *nodes)
    # By parts: the derivative of a smoothed function is the mean of f0 e / S.
    value, slope, bend = (each.reshape(shape) for each in (means[0], means[1] / S, means[2] / S**2))
    return value, slope, bend


def base_moments(link: Link, factors: Sequence[Callable[[Array], Array]]) -> list[float]:
    """Return E[f0(tau Z) g(Z)] of each factor g, Z ~ N(0, 1), without flips."""
    z, mass = _normal_nodes(base_cells(link).edges / link.tau, 24)
    mass = mass * link.sharp(link.tau * z)
    return [float((mass * factor(z)).sum()) for factor in factors]


def index_nodes(link: Link) -> tuple[Array, Array]:
    """Return nodes and weights of E g(Z), Z ~ N(0, 1), for functions g of a link f."""
    return _normal_nodes(base_cells(link).edges if link.noise == 0 else np.zeros(1), 480)


def _normal_nodes(edges: Array, count: int) -> tuple[Array, Array]:
    """Return nodes and weights of E g(Z), Z ~ N(0, 1): g is smooth between `edges` and `count` equal pieces."""
    z, weights = panels(np.union1d(np.linspace(-REACH, REACH, count + 1), np.clip(edges, -REACH, REACH)))
    return z, weights * normal_density(z)


def base_cells(link: Link) -> Cells:
    """Return the cells of the base link within its reach."""
    return _cells(replace(link, noise=0.0, flip=0.0), REACH * 1.5 ** math.ceil(math.log(link.tau, 1.5)))


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
    mean = (values * weights).sum(axis=1)
    # Subtracting the mean changes nothing, because these factors have mean 0, and avoids cancellation for small S.
    values = (values - mean[:, None]) * weights
    return np.stack([mean, (values * e).sum(axis=1), (values * (e * e - 1.0)).sum(axis=1)])


def _pieces(w: Array, S: Array, edges: Array, first: Indices, last: Indices) -> tuple[Array, Array]:
    """Return nodes and weights (rows, nodes) of the mean over e, split at edges[first:last]."""
    at = first[:, None] + np.arange((last - first).max())
    inner = (edges[np.minimum(at, len(edges) - 1)] - w[:, None]) / S[:, None]
    whole = np.broadcast_to(np.linspace(-FAR, FAR, PIECES + 1), (len(w), PIECES + 1))
    ends = np.sort(np.hstack([whole, np.where(at < last[:, None], inner, FAR)]), axis=1)
    e, weights = (each.reshape(len(w), -1) for each in inside(ends[:, :-1], ends[:, 1:]))
    return e, weights * normal_density(e)

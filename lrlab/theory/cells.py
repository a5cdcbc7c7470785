"""Cells that make any base link, however steep, a polynomial up to rounding, and integrals over them."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array, Mask
from lrlab.parameters import InputError

ORDER = 16
"""Nodes of Gauss and Legendre in a cell; the polynomial through them has the degree 15."""
OFFSET = 0.04 * math.sqrt(2.0)
"""Offset of the first cells: steep features are often at round numbers, which then lie inside a cell."""
MOST = 400_000
"""Largest number of cells of a link."""
BLOCK = 512
"""Cells per batch of tests."""


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
    """Return nodes and weights (m, order) of the integral over cells (m,)."""
    nodes, weights = legendre(order)
    half = (right - left)[:, None] / 2.0
    return left[:, None] + half * (1.0 + nodes), half * weights


def resolved(function: Callable[[Array], Array], reach: float, known: tuple[float, ...] = ()) -> Cells:
    """Return cells of -reach..reach. known: jumps and kinks of the function; the search adds further jumps.

    InputError if more than MOST cells are needed.
    """
    first = np.linspace(-reach, reach, math.ceil(2.0 * reach / 4.0) + 1) + OFFSET
    breaks = np.array([place for place in known if abs(place) < reach])
    edges, jumps = _halved(function, np.union1d(first, breaks))
    if jumps.size:
        # Cells next to a jump need not be narrow.
        breaks = np.union1d(breaks, jumps)
        edges, _ = _halved(function, np.union1d(first, breaks))
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

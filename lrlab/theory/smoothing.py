r"""Gaussian smoothing of any link: E f0(w + S e), e ~ N(0, 1), and its first two derivatives in w.

Gauss-Hermite quadrature is exact to rounding for smooth functions and poor at jumps and kinks. These are located
first; a jump J at c contributes J Phi((w - c) / S) and a kink K at c contributes K S (x Phi(x) + phi(x)),
x = (w - c) / S, in closed form, and the quadrature sees only the remainder.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from lrlab.arrays import Array
from lrlab.theory.links import Link, normal_density

ORDER = 80
REACH = 10.0
CELLS = 4000
SMALLEST_JUMP = 1e-6
SMALLEST_KINK = 1e-2


class Break(NamedTuple):
    """A place where a link jumps by `jump` and its slope by `kink`."""

    place: float
    jump: float
    kink: float


def smoothed(
    link: Link, w: Array, S: Array | float, nodes: tuple[Array, Array] | None = None
) -> tuple[Array, Array, Array]:
    """Return E f0(w + S e), and its first and second derivatives in w; w and S are broadcast.

    nodes: places e and weights of another quadrature over the normal density.
    """
    w, S = np.broadcast_arrays(np.asarray(w, dtype=float), np.asarray(S, dtype=float))
    e, weights = nodes or _hermite()
    inside = breaks(link)
    v = w[..., None] + S[..., None] * e
    rest = np.array(link.base(v), dtype=float) - sum((_step(b, v) for b in inside), np.zeros_like(v))
    value = rest @ weights
    # By parts: the derivative of a smoothed function is the mean of f0 e / S. Less its value at w, which has the mean
    # 0 with these factors, so that little is left to cancel where S is small.
    centred = rest - value[..., None]
    slope = centred @ (weights * e) / S
    bend = centred @ (weights * (e * e - 1.0)) / S**2
    for b in inside:
        x = (w - b.place) / S
        cdf, density = ndtr(x), normal_density(x)
        value = value + b.jump * cdf + b.kink * S * (x * cdf + density)
        slope = slope + b.jump * density / S + b.kink * cdf
        bend = bend - b.jump * x * density / S**2 + b.kink * density / S
    return value, slope, bend


@lru_cache(maxsize=256)
def breaks(link: Link) -> tuple[Break, ...]:
    """Return where the base link jumps or bends sharply within -10..10."""
    # Off the round numbers at which people place thresholds, so that no node falls on a jump.
    grid = np.linspace(-REACH, REACH, CELLS + 1) + 1e-4 * math.pi
    bent = np.abs(np.diff(np.asarray(link.base(grid), dtype=float), 2))
    # Second differences of a smooth function change little from node to node.
    calm = np.maximum(np.r_[0.0, 0.0, bent[:-2]], np.r_[bent[2:], 0.0, 0.0])
    places: list[Break] = []
    for node in np.flatnonzero(bent > 3.0 * calm + 1e-8) + 1:
        at = _measure(link, _located(link, grid[node], grid[1] - grid[0]))
        new = all(abs(at.place - b.place) > 1e-6 for b in places)
        if new and (abs(at.jump) > SMALLEST_JUMP or abs(at.kink) > SMALLEST_KINK):
            places.append(at)
    return tuple(places)


def _located(link: Link, centre: float, step: float) -> float:
    # The second difference is largest where the function jumps or bends; then the half with the jump is kept.
    for _ in range(5):
        nodes = centre + step * np.linspace(-1.5, 1.5, 25)
        bent = np.abs(np.diff(np.asarray(link.base(nodes), dtype=float), 2))
        centre, step = float(nodes[1 + int(np.argmax(bent))]), step / 8.0
    low, high = centre - 2.0 * step, centre + 2.0 * step
    for _ in range(30):
        middle = (low + high) / 2.0
        left, at, right = np.asarray(link.base(np.array([low, middle, high])), dtype=float)
        low, high = (low, middle) if abs(at - left) > abs(right - at) else (middle, high)
    return (low + high) / 2.0


def _measure(link: Link, place: float) -> Break:
    near, far = 2e-6, 1e-4
    left = np.asarray(link.base(place - np.array([near, far])), dtype=float)
    right = np.asarray(link.base(place + np.array([near, far])), dtype=float)
    rise, fall = (right[1] - right[0]) / (far - near), (left[0] - left[1]) / (far - near)
    jump = float((right[0] - near * rise) - (left[0] + near * fall))
    return Break(place, jump if abs(jump) > SMALLEST_JUMP else 0.0, float(rise - fall))


def _step(b: Break, v: Array) -> Array:
    return np.where(v > b.place, b.jump + b.kink * (v - b.place), 0.0)


@lru_cache(maxsize=16)
def legendre(order: int) -> tuple[Array, Array]:
    """Return nodes and weights of Gauss and Legendre on -1..1."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    return nodes, weights


@lru_cache(maxsize=1)
def _hermite() -> tuple[Array, Array]:
    e, weights = np.polynomial.hermite_e.hermegauss(ORDER)
    return e, weights / math.sqrt(2.0 * math.pi)

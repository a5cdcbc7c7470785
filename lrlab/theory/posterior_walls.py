r"""Hit-and-run steps of chains in a posterior whose answers are certain: uniform between walls (Smith 1984).

Without noise and flips each answer of a sign, or of a threshold on the magnitude, allows one side of walls. On a line
g + s d in a chart of the tangent plane the nearest walls on both sides of s = 0 are known in closed form, and between
them the density is that of the plane, |g + s d|^-p.
"""

import numpy as np

from lrlab.arrays import Array
from lrlab.theory.links import Link, SignLink, ThresholdLink
from lrlab.theory.posterior_charts import Chart

FARTHEST = 1e6


def has_walls(link: Link) -> bool:
    """Return whether answers of the link are certain, and where the walls are known."""
    certain = link.noise == 0.0 and link.flip == 0.0
    return certain and (isinstance(link, SignLink) or isinstance(link, ThresholdLink) and link.threshold > 0.0)


def wall_step(
    link: Link, y: Array, chart: Chart, middle: Array, A: Array, Z: Array, index: Array, rng: np.random.Generator
) -> None:
    """Move all chains by one step, in place: Z (chains, k) and index = Z A (chains, n).

    middle (n,): the indices of the chart's centre; y (n,): answers that all chains agree with.
    """
    D = rng.standard_normal(Z.shape)
    across = D @ A
    g, d = chart.points(Z), D @ chart.B.T
    squares = np.stack([(g * g).sum(axis=1), (g * d).sum(axis=1), (d * d).sum(axis=1)])
    low, high = _walls(link, y, middle + index, across, squares)
    s = _slice(low, high, squares, chart.B.shape[0], rng)[:, None]
    Z += s * D
    index += s * across


def _walls(link: Link, y: Array, here: Array, across: Array, squares: Array) -> tuple[Array, Array]:
    """Return the nearest walls below and above s = 0 (chains,) of answers y to indices here + s across, over |g|.

    They are zeros of polynomials with the value e > 0 at s = 0, found as the largest and the smallest 1 / s.
    """
    if isinstance(link, ThresholdLink):
        a, b, e = (
            y * (one - link.threshold**2 * square[:, None])
            for one, square in zip((across**2, here * across, here**2), squares[::-1], strict=True)
        )
        root = np.sqrt(np.maximum(b * b - a * e, 0.0))
        real = b * b > a * e
        most, least = np.where(real, (root - b) / e, 0.0).max(axis=1), np.where(real, (-root - b) / e, 0.0).min(axis=1)
    else:
        inverse = -across / here
        most, least = inverse.max(axis=1), inverse.min(axis=1)
    return -1.0 / np.maximum(-least, 1.0 / FARTHEST), 1.0 / np.maximum(most, 1.0 / FARTHEST)


def _slice(low: Array, high: Array, squares: Array, p: int, rng: np.random.Generator) -> Array:
    """Return s in low..high (chains,), a step of slice sampling from s = 0 for the density |g + s d|^-p."""

    def log_density(s: Array) -> Array:
        return -0.5 * p * np.log(squares[0] + s * (2.0 * squares[1] + s * squares[2]))

    level = log_density(np.zeros_like(low)) + np.log(rng.random(len(low)))
    s = rng.uniform(low, high)
    while np.any(out := log_density(s) < level):
        low, high = np.where(out & (s < 0.0), s, low), np.where(out & (s >= 0.0), s, high)
        s = np.where(out, rng.uniform(low, high), s)
    return s

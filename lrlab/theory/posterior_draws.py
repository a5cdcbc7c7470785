r"""Draws from the posterior of the direction of a single-index model, uniform on the sphere before the answers.

The truth of a drawn problem is itself an exact draw of its posterior, so chains that start there are in equilibrium
from their first step; they only have to part. Each step is one of elliptical slice sampling (Murray, Adams & MacKay
2010, "Elliptical slice sampling") in z ~ N(0, I) with b = g / |g|, g = centre + B z, where what the chart
N(centre, B B^T) leaves of the posterior stands in for the likelihood (Nishihara, Murray & Adams 2014, "Parallel MCMC
with generalized elliptical slice sampling"). A chart near the posterior parts the chains in a few steps; a poor one
costs more of them, and changes nothing else.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array, Mask
from lrlab.theory.links import Link
from lrlab.theory.posterior_charts import Chart, coordinates, fitted_chart
from lrlab.theory.posterior_walls import has_walls, wall_step

REACH = 12.0
"""Indices beyond are taken for this one where the likelihood is tabulated."""
MOST_NODES = 2**16
STEP, ROUGH = 0.005, 1e-3
"""Longest distance of nodes, and the error times the chance of an answer above which there is no table."""
SMALLEST_CHANCE = 1e-16
FAR, NEGLIGIBLE = 8.0, 1e-7
"""Answers are left out whose log likelihood changes by less within so many standard deviations of their index."""
UNCHANGED = 1e-3
"""Change of the log likelihood of the answers left out that is none."""
MOST_WORK, FEWEST_STEPS = 3_000_000, 40
"""Steps end after so many answers of all chains; a step between walls takes a share of other steps' time."""
WALL_GAIN = 8
ACROSS = 25
"""Between walls, one step of so many is one that may get to the other side of some."""
PARTED, AFTER = 1.05, 0.5
"""Chains have parted when their mean squared distance has grown by less since half the steps; share of steps after."""


class Draws(NamedTuple):
    """Draws b (draws, p) of a posterior, the growth of their squared distance since half the steps, their weights."""

    b: Array
    growth: float
    weights: Array


LogLikelihood = Callable[[Array], Array]


def log_likelihood(link: Link, y: Array) -> LogLikelihood:
    """Return the function that gives log P(y_i | index_i) (chains, n) at indices (chains, n)."""
    tables = _tables(link)
    if tables is None:

        def exact(index: Array) -> Array:
            with np.errstate(divide="ignore"):
                return np.log((1.0 + y * link(index)) / 2.0)

        return exact
    table, rise, per_unit = tables
    row, last = np.where(y > 0, 0, len(table) // 2), len(table) // 2 - 1.001

    def tabled(index: Array) -> Array:
        place = np.clip((index + REACH) * per_unit, 0.0, last)
        left = place.astype(np.intp)
        place -= left
        left += row
        return table.take(left) + place * rise.take(left)

    return tabled


def has_sharp_answers(link: Link) -> bool:
    """Return whether the chances of an answer jump, or would without noise."""
    return _tables(replace(link, noise=0.0)) is None


@lru_cache(maxsize=64)
def _tables(link: Link) -> tuple[Array, Array, float] | None:
    """Return log P(1 | z), then log P(-1 | z), at nodes on -REACH..REACH, their differences, and the nodes per unit.

    None where the link is too steep for lines between the nodes.
    """
    step = min(max(link.noise / 16.0, 2.0 * REACH / MOST_NODES), STEP) if link.noise > 0 else STEP
    count = 2 * int(REACH / step) + 1
    f = np.asarray(link(np.linspace(-REACH, REACH, 2 * count - 1)), dtype=float)
    chances = np.maximum((1.0 + np.array([[1.0], [-1.0]]) * f) / 2.0, SMALLEST_CHANCE)
    logs = np.log(chances)
    table = logs[:, ::2]
    between = (table[:, 1:] + table[:, :-1]) / 2.0 - logs[:, 1::2]
    # What hardly ever is answered may be off.
    if np.any(np.abs(between) * chances[:, 1::2] > ROUGH):
        return None
    rise = np.diff(table, axis=1, append=table[:, -1:])
    return table.ravel(), rise.ravel(), (count - 1) / (2.0 * REACH)


def posterior_draws(
    link: Link, X: Array, y: Array, truth: Array, chains: int, steps: int, rng: np.random.Generator
) -> Draws:
    """Return draws of the posterior: ends of chains from the truth, after at most so many steps each."""
    chart = fitted_chart(link, X, y, truth)
    if chart.tangent:
        XB, middle = X @ chart.B, X @ chart.centre
        rows = _relevant(link, y, middle, np.linalg.norm(XB, axis=1))
        draws = _chains(link, X[rows], y[rows], chart, truth, chains, steps, rng)
        left_out = log_likelihood(link, y[~rows])(np.vstack([truth, draws.b]) @ X[~rows].T).sum(axis=1)
        # A chart that is too narrow may leave out answers that matter further off.
        if np.abs(left_out - left_out[0]).max() < UNCHANGED:
            return draws
    return _chains(link, X, y, chart, truth, chains, steps, rng)


def _chains(
    link: Link, X: Array, y: Array, chart: Chart, truth: Array, chains: int, steps: int, rng: np.random.Generator
) -> Draws:
    """Return the ends of chains from the truth in a chart, for answers y to X."""
    Z = np.repeat(coordinates(chart, truth)[None], chains, axis=0)
    A, middle, terms = (X @ chart.B).T.copy(), X @ chart.centre, log_likelihood(link, y)

    def log_target(Z: Array, index: Array) -> Array:
        squares = np.square(chart.points(Z)).sum(axis=1)
        answers = terms((middle + index) / np.sqrt(squares)[:, None])
        return answers.sum(axis=1) + chart.log_base(squares, Z)

    index = Z @ A
    walls = chart.tangent and has_walls(link)
    distances, last, parted = [0.0], steps, 0
    work = len(Z) * len(y) // (WALL_GAIN if walls else 1)
    for step in range(1, min(steps, max(FEWEST_STEPS, MOST_WORK // max(work, 1))) + 1):
        if walls and step % ACROSS:
            wall_step(link, y, chart, middle, A, Z, index, rng)
        else:
            slice_step(Z, index, A, log_target, rng)
        distances.append(float(Z.var(axis=0).sum()))
        # The end is not where chance has brought the chains together: that would state too narrow a posterior.
        if last == steps and step >= 6 and step % 2 == 0 and distances[step] <= PARTED * distances[step // 2]:
            last, parted = step + math.ceil(AFTER * step), step
        if step >= last:
            break
    g = chart.points(Z)
    # Later the growth of few chains is chance.
    end = parted or len(distances) - 1
    growth = distances[end] / distances[end // 2]
    return Draws(g / np.linalg.norm(g, axis=1)[:, None], growth, np.full(len(g), 1.0 / len(g)))


def slice_step(
    Z: Array, index: Array, A: Array, log_target: Callable[[Array, Array], Array], rng: np.random.Generator
) -> None:
    """Move all chains by one step, in place: Z (chains, k), and index = Z A (chains, n)."""
    other = rng.standard_normal(Z.shape)
    across = other @ A
    level = log_target(Z, index) + np.log(rng.random(len(Z)))
    angle = rng.uniform(0.0, 2.0 * np.pi, len(Z))
    low, high = angle - 2.0 * np.pi, angle.copy()
    moving = np.arange(len(Z))
    while moving.size:
        c, s = np.cos(angle[moving])[:, None], np.sin(angle[moving])[:, None]
        z, Az = c * Z[moving] + s * other[moving], c * index[moving] + s * across[moving]
        good = log_target(z, Az) > level[moving]
        done = moving[good]
        Z[done], index[done] = z[good], Az[good]
        moving = moving[~good]
        back = angle[moving] < 0.0
        low[moving[back]], high[moving[~back]] = angle[moving[back]], angle[moving[~back]]
        # An interval that rounding has closed holds nothing but the place itself.
        moving = moving[high[moving] - low[moving] > 1e-12]
        angle[moving] = rng.uniform(low[moving], high[moving])


def _relevant(link: Link, y: Array, middle: Array, deviations: Array) -> Mask:
    """Return the answers (n,) whose likelihood is not the same wherever the posterior is."""
    ends = [log_likelihood(link, y)(middle + FAR * part * deviations) for part in np.linspace(-1.0, 1.0, 9)]
    with np.errstate(invalid="ignore"):
        return ~(np.ptp(ends, axis=0) <= NEGLIGIBLE)

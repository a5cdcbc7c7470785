"""The last attempt of link-free refinement: a link that jumps between a few levels, where held-out answers ask for it.

Without noise before the quantiser such a link is worth much more than any smooth one: the error of a direction then
falls by narrowing the width of the jumps, from what held-out indices show down to half the error of the direction.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from lrlab.arrays import Array, Mask
from lrlab.solvers.single_index.cross_fitting import CHOICE_ROWS, CrossFit
from lrlab.solvers.single_index.link_fit import Fit, fit
from lrlab.solvers.single_index.link_free_moves import Moved, descended
from lrlab.solvers.single_index.link_levels import NARROWEST, Levels, first_levels, fit_levels
from lrlab.solvers.single_index.link_smoothing import WIDTH, IndexedAnswers, IndexLink, loss

NUMBERS = (2, 3)
"""Numbers of jumps that are tried; splines follow a single one well."""
# Levels that fit the held-out indices worse than the spline by this many nats never won in the end.
WORST = -3.0
# Jumps that held-out indices show wider than this share of the distance between them belong to a smooth link.
WIDEST_SHARE = 0.2
# Half a nat: how well levels are fitted before it is known that they are worth it.
ROUGH = 0.5
# Both bounds on levels that are worth an exact fit are wider by this factor for rough ones.
HOPE = 1.5
# An information, or an error, that can be divided by.
TINY = 1e-100
WIDEST = 0.5
NARROWING = 1.5
STEPS_A_WIDTH = 6
SCORING_STEPS = 3
SETTLED = 0.05
# Step of a difference, in widths of a jump or cells of a spline.
DIFFERENCE = 1e-3
# Widths beyond the best on held-out answers before narrowing ends.
PATIENCE = 2
# Standard errors by which jumps must win; at 1 for the link, smooth links were left three times as often.
BY_LINK, BY_DIRECTIONS = 1.5, 1.0


class Attempt(NamedTuple):
    """Directions with their indices, levels fitted to them, whether they won, and then their mean held-out loss."""

    moved: Moved
    levels: Levels
    preferred: bool = False
    held_out: float = math.nan


class _Sample(NamedTuple):
    """The rows that links are fitted to, at most 20,000."""

    data: CrossFit
    rows: slice

    @classmethod
    def of(cls, data: CrossFit) -> "_Sample":
        return cls(data, slice(None, None, -(-len(data.X) // CHOICE_ROWS)))

    @property
    def answers(self) -> Array:
        return self.data.answers[self.rows]

    def held_out(self, Z: Array, start: Levels) -> tuple[Levels, Array]:
        """Return the levels that fit held-out indices best, from `start`, and the loss of each row."""
        z = self.data.held_out(Z)[self.rows]
        levels = fit_levels(z, self.answers, start)
        return levels, loss(levels(z)[0], self.answers)

    def judged(self, Z: Array, like: Levels) -> Array:
        """Return the losses of held-out indices under levels that were fitted without their fold."""
        z, fold, losses = self.data.held_out(Z)[self.rows], self.data.fold[self.rows], np.empty(len(self.answers))
        for own in (fold == k for k in range(self.data.folds)):
            start = first_levels(z[~own], self.answers[~own], len(like.jumps))
            levels = fit_levels(z[~own], self.answers[~own], start)
            losses[own] = loss(levels(z[own])[0], self.answers[own])
        return losses

    def fitted(self, Z: Array, levels: Levels, steps: int) -> Levels:
        """Return the levels that fit the last column's own indices, the width kept."""
        return fit_levels(Z[self.rows, -1], self.answers, levels, steps, width=False)


def refitted(data: CrossFit, Z: Array, levels: Levels) -> Levels:
    """Return the levels fitted anew to the indices Z (n, K + 1) of directions that have moved, the width kept."""
    return _Sample.of(data).fitted(Z, levels, SCORING_STEPS)


def curvatures(data: CrossFit, Z: Array, link: IndexLink) -> Array:
    """Return the second derivatives of the losses at Z (n, K + 1), by differences; 0 where a row is held out."""
    h, weights = DIFFERENCE * (link.width if isinstance(link, Levels) else WIDTH), np.empty_like(Z)
    for rows, in_training in data.blocks():
        above, below = (_scores(link, Z[rows] + move, data.answers[rows, None]) for move in (h, -h))
        weights[rows] = in_training * (below - above) / (2.0 * h)
    return weights


def _scores(link: IndexLink, z: Array, answers: Array) -> Array:
    eta, slope = link(z)
    return slope * (answers - expit(eta))


def attempts(data: CrossFit, now: Moved, free: Mask, smooth: Fit) -> Iterator[Attempt]:
    """Yield the best directions with jumps so far after each width, and last whether they are preferred.

    Preferred is what lowers the loss of held-out answers by more than its standard error, against the smooth link on
    the directions `now`, and also against jumps on those. The levels are fitted without the fold that they are judged
    on: a jump that may lie anywhere follows chance by several nats.
    """
    sample, rows = _Sample.of(data), data.sample(now.Z, smooth.log_odds)
    smooth = fit(rows, smooth.smoothness, smooth.log_odds.coefficients)
    before = float(smooth.held_out.sum())
    pooled = [_pooled(rows, number) for number in NUMBERS]
    if not any(_promising(before, levels, lowest, HOPE) for levels, lowest in pooled):
        return
    fits = [sample.held_out(now.Z, levels) for levels, _ in pooled]
    levels, lowest = min(
        ((levels, float(held_out.sum())) for levels, held_out in fits), key=lambda fit: fit[1] + fit[0].parameters
    )
    if not _promising(before, levels, lowest, 1.0):
        return
    best, since = Attempt(now, levels), 0
    for moved, narrower in _narrowing(sample, now, free, levels):
        reached, since = float(sample.held_out(moved.Z, narrower)[1].sum()), since + 1
        if reached < lowest:
            best, lowest, since = Attempt(moved, narrower), reached, 0
        yield best
        if since > PATIENCE:
            break
    after, start = sample.judged(best.moved.Z, levels), sample.judged(now.Z, levels)
    if gain(smooth.held_out, after) > BY_LINK and gain(start, after) > BY_DIRECTIONS:
        yield best._replace(preferred=True, held_out=float(after.mean()))


def _pooled(rows: IndexedAnswers, number: int) -> tuple[Levels, float]:
    """Return levels with so many jumps that fit groups of neighbouring indices, roughly, and their summed loss."""
    share = rows.ones / rows.count
    start = first_levels(rows.z, share, number, rows.count)
    levels = fit_levels(rows.z, share, start, count=rows.count, decrement=ROUGH)
    return levels, float((rows.count * loss(levels(rows.z)[0], share)).sum())


def _promising(smooth: float, levels: Levels, lowest: float, hope: float) -> bool:
    """Return whether the levels are steep, and their loss, with their parameters, is about as low as the smooth one."""
    steep = levels.width < hope * WIDEST_SHARE * float(np.diff(levels.jumps).min())
    return steep and smooth - lowest - levels.parameters >= hope * WORST


def gain(before: Array, after: Array) -> float:
    """Return by how many standard errors the summed loss fell."""
    error = float((before - after).std()) * math.sqrt(len(before))
    return float((before - after).sum()) / max(error, TINY)


def _narrowing(sample: _Sample, now: Moved, free: Mask, levels: Levels) -> Iterator[tuple[Moved, Levels]]:
    """Yield directions and levels for ever narrower jumps, down to half the error that their information allows."""
    width = min(levels.width, WIDEST)
    entries = int(free[:, -1].sum())
    while True:
        levels = replace(levels, log_width=math.log(width))
        now, levels, error = _descent(sample, now, free, levels, entries)
        yield now, levels
        if width <= max(NARROWEST, error / 2.0):
            return
        width = max(width / NARROWING, NARROWEST)


def _descent(sample: _Sample, now: Moved, free: Mask, levels: Levels, entries: int) -> tuple[Moved, Levels, float]:
    """Return directions and levels after steps in turn, and the error of a direction at this width."""
    data, error = sample.data, math.inf
    for _ in range(STEPS_A_WIDTH):
        levels = sample.fitted(now.Z, levels, SCORING_STEPS)
        at = data.derivatives(now.Z, levels)
        step = data.newton(at, now.B, free)
        now = descended(data, levels, Moved(now.B, now.Z, at.loss), step)
        error = math.sqrt(entries / max(float(at.weights[:, -1].sum()), entries * TINY))
        if np.linalg.norm(step[:, -1]) < SETTLED * error:
            break
    return now, levels, error

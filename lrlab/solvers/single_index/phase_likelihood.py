"""Maximum likelihood for one-bit phase retrieval: Newton steps at falling noise widths, from more than one start."""

import math
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.models.protocols import SingleIndexData
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import InputError
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solver_entry import Options, SolverEntry
from lrlab.solvers.methods.sphere import DAMPING, exact_direction, newton_directions, normalised, shortened
from lrlab.solvers.single_index import phase_losses
from lrlab.solvers.single_index.phase_losses import SHARP, WIDEST, Likelihood, exact_loss, likelihood
from lrlab.solvers.single_index.requirements import (
    VANISHING,
    message_workspace,
    needs_both_answers,
    needs_samples,
    needs_varying_link,
)

STEPS_A_WIDTH = 8
HALVINGS, NARROWED, HARMLESS = 20, 6, 0.1
SLACK = 1e-12
# Entries of b, and of the rows of X that count, up to which the Newton step is solved for.
SMALL, IN_CACHE = 64, 2**18
# Standard deviations above which other starts may do better, and above which a minimum is no good, if one start has led
# there, or two.
LIKELY, ALONE, AGREED = 0.5, 2.0, 3.0
# Nats between ends of two starts that are one.
ALIKE = 0.01
# A step so short against the width tells how high the likelihood will be; one so short tells that no other is left.
NEARLY_SETTLED, SETTLED = 0.01, 1e-8


@needs_both_answers
def phase_likelihood(problem: SingleIndexData, *, rng: Generator) -> Iterates:
    r"""Recover b up to sign from y_i = sign(|<x_i, b> + s e_i| - threshold), threshold, noise s and flips given.

    minimise    F_w(b) = mean -log P_w(y_i | <x_i, b>)  over ||b|| = 1, as if the noise had standard deviation w:
                P_w(y = 1 | z) = Phi((|z| - threshold) / w) + Phi((-|z| - threshold) / w), mixed with the flips
    start       the spectral estimate of the largest overlap, whose weights the link tells (`spectral_optimal`)
    update      b <- (b + t D) / ||b + t D||,  D the Newton step on the tangent space of the sphere (for large p by
                conjugate gradients), with the Fisher information where that of the sample leads uphill; t halved until
                F_w falls
    widths      w = 1/2, 1/4, ... down to s, where F_w is the exact likelihood. Without noise that is a step function,
                and w ends at half the error that b has then, p / (2 n q), with q the density of |<x, b>| at the
                threshold: a narrower w would follow single answers near the threshold
    starts      the link tells what F_w is at the truth, up to chance, and at its minimum it is lower. Where it is not,
                or where the link itself, not smoothed, takes the answers for less likely than at the truth (without
                noise and flips: where it denies one of them), `gamp` gives the next start, then random directions,
                until two have the same lowest end, or six are over. Of ends that all deny answers the best goes on to
                smaller widths, to s or w/64, as ends at widths below 0.1 do at once
    converges   from a start within about w of the truth; the error is O(p/n) without noise, else efficient

    X (n, p), y (n,) in +-1. Yields before each step, endlessly; LOCAL_MINIMUM at the best of six ends where F_w is
    two standard deviations too large, three where two starts have led there, or where answers are still denied, which
    adds 1 to the residual. Objective F_w at the width in the note; residual the length of D, plus what the width has
    still to lose.
    Memory O(n).
    Reference: the likelihood of the model (Yi et al. 2015, eq. 2.8) from a spectral start, as Chen & Yuan (2024),
    "One-bit phase retrieval: optimal rates and efficient algorithms", do with a one-sided l1 loss.
    """
    link, (n, p) = problem.link, problem.shape
    narrowest, ends = phase_losses.final_width(link, n, p), list[End]()
    least = max(link.noise, narrowest / 2.0**NARROWED)
    # A small width cannot lead far astray; at a large one, another start may do better.
    floor = least if narrowest < HARMLESS else narrowest
    for b in phase_losses.starts(problem, rng):
        width, likely = phase_losses.likeliest_width(problem, b, narrowest) if ends else max(WIDEST, narrowest), 0.0
        for at in descent(problem, b, width, narrowest, floor):
            if at.rests:
                likely = likely or highest_loss(problem, at.b, at.width, LIKELY)
                if at.loss > likely or (at.width == floor and denies(problem, at.b)):
                    break
            yield at.iterate(problem, f" Start {len(ends) + 1}." if ends else "")
        ends = sorted([*ends, End(denies(problem, at.b), at.loss, at.b)], key=lambda end: end[:2])
        agree = len(ends) > 1 and ends[1].loss - ends[0].loss < ALIKE
        credible = highest_loss(problem, ends[0].b, narrowest, AGREED if agree else ALONE)
        if agree and ends[0].loss < credible and not ends[0].denied:
            break
    denied, loss, b = ends[0]
    for at in descent(problem, b, narrowest, narrowest, least):
        poor = at.rests and (denies(problem, at.b) if denied else loss > credible)
        yield at.iterate(problem, f" The best of {len(ends)} starts.", poor)
        if poor and (at.width == least or not denied) and at.length < SETTLED:
            return Stop.LOCAL_MINIMUM
    raise AssertionError("descents do not end")


class Point(NamedTuple):
    """Direction b (p,), the width at which it is judged, the last of them, the summed loss F_w n, the Newton step D."""

    b: Array
    width: float
    last: float
    loss: float
    D: Array

    @property
    def rests(self) -> bool:
        """Whether hardly anything will change at the last width."""
        return self.width == self.last and self.length < NEARLY_SETTLED * self.width

    @property
    def length(self) -> float:
        """The length of the step."""
        return float(np.linalg.norm(self.D))

    def iterate(self, problem: SingleIndexData, remark: str, poor: bool = False) -> Iterate:
        """Return it as an iterate, which is no solution at a larger width, or where answers are too unlikely."""
        n = problem.shape[0]
        note = f"Smoothed to width {self.width:.3g}.{remark}"
        residual = self.length + self.width - self.last + (1.0 if poor else 0.0)
        return Iterate(self.b, self.loss / n, residual, note, loss=partial(exact_loss, problem))


class End(NamedTuple):
    """Where a start has led: whether the link denies answers there, the loss, the direction (p,)."""

    denied: bool
    loss: float
    b: Array


def highest_loss(problem: SingleIndexData, b: Array, width: float, deviations: float) -> float:
    """Return the summed loss that a minimum exceeds by chance only, so many standard deviations above the usual.

    It lies below the expectation at the truth: measured with p = 20 and 100 by .2 p without noise, by p / 2 with it; by
    hardly anything where answers tell little, so that the link explains little of their entropy. A nat is never much.
    """
    (n, p), share = problem.shape, (1.0 + problem.y.mean()) / 2.0
    spread = float(np.linalg.norm(problem.X @ b)) / math.sqrt(n)
    mean, deviation = phase_losses.expected_loss(problem.link, width, spread)
    explained = max(0.0, -n * (share * math.log(share) + (1.0 - share) * math.log(1.0 - share) + mean))
    return max(1.0, n * mean - min(p, explained) / 10.0 + deviations * math.sqrt(n) * deviation)


def denies(problem: SingleIndexData, b: Array) -> bool:
    """Return whether the link itself, not smoothed, takes the answers at b for less likely than at the truth."""
    link = problem.link
    if link.noise == 0.0 and link.flip == 0.0:
        return exact_loss(problem, b) > 0.0
    return exact_loss(problem, b) > highest_loss(problem, b, max(link.noise, SHARP), ALONE)


def descent(problem: SingleIndexData, b: Array, width: float, last: float, least: float) -> Iterator[Point]:
    """Yield points at falling widths, without end: down to `last`, and to `least` while the link denies answers."""
    X, y, link = problem.X, problem.y, problem.link
    at, steps = likelihood(X @ b, y, link, width), 0
    while True:
        point = Point(b, width, last, float(at.loss.sum()), newton_step(X, b, at))
        if point.rests and last > least and denies(problem, b):
            last = max(last / 2.0, least)
            point = point._replace(last=last)
        yield point
        (b, at), steps = descended(problem, point, at), steps + 1
        if point.length < width / 4.0 or steps == STEPS_A_WIDTH:
            if width > last:
                width = max(width / 2.0, last)
                at = likelihood(X @ b, y, link, width)
            steps = 0


def newton_step(X: Array, b: Array, at: Likelihood) -> Array:
    """Return D (p,), tangent to the sphere at b, of the quadratic model: the sample's own, or the expected one."""
    descent = (at.descent @ X)[:, None]
    own = _newton_step(X, b, descent, at.curvature)
    return own if own @ descent[:, 0] > 0 else _newton_step(X, b, descent, at.information)


def _newton_step(X: Array, b: Array, descent: Array, weights: Array) -> Array:
    rows = np.flatnonzero(weights)
    if len(rows) < len(X) / 2:
        # What is certain has no curvature; with small widths that is nearly all.
        X, weights = X[rows], weights[rows]
    damping = np.maximum(b @ descent, 0.0) + DAMPING * np.abs(weights).sum()
    if len(b) <= SMALL and X.size <= IN_CACHE:
        # Where the model is convex, one factorisation of a small matrix is quicker than products with X in turn.
        H = (weights[:, None] * X).T @ X
        with suppress(np.linalg.LinAlgError):
            return exact_direction(H, b, descent[:, 0], float(damping[0]))

    def curved(V: Array) -> Array:
        return X.T @ (weights[:, None] * (X @ V))

    return newton_directions(curved, b[:, None], descent, np.ones((len(b), 1)), damping)[:, 0]


def descended(problem: SingleIndexData, point: Point, at: Likelihood) -> tuple[Array, Likelihood]:
    """Return b moved along D, halved until F_w falls, and the likelihood there; b itself where no step lowers F_w."""
    # Near the minimum a step changes the loss by less than rounding.
    step, value = shortened(point.D[:, None])[:, 0], point.loss * (1.0 + SLACK)
    for _ in range(HALVINGS):
        trial = normalised((point.b + step)[:, None])[:, 0]
        reached = likelihood(problem.X @ trial, problem.y, problem.link, point.width)
        if reached.loss.sum() <= value:
            return trial, reached
        step = step / 2.0
    return point.b, at


def refuse(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse too few measurements, and thresholds that all magnitudes exceed."""
    needs_varying_link(spec, options)
    needs_samples(spec, options)
    moments = spec.link_function.moments
    if abs(moments.mu2 - moments.mu0) < VANISHING:
        remedy = "raise the threshold: every magnitude exceeds it, so that all answers are the same"
        raise InputError("threshold", "above 0 for this solver", spec.values()["threshold"], remedy)


ENTRY = SolverEntry(
    name="phase-likelihood",
    title="Likelihood refinement (phase retrieval)",
    update=r"b \leftarrow \frac{b + t D}{\|b + t D\|}, \qquad D = \text{Newton step of } -\tfrac1n \sum_i \log"
    r" \mathbb P_w(y_i \mid \langle x_i, b\rangle), \quad w = \tfrac12, \tfrac14, \dots, \sigma",
    summary="Maximum likelihood from a spectral start, and from others where that fits worse than the model promises; "
    "knows the threshold, the noise and the flips.",
    reference="Chen & Yuan (2024), for the rate",
    run=phase_likelihood,
    models=("one-bit-phase-retrieval",),
    knows=("link",),
    workspace=message_workspace,
    refuse=refuse,
)

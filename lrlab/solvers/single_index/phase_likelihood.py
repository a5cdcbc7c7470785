"""Maximum likelihood for one-bit phase retrieval: a spectral start, then Newton steps at falling noise widths."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import log_ndtr

from lrlab.arrays import Array
from lrlab.models.protocols import SingleIndexData
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import InputError
from lrlab.protocol import Iterate
from lrlab.solver_entry import Options, SolverEntry
from lrlab.solvers.methods.sphere import DAMPING, newton_directions, normalised, shortened
from lrlab.solvers.single_index.requirements import VANISHING, needs_samples
from lrlab.solvers.single_index.spectral_optimal import spectral_optimal

WIDEST = 0.5
STEPS_A_WIDTH = 8
HALVINGS = 20
SLACK = 1e-12
# Standard deviations beyond which an answer is certain: its loss is 1e-19, and its information 1e-16 of the largest.
CERTAIN = 9.0


def phase_likelihood(problem: SingleIndexData, *, rng: Generator) -> Iterator[Iterate]:
    r"""Recover b up to sign from y_i = sign(|<x_i, b> + s e_i| - threshold), threshold and noise s given.

    minimise    F_w(b) = mean -log P_w(y_i | <x_i, b>)  over ||b|| = 1, as if the noise had standard deviation w:
                P_w(y = 1 | z) = Phi((|z| - threshold) / w) + Phi((-|z| - threshold) / w)
    start       the spectral estimate of the largest overlap, whose weights the link tells (`spectral_optimal`)
    update      b <- (b + t D) / ||b + t D||,  D the Newton step (Fisher scoring) on the tangent space of the sphere by
                conjugate gradients, t halved until F_w falls
    widths      w = 1/2, 1/4, ... down to s, where F_w is the exact likelihood. Without noise that is a step function,
                and w ends at half the error that b has then, p / (2 n q), with q the density of |<x, b>| at the
                threshold: a narrower w would follow single answers near the threshold
    converges   from a start within about w of the truth; the error is O(p/n) without noise, else efficient

    X (n, p), y (n,) in +-1. Yields before each step, endlessly: objective F_w at the width in the note, residual the
    length of D plus what the width has still to lose. Raises InputError when all answers are the same. Memory O(n).
    Reference: the likelihood of the model (Yi et al. 2015, eq. 2.8) from a spectral start, as Chen & Yuan (2024),
    "One-bit phase retrieval: optimal rates and efficient algorithms", do with a one-sided l1 loss.
    """
    X, y, link = problem.X, problem.y, problem.link
    n, p = X.shape
    if abs(y.sum()) == n:
        remedy = "move the threshold towards 0.7, or raise n: where all answers agree they carry nothing"
        raise InputError("answers", "of both kinds", f"{n} times {y[0]:+.0f}", remedy)
    b = next(spectral_optimal(problem, weights="link", rng=rng)).estimate
    narrowest = final_width(link.noise, link.threshold, n, p)
    w, steps = max(WIDEST, narrowest), 0
    at = likelihood(X @ b, y, link.threshold, w)
    while True:
        D = newton_step(X, b, at)
        length = float(np.linalg.norm(D))
        note = f"Smoothed to width {w:.3g}."
        yield Iterate(b, objective=float(at.loss.mean()), residual=length + w - narrowest, note=note)
        (b, at), steps = descended(problem, b, D, at, w), steps + 1
        if length < w / 4.0 or steps == STEPS_A_WIDTH:
            if w > narrowest:
                w = max(w / 2.0, narrowest)
                at = likelihood(X @ b, y, link.threshold, w)
            steps = 0


def final_width(noise: float, threshold: float, n: int, p: int) -> float:
    """Return the noise, or where that is smaller half the error p / (n q) that no smoothing can avoid, at most 1/2."""
    density = math.exp(-(threshold**2) / 2.0) * math.sqrt(2.0 / math.pi)
    return max(noise, min(WIDEST, p / (2.0 * n * density)))


class Likelihood(NamedTuple):
    """At indices z (n,): -log P(y | z), minus its derivative, and the Fisher information, each (n,)."""

    loss: Array
    descent: Array
    information: Array


def likelihood(z: Array, y: Array, threshold: float, width: float) -> Likelihood:
    """Return the likelihood of y = sign(|z + width e| - threshold), e ~ N(0, 1); 0 of answers that are certain.

    With small widths few answers are not: it is evaluated for those.
    """
    open_rows = np.flatnonzero(y * (np.abs(z) - threshold) < CERTAIN * width)
    if len(open_rows) > len(z) / 2:
        return uncertain(z, y, threshold, width)
    parts = (np.zeros(len(z)), np.zeros(len(z)), np.zeros(len(z)))
    for whole, part in zip(parts, uncertain(z[open_rows], y[open_rows], threshold, width), strict=True):
        whole[open_rows] = part
    return Likelihood(*parts)


def uncertain(z: Array, y: Array, threshold: float, width: float) -> Likelihood:
    """Return the likelihood of all answers, by logarithms throughout."""
    size = np.abs(z)
    above, below = (size - threshold) / width, (-size - threshold) / width
    log_above, log_below, log_rest = log_ndtr(above), log_ndtr(below), log_ndtr(-above)
    # below <= above.
    log_yes = log_above + np.log1p(np.exp(log_below - log_above))
    # P(no) = Phi(-above) - Phi(below), a difference that would cancel far out; |dP/dz| = (phi(above) - phi(below)) / w.
    log_no = log_rest + log_of_rest(log_below - log_rest)
    log_density = -np.square(above) / 2.0 - math.log(width * math.sqrt(2.0 * math.pi))
    log_change = log_density + log_of_rest(-2.0 * size * threshold / width**2)
    log_own = np.where(y > 0, log_yes, log_no)
    descent = y * np.sign(z) * np.exp(log_change - log_own)
    return Likelihood(-log_own, descent, np.exp(2.0 * log_change - log_yes - log_no))


def log_of_rest(a: Array) -> Array:
    """Return log(1 - e^a) for a <= 0; for a = 0, where it is -inf, that of the smallest difference."""
    return np.log(-np.expm1(np.minimum(a, -np.finfo(float).tiny)))


def newton_step(X: Array, b: Array, at: Likelihood) -> Array:
    """Return D (p,), tangent to the sphere at b, of the quadratic model with the Fisher information."""
    own, information, descent = X, at.information, (at.descent @ X)[:, None]
    rows = np.flatnonzero(information)
    if len(rows) < len(X) / 2:
        # What is certain has no curvature; with small widths that is nearly all.
        own, information = X[rows], information[rows]
    damping = np.maximum(b @ descent, 0.0) + DAMPING * information.sum()

    def curved(V: Array) -> Array:
        return own.T @ (information[:, None] * (own @ V))

    return newton_directions(curved, b[:, None], descent, np.ones((len(b), 1)), damping)[:, 0]


def descended(problem: SingleIndexData, b: Array, D: Array, at: Likelihood, width: float) -> tuple[Array, Likelihood]:
    """Return b moved along D, halved until F_w falls, and the likelihood there; b itself where no step lowers F_w."""
    # Near the minimum a step changes the loss by less than rounding.
    step, value = shortened(D[:, None])[:, 0], at.loss.sum() * (1.0 + SLACK)
    for _ in range(HALVINGS):
        trial = normalised((b + step)[:, None])[:, 0]
        reached = likelihood(problem.X @ trial, problem.y, problem.link.threshold, width)
        if reached.loss.sum() <= value:
            return trial, reached
        step = step / 2.0
    return b, at


def refuse(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse too few measurements, and thresholds that all magnitudes exceed."""
    needs_samples(spec, options)
    moments = spec.link_function.moments
    if abs(moments.mu2 - moments.mu0) < VANISHING:
        remedy = "raise the threshold: every magnitude exceeds it, so that all answers are the same"
        raise InputError("threshold", "above 0 for this solver", spec.values()["threshold"], remedy)


def workspace(spec: SingleIndexSpec, options: Options) -> int:
    """Hold the moments of both answers, their difference, LAPACK's own; a dozen vectors of length n."""
    return 48 * spec.p**2 + 100 * spec.n + 2**26


ENTRY = SolverEntry(
    name="phase-likelihood",
    title="Likelihood refinement (phase retrieval)",
    update=r"b \leftarrow \frac{b + t D}{\|b + t D\|}, \qquad D = \text{Newton step of } -\tfrac1n \sum_i \log"
    r" \mathbb P_w(y_i \mid \langle x_i, b\rangle), \quad w = \tfrac12, \tfrac14, \dots, \sigma",
    summary="Maximum likelihood from a spectral start; knows the threshold and the noise.",
    reference="Chen & Yuan (2024), for the rate",
    run=phase_likelihood,
    models=("one-bit-phase-retrieval",),
    knows=("link",),
    workspace=workspace,
    refuse=refuse,
)

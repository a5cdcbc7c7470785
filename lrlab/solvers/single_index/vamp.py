"""Vector approximate message passing: the posterior mean whatever the correlations between measurements."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.linalg import eigh

from lrlab.arrays import Array
from lrlab.linalg import unit
from lrlab.models.protocols import SingleIndexData
from lrlab.models.single_index import SingleIndexSpec
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import Options, SolverEntry, all_of
from lrlab.solvers.single_index.gamp_checks import UNLIKELY, surprise
from lrlab.solvers.single_index.moment_methods import class_moments
from lrlab.solvers.single_index.requirements import needs_both_answers, needs_samples, needs_some_moment
from lrlab.theory.channels import Answer
from lrlab.theory.correlated_overlap import predicted
from lrlab.theory.message_passing import LEAST_VARIANCE, State, answers, cosine, oscillates
from lrlab.theory.predicted_overlap import is_symmetric
from lrlab.theory.spectral import known_link_weights

LEAST_STEP = 0.3
OVERSHOT = 10.0
"""Square of a change that is reversed, in multiples of the variance that the estimate claims: more asks for damping."""
STEADY = 0.2
"""Changes of log ||b|| shrink steadily where their last two ratios differ by at most this share of 1 - ratio."""
FARTHEST = 1.0
"""By which log ||b|| is moved at once at most."""
ALONG = 0.95
"""Only the length of b changes where b and its change have such a cosine, of either sign."""
KNOWN = 0.25
"""The length is moved where the variance of b is below this share of ||b||^2: else b may be going to 0."""
START = 0.5
"""Overlap that the spectral estimate is taken to have."""


@needs_both_answers
def vamp(problem: SingleIndexData, *, rng: Generator) -> Iterates:
    r"""Recover b by its posterior mean, where the measurements may be correlated.

    estimate    E[b | X, y] for a truth with entries N(0, 1/p); the link and its noise are known to the method
    spectrum    X^T X = W diag(s_k^2) W^T, whose correlations are thus taken into account without being known
    answers     g_i = d log P(y_i; w_i, V) / dw,  h the mean of -dg_i / dw  (`theory.channels`),
                r = w + g / h,  gamma = h / (1 - h V): what the answers alone say of X b, with variance 1 / gamma
    signal      b = (p I + gamma X^T X)^{-1} gamma X^T r,  v = mean_i Var <x_i, b>, from the spectrum
                1 / V <- 1 / v - gamma,  w <- V (X b / v - gamma r): what it says of X b without the answers
    start       w = 0, V = mean ||x_i||^2 / p. For links with mu_1 = 0, of which that is a fixed point: the optimal
                spectral estimate of the whitened measurements
    damping     as in `gamp`: none, until changes of b do not fall; here also where b comes back by far more than the
                error that it claims
    length      where there is little noise, answers hardly tell ||b||, which takes thousands of iterations to its fixed
                point: once its changes shrink steadily, w and V are scaled as at that point (Aitken)
    converges   for x of any covariance, and large p, to the fixed point of `theory.correlated_overlap`; on X of
                independent entries to that of `gamp`

    X (n, p), y (n,) in +-1; an eigendecomposition (p, p) first, then two passes over X an iteration. Yields b / ||b||
    endlessly, residual the larger of the changes of b and of its variance, or the standard deviations by which the
    answers are less likely than the model says, from four on. The note gives the method's own estimate of its overlap,
    1 - E||b - b_true||^2.
    References: Schniter, Rangan & Fletcher (2016), "Vector approximate message passing for the generalized linear
    model", Algorithm 2; Rangan, Schniter & Fletcher (2019), "Vector approximate message passing".
    """
    for at in path(problem):
        likelihood, excess = surprise(at.answers.log_chance, problem.shape[1])
        note = f"Own estimate of the overlap {1.0 - at.variance:.3g}; Gaussian prior."
        if excess > UNLIKELY:
            note += f" It does not hold: the answers are {excess:.3g} standard deviations less likely than it says."
        yield Iterate(unit(at.b), residual=max(at.change, excess if excess > UNLIKELY else 0.0), note=note)


class Spectrum(NamedTuple):
    """Eigenvalues s_k^2 (p,) and eigenvectors W (p, p) of X^T X, the number n of rows."""

    squares: Array
    W: Array
    n: int

    def estimate(self, gamma: float, image: Array) -> Array:
        """Return b (p,) where the answers have given r, `image` = X^T r (p,), with the precision gamma."""
        return self.W @ (gamma / (len(image) + gamma * self.squares) * (image @ self.W))

    def variances(self, gamma: float) -> tuple[float, float]:
        """Return the variance of b, summed, and that of <x_i, b>, averaged over measurements."""
        each = 1.0 / (len(self.squares) + gamma * self.squares)
        return float(each.sum()), float(self.squares @ each) / self.n


class Point(NamedTuple):
    """The estimate b (p,) with its summed variance, the answers' likelihood before it, the change that led here."""

    b: Array
    variance: float
    answers: Answer
    change: float


def path(problem: SingleIndexData) -> Iterator[Point]:
    """Yield points without end."""
    X, (n, p), moments = problem.X, problem.shape, class_moments(problem)
    squares, W = eigh(moments.S_pos + moments.S_neg)
    spectrum = Spectrum(np.maximum(squares, 0.0), W, n)
    w, V = first_message(problem, spectrum)
    b: Array = np.zeros(p)
    before, variance, message = b, 1.0, None
    step, changes, cosines, lengths = 1.0, list[float](), list[float](), list[float]()
    while True:
        at = answers(problem, State(b, V, w, None))
        message = combined(message, from_answers(at, w, V), step)
        r, gamma = message
        following = spectrum.estimate(gamma, r @ X)
        reached, v = spectrum.variances(gamma)
        move = following - b
        size = float(np.linalg.norm(move))
        changes.append(max(size, abs(reached - variance)) / step)
        cosines.append(cosine(move, before))
        b, variance, before = following, reached, move
        yield Point(b, variance, at, changes[-1])
        V = max(1.0 / max(1.0 / v - gamma, LEAST_VARIANCE), LEAST_VARIANCE)
        w = V * (X @ b / v - gamma * r)
        lengths.append(math.log(max(float(np.linalg.norm(b)), LEAST_VARIANCE)))
        if variance < KNOWN * float(b @ b) and abs(cosine(move, b)) > ALONG and (factor := growth(lengths)) != 1.0:
            # The message before is left as it is: where changes are damped, so is this one.
            w, V, lengths = factor * w, factor**2 * V, []
        comes_back = cosines[-1] < -0.5 and size**2 > OVERSHOT * variance
        if comes_back or oscillates(changes, cosines):
            step, changes, cosines = max(LEAST_STEP, step / 1.5), [], []


def growth(lengths: list[float]) -> float:
    """Return by which factor b still grows where the changes of log ||b|| shrink steadily and slowly, 1 elsewhere."""
    changes = np.diff(lengths[-4:])
    if len(changes) < 3 or not changes.all():
        return 1.0
    ratio, before = changes[2] / changes[1], changes[1] / changes[0]
    if not 0.5 < ratio < 1.0 or abs(ratio - before) > STEADY * (1.0 - ratio):
        return 1.0
    return math.exp(float(np.clip(changes[2] * ratio / (1.0 - ratio), -FARTHEST, FARTHEST)))


def from_answers(at: Answer, w: Array, V: float) -> tuple[Array, float]:
    """Return r (n,) and gamma, what the answers alone say of X b."""
    h = float(at.curvature.mean())
    if h <= 0.0:
        # The mean of g^2 under the model, which cannot be negative.
        h = max(float(np.square(at.score).mean()), LEAST_VARIANCE)
    return w + at.score / h, h / max(1.0 - h * V, LEAST_VARIANCE)


def combined(before: tuple[Array, float] | None, now: tuple[Array, float], step: float) -> tuple[Array, float]:
    """Return the message moved by the share `step` from the one before."""
    if before is None or step == 1.0:
        return now
    return step * now[0] + (1.0 - step) * before[0], now[1] ** step * before[1] ** (1.0 - step)


def first_message(problem: SingleIndexData, spectrum: Spectrum) -> tuple[Array, float]:
    """Return w (n,) and V of the start."""
    n, p = problem.shape
    V = float(spectrum.squares.sum()) / (n * p)
    if not is_symmetric(problem.link):
        return np.zeros(n), V
    T, moments = known_link_weights(problem.link.moments), class_moments(problem)
    whitening = spectrum.W * math.sqrt(n) / np.sqrt(np.maximum(spectrum.squares, LEAST_VARIANCE))
    M = whitening.T @ (T.pos * moments.S_pos + T.neg * moments.S_neg) @ whitening
    z = problem.X @ (whitening @ eigh(M, subset_by_index=(p - 1, p - 1))[1][:, 0])
    return math.sqrt(START * V) * z, (1.0 - START) * V


def refuse(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse fewer measurements than twice the entries where the start has to whiten them."""
    if is_symmetric(spec.link_function):
        needs_samples(spec, options)


def predict(spec: SingleIndexSpec, options: Options) -> dict[str, float]:
    """Return the fixed point of state evolution for the covariance of the design, where it is one of large p."""
    overlap = predicted(spec)
    return {} if overlap is None else {"limit_overlap": overlap}


def workspace(spec: SingleIndexSpec, options: Options) -> int:
    """Hold the moments of both answers, X^T X, its eigenvectors, LAPACK's own; vectors (n,), a block of quadrature."""
    return 96 * spec.p**2 + 320 * spec.n + 2**26


ENTRY = SolverEntry(
    families=("single-index",),
    name="vamp",
    title="Vector approximate message passing (VAMP)",
    update=r"b = (p I + \gamma X^\top X)^{-1} \gamma X^\top r, \quad r = w + g / h, \quad g_i = \partial_w \log"
    r" \mathbb P(y_i; w_i, V)",
    summary="The posterior mean of a dense signal, also from correlated measurements; knows the link and its noise.",
    reference="Schniter, Rangan & Fletcher (2016), Algorithm 2",
    run=vamp,
    knows=("link",),
    workspace=workspace,
    max_iter=2000,
    refuse=all_of(needs_some_moment, refuse),
    predict=predict,
)

"""Generalised approximate message passing: the posterior mean of a single-index model whose link is known."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.linalg import unit
from lrlab.models.protocols import SingleIndexData
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import InputError
from lrlab.protocol import Iterate
from lrlab.solver_entry import Options
from lrlab.solvers.single_index.moment_methods import class_moments
from lrlab.solvers.single_index.requirements import VANISHING, SupportSize, needs_room, single_index_entry, support_size
from lrlab.solvers.single_index.spectral_optimal import leading
from lrlab.theory import priors
from lrlab.theory.channels import TINY, answer
from lrlab.theory.predicted_overlap import best_overlap, is_symmetric, predicted_iterations, spectral_start
from lrlab.theory.spectral import known_link_weights

# Variances cannot fall to 0: answers without noise would then be events of probability 0.
LEAST_VARIANCE = 1e-12
ROWS = 2**14
PATIENCE = 10
LEAST_STEP = 0.3


class State(NamedTuple):
    """Posterior means b (p,) with the summed variance V of its entries, and the means w (n,) of the indices X b.

    score: g (n,) of the update that led here, None at the start.
    """

    b: Array
    V: float
    w: Array
    score: Array | None


def gamp(problem: SingleIndexData, *, kept: SupportSize = 0, rng: Generator) -> Iterator[Iterate]:
    r"""Recover b by its posterior mean: the best estimate that any fast method is known to reach on Gaussian x.

    estimate    E[b | X, y] for a truth with entries N(0, 1/p), or, where s = `kept` < p, zero with probability 1 - s/p
                and N(0, 1/s) otherwise. The link, its noise and s are known to the method
    update      g_i = d log P(y_i; w_i, V) / dw,  h_i = -dg_i / dw  (`theory.channels`)
                S = 1 / sum_i h_i,  R = b + S X^T g,  b <- E[b | R = b + N(0, S)],  V <- summed variances of b,
                b scaled towards ||b||^2 = 1 - V, since ||b_true|| = 1: the share 1 - V of the way, on a log scale
                w <- X b - V g
    start       b = 0, V = 1. For links with mu_1 = 0, of which that is a fixed point: b = sqrt(q) v, v the optimal
                spectral estimate and q its predicted overlap, V = 1 - q, w_i = (1 - t T(y_i)) <x_i, b>, the index
                of an eigenvector that has not seen measurement i (t and T as in `theory.spectral`; compare Mondelli &
                Venkataramanan 2021, "Approximate message passing with spectral initialization")
    damping     none, until the change has not fallen for ten iterations, as at small p and near thresholds: then g and
                b move only part of the way, at least 0.3
    converges   for independent Gaussian x and large p to the fixed point of `theory.state_evolution`, which also
                predicts each iteration; 10 to 60 iterations, more near a threshold. With other designs it may diverge

    X (n, p), y (n,) in +-1, two passes over X an iteration. Yields endlessly: b / ||b||, residual the larger of
    ||b_next - b|| and |V_next - V|, both relative to ||b_true|| = 1. The note gives 1 - V, the method's own estimate of
    its overlap; where nothing can be recovered b falls to 0 and its direction has no meaning.
    Reference: Rangan (2011), "Generalized approximate message passing for estimation with random linear mixing",
    Algorithm 1 with scalar variances.
    """
    symmetric = is_symmetric(problem.link)
    rate = min(1.0, support_size(problem, kept) / problem.shape[1])
    now = (
        from_spectral(problem) if symmetric else State(np.zeros(problem.shape[1]), 1.0, np.zeros(len(problem.y)), None)
    )
    step, changes = 1.0, list[float]()
    if not symmetric:
        # From b = 0 the first update is a direction; b = 0 is none.
        now = updated(problem, now, rate, step)
    while True:
        following = updated(problem, now, rate, step)
        changes.append(max(float(np.linalg.norm(following.b - now.b)), abs(following.V - now.V)) / step)
        yield Iterate(unit(now.b), residual=changes[-1], note=_note(now, rate, step))
        if oscillates(changes):
            step, changes = max(LEAST_STEP, step / 1.5), []
        now = following


def oscillates(changes: list[float]) -> bool:
    """Return whether ten changes, one an iteration, are no smaller than the ten before them.

    A change may well grow for some iterations: while a sparse truth takes shape, damping would only disturb.
    """
    return len(changes) >= 2 * PATIENCE and min(changes[-PATIENCE:]) > 0.9 * min(changes[-2 * PATIENCE : -PATIENCE])


def updated(problem: SingleIndexData, now: State, rate: float, step: float) -> State:
    """Return the state after one update, of which g and b move by the share `step`."""
    X, p = problem.X, len(now.b)
    score, precision = _answers(problem, now)
    if now.score is not None:
        score = step * score + (1.0 - step) * now.score
    if precision <= 0.0:
        # E h = E g^2 under the model; the sum of squares cannot be negative where chance makes the other so.
        precision = float(score @ score)
    S = 1.0 / max(precision, TINY)
    # In units of 1 / sqrt(p), in which an entry has variance 1.
    posterior = priors.posterior(math.sqrt(p) * (now.b + S * (score @ X)), p * S, rate)
    b = step * posterior.mean / math.sqrt(p) + (1.0 - step) * now.b
    V = min(max(posterior.variance, LEAST_VARIANCE), 1.0)
    # 1 = ||b_true||^2 = ||b||^2 + V. Left free, the two drift against each other for hundreds of iterations where V is
    # small; made equal where little is known of b, they oscillate.
    b = b * ((1.0 - V) / max(float(b @ b), TINY)) ** ((1.0 - V) / 2.0)
    return State(b, V, X @ b - V * score, score)


def _answers(problem: SingleIndexData, now: State) -> tuple[Array, float]:
    """Return g (n,) and the sum of h, by blocks of rows: a link's quadrature takes some hundred numbers a row."""
    score, precision, n = np.empty_like(now.w), 0.0, len(now.w)
    for start in range(0, n, ROWS):
        problem.checkpoint(start / n)
        rows = slice(start, start + ROWS)
        at = answer(problem.link, now.w[rows], now.V, problem.y[rows])
        score[rows] = at.score
        precision += float(at.curvature.sum())
    return score, precision


def from_spectral(problem: SingleIndexData) -> State:
    """Return the optimal spectral estimate, scaled to be a posterior mean of the overlap that is predicted for it."""
    (n, p), weights = problem.shape, known_link_weights(problem.link.moments)
    v = leading(class_moments(problem), weights, p, "").b
    limit = spectral_start(problem.link, n / p)
    # Below the weak-recovery threshold the estimate is noise, and t is 1, its value there.
    q, t = (limit.overlap, limit.dual) if limit.overlap > 0 else (0.0, 1.0)
    q = max(q, 1.0 / math.sqrt(p))
    b = math.sqrt(q) * v
    return State(b, 1.0 - q, problem.X @ b * (1.0 - t * np.where(problem.y > 0, weights.pos, weights.neg)), None)


def _note(now: State, rate: float, step: float) -> str:
    prior = "Gaussian prior" if rate >= 1.0 else f"sparse prior, share {rate:.3g} of the entries"
    damped = "" if step == 1.0 else f", steps damped to {step:.2g}"
    return f"Own estimate of the overlap {1.0 - now.V:.3g}; {prior}{damped}."


def refuse(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse links that neither moment sees."""
    needs_room(spec, options)
    mu0, mu1, mu2 = spec.link_function.moments
    if max(abs(mu1), abs(mu2 - mu0)) < VANISHING:
        expected = "one whose answers depend on <x, b>, in mu_1 or mu_2 - mu_0"
        remedy = "lower the flip below 0.5, or raise the threshold above 0: such a link carries nothing"
        raise InputError("link", expected, f"a constant on {spec.model}", remedy)


def predict(spec: SingleIndexSpec, options: Options) -> dict[str, float]:
    """Return the fixed point of state evolution, where the solver is given the prior of the truth."""
    limits = best_overlap(spec)
    return {} if limits is None or options["kept"] else {"predicted_overlap": limits.fast}


def predict_iterations(spec: SingleIndexSpec, options: Options, iterations: int) -> list[float]:
    """Return what state evolution predicts for the first iterates, where the solver is given the prior of the truth."""
    if best_overlap(spec) is None or options["kept"]:
        return []
    return [float(overlap) for overlap in predicted_iterations(spec, iterations)]


def workspace(spec: SingleIndexSpec, options: Options) -> int:
    """Hold the moments of both answers for the spectral start, a block of the link's quadrature, vectors (n,)."""
    return 48 * spec.p**2 + 320 * spec.n + 2**26


ENTRY = single_index_entry(
    name="gamp",
    title="Approximate message passing (GAMP)",
    update=r"w = X b - V g, \quad g_i = \partial_w \log \mathbb P(y_i; w_i, V), \quad b \leftarrow \mathbb"
    r" E[b \mid b + S X^\top g]",
    summary="The posterior mean; knows the link, its noise and the share of non-zero entries, and reaches the best "
    "overlap that any fast method is known to reach.",
    reference="Rangan (2011), Algorithm 1; Barbier et al. (2019)",
    run=gamp,
    knows=("link", "sparsity"),
    workspace=workspace,
    refuse=refuse,
    predict=predict,
    attains=True,
    predict_iterations=predict_iterations,
)

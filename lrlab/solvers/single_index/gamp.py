"""Generalized approximate message passing: the posterior mean of a single-index model whose link is known."""

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from scipy.linalg import eigh

from lrlab.arrays import Array
from lrlab.linalg import unit
from lrlab.models.protocols import SingleIndexData
from lrlab.solver_entry import Generator, Iterate, Iterates, Options, Stop
from lrlab.solvers.methods.message_passing import State, answers, iterations, spectral_state
from lrlab.solvers.single_index.class_moments import class_moments
from lrlab.solvers.single_index.family import SupportSize, index_solver, needs_room, needs_some_moment
from lrlab.solvers.single_index.spectral_optimal import leading
from lrlab.theory.channels import log_of_rest
from lrlab.theory.predicted_overlap import (
    best_overlap,
    is_symmetric,
    limit_applies,
    predicted_iterations,
    rate,
    spectral_start,
)
from lrlab.theory.spectral import known_link_weights, shares
from lrlab.theory.state_evolution import Overlaps, overlaps

UNLIKELY = 4.0
"""Standard deviations of the responses' log-likelihood that rule a state out."""


def predict(spec: Any, options: Options) -> dict[str, float]:
    """Return the fixed point of state evolution, if the solver is given the prior of the truth."""
    limits = _limits(spec, options)
    return {} if limits is None else {"limit_overlap": limits.fast}


def _limits(spec: Any, options: Options) -> Overlaps | None:
    """Return the limits; None if there are none, or too few non-zero entries for them, or another prior."""
    return None if options["kept"] or spec.sparsity and not limit_applies(spec) else best_overlap(spec)


def predict_iterations(spec: Any, options: Options, iterations: int) -> list[float]:
    """Return what state evolution predicts for the first iterates, if the solver is given the prior of the truth.

    Nothing near a threshold, around which the overlap at a finite p depends on the sample: if the limit changes by more
    than 0.1 over the random number of the rarer responses.
    """
    if _limits(spec, options) is None:
        return []
    link, ratio = spec.link_function, spec.n / spec.p
    spread = math.sqrt(2.0 / max(spec.n * min(shares(link.moments)[:2]), 1.0))
    low, high = (overlaps(link, ratio * math.exp(sign * spread), rate(spec)).fast for sign in (-1.0, 1.0))
    return [] if high - low > 0.1 else [float(overlap) for overlap in predicted_iterations(spec, iterations)]


@index_solver(
    needs_room,
    needs_some_moment,
    one_kind=True,
    oracle=("link", "sparsity"),
    memory=0.1,
    matrix=lambda spec, options: spec.p**2,
    max_iter=2000,
    predict=predict,
    predict_iterations=predict_iterations,
    # Thirty passes over X, each with the channel of each response.
    simulate=lambda spec: 3e-3 + 2e-5 * spec.n + 3e-8 * spec.n * spec.p,
    attains=True,
)
def gamp(problem: SingleIndexData, *, kept: SupportSize = 0, rng: Generator) -> Iterates:
    r"""Approximate message passing (GAMP).

    The posterior mean; asymptotically it reaches the best overlap that polynomial-time methods are known to reach.

    .. math:: w = X b - V g, \quad g_i = \partial_w \log \mathbb P(y_i; w_i, V), \quad b \leftarrow \mathbb
        E[b \mid b + S X^\top g]

    estimate    E[b | X, y] for b with entries N(0, 1/p), or, if s = `kept` < p, zero with probability 1 - s/p and
                N(0, 1/s) otherwise. The method knows the link, its noise and s
    update      S = -1 / sum_i dg_i / dw,  then as above,  V <- summed variances of b;  b is scaled towards ||b||^2 =
                1 - V, as ||b_true|| = 1
    start       b = 0, V = 1. If mu_1 = 0, that is a fixed point: b = sqrt(q) v, v the optimal spectral estimate and q
                its predicted overlap, V = 1 - q, w_i = (1 - t T(y_i)) <x_i, b>, the index of an eigenvector
                without response i
    damping     if changes of b reverse without falling, or have not fallen for ten iterations, g, b and log V move only
                part of the way, at least 0.3, to the same fixed points
    restarts    if the responses are four standard deviations less likely than P(y_i; w_i, V) says of itself, the state
                is wrong: symmetric links then start from eigenvectors on few entries and from random directions
    converges   for independent Gaussian x asymptotically to the fixed point of `theory.state_evolution`, which also
                predicts each iteration; 10 to 60 iterations, hundreds near a threshold. With other designs the note's
                estimate of the overlap, 1 - V, does not hold, and the method may diverge
    cost        two passes over X (n, p)

    Yields b / ||b||, residual the larger of ||b_next - b||
    and |V_next - V|, relative to ||b_true|| = 1. A fixed point is SETTLED: another may have more of the posterior.
    STALLED if every initialization ends at a wrong state; the likeliest is returned.

    Reference: Rangan (2011), "Generalized approximate message passing for estimation with random linear mixing",
    Algorithm 1 with scalar variances; Barbier et al. (2019), "Optimal errors and phase transitions in
    high-dimensional generalized linear models".
    """
    rate = min(1.0, (kept or problem.sparsity) / problem.shape[1])
    prior = "Gaussian prior" if rate >= 1.0 else f"sparse prior, rate {rate:.3g} of the entries"
    ends = list[tuple[float, Iterate]]()
    for number, start in enumerate(starts(problem, rate, rng)):
        damped, rested = 0, False
        for at in iterations(problem, start, rate):
            if not np.linalg.norm(at.b) < 10.0:
                break
            damped, rests = damped + (at.step < 1.0), at.change < 1e-5
            # A state is checked at its first rest, and after every fifty damped iterations.
            due, rested = (rests and not rested) or damped % 50 == 49, rested or rests
            excess = surprise(problem, at, rate) if due else 0.0
            note = f"The method's estimate of the overlap, for independent Gaussian x, {1.0 - at.V:.3g}; {prior}"
            note += f", steps damped to {at.step:.2g}." if at.step < 1.0 else "."
            note += f" Start {number + 1}." if number else ""
            if wrong := excess > UNLIKELY:
                note += f" The responses are {excess:.3g} standard deviations less likely than it says: it is wrong."
            residual = max(at.change, excess) if wrong else at.change
            yield (iterate := Iterate(unit(at.b), residual=residual, note=note, optimal=False))
            if wrong:
                ends.append((float(at.log_chance.sum()), iterate))
                break
    if ends:
        yield max(ends, key=lambda end: end[0])[1]
    return Stop.STALLED


def starts(problem: SingleIndexData, rate: float, rng: Generator) -> Iterator[State]:
    """Yield b = 0 after one update; for symmetric links the spectral estimate, then others in the order of trial."""
    (n, p), link, X = problem.shape, problem.link, problem.X
    if not is_symmetric(link):
        yield next(islice(iterations(problem, State(np.zeros(p), 1.0, np.zeros(n)), rate), 1, None))
        return
    T, limit, guess = known_link_weights(link.moments), spectral_start(link, n / p), 1.0 / math.sqrt(p)
    weights = np.where(problem.y > 0, T.pos, T.neg)
    # Below the weak-recovery threshold the estimate is noise, and t is 1, its value there.
    q, t = (limit.overlap, limit.dual) if limit.overlap > 0 else (0.0, 1.0)
    yield spectral_state(X, leading(class_moments(problem), T, p)[1], max(q, guess), t * weights)
    s = round(rate * p)
    for size in (4 * s, s):
        if size < p:
            yield spectral_state(X, restricted(X, weights, size), 0.5)
    for _ in range(2):
        yield spectral_state(X, rng.standard_normal(p), guess)


def restricted(X: Array, weights: Array, size: int) -> Array:
    """Return the optimal spectral estimate (p,) on the entries whose <x_j^2> differ most between both responses."""
    differing = weights @ np.square(X)
    entries = np.sort(np.argsort(-np.abs(differing - np.median(differing)))[:size])
    v, among = np.zeros(X.shape[1]), X[:, entries]
    v[entries] = eigh((among.T * weights) @ among)[1][:, -1]
    return v


def surprise(problem: SingleIndexData, at: State, rate: float) -> float:
    """Return by how many standard deviations the responses are less likely than a state says of itself.

    With ten responses per unknown none can fit by chance, and <x_i, b> stands for w_i: if single responses decide, w_i
    is not quite the mean without the i-th. A nat per unknown is never much.
    """
    (n, p), own = problem.shape, at.log_chance
    own = np.minimum(own if n < 10.0 * rate * p else answers(problem, at.Xb, at.V).log_chance, 0.0)
    chance, odds = np.exp(own), own - log_of_rest(own)
    # log P(y) - E log P = (1 - P) odds, and the variance is P (1 - P) odds^2.
    deviation = math.sqrt(float((chance * (1.0 - chance) * odds**2).sum()))
    return -float(((1.0 - chance) * odds).sum()) / max(1.0, rate * p / UNLIKELY, deviation)

"""Generalized approximate message passing: the posterior mean of a single-index model whose link is known."""

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.linalg import eigh

from lrlab.arrays import Array
from lrlab.linalg import unit
from lrlab.models.protocols import SingleIndexData
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solver_entry import Options, all_of
from lrlab.solvers.methods.message_passing import Point, State, answers, iterations
from lrlab.solvers.single_index.family import SupportSize, index_solver, needs_room, needs_some_moment, support_size
from lrlab.solvers.single_index.moment_methods import class_moments
from lrlab.solvers.single_index.simulated import MOST_ENTRIES
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

BLOWN = 10.0
"""Length of b that ends a path."""
UNLIKELY, AT_REST, WANDERED = 4.0, 1e-5, 50
"""Standard deviations of a wrong state; largest change, and damped iterations, before a check."""
SENSITIVE = 0.1
"""Change of the limit over the random number of the rarer responses, above which no curve is predicted."""


def predict(spec: Any, options: Options) -> dict[str, float]:
    """Return the fixed point of state evolution, if the solver is given the prior of the truth."""
    limits = _limits(spec, options)
    return {} if limits is None else {"limit_overlap": limits.fast}


def _limits(spec: Any, options: Options) -> Overlaps | None:
    """Return the limits; None if there are none, or too few non-zero entries for them, or another prior."""
    return None if options["kept"] or spec.sparsity and not limit_applies(spec) else best_overlap(spec)


def predict_iterations(spec: Any, options: Options, iterations: int) -> list[float]:
    """Return what state evolution predicts for the first iterates, if the solver is given the prior of the truth.

    Nothing near a threshold, around which the overlap at a finite p depends on the sample.
    """
    if _limits(spec, options) is None:
        return []
    link, ratio = spec.link_function, spec.n / spec.p
    spread = math.sqrt(2.0 / max(spec.n * min(shares(link.moments)[:2]), 1.0))
    low, high = (overlaps(link, ratio * math.exp(sign * spread), rate(spec)).fast for sign in (-1.0, 1.0))
    return [] if high - low > SENSITIVE else [float(overlap) for overlap in predicted_iterations(spec, iterations)]


def draw_seconds(spec: Any, options: Options) -> float:
    """Return about how long a synthetic problem takes: thirty passes over X, each with the channel of each response."""
    return 3e-3 + 2e-5 * spec.n + 3e-8 * spec.n * spec.p if spec.n * spec.p <= MOST_ENTRIES else math.inf


@index_solver(
    oracle=("link", "sparsity"),
    memory=0.1,
    matrix=lambda spec, options: spec.p**2,
    max_iter=2000,
    refuse=all_of(needs_room, needs_some_moment),
    predict=predict,
    simulate=True,
    draw_seconds=draw_seconds,
    attains=True,
    predict_iterations=predict_iterations,
)
def gamp(problem: SingleIndexData, *, kept: SupportSize = 0, rng: Generator) -> Iterates:
    r"""Approximate message passing (GAMP).

    The posterior mean; asymptotically it reaches the best overlap that polynomial-time methods are known to reach.

    .. math:: w = X b - V g, \quad g_i = \partial_w \log \mathbb P(y_i; w_i, V), \quad b \leftarrow \mathbb
        E[b \mid b + S X^\top g]

    estimate    E[b | X, y] for b with entries N(0, 1/p), or, if s = `kept` < p, zero with probability 1 - s/p and
                N(0, 1/s) otherwise. The method knows the link, its noise and s
    update      g_i = d log P(y_i; w_i, V) / dw,  h_i = -dg_i / dw  (`theory.channels`)
                S = 1 / sum_i h_i,  R = b + S X^T g,  b <- E[b | R = b + N(0, S)],  V <- summed variances of b
                w <- X b - V g;  b is scaled towards ||b||^2 = 1 - V, as ||b_true|| = 1
    start       b = 0, V = 1. If mu_1 = 0, that is a fixed point: b = sqrt(q) v, v the optimal spectral estimate and q
                its predicted overlap, V = 1 - q, w_i = (1 - t T(y_i)) <x_i, b>, the index of an eigenvector that has
                not seen measurement i (t and T as in `theory.spectral`; compare Mondelli & Venkataramanan 2021)
    damping     if changes of b reverse without falling, or have not fallen for ten iterations, g, b and log V move only
                part of the way, at least 0.3, to the same fixed points
    restarts    if the responses are four standard deviations less likely than P(y_i; w_i, V) says of itself, the state
                is wrong: next the same start with a variance per entry and measurement, as in Rangan's Algorithm 1,
                and for symmetric links eigenvectors on few entries and random directions
    converges   for independent Gaussian x and large p to the fixed point of `theory.state_evolution`, which also
                predicts each iteration; 10 to 60 iterations, hundreds near a threshold. With other designs the note's
                own estimate of the overlap, 1 - V, does not hold, and the method may diverge
    cost        two passes over X (n, p)

    Yields b / ||b||, residual the larger of ||b_next - b||
    and |V_next - V|, relative to ||b_true|| = 1. A fixed point is SETTLED: another may have more of the posterior.
    STALLED if every start ends at a wrong state; the likeliest is returned.

    Reference: Rangan (2011), "Generalized approximate message passing for estimation with random linear mixing",
    Algorithm 1, first with scalar variances; Barbier et al. (2019), "Optimal errors and phase transitions in
    high-dimensional generalized linear models".
    """
    rate = min(1.0, support_size(problem, kept) / problem.shape[1])
    ends = list[tuple[float, Iterate]]()
    for number, start in enumerate(starts(problem, rate, rng), 1):
        damped, rested = 0, False
        for at in iterations(problem, start, rate):
            if not np.linalg.norm(at.state.b) < BLOWN:
                break
            damped += at.step < 1.0
            due = damped % WANDERED == WANDERED - 1 or (at.change < AT_REST and not rested)
            excess, rested = surprise(problem, at, rate) if due else 0.0, rested or at.change < AT_REST
            iterate = described(at, rate, number, excess)
            yield iterate
            if excess > UNLIKELY:
                ends.append((float(at.log_chance.sum()), iterate))
                break
    if ends:
        yield max(ends, key=lambda end: end[0])[1]
    return Stop.STALLED


def starts(problem: SingleIndexData, rate: float, rng: Generator) -> Iterator[State]:
    """Yield the first state, then others in the order of trial."""
    p, first = problem.shape[1], first_state(problem, rate)
    yield first
    yield with_variances(first)
    if not is_symmetric(problem.link):
        return
    s = round(rate * p)
    tried = [(restricted(problem, size), 0.5) for size in (4 * s, s) if size < p]
    for v, overlap in [*tried, *((unit(rng.standard_normal(p)), 1.0 / math.sqrt(p)) for _ in range(2))]:
        yield with_variances(State(math.sqrt(overlap) * v, 1.0 - overlap, math.sqrt(overlap) * (problem.X @ v)))


def first_state(problem: SingleIndexData, rate: float) -> State:
    """Return b = 0 after one update, or the spectral estimate for symmetric links."""
    (n, p), link = problem.shape, problem.link
    if not is_symmetric(link):
        path = iterations(problem, State(np.zeros(p), 1.0, np.zeros(n)), rate)
        return next(islice(path, 1, None)).state
    T, limit = known_link_weights(link.moments), spectral_start(link, n / p)
    # Below the weak-recovery threshold the estimate is noise, and t is 1, its value there.
    q, t = (limit.overlap, limit.dual) if limit.overlap > 0 else (0.0, 1.0)
    q = max(q, 1.0 / math.sqrt(p))
    b = math.sqrt(q) * leading(class_moments(problem), T, p)[1]
    return State(b, 1.0 - q, problem.X @ b * (1.0 - t * np.where(problem.y > 0, T.pos, T.neg)))


def restricted(problem: SingleIndexData, size: int) -> Array:
    """Return the optimal spectral estimate (p,) on the entries whose <x_j^2> differ most between both responses."""
    T = known_link_weights(problem.link.moments)
    weights = np.where(problem.y > 0, T.pos, T.neg)
    differing = weights @ np.square(problem.X)
    own = np.sort(np.argsort(-np.abs(differing - np.median(differing)))[:size])
    v, among = np.zeros(problem.shape[1]), problem.X[:, own]
    v[own] = eigh((among.T * weights) @ among)[1][:, -1]
    return v


def with_variances(state: State) -> State:
    """Return the state with a variance per entry."""
    return state._replace(variances=np.full(len(state.b), state.V / len(state.b)))


def surprise(problem: SingleIndexData, at: Point, rate: float) -> float:
    """Return by how many standard deviations the responses are less likely than a state says of itself.

    With ten responses per unknown none can fit by chance, and <x_i, b> stands for w_i: if single responses decide, w_i
    is not quite the mean without the i-th. A nat per unknown is never much.
    """
    (n, p), (b, V, *_) = problem.shape, at.state
    own = at.log_chance if n < 10.0 * rate * p else answers(problem, problem.link, problem.X @ b, V).log_chance
    own, chance = np.minimum(own, 0.0), np.exp(own)
    odds = own - log_of_rest(own)
    # log P(y) - E log P = (1 - P) odds, and the variance is P (1 - P) odds^2.
    deviation = math.sqrt(float((chance * (1.0 - chance) * odds**2).sum()))
    return -float(((1.0 - chance) * odds).sum()) / max(1.0, rate * p / UNLIKELY, deviation)


def described(at: Point, rate: float, number: int, excess: float) -> Iterate:
    """Return a point as an iterate, with its own estimate of the overlap as a note."""
    prior = "Gaussian prior" if rate >= 1.0 else f"sparse prior, rate {rate:.3g} of the entries"
    damped = "" if at.step == 1.0 else f", steps damped to {at.step:.2g}"
    note = f"Own estimate of the overlap, for independent Gaussian x, {1.0 - at.state.V:.3g}; {prior}{damped}."
    note += f" Start {number}." if number > 1 else ""
    if excess > UNLIKELY:
        note += f" The responses are {excess:.3g} standard deviations less likely than this state says: it is wrong."
    return Iterate(unit(at.state.b), residual=max(at.change, excess * (excess > UNLIKELY)), note=note, optimal=False)

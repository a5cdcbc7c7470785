"""Generalized approximate message passing: the posterior mean of a single-index model whose link is known."""

import math
from itertools import islice
from typing import Any

import numpy as np

from lrlab.linalg import top_eigenpairs, unit
from lrlab.models.protocols import SingleIndexData
from lrlab.solver_entry import Generator, Iterate, Iterates, Options, Stop
from lrlab.solvers.methods.message_passing import State, iterations, spectral_state
from lrlab.solvers.single_index.class_moments import class_moments
from lrlab.solvers.single_index.family import SupportSize, index_solver, needs_some_moment
from lrlab.theory.predicted_overlap import (
    best_overlap,
    is_symmetric,
    limit_applies,
    predicted_iterations,
    rate,
    spectral_start,
)
from lrlab.theory.spectral import known_link_weights, shares
from lrlab.theory.state_evolution import overlaps


def predict(spec: Any, options: Options) -> dict[str, float]:
    """Return the fixed point of state evolution; nothing with another prior, or too few non-zero entries for limits."""
    limits = None if options["kept"] or (spec.sparsity and not limit_applies(spec)) else best_overlap(spec)
    return {"limit_overlap": limits.fast} if limits else {}


def predict_iterations(spec: Any, options: Options, iterations: int) -> list[float]:
    """Return what state evolution predicts for the first iterates, if the solver is given the prior of the truth.

    Nothing near a threshold, around which the overlap at a finite p depends on the sample: if the limit changes by more
    than 0.1 over the random number of the rarer responses. Nothing from the entries of a sparse signal that stand out.
    """
    if not predict(spec, options) or (4 * rate(spec) < 1.0 and is_symmetric(spec.link_function)):
        return []
    link, ratio = spec.link_function, spec.n / spec.p
    spread = math.sqrt(2.0 / max(spec.n * min(shares(link.moments)[:2]), 1.0))
    low, high = (overlaps(link, ratio * math.exp(sign * spread), rate(spec)).fast for sign in (-1.0, 1.0))
    return [] if high - low > 0.1 else [float(overlap) for overlap in predicted_iterations(spec, iterations)]


@index_solver(
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
                without response i; of a sparse b, v on the 4s entries that stand out, q = 1/2 and t = 0
    damping     if changes of b reverse without falling, or have not fallen for ten iterations, g, b and log V move only
                part of the way, at least 0.3, to the same fixed points
    converges   for independent Gaussian x asymptotically to the fixed point of `theory.state_evolution`, which also
                predicts each iteration; 10 to 60 iterations, hundreds near a threshold. With other designs the note's
                estimate of the overlap, 1 - V, does not hold, and the method may diverge
    cost        two passes over X (n, p)

    Yields b / ||b||, residual the larger of ||b_next - b|| and |V_next - V|, relative to ||b_true|| = 1. A fixed point
    is SETTLED: another may have more of the posterior. A run that diverges is STALLED.

    Reference: Rangan (2011), "Generalized approximate message passing for estimation with random linear mixing",
    Algorithm 1 with scalar variances; Barbier et al. (2019), "Optimal errors and phase transitions in
    high-dimensional generalized linear models".
    """
    n, p = problem.shape
    rate = min(1.0, (kept or problem.sparsity) / p)
    prior = "Gaussian prior" if rate >= 1.0 else f"sparse prior, rate {rate:.3g} of the entries"
    start = even_start(problem, round(rate * p)) if is_symmetric(problem.link) else State(np.zeros(p), 1.0, np.zeros(n))
    # The iterate 0 of a link that is not even says nothing.
    for at in islice(iterations(problem, start, rate), int(not start.b.any()), None):
        if not np.linalg.norm(at.b) < 10.0:
            return Stop.STALLED
        note = f"The method's estimate of the overlap, for independent Gaussian x, {1.0 - at.V:.3g}; {prior}"
        note += f", steps damped to {at.step:.2g}." if at.step < 1.0 else "."
        yield Iterate(unit(at.b), residual=at.change, note=note, optimal=False)


def even_start(problem: SingleIndexData, s: int) -> State:
    """Return the state of the optimal spectral estimate, of a sparse signal on the entries that stand out.

    These are the 4 s entries whose <x_j^2> differ most between both responses.
    """
    (n, p), T = problem.shape, known_link_weights(problem.link.moments)
    M, v = class_moments(problem).weighted(T.pos, T.neg), np.zeros(p)
    entries = np.sort(np.argsort(-np.abs(M.diagonal() - np.median(M.diagonal())))[: 4 * s])
    v[entries] = top_eigenpairs(M[np.ix_(entries, entries)], 1, dense=1500)[1][:, 0]
    if 4 * s < p:
        return spectral_state(problem.X, v, 0.5)
    limit = spectral_start(problem.link, n / p)
    # Below the weak-recovery threshold the estimate is noise, and t is 1, its value there.
    q, t = (limit.overlap, limit.dual) if limit.overlap > 0 else (0.0, 1.0)
    return spectral_state(problem.X, v, max(q, 1.0 / math.sqrt(p)), t * np.where(problem.y > 0, T.pos, T.neg))

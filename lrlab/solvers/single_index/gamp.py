"""Generalised approximate message passing: the posterior mean of a single-index model whose link is known."""

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.linalg import unit
from lrlab.models.protocols import SingleIndexData
from lrlab.models.single_index import SingleIndexSpec
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solver_entry import Options, all_of
from lrlab.solvers.single_index import requirements
from lrlab.solvers.single_index.drawn_runs import drawn_runs
from lrlab.solvers.single_index.gamp_checks import PREFERRED, unlike_gaussian
from lrlab.solvers.single_index.gamp_draws import LARGEST, WHOLE, drawn_iterations, draws_needed, gamp_draws
from lrlab.solvers.single_index.gamp_paths import Visit, checked_path
from lrlab.solvers.single_index.gamp_starts import starts
from lrlab.solvers.single_index.requirements import SupportSize, single_index_entry, support_size
from lrlab.theory.limit_size import limit_applies
from lrlab.theory.predicted_overlap import best_overlap, predicted_iterations
from lrlab.theory.state_evolution import Overlaps

BLOWN = 10.0
"""Length of b at which a path is given up."""


def gamp(problem: SingleIndexData, *, kept: SupportSize = 0, rng: Generator) -> Iterates:
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
    damping     none, until changes of b reverse without falling, or have not fallen for ten iterations, as at small p
                and near thresholds: then g, b and log V move only part of the way, at least 0.3, to the same fixed
                points. Where it circles with a few non-zero entries, it goes on with those alone (`gamp_paths`)
    checks      how likely the answers are under P(y_i; w_i, V), beside what the model says of that (`gamp_checks`).
                Where they are less likely by four standard deviations at rest, or again and again, it starts again
                (`gamp_starts`), with a variance for each entry and measurement, as in Rangan's Algorithm 1: the same
                start, and for symmetric links also eigenvectors on few entries, random directions
    converges   for independent Gaussian x and large p to the fixed point of `theory.state_evolution`, which also
                predicts each iteration (`drawn_iterations` where p is too small for that); 10 to 60 iterations,
                hundreds near a threshold. With other designs it may diverge

    X (n, p), y (n,) in +-1, two passes over X an iteration. Yields b / ||b||, residual the larger of ||b_next - b|| and
    |V_next - V|, both relative to ||b_true|| = 1, or the standard deviations of a check that fails. Ends where that is
    so of all starts, with the end under which the answers are likeliest, as a LOCAL_MINIMUM. The note gives 1 - V, the
    method's own estimate of its overlap; where nothing can be recovered b falls to 0 and its direction has no meaning.
    A fixed point of a symmetric link that the answers do not prefer to b = 0 by five nats is SETTLED, not CONVERGED:
    near a threshold it may be far off, however sure of itself. So are fixed points where X shows that its rows are no
    independent Gaussian ones; the note then gives no overlap.
    Reference: Rangan (2011), "Generalized approximate message passing for estimation with random linear mixing",
    Algorithm 1, first with scalar variances.
    """
    rate = min(1.0, support_size(problem, kept) / problem.shape[1])
    ends, unlike = list[tuple[float, Iterate]](), unlike_gaussian(problem.X, round(rate * problem.shape[1]))
    for number, start in enumerate(starts(problem, rate, rng), 1):
        for visit in checked_path(problem, start, rate):
            # ||b_true|| = 1. What is so long grows without end; a comparison with nan is false.
            if not np.linalg.norm(visit.b) < BLOWN:
                break
            iterate = _iterate(visit, rate, number, unlike)
            yield iterate
            if visit.checks.hopeless(visit.at):
                ends.append((visit.checks.likelihood, iterate))
                break
    if ends:
        yield max(ends, key=lambda end: np.nan_to_num(end[0], nan=-np.inf))[1]
    return Stop.LOCAL_MINIMUM if ends and not unlike else Stop.STALLED


def _iterate(visit: Visit, rate: float, number: int, unlike: str) -> Iterate:
    b, at, checks = visit
    residual = at.change
    prior = "Gaussian prior" if rate >= 1.0 else f"sparse prior, share {rate:.3g} of the entries"
    if len(at.state.b) < len(b):
        prior += f", whose places are decided: the {len(at.state.b)} others than 0 go on alone"
    damped = "" if at.step == 1.0 else f", steps damped to {at.step:.2g}"
    own = f"Own estimate of the overlap {1.0 - at.state.V:.3g}"
    if unlike:
        own = f"No estimate of the overlap: that is for independent Gaussian measurements, these are {unlike}"
    note = f"{own}; {prior}{damped}." + (f" Start {number}." if number > 1 else "")
    if checks.failed:
        # No overlap is near one at which the answers are so unlikely: nothing here has converged.
        residual = max(residual, checks.excess)
        note += (
            f" The answers are {checks.excess:.3g} standard deviations less likely than this state says: it is wrong."
        )
    elif checks.gain < PREFERRED:
        note += f" The answers prefer this direction to none by {checks.gain:.2g} nats only: it may be another."
    return Iterate(unit(b), residual=residual, note=note, optimal=not unlike and checks.gain >= PREFERRED)


def predict(spec: SingleIndexSpec, options: Options) -> dict[str, float]:
    """Return the fixed point of state evolution, where the solver is given the prior of the truth."""
    limits = _limits(spec, options)
    return {} if limits is None else {"limit_overlap": limits.fast}


def _limits(spec: SingleIndexSpec, options: Options) -> Overlaps | None:
    """Return the limits; None where there are none, or too few non-zero entries for them, or another prior."""
    return None if options["kept"] or spec.sparsity and not limit_applies(spec) else best_overlap(spec)


def predict_iterations(spec: SingleIndexSpec, options: Options, iterations: int) -> list[float]:
    """Return what state evolution predicts for the first iterates, where the solver is given the prior of the truth.

    Near a threshold, where a finite p counts, it is the mean of draws at the n and p of the spec.
    """
    if _limits(spec, options) is None:
        return []
    predicted = drawn_iterations if draws_needed(spec) else predicted_iterations
    return [float(overlap) for overlap in predicted(spec, iterations)]


def draw(spec: SingleIndexSpec, options: Options, count: int) -> Array | None:
    """Return overlaps of ends: of runs where X is small, of the first start without X where it is not."""
    if best_overlap(spec) is None or options["kept"]:
        return None
    if spec.n * spec.p <= WHOLE:
        return drawn_runs(gamp, spec, options, count)
    return gamp_draws(spec, count)[:, -1] if spec.n + spec.p <= LARGEST else None


def draw_seconds(spec: SingleIndexSpec, options: Options) -> float:
    """Return about what a draw takes: some thirty passes over X, and the channel of each answer in each."""
    return 3e-3 + 2e-5 * spec.n + 3e-8 * spec.n * min(spec.p, WHOLE // spec.n + 50)


ENTRY = single_index_entry(
    name="gamp",
    title="Approximate message passing (GAMP)",
    update=r"w = X b - V g, \quad g_i = \partial_w \log \mathbb P(y_i; w_i, V), \quad b \leftarrow \mathbb"
    r" E[b \mid b + S X^\top g]",
    summary="The posterior mean; knows the link, its noise and the share of non-zero entries, and in large problems "
    "reaches the best overlap that any fast method is known to reach.",
    reference="Rangan (2011), Algorithm 1; Barbier et al. (2019)",
    run=gamp,
    oracle=("link", "sparsity"),
    memory=0.1,
    matrix=lambda spec, options: spec.p**2,
    max_iter=2000,
    refuse=all_of(requirements.needs_room, requirements.needs_some_moment),
    predict=predict,
    draw=draw,
    draw_seconds=draw_seconds,
    attains=True,
    predict_iterations=predict_iterations,
)

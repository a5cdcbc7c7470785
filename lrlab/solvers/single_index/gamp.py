"""Generalised approximate message passing: the posterior mean of a single-index model whose link is known."""

import numpy as np
from numpy.random import Generator

from lrlab.linalg import unit
from lrlab.models.protocols import SingleIndexData
from lrlab.models.single_index import SingleIndexSpec
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import Options, all_of
from lrlab.solvers.single_index import requirements
from lrlab.solvers.single_index.gamp_draws import drawn_iterations, draws_needed
from lrlab.solvers.single_index.gamp_steps import State, from_spectral, path, updated
from lrlab.solvers.single_index.moment_methods import class_moments
from lrlab.solvers.single_index.requirements import SupportSize, single_index_entry, support_size
from lrlab.solvers.single_index.spectral_optimal import leading
from lrlab.theory.predicted_overlap import best_overlap, is_symmetric, predicted_iterations
from lrlab.theory.spectral import known_link_weights


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
                and near thresholds: then g and b move only part of the way, at least 0.3, to the same fixed points
    converges   for independent Gaussian x and large p to the fixed point of `theory.state_evolution`, which also
                predicts each iteration (`drawn_iterations` where p is too small for that); 10 to 60 iterations,
                hundreds near a threshold. With other designs it may diverge

    X (n, p), y (n,) in +-1, two passes over X an iteration. Yields endlessly: b / ||b||, residual the larger of
    ||b_next - b|| and |V_next - V|, both relative to ||b_true|| = 1. The note gives 1 - V, the method's own estimate of
    its overlap; where nothing can be recovered b falls to 0 and its direction has no meaning.
    Reference: Rangan (2011), "Generalized approximate message passing for estimation with random linear mixing",
    Algorithm 1 with scalar variances.
    """
    rate = min(1.0, support_size(problem, kept) / problem.shape[1])
    if is_symmetric(problem.link):
        T = known_link_weights(problem.link.moments)
        now = from_spectral(problem, leading(class_moments(problem), T, problem.shape[1], "").b)
    else:
        # From b = 0 the first update is a direction; b = 0 is none.
        zero = State(np.zeros(problem.shape[1]), 1.0, np.zeros(len(problem.y)), None)
        now = updated(problem, zero, rate, step=1.0)
    for at in path(problem, now, rate):
        yield Iterate(unit(at.state.b), residual=at.change, note=_note(at.state, rate, at.step))


def _note(now: State, rate: float, step: float) -> str:
    prior = "Gaussian prior" if rate >= 1.0 else f"sparse prior, share {rate:.3g} of the entries"
    damped = "" if step == 1.0 else f", steps damped to {step:.2g}"
    return f"Own estimate of the overlap {1.0 - now.V:.3g}; {prior}{damped}."


def predict(spec: SingleIndexSpec, options: Options) -> dict[str, float]:
    """Return the fixed point of state evolution, where the solver is given the prior of the truth."""
    limits = best_overlap(spec)
    return {} if limits is None or options["kept"] else {"limit_overlap": limits.fast}


def predict_iterations(spec: SingleIndexSpec, options: Options, iterations: int) -> list[float]:
    """Return what state evolution predicts for the first iterates, where the solver is given the prior of the truth.

    Near a threshold, where a finite p counts, it is the mean of draws at the n and p of the spec.
    """
    if best_overlap(spec) is None or options["kept"]:
        return []
    predicted = drawn_iterations if draws_needed(spec) else predicted_iterations
    return [float(overlap) for overlap in predicted(spec, iterations)]


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
    workspace=requirements.message_workspace,
    max_iter=2000,
    refuse=all_of(requirements.needs_room, requirements.needs_some_moment),
    predict=predict,
    attains=True,
    predict_iterations=predict_iterations,
)

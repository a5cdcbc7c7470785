"""Algorithm 2 of Yi et al. (2015): a sparse leading eigenvector of the pairwise moment, in two stages."""

import math
from itertools import islice
from typing import Annotated

import numpy as np
from numpy.random import Generator
from scipy.linalg import eigh
from scipy.special import ndtri

from lrlab.arrays import Array
from lrlab.linalg import hard_threshold, unit
from lrlab.models.protocols import SingleIndexData
from lrlab.parameters import number
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import all_of
from lrlab.solvers.single_index.family import (
    SupportSize,
    index_solver,
    needs_both_answers,
    needs_gap,
    needs_room,
    support_size,
)
from lrlab.solvers.single_index.fantope import fantope_admm
from lrlab.solvers.single_index.moment_choice import Choice, contrast
from lrlab.solvers.single_index.moment_methods import ClassMoments, class_moments
from lrlab.solvers.single_index.pairwise import Moment, Pairs, chosen_moment, pair_moments
from lrlab.theory.links import MEDIAN_ABS_NORMAL

CHOICE_STEPS = 20
FEW_SAMPLES = 10
"""Measurements per coordinate: with fewer the dense method sees no link (`theory.spiked`)."""
LEAST_OF_FEW, LEAST = 2.5, 1.5
"""Entries of M b, as multiples of sigma sqrt(log p), above which they count as signal: for few samples, for more. The
largest of p entries without signal is about sqrt 2."""


@index_solver(
    oracle="sparsity",
    streams=True,
    memory=0.35,
    matrix=lambda spec, options: spec.p**2,
    refuse=all_of(needs_gap, needs_room),
)
@needs_both_answers
def sparse_pairwise_moment(
    problem: SingleIndexData,
    *,
    pairs: Pairs = "consecutive",
    moment: Moment = "auto",
    kept: SupportSize = 0,
    rho: Annotated[
        float, number(0, 10, "weight of the l1 penalty in the first stage; 0 sets it from M", symbol="ρ")
    ] = 0.0,
    start_tol: Annotated[float, number(1e-9, 1, "relative duality gap that ends the first stage", scale="log")] = 1e-3,
    start_iterations: Annotated[int, number(1, 100_000, "most iterations of the first stage", scale="log")] = 100,
    rng: Generator,
) -> Iterates:
    r"""Sparse pairwise moment.

    Sparse leading eigenvector of the same second moment: a convex start, then truncated power iteration.

    .. math:: b \leftarrow \frac{T(M b)}{\|T(M b)\|}, \qquad T \text{ keeps the largest entries}

    maximize    b^T (M/4) b  over ||b|| = 1, ||b||_0 <= s-hat, with M or M' as in `pairwise_moment`
    start       the Fantope problem  max <M/4, P> - rho ||P||_{1,1}, tr P = 1, 0 <= P <= I  by ADMM (`fantope_admm`)
                until its relative duality gap is `start_tol`; the leading eigenvector of P, truncated (lines 2-9)
    update      b <- T(M b) / ||T(M b)||,  T keeps the s-hat largest entries (lines 10-17)
    rho         0 stands for sigma sqrt(log p), sigma the standard deviation of an entry of M/4 that holds no signal:
                the median size of the off-diagonal entries over 0.6745, at most 2 sqrt(tr(M/4) / (p n)). The paper's
                C [phi + 1 - mu_0^2] sqrt(log p / n) has unknown constants
    kept        0 stands for the number of entries of M b above 1.5 sigma sqrt(log p) after the first stage, at least 1
                and at most s: others are as likely noise. If n < 10 p, too few for the dense method under any link,
                above 2.5 sigma sqrt(log p): at n = p = 1000 and s = 5 the second stage errs by .36, with s entries by
                .61. All of p for a signal that is not sparse. Theorem 3.7 wants a multiple of s with unknown constants
    converges   the objective never falls in the second stage, as M is positive semidefinite; the error is
                O(sqrt(s log p / n)) once n exceeds O(s^2 log p) (Theorem 3.7)
    cost        first stage: an eigendecomposition of a p x p matrix; second stage: p^2

    Yields an iterate per iteration of both stages, endlessly; the note names the stage. Objective -b^T (M/4) b in
    both. Residual ||T(M b) / ||T(M b)|| - b||, in the first stage at least the relative duality gap. Memory about
    10 p^2 numbers; to a gap of 1e-3 the first stage takes 0.03 s at p = 200 and 1 to 6 s at p = 1000.

    References: Yi, Wang, Caramanis, Liu (2015), "Optimal linear estimation under unknown nonlinear transform",
    Algorithm 2; Vu, Cho, Lei, Rohe (2013), "Fantope projection and selection", for the first stage.
    """
    s = support_size(problem, kept)
    M, note = _chosen(problem, pairs, moment, s)
    penalty, scale = rho or automatic_penalty(M, problem.shape[0]), float(np.trace(M)) / len(M) or 1.0
    for state in islice(fantope_admm(M, penalty), start_iterations):
        b = truncated(state.vectors[:, 0], s)
        gap = state.gap / scale
        stage = f"{note} First stage, Fantope problem with rho = {penalty:.3g}: rank of P {len(state.weights)}."
        following = truncated(M @ b, s)
        yield _iterate(M, b, following, stage, at_least=gap)
        if gap <= start_tol:
            break
    if not kept:
        s = min(s, distinct_entries(M, b, problem.shape[0], s))
        following = truncated(M @ truncated(b, s), s)
    while True:
        b = following
        following = truncated(M @ b, s)
        yield _iterate(M, b, following, f"{note} Second stage, truncated power iteration with {s} of {len(b)} entries.")


def _iterate(M: Array, b: Array, following: Array, note: str, at_least: float = 0.0) -> Iterate:
    residual = max(float(np.linalg.norm(following - b)), at_least)
    return Iterate(b, objective=-float(b @ M @ b), residual=residual, note=note)


def truncated(v: Array, s: int) -> Array:
    """Return the unit vector along v (p,) with all but its s largest entries set to zero."""
    return unit(hard_threshold(v, s))


def distinct_entries(M: Array, b: Array, n: int, s: int) -> int:
    """Return how many entries of M b stand out from noise, at least 1; all of p for a signal that is not sparse."""
    p, few = len(M), n < FEW_SAMPLES * len(M)
    if s == p and not few:
        return p
    threshold = (LEAST_OF_FEW if few else LEAST) * automatic_penalty(M, n)
    return max(1, int((np.abs(M @ b) > threshold).sum()))


def automatic_penalty(M: Array, n: int) -> float:
    """Return sigma sqrt(log p), sigma the standard deviation of an entry of M/4 (p, p) that holds no signal."""
    p = len(M)
    # For w in {0, 1} and independent dx_j, dx_k ~ N(0, 2), the mean of w dx_j dx_k over n/2 pairs has variance
    # 4 E[w] / (n/2), and the diagonal of M/4 is 2 E[w]. Signal raises the median of the entries, never this bound.
    bound = 2.0 * math.sqrt(max(float(np.trace(M)), 0.0) / (p * n))
    sigma = min(float(np.median(np.abs(M[np.triu_indices(p, 1)]))) / MEDIAN_ABS_NORMAL, bound)
    return sigma * math.sqrt(math.log(p))


def _chosen(problem: SingleIndexData, pairs: str, moment: str, s: int) -> tuple[Array, str]:
    if moment != "auto" or s >= problem.shape[1]:
        return chosen_moment(problem, pairs, moment)
    choice = sparse_choice(class_moments(problem), s)
    return pair_moments(problem, pairs)[0 if choice.moment == "M" else 1], choice.note


def sparse_choice(moments: ClassMoments, s: int) -> Choice:
    """Return which of M and M' to take: the signal stands out among s of p coordinates; the moments are used up.

    Of G and -G (`moment_choice`) the variance in the best s-sparse direction counts, less its typical value by chance:
    the s largest squares of r, or the maximum of b^T m C b over all such b, about 2 sd sqrt(s log(e p / s)) with sd the
    deviation of an entry of m C; whichever is larger in G.
    """
    n, p = moments.n_pos + moments.n_neg, len(moments.s_pos)
    G, m = contrast(moments)
    deviation = float(np.median(np.abs(G[np.triu_indices(p, 1)]))) / MEDIAN_ABS_NORMAL or 1.0
    squares = (1.0 - m * m) / n * ndtri(1.0 - (np.arange(s) + 0.5) / (2 * p)) ** 2
    by_chance = 2.0 * abs(m) * math.sqrt((1.0 - m * m) / n * s * (1.0 + math.log(p / s)))
    differ, agree = (sparse_variance(A, s, deviation) for A in (G, -G))
    differ -= max(float(squares.sum()), by_chance)
    return Choice.of(differ / deviation, (agree - by_chance) / deviation)


def sparse_variance(A: Array, s: int, deviation: float) -> float:
    """Return the largest b^T A b over s-sparse unit vectors b, or nearly, for a symmetric A (p, p)."""
    # The leading eigenvector of the soft-thresholded matrix: entries of pure noise are mostly gone.
    penalty, last = deviation * math.sqrt(math.log(len(A))), len(A) - 1
    b = truncated(eigh(A - np.clip(A, -penalty, penalty), subset_by_index=(last, last))[1][:, 0], s)
    # With a multiple of I that leaves no eigenvalue negative, truncated power iteration never lowers the variance.
    shift = float(np.abs(A).sum(axis=0).max())
    for _ in range(CHOICE_STEPS):
        b = truncated(A @ b + shift * b, s)
    return float(b @ A @ b)

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
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import all_of
from lrlab.solvers.single_index.fantope import fantope_admm
from lrlab.solvers.single_index.moment_choice import Choice, contrast
from lrlab.solvers.single_index.moment_methods import ClassMoments, class_moments
from lrlab.solvers.single_index.pairwise import Moment, Pairs, chosen_moment, pair_moments
from lrlab.solvers.single_index.requirements import (
    SupportSize,
    needs_both_answers,
    needs_gap,
    needs_room,
    single_index_entry,
    support_size,
)
from lrlab.theory.links import MEDIAN_ABS_NORMAL

CHOICE_STEPS = 20
FEW_SAMPLES = 10
"""Measurements per coordinate: with fewer no link is seen by the dense method (`theory.spiked`)."""
LEAST_OF_FEW, LEAST = 2.5, 1.5
"""Entries of M b, as multiples of sigma sqrt(log p), above which they are taken for signal: of few samples, of more.
The largest of p entries without signal is about sqrt 2."""


@needs_both_answers
def sparse_pairwise_moment(
    problem: SingleIndexData,
    *,
    pairs: Pairs = "consecutive",
    moment: Moment = "auto",
    kept: SupportSize = 0,
    rho: Annotated[
        float,
        Parameter(meaning="weight of the l1 penalty in the first stage; 0 sets it from M", symbol="ρ", low=0, high=10),
    ] = 0.0,
    start_tol: Annotated[
        float, Parameter(meaning="duality gap at which the first stage ends, relative", low=1e-9, high=1, scale="log")
    ] = 1e-3,
    start_iterations: Annotated[
        int, Parameter(meaning="most iterations of the first stage", low=1, high=100_000, scale="log")
    ] = 100,
    rng: Generator,
) -> Iterates:
    r"""Recover an s-sparse b up to sign from one-bit answers, without knowing the link.

    maximise    b^T (M/4) b  over ||b|| = 1, ||b||_0 <= s-hat, with M or M' as in `pairwise_moment`
    start       the Fantope problem  max <M/4, P> - rho ||P||_{1,1}, tr P = 1, 0 <= P <= I  by ADMM (`fantope_admm`)
                until its relative duality gap is `start_tol`; the leading eigenvector of P, truncated (lines 2-9)
    update      b <- T(M b) / ||T(M b)||,  T keeps the s-hat largest entries (lines 10-17)
    converges   the objective never falls in the second stage, as M is positive semidefinite, so that its end is the
                better of the two by it; the error is O(sqrt(s log p / n)) once n exceeds O(s^2 log p) (Theorem 3.7)

    rho = 0 stands for sigma sqrt(log p), where sigma, the standard deviation of an entry of M/4 that holds no signal,
    is the median size of the off-diagonal entries over 0.6745, and at most 2 sqrt(tr(M/4) / (p n)), its value for
    consecutive pairs. The paper's C [phi + 1 - mu_0^2] sqrt(log p / n) has unknown constants.

    kept = 0 stands for the number of entries of M b above 1.5 sigma sqrt(log p) at the end of the first stage, at least
    1 and at most s: the others of the s largest entries are as likely noise (p = 200, s = 5: mean error .35 for .40 at
    n = 2000, .062 for .064 at 50,000; s = 20: .29 for .33 at 10,000). Where n < 10 p, too few for the dense method
    under any link, above 2.5 sigma sqrt(log p): with s of them at n = p = 1000, s = 5 the second stage fits noise and
    errs by .61 where its start errs by .35; with this number it errs by .36. A signal that is not sparse has all of p.
    Theorem 3.7 wants a multiple C'' ceil(1 / (kappa^(-1/2) - 1)^2) of s with an unknown C''; at C'' = 1, 60 s or more,
    the error is 1.2.

    Yields an iterate for each iteration of both stages, endlessly; the note names the stage. Objective -b^T (M/4) b in
    both. Residual ||T(M b) / ||T(M b)|| - b||, in the first stage at least the relative duality gap. Memory about
    10 p^2 numbers. An iteration of the first stage is an eigendecomposition; to a gap of 1e-3 it takes about 0.03 s at
    p = 200 and 1 to 6 s at p = 1000, the longer the less signal there is.
    Reference: Yi, Wang, Caramanis, Liu (2015), "Optimal linear estimation under unknown nonlinear transform",
    Algorithm 2; Vu, Cho, Lei, Rohe (2013) for the first stage.
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


def entry_deviation(M: Array, n: int) -> float:
    """Return the standard deviation of an entry of M/4 that holds no signal, from M/4 (p, p) itself."""
    p = len(M)
    # For w in {0, 1} and independent dx_j, dx_k ~ N(0, 2), the mean of w dx_j dx_k over n/2 pairs has variance
    # 4 E[w] / (n/2), and the diagonal of M/4 is 2 E[w]. Signal raises the median of the entries, never this bound.
    bound = 2.0 * math.sqrt(max(float(np.trace(M)), 0.0) / (p * n))
    return min(float(np.median(np.abs(M[np.triu_indices(p, 1)]))) / MEDIAN_ABS_NORMAL, bound)


def automatic_penalty(M: Array, n: int) -> float:
    """Return sigma sqrt(log p), see `sparse_pairwise_moment`."""
    return entry_deviation(M, n) * math.sqrt(math.log(len(M)))


def _chosen(problem: SingleIndexData, pairs: str, moment: str, s: int) -> tuple[Array, str]:
    if moment != "auto" or s >= problem.shape[1]:
        return chosen_moment(problem, pairs, moment)
    choice = sparse_choice(class_moments(problem), s)
    return pair_moments(problem, pairs)[0 if choice.moment == "M" else 1], choice.note


def sparse_choice(moments: ClassMoments, s: int) -> Choice:
    """Return which of M and M' to take: the signal stands out among s of p coordinates; the moments are used up.

    Of G and -G (`moment_choice`) the variance in the best s-sparse direction counts, less what it is about by chance:
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


ENTRY = single_index_entry(
    title="Sparse pairwise moment",
    update=r"b \leftarrow \frac{T(M b)}{\|T(M b)\|}, \qquad T \text{ keeps the largest entries}",
    summary="Sparse leading eigenvector of the same second moment: a convex start, then truncated power iteration.",
    run=sparse_pairwise_moment,
    oracle=("sparsity",),
    streams=True,
    memory=0.35,
    matrix=lambda spec, options: spec.p**2,
    refuse=all_of(needs_gap, needs_room),
)

"""Algorithm 2 of Yi et al. (2015): a sparse leading eigenvector of the pairwise moment, in two stages."""

import math
from functools import partial
from itertools import islice
from typing import Annotated

import numpy as np

from lrlab.arrays import Array
from lrlab.linalg import hard_threshold, top_eigenpairs, unit
from lrlab.models.protocols import SingleIndexData
from lrlab.solver_entry import Generator, Iterate, Iterates, number
from lrlab.solvers.single_index.class_moments import ClassMoments, choose, contrast, decided
from lrlab.solvers.single_index.family import SupportSize, moment_solver, needs_gap
from lrlab.solvers.single_index.fantope import fantope_admm
from lrlab.solvers.single_index.pairwise import Moment, Pairs, chosen_moment
from lrlab.theory.links import MEDIAN_ABS_NORMAL

MEASURED = "its largest eigenvalue without entries of noise is larger, {} standard deviations of such an entry"


@moment_solver(needs_gap, oracle="sparsity")
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
    s = kept or problem.sparsity
    M, note = chosen_moment(problem, pairs, moment, partial(sparse_choice, s=s) if s < problem.shape[1] else choose)
    penalty, scale = rho or automatic_penalty(M, problem.shape[0]), float(np.trace(M)) / len(M) or 1.0
    for weights, vectors, gap in islice(fantope_admm(M, penalty), start_iterations):
        b = truncated(vectors[:, 0], s)
        stage = f"{note} First stage, Fantope problem with rho = {penalty:.3g}: rank of P {len(weights)}."
        following = truncated(M @ b, s)
        yield _iterate(M, b, following, stage, at_least=gap / scale)
        if gap / scale <= start_tol:
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
    p = len(M)
    # With fewer measurements the dense method sees no link (`theory.spiked`).
    few = n < 10 * p
    if s == p and not few:
        return p
    # The largest of p entries without signal is about sqrt(2 log p).
    threshold = (2.5 if few else 1.5) * automatic_penalty(M, n)
    return max(1, int((np.abs(M @ b) > threshold).sum()))


def automatic_penalty(M: Array, n: int) -> float:
    """Return sigma sqrt(log p), sigma the standard deviation of an entry of M/4 (p, p) that holds no signal."""
    p = len(M)
    # For w in {0, 1} and independent dx_j, dx_k ~ N(0, 2), the mean of w dx_j dx_k over n/2 pairs has variance
    # 4 E[w] / (n/2), and the diagonal of M/4 is 2 E[w]. Signal raises the median of the entries, never this bound.
    bound = 2.0 * math.sqrt(max(float(np.trace(M)), 0.0) / (p * n))
    return min(noise_deviation(M), bound) * math.sqrt(math.log(p))


def noise_deviation(M: Array) -> float:
    """Return the standard deviation of an entry of M (p, p) without signal, from the median size of its entries."""
    return float(np.median(np.abs(M[np.triu_indices(len(M), 1)]))) / MEDIAN_ABS_NORMAL


def sparse_choice(moments: ClassMoments, s: int) -> tuple[str, str]:
    """Return which of M and M' shows more of a signal with s of p entries, and a sentence.

    By the largest eigenvalues of G and -G (`class_moments`), less the mean of r r^T by chance, (1 - m^2) / n I, when a
    soft threshold has removed most entries without signal: sigma sqrt(2 log(p / s)), sigma their standard deviation.
    The unit is sigma. Pure noise leaves a positive eigenvalue, too, a larger one in G: the s largest of p squares of r
    sum to less than 2 s log(e p / s) (1 - m^2) / n, as a rule. A lead is sure if it exceeds that by 2 sigma.
    """
    p, G, noise = len(moments.s_pos), contrast(moments), (1.0 - moments.mean_answer**2) / moments.n
    G.flat[:: p + 1] -= noise
    sigma = noise_deviation(G) or 1.0
    penalty = sigma * math.sqrt(2.0 * math.log(p / s))
    left = G - np.clip(G, -penalty, penalty)
    differ, agree = (float(top_eigenpairs(A, 1)[0][0]) / sigma for A in (left, -left))
    return decided(differ, agree, 2.0 + 2.0 * s * (1.0 + math.log(p / s)) * noise / sigma, MEASURED)

"""Solvers of one-bit labels that use all batches so far: marginal means, and likelihood steps."""

import math
from typing import Annotated, Any

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.solver_entry import Generator, Iterate, Iterates, number
from lrlab.solvers.multilabel.labels import Signed
from lrlab.solvers.multilabel.options import FittedRank, rank_of, refuse_rank, stream_solver
from lrlab.solvers.one_bit_multilabel.answers import FIRST, NARROWEST, WIDEST, fitted, information
from lrlab.solvers.one_bit_multilabel.one_bit_power import START_NOTE, leading_right, mean_moment, power_step
from lrlab.theory.channels import answer

FITTED = 2**14
"""Signs of a batch for fitting width and flips: so many determine these two numbers to a few percent."""


@stream_solver(name="marginal-mean", refuse=refuse_rank)
def one_bit_mean(
    problem: Any,
    *,
    fitted_rank: Annotated[int, number(0, 10_000, "rank of the estimate; 0 is full rank", symbol="k")] = 0,
    rng: Generator,
) -> Iterates:
    r"""Marginal means.

    The mean of x times sign for each label by itself: the full-rank baseline, and without iterations.

    .. math:: \hat w_j \propto \sum_{i:\, j(i) = j} y_i x_i, \qquad \text{at rank } k\colon\ \hat W \leftarrow P_k(\hat
        W)

    solution    w_j of length 1 along the mean of y_i x_i over all samples of label j so far, whose expectation is a
                multiple of w_j whatever the noise (Lemma 1); for Gaussian x least squares too, whose X^T X is n I on
                average; at rank k the start of one-bit-power on all samples
    converges   the error of a column is of the order sqrt(d1 / samples of its label); at rank k labels share samples
    cost        one pass over a batch, and d1 d2 numbers

    Yields after each batch, and ends with the stream, or after one pass over a table that is read again.

    Reference: Plan & Vershynin (2013); Qiu, Luo, Ye, Lin (2017), Lemma 1.
    """
    zero = Signed(*lowrank.zero(problem.size, 1))
    total = np.zeros(problem.size[::-1])
    for batch in problem.batches:
        total += mean_moment(problem, batch, zero, lambda z, y: y)[0]
        estimate = lowrank.from_dense(total.T, min(fitted_rank, *problem.size))
        yield Iterate(Signed(*lowrank.columns_normalized(estimate)))
        if not problem.fresh:
            return


@stream_solver(oracle="rank", refuse=refuse_rank)
def one_bit_likelihood(problem: Any, *, fitted_rank: FittedRank = 0, rng: Generator) -> Iterates:
    r"""One-bit likelihood steps.

    Power iteration with scores of a fitted likelihood, each batch weighed by its information: goes on improving under
    noise and flips, which it need not know.

    .. math:: W \leftarrow P_k\Bigl(W + \frac{S}{c + I}\Bigr), \qquad S_j = \text{mean of } \partial_z \log \mathbb
        P(y \mid z)\, x

    maximize    P(y = 1 | z) = p + (1 - 2p) Phi(z / s) of a margin z of the estimate W (d1, d2) of rank k: exact for
                Gaussian x if W's columns all have one angle to those of the ground truth, s^2 = tan^2(angle) + sigma^2
                / cos^2(angle), so that s covers both noise and the remaining error; s and the fraction p of flips are
                fitted to signs
    update      S (d1, d2) is the mean of d log P / dz times x over the samples of each label, I the mean Fisher
                information of a sign about its margin, c the sum of I over all batches before; then one step of power
                iteration to rank k, columns normalized
    start       the leading part of rank k of the moment, the mean of y x; c = ||its columns||^2, on average
    converges   with fresh batches like maximum likelihood on all samples so far, while one-bit-power ends at the error
                of one batch. On a table that is read again c is I, half a scoring step, and s stays above the error
                that maximum likelihood has without noise, degrees of freedom / (2 signs phi(0)): a narrower one follows
                flips
    cost        one pass over a batch by blocks, and d1 d2 numbers

    Yields after each batch, and ends with the stream; the note gives s and p.

    Reference: Opper (1998), "A Bayesian approach to on-line learning", whose step this is for a batch and rank k.
    """
    k = rank_of(problem, fitted_rank)
    W, V, link = Signed(*lowrank.zero(problem.size, k)), None, FIRST
    narrowest, before = NARROWEST if problem.fresh else inevitable_error(problem, k), 0.0
    for batch in problem.batches:
        if V is None:
            S = mean_moment(problem, batch, W, lambda z, y: y)[0]
            W, V = power_step(S, W, leading_right(S, k, rng))
            before = float(np.linalg.norm(S.T @ V) ** 2) / len(V)
            yield Iterate(W, note=START_NOTE)
            continue
        z, y = first_margins(problem, batch, W)
        link = fitted(z, y, link, narrowest)
        gained = information(link, z)
        before = before if problem.fresh else gained
        S = mean_moment(problem, batch, W, lambda z, y: answer(link, z, 0.0, y).score)[0]  # noqa: B023
        W, V = power_step(S, W, V, 1 / (before + gained))
        before += gained
        yield Iterate(W, note=f"Signs behaved as with noise {link.noise:.3g} and {link.flip:.1%} flips.")


def inevitable_error(problem: Any, k: int) -> float:
    """Return the error, relative to 1, that signs of one batch leave without noise."""
    (d1, d2), signs = problem.size, problem.signs_per_label * problem.size[1]
    return min(WIDEST, max(NARROWEST, k * (d1 + d2 - k) * math.sqrt(2 * math.pi) / (2 * signs)))


def first_margins(problem: Any, batch: int, W: Signed) -> tuple[Array, Array]:
    """Return margins and signs of the first samples of a batch."""
    margins, signs, count = [], [], 0
    for samples in problem.blocks(batch):
        margins.append(samples.margins(W).ravel())
        signs.append(samples.y.ravel())
        count += samples.y.size
        if count >= FITTED:
            break
    return np.concatenate(margins)[:FITTED], np.concatenate(signs)[:FITTED]

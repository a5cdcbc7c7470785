"""Moments of one-bit labels: alternating power iteration (Qiu et al. 2017, Algorithm 1), and the plain mean of y x."""

import math
from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.models.protocols import SignStream
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solvers.multilabel.label_losses import Signed
from lrlab.solvers.multilabel.leml_alternation import FittedRank
from lrlab.solvers.one_bit_multilabel.one_bit_moments import (
    drawn_residuals,
    formed_moment,
    leading_right,
    mean_moment,
    power_step,
    streamed_moment,
)
from lrlab.solvers.one_bit_multilabel.requirements import stream_entry

SLOPE = math.sqrt(2 / math.pi)
"""lambda = E|g|, g ~ N(0, 1): E[sign(<x, w>) x] = lambda w where ||w|| = 1 (Lemma 1)."""
START_NOTE = "From the moment of the signs alone, as there was no estimate yet."


def one_bit_power(
    problem: SignStream,
    *,
    step: Annotated[
        float,
        Parameter(meaning="weight of the moment; 0 takes 1 on fresh batches, 1/2 on a table read again", low=0, high=2),
    ] = 0.0,
    batch_share: Annotated[
        float,
        Parameter(
            meaning="share of the signs of a table that an iteration draws at random, the paper's batches, with step 1 "
            "for 0; 0 takes all of them. Fresh batches are taken whole",
            low=0,
            high=1,
            added=True,
        ),
    ] = 0.0,
    moment: Annotated[
        str,
        Parameter(
            meaning="the moment H: formed, d1 x d2 numbers, in one pass over a batch; or only its products with k "
            "vectors, in k (d1 + d2) numbers and two passes",
            choices=("formed", "products"),
            added=True,
        ),
    ] = "formed",
    fitted_rank: FittedRank = 0,
    rng: Generator,
) -> Iterates:
    r"""Recover W (d1, d2) of rank k with columns of length 1 from signs y_i of x_i^T w_j(i), a batch an iteration.

    moment      H = (d2 / (m lambda)) sum (y_i - sign(x_i^T w_j(i))) x_i e_j(i)^T at the estimate W, over a fresh batch;
                E[H] = W* - W without noise (Lemma 1), and its error shrinks with ||W* - W|| (Theorem 2)
    update      Q <- QR((step H + W) V),  V <- (step H + W)^T Q,  W <- Q V^T with its columns normalised: the dilation
                of the paper, whose block sizes are printed the wrong way round, in plain blocks
    start       W = 0 with sign(0) = 0, so that H is the moment of the signs; V its k leading right singular vectors
    converges   linearly, then to an error of the order k^1.5 d1 d2 / m without noise (Theorem 1); with noise or flips
                to the information in one batch: nothing is carried over from earlier ones but W
    full        H sums over all labels of a sample. The samples are not fresh then, and with step 1 the error rises
                again after some iterations; with 1/2 W comes to predict all signs, if there is such a W. The paper
                draws a batch of the signs for each iteration (section 5.2) and does not state its size: `batch_share`
                of them with step 1 ends at the error of such a batch

    A batch is read by blocks of rows: once, in memory O(d1 d2), or twice (at the start once for each product of block
    Krylov iterations), in the memory O(k (d1 + d2)) of the paper, with the same iterates up to rounding. Yields after
    each batch, and ends with the stream, or where a table that is read again has no sign left that W contradicts; the
    note gives the number of contradicted signs.
    Reference: Qiu, Luo, Ye, Lin (2017), "Nonconvex one-bit single-label multi-label learning", Algorithm 1 (step 1).
    """
    W, V = Signed(*lowrank.zero(problem.size, rank_of(problem, fitted_rank))), None
    share = 1.0 if problem.fresh or not batch_share else batch_share
    weight = step or (1.0 if problem.fresh or share < 1 else 0.5)
    read = formed_moment if moment == "formed" else streamed_moment
    for batch in problem.batches:
        H = read(problem, batch, W, drawn_residuals(share, rng))
        if V is None:
            W, V = power_step(H, W, leading_right(H, problem.size, len(W.s), rng))
            yield Iterate(W, note=START_NOTE)
            continue
        estimate, V = power_step(H, W, V, weight / SLOPE)
        wrong = H.signs.wrong / H.signs.all
        if wrong == 0 and not problem.fresh:
            return Stop.CONVERGED
        W = estimate
        yield Iterate(W, note=f"The estimate before contradicted {wrong:.2%} of this batch's signs.")


def one_bit_mean(
    problem: SignStream,
    *,
    fitted_rank: Annotated[
        int,
        Parameter(meaning="rank of the estimate; 0 is full rank, each label by itself", symbol="k", low=0, high=10_000),
    ] = 0,
    rng: Generator,
) -> Iterates:
    r"""Recover W (d1, d2) with columns of length 1 from signs y_i of x_i^T w_j(i): least squares of each label.

    solution    w_j along the mean of y_i x_i over all samples of label j so far, whose expectation is a multiple of
                w_j whatever the noise (Lemma 1); for Gaussian x least squares too, whose X^T X is n I on average
    rank        its nearest matrix of rank k, if `fitted_rank` is set: the start of one-bit-power on all samples
    converges   the error of a column is of the order sqrt(d1 / samples of its label); at rank k labels share samples

    One pass over a batch by blocks of rows, memory O(d1 d2). Yields after each batch, and ends with the stream, or
    after one pass over a table that is read again.
    Reference: Plan & Vershynin (2013); Qiu, Luo, Ye, Lin (2017), Lemma 1.
    """
    zero = Signed(*lowrank.zero(problem.size, 1))
    total = np.zeros(problem.size[::-1])
    for batch in problem.batches:
        total += mean_moment(problem, batch, zero, lambda z, y: y)[0]
        estimate = lowrank.from_dense(total.T, min(fitted_rank, *problem.size))
        yield Iterate(Signed(*lowrank.columns_normalised(estimate)))
        if not problem.fresh:
            return


def rank_of(problem: SignStream, fitted_rank: int) -> int:
    """Return the rank of the estimate, at most that of any W."""
    return min(fitted_rank or problem.rank, *problem.size)


ENTRIES = (
    stream_entry(
        title="One-bit power iteration",
        update=r"Q = \operatorname{QR}\bigl((\eta H + W) V\bigr), \quad V \leftarrow (\eta H + W)^\top Q,"
        r" \quad W \leftarrow Q V^\top",
        summary="Adds what a batch contradicts to the estimate, then one step of power iteration to the rank.",
        run=one_bit_power,
        oracle=("rank",),
        matrix=lambda spec, options: spec.d1 * spec.d2 if options["moment"] == "formed" else 0,
    ),
    stream_entry(
        name="marginal-mean",
        title="Marginal means",
        update=r"\hat w_j \propto \sum_{i:\, j(i) = j} y_i x_i, \qquad \text{at rank } k\colon\ \hat W \leftarrow"
        r" P_k(\hat W)",
        summary="The mean of x times sign for each label by itself: the full-rank baseline, and without iterations.",
        run=one_bit_mean,
    ),
)

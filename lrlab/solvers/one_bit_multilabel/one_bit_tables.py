"""Baselines for one-bit labels, on a table of all signs or batch by batch: marginal means, and LEML."""

from typing import Annotated, Any

import numpy as np

from lrlab import lowrank
from lrlab.solver_entry import Generator, Iterate, Iterates, choice, number
from lrlab.solvers.multilabel import labels as shared
from lrlab.solvers.multilabel.labels import SIGN_LOSSES, Signed
from lrlab.solvers.multilabel.leml import leml
from lrlab.solvers.one_bit_multilabel.one_bit_power import mean_moment


@shared.stream_solver(name="marginal-mean", refuse=shared.refuse_rank)
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


@shared.table_solver(name="leml", oracle="rank", refuse=shared.refuse_rank)
def one_bit_leml(
    problem: Any,
    *,
    loss: Annotated[str, choice("squared", "logistic", "squared-hinge", help="loss on labels -1, 1")] = "squared",
    regularization: shared.Regularization = 1.0,
    fitted_rank: shared.FittedRank = 0,
    rng: Generator,
) -> Iterates:
    r"""LEML.

    Alternates between the factors of a low-rank predictor by least squares, once on each batch.

    .. math:: H \leftarrow \arg\min_H J, \quad W \leftarrow \arg\min_W J, \quad J = \sum_\Omega \ell(y_{ij},
        x_i^\top W h_j) + \tfrac\lambda2 (\|W\|^2 + \|H\|^2)

    minimize    J as in leml, over the batch of the iteration, with labels coded -1 and +1
    start       the factors of the previous batch; X^T X differs per label, so sums over batches cannot replace samples
    full        every iteration reads the whole table of labels, as in leml
    cost        as leml on one batch, in memory

    Yields after each batch: estimate Z; objective J and residual, both on this batch.

    Reference: Yu, Jain, Kar, Dhillon (2014), Algorithm 1; compared by Qiu, Luo, Ye, Lin (2017), section 5.
    """
    last: Iterate | None = None
    settings: dict[str, Any] = {"regularization": regularization, "fitted_rank": fitted_rank}
    settings |= {"coding": SIGN_LOSSES[loss], "loss": loss}
    for batch in problem.batches:
        start = last.estimate if last else None
        run = leml(problem.table(batch), **settings, start=start, rng=rng)
        if not problem.fresh:
            yield from run
            return
        last = next(run)
        yield last

"""The mean of y x per label of one-bit labels."""

from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.models.protocols import SignStream
from lrlab.parameters import number
from lrlab.protocol import Iterate, Iterates
from lrlab.solvers.multilabel.label_losses import Signed
from lrlab.solvers.multilabel.options import refuse_rank, stream_solver
from lrlab.solvers.one_bit_multilabel.one_bit_power import mean_moment


@stream_solver(name="marginal-mean", refuse=refuse_rank)
def one_bit_mean(
    problem: SignStream,
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
        yield Iterate(Signed(*lowrank.columns_normalised(estimate)))
        if not problem.fresh:
            return

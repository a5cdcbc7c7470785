"""The mean of y x over the samples of each label: an estimate without any iteration."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.models.protocols import SignStream
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate
from lrlab.solver_entry import SolverEntry
from lrlab.solvers.multilabel.label_losses import Signed
from lrlab.solvers.one_bit_multilabel.one_bit_power import mean_moment
from lrlab.solvers.one_bit_multilabel.requirements import QIU, moments_workspace, refuse_high_rank


def one_bit_mean(
    problem: SignStream,
    *,
    fitted_rank: Annotated[
        int,
        Parameter(meaning="rank of the estimate; 0 is full rank, each label by itself", symbol="k", low=0, high=10_000),
    ] = 0,
    rng: Generator,
) -> Iterator[Iterate]:
    r"""Recover W (d1, d2) with columns of length 1 from signs y_i of x_i^T w_j(i): least squares of each label.

    solution    w_j along the mean of y_i x_i over all samples of label j so far, whose expectation is a multiple of
                w_j whatever the noise (Lemma 1); for Gaussian x least squares too, whose X^T X is n I on average
    rank        its nearest matrix of rank k, if `fitted_rank` is set, which is the start of one-bit-power on all
    samples converges   the error of a column is of the order sqrt(d1 / samples of its label); at rank k labels share
                        samples

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


ENTRY = SolverEntry(
    name="marginal-mean",
    title="Marginal means",
    summary="The mean of x times sign for each label by itself: the full-rank baseline, and without iterations.",
    reference=f"Plan & Vershynin (2013); {QIU}, Lemma 1",
    run=one_bit_mean,
    families=("one-bit-multilabel",),
    streams=True,
    workspace=moments_workspace,
    refuse=refuse_high_rank,
)

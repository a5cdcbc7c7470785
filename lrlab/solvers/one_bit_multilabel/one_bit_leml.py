"""LEML on one-bit labels: the same alternation, on the batch of the iteration."""

from numpy.random import Generator

from lrlab.models.protocols import SignStream
from lrlab.protocol import Iterate, Iterates
from lrlab.solvers.multilabel.label_losses import SQUARED_SIGNS
from lrlab.solvers.multilabel.leml import Steps, leml_squared
from lrlab.solvers.multilabel.leml_alternation import FittedRank, Penalty, Regularization
from lrlab.solvers.one_bit_multilabel.requirements import one_bit_entry, refuse_high_rank, table_numbers


def one_bit_leml(
    problem: SignStream,
    *,
    regularization: Regularization = 1.0,
    penalty: Penalty = "trace",
    fitted_rank: FittedRank = 0,
    steps: Steps = 5,
    rng: Generator,
) -> Iterates:
    r"""Predict signs y (n, d2), few of them observed, by those of X Z, Z = W H^T (d1, d2) of rank k: squared losses.

    minimise    J as in leml_squared, over the batch of the iteration, with labels coded -1 and +1: x has no constant
                feature, and could not follow 0 and 1
    update      H, then W, once a batch, from the factors of the iteration before. Each iteration reads the batch that
                other solvers read in theirs; X^T X differs for every label, so that sums over batches cannot stand in
                for the samples, and of those before only the factors are left
    full        one table of labels, again and again: leml_squared as it is

    Holds a batch in memory. Yields after each batch: estimate Z, objective J, residual, both on this batch.
    Reference: Yu, Jain, Kar, Dhillon (2014), Algorithm 1; compared by Qiu, Luo, Ye, Lin (2017), section 5.
    """
    last: Iterate | None = None
    for batch in problem.batches:
        run = leml_squared(
            problem.table(batch),
            regularization=regularization,
            penalty=penalty,
            fitted_rank=fitted_rank,
            steps=steps,
            rng=rng,
            loss=SQUARED_SIGNS,
            start=last.estimate if last else None,
        )
        if not problem.fresh:
            yield from run
            return
        last = next(run)
        yield last


ENTRY = one_bit_entry(
    name="leml-squared",
    title="LEML, squared loss",
    update=r"H \leftarrow \arg\min_H J, \quad W \leftarrow \arg\min_W J, \quad J = \tfrac12 \sum_\Omega"
    r" (y_{ij} - x_i^\top W h_j)^2 + \tfrac\lambda2 (\|W\|^2 + \|H\|^2)",
    summary="Alternates between the factors of a low-rank predictor by least squares, once on each batch.",
    run=one_bit_leml,
    oracle=("rank",),
    memory=0.4,
    matrix=table_numbers,
    refuse=refuse_high_rank,
)

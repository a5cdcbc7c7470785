"""Multi-label solvers for one-bit labels, on a table of all signs or batch by batch."""

from typing import Annotated, Any

from lrlab.models.protocols import LabelData, SignStream
from lrlab.solver_entry import Generator, Iterate, Iterates, choice
from lrlab.solvers.multilabel import options as shared
from lrlab.solvers.multilabel.classifiers import one_by_one
from lrlab.solvers.multilabel.labels import LOSSES, SQUARED_SIGNS
from lrlab.solvers.multilabel.leml import leml
from lrlab.solvers.multilabel.trace_norm import penalized

SIGN_LOSSES = {**LOSSES, "squared": SQUARED_SIGNS}
"""Losses on labels -1 and 1: a predictor without an intercept cannot fit 0 and 1."""


@shared.table_solver(name="leml", oracle="rank", refuse=shared.refuse_rank)
def one_bit_leml(
    problem: SignStream,
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


@shared.table_solver(name="trace-norm")
def one_bit_trace_norm(
    problem: LabelData,
    *,
    loss: Annotated[str, choice("squared", "logistic", help="loss on labels -1, 1")] = "squared",
    regularization: shared.Regularization = 300.0,
    rng: Generator,
) -> Iterates:
    r"""Nuclear norm.

    A convex problem on a table of all signs; its penalty makes the rank low.

    .. math:: W \leftarrow S_{t \lambda}\bigl(W - t\, X^\top D(W)\bigr), \quad D_{ij}(W) = \ell'(Y_{ij}, x_i^\top w_j),
        \qquad S_\tau \text{ lowers all singular values by } \tau

    minimize    F(W) = sum over (i, j) of l(Y_ij, x_i^T w_j) + lambda ||W||_*  over W (d1, d2)
    cost        as the multi-label solver of this name

    Reference: Yu, Jain, Kar, Dhillon (2014), section 4; SMT and LRT in Qiu, Luo, Ye, Lin (2017), section 5.2.
    """
    return (yield from penalized(problem, SIGN_LOSSES[loss], regularization))


@shared.table_solver(name="binary-relevance")
def one_bit_relevance(
    problem: LabelData,
    *,
    loss: Annotated[str, choice("hinge", "squared-hinge", "logistic", help="loss on labels -1, 1")] = "hinge",
    regularization: shared.Ridge = 10.0,
    rng: Generator,
) -> Iterates:
    r"""Binary relevance.

    One linear classifier per label, from a table of all signs: full rank, and slow.

    .. math:: w_j = \arg\min_w \sum_i \ell(Y_{ij}, x_i^\top w) + \tfrac\lambda2 \|w\|^2

    minimize    F(W) = sum over (i, j) of l(Y_ij, x_i^T w_j) + lambda ||W||_F^2 / 2  over W (d1, d2)
    cost        as the multi-label solver of this name

    Reference: scikit-learn's LinearSVC; SVM in Qiu, Luo, Ye, Lin (2017), Table 2.
    """
    return (yield from one_by_one(problem, LOSSES[loss], regularization))

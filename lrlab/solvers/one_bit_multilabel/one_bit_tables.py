"""LEML for one-bit labels, on a table of all signs or batch by batch."""

from typing import Annotated, Any

from lrlab.solver_entry import Generator, Iterate, Iterates, choice
from lrlab.solvers.multilabel import options as shared
from lrlab.solvers.multilabel.labels import SIGN_LOSSES
from lrlab.solvers.multilabel.leml import leml


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

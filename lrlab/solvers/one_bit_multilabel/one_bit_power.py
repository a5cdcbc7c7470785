"""Alternating power iteration on moments of one-bit labels (Qiu et al. 2017, Algorithm 1)."""

import math
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.operators.krylov import SETTLED, leading, random_block
from lrlab.solver_entry import Generator, Iterate, Iterates, Stop, number
from lrlab.solvers.multilabel.labels import FittedRank, Signed, rank_of, refuse_rank, stream_solver

SLOPE = math.sqrt(2 / math.pi)
"""lambda = E|g|, g ~ N(0, 1): E[sign(<x, w>) x] = lambda w if ||w|| = 1 (Lemma 1)."""
START_NOTE = "From the moment of the signs, before any estimate."
Weight = Callable[[Array, Array], Array]
"""r(margins at W, signs): the multiple of x_i e_j^T that a sample adds to the moment."""


@stream_solver(oracle="rank", refuse=refuse_rank)
def one_bit_power(
    problem: Any,
    *,
    step: Annotated[float, number(0, 2, "weight of the moment; 0: 1 on fresh batches, 1/2 on one table")] = 0.0,
    batch_share: Annotated[
        float, number(0, 1, "fraction of a table's signs per iteration, as in the paper; 0 takes all", added=True)
    ] = 0.0,
    fitted_rank: FittedRank = 0,
    rng: Generator,
) -> Iterates:
    r"""One-bit power iteration.

    Adds the moment of contradicted signs to the estimate, then one step of power iteration to the rank.

    .. math:: Q = \operatorname{QR}\bigl((\eta H + W) V\bigr), \quad V \leftarrow (\eta H + W)^\top Q, \quad W
        \leftarrow Q V^\top

    moment      H = (d2 / (m lambda)) sum (y_i - sign(x_i^T w_j(i))) x_i e_j(i)^T at the estimate W (d1, d2), over a
                fresh batch; E[H] = W* - W without noise (Lemma 1), and its error shrinks with ||W* - W|| (Theorem 2)
    update      as above, W with its columns normalized: the dilation of the paper, whose block sizes are printed the
                wrong way round, in plain blocks
    start       W = 0 with sign(0) = 0, so that H is the moment of the signs; V its k leading right singular vectors
    converges   linearly, then to an error of the order k^1.5 d1 d2 / m without noise (Theorem 1); with noise or flips
                to the information in one batch: nothing is carried over from earlier ones but W
    full        H sums over all labels of a sample. The samples are not fresh then, and with step 1 the error rises
                again after some iterations; with 1/2 W comes to predict all signs, if there is such a W. The paper
                samples a batch of the signs per iteration (section 5.2) and does not state its size: `batch_share` of
                them, with step 1 for 0, ends at the error of such a batch
    cost        one pass over a batch and d1 d2 numbers

    A batch is read by blocks of rows. Yields after each batch, and ends with the stream, or once a table that is read
    again has no sign left that W contradicts; the note gives the number of contradicted signs.

    Reference: Qiu, Luo, Ye, Lin (2017), "Nonconvex one-bit single-label multi-label learning", Algorithm 1 (step 1).
    """
    W, V = Signed(*lowrank.zero(problem.size, rank_of(problem, fitted_rank))), None
    fraction = 1.0 if problem.fresh or not batch_share else batch_share
    weight = step or (1.0 if problem.fresh or fraction < 1 else 0.5)
    for batch in problem.batches:
        H, wrong = mean_moment(problem, batch, W, drawn_residual(fraction, rng))
        if V is None:
            W, V = power_step(H, W, leading_right(H, len(W.s), rng))
            yield Iterate(W, note=START_NOTE)
            continue
        estimate, V = power_step(H, W, V, weight / SLOPE)
        if wrong == 0 and not problem.fresh:
            return Stop.CONVERGED
        W = estimate
        yield Iterate(W, note=f"The estimate before contradicted {wrong:.2%} of this batch's signs.")


def mean_moment(problem: Any, batch: int, W: Signed, weight: Weight) -> tuple[Array, float]:
    """Return the mean of r x^T over the samples of each label (d2, d1), and the fraction of signs that W contradicts.

    r = weight(margins at W, signs). Sums are divided by the mean number of samples per label.
    """
    total, wrong, count = np.zeros(W.shape[::-1]), 0, 0
    for samples in problem.blocks(batch):
        margins = samples.margins(W)
        wrong, count = wrong + int(np.count_nonzero(margins * samples.y < 0)), count + samples.y.size
        samples.add_moment(weight(margins, samples.y), total)
    total /= problem.signs_per_label
    return total, wrong / count


def drawn_residual(fraction: float, rng: Generator) -> Weight:
    """Return r = y - sign(margins), 0 if the sign is right, of a random fraction of the signs, and 0 of the others."""
    if fraction == 1:
        return lambda margins, y: y - np.sign(margins)
    draws = np.random.default_rng(int(rng.integers(2**63)))
    return lambda margins, y: (y - np.sign(margins)) * (draws.random(y.shape) < fraction) / fraction


def leading_right(H: Array, k: int, rng: Generator) -> Array:
    """Return k leading right singular vectors of the moment whose transpose is H (d2, d1)."""
    start = random_block(len(H), k, rng, np.dtype(float))
    return leading(lambda V: H.T @ V, start, k, transposed=lambda U: H @ U, settled=SETTLED)[0].V


def power_step(H: Array, W: Signed, V: Array, weight: float | Array = 1.0) -> tuple[Signed, Array]:
    """Return W after a power iteration on weight H^T + W, H (d2, d1), and its right singular vectors."""
    Q = np.linalg.qr(weight * (H.T @ V) + W.left @ (W.V.T @ V))[0]
    moved = lowrank.from_product(Q, weight * (H @ Q) + W.V @ (W.left.T @ Q))
    estimate = Signed(*lowrank.columns_normalized(moved))
    return estimate, estimate.V

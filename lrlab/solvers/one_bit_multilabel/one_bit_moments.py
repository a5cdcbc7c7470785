"""Moments of one-bit labels, and power steps on them."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.models.protocols import SignStream
from lrlab.operators.krylov import SETTLED, leading, random_block
from lrlab.solver_entry import solver
from lrlab.solvers.multilabel.label_losses import Signed

stream_solver = partial(
    solver, family="one-bit-multilabel", streams=True, memory=0.05, matrix=lambda spec, options: spec.d1 * spec.d2
)
Weight = Callable[[Array, Array], Array]
"""r(margins at W, signs): the multiple of x_i e_j^T that a sample adds to the moment."""


def mean_moment(problem: SignStream, batch: int, W: Signed, weight: Weight) -> tuple[Array, float]:
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


def hard_residual(margins: Array, y: Array) -> Array:
    """Return y - sign(margins): 0 if the sign is right."""
    return y - np.sign(margins)


def drawn_residual(fraction: float, rng: Generator) -> Weight:
    """Return the residual of a random fraction of the signs; a sign that is not drawn counts as one that is right."""
    if fraction == 1:
        return hard_residual
    draws = np.random.default_rng(int(rng.integers(2**63)))
    return lambda margins, y: hard_residual(margins, y) * (draws.random(y.shape) < fraction) / fraction


def leading_right(H: Array, k: int, rng: Generator) -> Array:
    """Return k leading right singular vectors of the moment whose transpose is H (d2, d1)."""
    start = random_block(len(H), k, rng, np.dtype(float))
    return leading(lambda V: H.T @ V, start, k, transposed=lambda U: H @ U, settled=SETTLED)[0].V


def power_step(H: Array, W: Signed, V: Array, weight: float | Array = 1.0) -> tuple[Signed, Array]:
    """Return W after a power iteration on weight H^T + W, H (d2, d1), and its right singular vectors."""
    Q = np.linalg.qr(weight * (H.T @ V) + W.left @ (W.V.T @ V))[0]
    moved = lowrank.from_product(Q, weight * (H @ Q) + W.V @ (W.left.T @ Q))
    estimate = Signed(*lowrank.columns_normalised(moved))
    return estimate, estimate.V

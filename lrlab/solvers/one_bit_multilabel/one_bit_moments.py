"""Moments of one-bit labels, as matrices or by their products with a few vectors, and power steps on them."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

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


class SignCount:
    """The number of signs that were read, and of those that W contradicts, over all passes."""

    def __init__(self) -> None:
        self.wrong, self.all = 0, 0

    def add(self, margins: Array, y: Array) -> None:
        """Count the signs of a block."""
        self.wrong += int(np.count_nonzero(margins * y < 0))
        self.all += y.size


class Moment(NamedTuple):
    """The moment H (d1, d2) of a batch by its products: times(V) = H V (d1, k), transposed(U) = H^T U (d2, k)."""

    times: Callable[[Array], Array]
    transposed: Callable[[Array], Array]
    signs: SignCount


def formed_moment(problem: SignStream, batch: int, W: Signed, weights: Callable[[], Weight]) -> Moment:
    """Return the moment as a matrix: one pass over the batch, d1 d2 numbers."""
    return products(*mean_moment(problem, batch, W, weights()))


def products(H: Array, count: SignCount) -> Moment:
    """Return the moment whose transpose is H (d2, d1)."""
    return Moment(lambda V: H.T @ V, lambda U: H @ U, count)


def streamed_moment(problem: SignStream, batch: int, W: Signed, weights: Callable[[], Weight]) -> Moment:
    """Return the moment by its products: each is a pass over the batch with its own weights."""
    count, d2 = SignCount(), problem.size[1]

    def summed(product: Callable[[Any, Array], Array]) -> Array:
        total, weight = np.zeros(()), weights()
        for samples in problem.blocks(batch):
            margins = samples.margins(W)
            count.add(margins, samples.y)
            total = total + product(samples, weight(margins, samples.y))
        return total / problem.signs_per_label

    return Moment(
        lambda V: summed(lambda samples, r: samples.right_product(r, V)),
        lambda U: summed(lambda samples, r: samples.left_product(r, U, d2)),
        count,
    )


def drawn_residuals(share: float, rng: Generator) -> Callable[[], Weight]:
    """Return what begins a pass over a batch: the residuals of a fraction of its signs, the same ones in each pass."""
    if share == 1:
        return lambda: hard_residual
    seed = int(rng.integers(2**63))

    def begin() -> Weight:
        draws = np.random.default_rng(seed)
        # A sign that is not drawn counts as one that is right; the others stand for it.
        return lambda margins, y: hard_residual(margins, y) * (draws.random(y.shape) < share) / share

    return begin


def power_step(H: Moment, W: Signed, V: Array, weight: float | Array = 1.0) -> tuple[Signed, Array]:
    """Return W after a power iteration on weight H + W, and its right singular vectors."""
    Q = np.linalg.qr(weight * H.times(V) + W.left @ (W.V.T @ V))[0]
    moved = lowrank.from_product(Q, weight * H.transposed(Q) + W.V @ (W.left.T @ Q))
    estimate = Signed(*lowrank.columns_normalised(moved))
    return estimate, estimate.V


def leading_right(H: Moment, size: tuple[int, int], k: int, rng: Generator) -> Array:
    """Return k leading right singular vectors of the moment."""
    return leading(
        H.times, random_block(size[1], k, rng, np.dtype(float)), k, transposed=H.transposed, settled=SETTLED
    )[0].V


def mean_moment(problem: SignStream, batch: int, W: Signed, weight: Weight) -> tuple[Array, SignCount]:
    """Return the mean of r x^T over the samples of each label (d2, d1), and the count of the signs.

    r = weight(margins at W, signs). Sums are divided by the mean number of samples per label.
    """
    total, count = np.zeros(W.shape[::-1]), SignCount()
    for samples in problem.blocks(batch):
        margins = samples.margins(W)
        count.add(margins, samples.y)
        samples.add_moment(weight(margins, samples.y), total)
    total /= problem.signs_per_label
    return total, count


def hard_residual(margins: Array, y: Array) -> Array:
    """Return y - sign(margins): 0 if the sign is right."""
    return y - np.sign(margins)

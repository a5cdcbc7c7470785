"""Leading eigenpairs and singular triples of matrices that are known by their products: block Krylov iteration."""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.operators.dense import Dense
from lrlab.operators.entries import Entries
from lrlab.operators.operator import Moment

Product = Callable[[Array], Array]

FORMED = 400**2
"""Largest number of entries of a moment that is formed and decomposed: cheaper than the passes of an iteration."""
SETTLED = 1e-6
"""Relative change of the singular values that ends the iteration."""


def nearest(M: Moment, k: int, rng: Generator, settled: float = SETTLED, formed: bool = True) -> LowRank:
    """Return the nearest matrix of rank k to M, symmetric if the operator of M is; a large M is never formed."""
    A, entries = M.A, M.shape[0] * M.shape[1]
    # A dense operator reads all of its numbers for any product; the adjoint of plain entries is sparse.
    if formed and (isinstance(A, Dense) or entries <= (FORMED // 4 if isinstance(A, Entries) else FORMED)):
        return lowrank.from_symmetric(M.dense(), k) if A.symmetric else lowrank.from_dense(M.dense(), k)
    transposed = None if A.symmetric else M.rmatmat
    start = random_block(M.shape[1], k, rng, A.dtype, None if A.symmetric or M.W is None else M.W.V)
    return leading(M.matmat, start, k, transposed=transposed, settled=settled)[0]


def random_block(d: int, k: int, rng: Generator, dtype: np.dtype, near: Array | None = None) -> Array:
    """Return a standard normal block (d, k + 5), or fewer columns; the columns of `near` (d, any) come first."""
    block = rng.standard_normal((d, min(k + 5, d))).astype(dtype)
    if near is not None:
        block[:, : near.shape[1]] = near[:, : block.shape[1]]
    return block


def leading(
    times: Product,
    start: Array,
    k: int,
    *,
    transposed: Product | None = None,
    blocks: int = 12,
    settled: float = 0.0,
    floor: float = 0.0,
) -> tuple[LowRank, Array]:
    r"""Return the leading part W of rank k of a matrix M (d1, d2), and M^T U for its U, from V -> M V and U -> M^T U.

    M is symmetric if `transposed` is not given: W then has its eigenpairs of largest size, of either sign. Q is an
    orthonormal basis of the Krylov space of a start S (d2, b), b >= k: [M S, M M^T M S, ...], or [S, M S, ...] of a
    symmetric M. M is replaced by Q Q^T M, or by Q Q^T M Q Q^T. The space ends with `blocks` blocks, or when singular
    values above `floor` change by the fraction `settled`.
    Reference: Musco & Musco (2015), "Randomized block Krylov methods for stronger and faster approximate singular
    value decomposition", Algorithm 2.
    """
    block = _orthonormal(times(start) if transposed else start)
    d1 = len(block)
    Q, images, before = block[:, :0], start[:, :0], np.zeros(k)
    for number in range(1, blocks + 1):
        image = transposed(block) if transposed else times(block)
        Q, images = np.hstack([Q, block]), np.hstack([images, image])
        ends = number == blocks or Q.shape[1] == d1
        if settled or ends:
            W, product = _extracted(Q, images, k, transposed is None)
            now = np.maximum(np.abs(W.s), floor)
            if ends or np.abs(now - before).max() <= settled * now.max():
                break
            before = now
        following = times(_orthonormal(image)) if transposed else image
        block = _orthonormal(following[:, : d1 - Q.shape[1]], Q)
    return W, product


def _extracted(Q: Array, images: Array, k: int, symmetric: bool) -> tuple[LowRank, Array]:
    """Return the leading part of Q (M^T Q)^T, or of Q Q^T M Q Q^T, and M^T U."""
    if symmetric:
        turn, s, _ = lowrank.from_symmetric(Q.T @ images, k)
        U = Q @ turn
        return LowRank(U, s, U), images @ turn
    right, R = np.linalg.qr(images)
    turn, s, back = lowrank.from_dense(R.T, k)
    V = right @ back
    return LowRank(Q @ turn, s, V), V * s


def _orthonormal(block: Array, basis: Array | None = None) -> Array:
    if basis is None:
        return np.linalg.qr(block)[0]
    # Again, because a block that is nearly in the basis already leaves rounding errors and arbitrary directions.
    for _ in range(3):
        block = np.linalg.qr(block - basis @ (basis.T @ block))[0]
    return block

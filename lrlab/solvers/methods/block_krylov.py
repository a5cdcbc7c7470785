"""Leading eigenspaces of a symmetric matrix that is known by its products: modified block Krylov (MBK-SVD)."""

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.parameters import Parameter

Blocks = Annotated[int, Parameter(meaning="blocks of the Krylov space in which heads are sought", low=1, high=20)]
Oversampling = Annotated[
    int, Parameter(meaning="columns of a Krylov block beyond the rank that is sought", low=0, high=100)
]


class Head(NamedTuple):
    """Orthonormal Z (p, k), spanning nearly the leading singular vectors that were sought, and GZ = G Z (p, k)."""

    Z: Array
    GZ: Array


def block_krylov(times: Callable[[Array], Array], start: Array, k: int, blocks: int, beside: Array) -> Head:
    r"""Return an approximate head of rank k of C = (I - B B^T) G (I - B B^T), G (p, p) symmetric, `times` V -> G V.

    The basis Q of the Krylov space [C S, C^2 S, ..., C^blocks S] of a start S (p, b), b >= k, is orthonormalised block
    by block, as the plain powers turn into multiples of one another; Z = Q U_k with the k leading left singular
    vectors U_k of Q^T C. That is the best the space has to offer: ||Z^T C||_F is largest.

    B = `beside` (p, c) has orthonormal columns, none for a head of G itself. Z is orthogonal to it.
    Algorithm 3 multiplies by G twice between blocks and keeps every second product; G is symmetric, so that each
    product enlarges the space towards the same eigenvectors, and all are kept. Costs `blocks` products with b columns
    and one with as many as Q has; G Z comes with it.
    Reference: Musco & Musco (2015), "Randomized block Krylov methods for stronger and faster approximate singular
    value decomposition", Algorithm 2; Soltani & Hegde (2018), Algorithms 3 and 4.
    """
    outside = lambda V: V - beside @ (beside.T @ V)  # noqa: E731
    blocks_so_far = []
    block = outside(start)
    for _ in range(blocks):
        block = np.linalg.qr(outside(times(block)))[0]
        blocks_so_far.append(block)
    Q = np.linalg.qr(np.hstack(blocks_so_far)[:, : len(start) - beside.shape[1]])[0]
    # Once more: directions in which the blocks nearly repeat one another are orthogonal to B only up to rounding.
    Q = np.linalg.qr(outside(Q))[0]
    GQ = times(Q)
    # By the p x bq product itself: its Gram matrix would lose half the digits.
    vectors = np.linalg.svd(outside(GQ).T, full_matrices=False)[0][:, :k]
    return Head(Q @ vectors, GQ @ vectors)


def random_start(p: int, columns: int, rng: Generator, dtype: np.dtype) -> Array:
    """Return a standard normal start (p, columns), of at most p columns."""
    return rng.standard_normal((p, min(columns, p))).astype(dtype)


def nothing(p: int, dtype: np.dtype[Any]) -> Array:
    """Return no columns (p, 0)."""
    return np.empty((p, 0), dtype)

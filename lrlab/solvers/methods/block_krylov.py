"""Leading eigenspaces of a symmetric matrix that is known by its products: modified block Krylov (MBK-SVD)."""

from collections.abc import Callable
from typing import Annotated, NamedTuple

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


def block_krylov(
    times: Callable[[Array], Array], start: Array, k: int, blocks: int, beside: Array | None = None
) -> Head:
    r"""Return an approximate head of rank k of C = (I - B B^T) G (I - B B^T), G (p, p) symmetric, `times` V -> G V.

    Q is an orthonormal basis of the Krylov space [C S, C^2 S, ..., C^blocks S] of a start S (p, b), b >= k: each block
    is G times the last one, made orthogonal to B and to all before it. Z = Q U_k with the k leading left singular
    vectors U_k of Q^T C. That is the best the space has to offer: ||Z^T C||_F is largest.

    B = `beside` (p, c) has orthonormal columns; without it the head is that of G itself. Z is orthogonal to it.
    The product that leads to the next block is also the one that Q^T C asks for: no column is multiplied by G twice.
    `blocks` + 1 products with b columns in all, never more columns at a time, and G Z comes with them. Algorithm 3
    takes all of Q once more, and multiplies by G twice between blocks and keeps every second product; G is symmetric,
    so that each product enlarges the space towards the same eigenvectors, and all are kept.
    Reference: Musco & Musco (2015), "Randomized block Krylov methods for stronger and faster approximate singular
    value decomposition", Algorithm 2; Soltani & Hegde (2018), Algorithms 3 and 4.
    """
    beside = start[:, :0] if beside is None else beside
    outside = lambda V: V - beside @ (beside.T @ V)  # noqa: E731
    p, (basis, product) = len(start), (beside, times(outside(start)))
    products = []
    for _ in range(blocks):
        # By Householder's QR the block is orthogonal to the basis also where the space is exhausted.
        block = np.linalg.qr(np.hstack([basis, product])[:, :p])[0][:, basis.shape[1] :]
        if not block.shape[1]:
            break
        basis, product = np.hstack([basis, block]), times(block)
        products.append(product)
    Q, GQ = basis[:, beside.shape[1] :], np.hstack(products)
    # By the p x bq product itself: its Gram matrix would lose half the digits.
    vectors = np.linalg.svd(outside(GQ).T, full_matrices=False)[0][:, :k]
    return Head(Q @ vectors, GQ @ vectors)


def random_start(p: int, columns: int, rng: Generator, dtype: np.dtype) -> Array:
    """Return a standard normal start (p, columns), of at most p columns."""
    return rng.standard_normal((p, min(columns, p))).astype(dtype)

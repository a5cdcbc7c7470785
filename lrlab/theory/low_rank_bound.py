r"""The Cramer-Rao bound of matrices of rank k from linear measurements b = A(W) + sigma e.

An unbiased estimate has E ||W-hat - W||_F^2 >= sigma^2 tr I^-1 with I = J^T J; the columns of J are A(T) for an
orthonormal basis T of the tangent space at W, and the bound holds for any parametrization of the manifold of rank k.
Reference: Tang & Nehorai (2011), "Lower bounds on the mean-squared error of low-rank matrix reconstruction", Theorem 1.
"""

from collections.abc import Iterator

import numpy as np

from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.operators.operator import Operator


def least_error(operator: Operator, W: LowRank, noise: float, weights: Array | float = 1.0) -> float:
    """Return the bound on the root mean square of ||W-hat - W||_F / ||W||_F; infinite for singular I.

    weights: (m,), for responses other than numbers with this noise: the root of their information relative to such
    numbers. One product with the data per unknown, k (d1 + d2 - k) of them, or k (2p - k + 1) / 2 for symmetric W.
    """
    J = np.array(list(images(operator, W)), float) * weights
    s = np.linalg.svd(J, compute_uv=False)
    if J.shape[0] > J.shape[1] or s[-1] <= 1e-12 * s[0]:
        return float("inf")
    return noise * float(np.sqrt(np.sum(s**-2.0))) / float(np.linalg.norm(W.s))


def images(operator: Operator, W: LowRank) -> Iterator[Array]:
    """Yield A(T) for an orthonormal basis of the tangent space {A V^T + U B^T}, for symmetric W {A U^T + U A^T}."""
    U, V, k = W.U, W.V, len(W.s)
    P, Q = operator.left(U), operator.right(V)
    inside, outside = U, _complement(U)
    if operator.symmetric:
        within, beyond = operator.left(inside), operator.left(outside)
        for a in range(k):
            yield operator.pair(within[:, [a]], P[:, [a]])
            for c in range(a):
                yield np.sqrt(2.0) * operator.pair(within[:, [a]], P[:, [c]])
            for column in range(beyond.shape[1]):
                yield np.sqrt(2.0) * operator.pair(beyond[:, [column]], P[:, [a]])
        return
    left, right = operator.left(np.eye(len(U))), operator.right(_complement(V))
    for a in range(k):
        for column in range(left.shape[1]):
            yield operator.pair(left[:, [column]], Q[:, [a]])
        for column in range(right.shape[1]):
            yield operator.pair(P[:, [a]], right[:, [column]])


def _complement(U: Array) -> Array:
    """Return an orthonormal basis (d, d - k) of the orthogonal complement of the columns of U (d, k)."""
    return np.linalg.qr(U, mode="complete")[0][:, U.shape[1] :]

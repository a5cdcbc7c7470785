r"""What noise allows: the Cramer-Rao bound of matrices of rank k from linear measurements b = A(W) + sigma e.

Of an estimate without bias E ||W-hat - W||_F^2 >= sigma^2 tr I^-1, where I = J^T J and the columns of J are A(T) for an
orthonormal basis T of the tangent space at W: what holds for any parameters of the manifold of rank k, of which the
tangent space alone counts. Reference: Tang & Nehorai (2011), "Lower bounds on the mean-squared error of low-rank matrix
reconstruction", Theorem 1.
"""

from collections.abc import Iterator

import numpy as np

from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.operators.operator import Operator


def least_error(operator: Operator, W: LowRank, noise: float, weights: Array | float = 1.0) -> float:
    """Return the bound on the root mean square of ||W-hat - W||_F / ||W||_F; infinite where I is singular.

    weights: (m,), of answers that are not numbers with this noise: root of their information over that of such numbers.
    One product with the data for each of the k (d1 + d2 - k) unknowns, k (2p - k + 1) / 2 of a symmetric W.
    """
    J = np.array(list(images(operator, W)), float) * weights
    s = np.linalg.svd(J, compute_uv=False)
    if J.shape[0] > J.shape[1] or s[-1] <= 1e-12 * s[0]:
        return float("inf")
    return noise * float(np.sqrt(np.sum(s**-2.0))) / float(np.linalg.norm(W.s))


def images(operator: Operator, W: LowRank) -> Iterator[Array]:
    """Yield A(T) for an orthonormal basis of the tangent space {A V^T + U B^T}, of a symmetric W {A U^T + U A^T}."""
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
    """Return an orthonormal basis (d, d - k) of what is orthogonal to the columns of U (d, k)."""
    return np.linalg.qr(U, mode="complete")[0][:, U.shape[1] :]

"""Measurements by dense Gaussian matrices: b_i = <A_i, W>, for comparison."""

import numpy as np

from lrlab.arrays import Array, Indices
from lrlab.lowrank import LowRank
from lrlab.operators.least_squares import FactorMap
from lrlab.operators.operator import Operator


class Dense(Operator):
    """b_i = <A_i, W> with A (m, d1, d2), the operator of restricted-isometry theory: it holds m d1 d2 numbers.

    Nothing factors: the image of a factor is the factor itself, and each product reads all of A.
    """

    def __init__(self, A: Array) -> None:
        """Take the matrices; standard normal ones make `moment` unbiased."""
        self.A = A
        self.size, *shape = A.shape
        self.shape, self.dtype, self.scale = (shape[0], shape[1]), A.dtype, 1.0 / len(A)

    def left(self, U: Array) -> Array:
        """Return U."""
        return U

    def right(self, V: Array) -> Array:
        """Return V."""
        return V

    def pair(self, P: Array, Q: Array) -> Array:
        """Return <A_i, P Q^T>."""
        self.checkpoint(1.0)
        return self.A.reshape(self.size, -1) @ (P @ Q.T).ravel()

    def __call__(self, W: LowRank) -> Array:
        """Return <A_i, W>."""
        return self.pair(W.left, W.V)

    def pull_left(self, r: Array, Q: Array) -> Array:
        """Return (sum_i r_i A_i) Q."""
        return self.adjoint(r) @ Q

    def pull_right(self, r: Array, P: Array) -> Array:
        """Return (sum_i r_i A_i)^T P."""
        return self.adjoint(r).T @ P

    def adjoint(self, r: Array) -> Array:
        """Return sum_i r_i A_i."""
        self.checkpoint(1.0)
        return (r @ self.A.reshape(self.size, -1)).reshape(self.shape)

    def left_map(self, Q: Array) -> FactorMap:
        """Return the map U -> <A_i Q, U>; A is read once."""
        d, k = self.shape[0], Q.shape[1]
        self.checkpoint(1.0)
        rows = (self.A @ Q).reshape(self.size, -1)

        def normal() -> Array:
            # The Gram matrix has row-major unknowns; to reorder it is cheaper than to reorder its m rows.
            N = (rows.T @ rows).reshape(d, k, d, k)
            return np.ascontiguousarray(N.transpose(1, 0, 3, 2)).reshape(k * d, k * d)

        return FactorMap(lambda D: rows @ D.ravel(), lambda r: (r @ rows).reshape(d, k), normal)

    def right_map(self, P: Array) -> FactorMap:
        """Return the map V -> <A_i^T P, V>; A is read once."""
        self.checkpoint(1.0)
        rows = np.matmul(P.T, self.A).reshape(self.size, -1)
        shape = P.shape[1], self.shape[1]
        return FactorMap(lambda D: rows @ D.T.ravel(), lambda r: (r @ rows).reshape(shape).T, lambda: rows.T @ rows)

    def subset(self, rows: Indices) -> "Dense":
        """Return the operator of some of the measurements."""
        return self._watched(Dense(self.A[rows]))

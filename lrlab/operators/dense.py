"""Measurements by dense Gaussian matrices: b_i = <A_i, W>, for comparison."""

from lrlab.arrays import Array, Indices
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

    def subset(self, rows: Indices) -> "Dense":
        """Return the operator of some of the measurements."""
        return self._watched(Dense(self.A[rows]))

"""Measurements times factors: what weighted least squares measures."""

import numpy as np

from lrlab.arrays import Array, Indices
from lrlab.operators.operator import Operator


class Weighted(Operator):
    """b_i = f_i A(W)_i for another operator A and factors f (m,): least squares with these has the weights f_i^2.

    Images are those of A, so that a solver goes on with them where factors change.
    """

    def __init__(self, operator: Operator, factors: Array) -> None:
        self.operator, self.factors = operator, factors
        self.shape, self.size, self.dtype = operator.shape, operator.size, operator.dtype
        self.scale, self.symmetric, self.trace = operator.scale, operator.symmetric, operator.trace
        self.checkpoint = operator.checkpoint

    def left(self, U: Array) -> Array:
        """Return the image of a left factor."""
        return self.operator.left(U)

    def right(self, V: Array) -> Array:
        """Return the image of a right factor."""
        return self.operator.right(V)

    def pair(self, P: Array, Q: Array) -> Array:
        """Return f A(U V^T) from the images P of U and Q of V."""
        return self.factors * self.operator.pair(P, Q)

    def pull_left(self, r: Array, Q: Array) -> Array:
        """Return A*(f r) V, where Q is the image of V."""
        return self.operator.pull_left(self.factors * r, Q)

    def pull_right(self, r: Array, P: Array) -> Array:
        """Return A*(f r)^T U, where P is the image of U."""
        return self.operator.pull_right(self.factors * r, P)

    def adjoint(self, r: Array) -> Array:
        """Return A*(f r)."""
        return self.operator.adjoint(self.factors * r)

    def left_normal(self, Q: Array) -> Array:
        """Return the normal matrix of U -> f A(U V^T), of one product for each unknown."""
        J = np.stack([self.pair(self.left(U), Q) for U in unit_factors(self.shape[0], Q.shape[1])])
        return J @ J.T

    def right_normal(self, P: Array) -> Array:
        """Return the normal matrix of V -> f A(U V^T), of one product for each unknown."""
        J = np.stack([self.pair(P, self.right(V)) for V in unit_factors(self.shape[1], P.shape[1])])
        return J @ J.T

    def subset(self, rows: Indices) -> "Weighted":
        """Return the operator of some of the measurements."""
        return Weighted(self.operator.subset(rows), self.factors[rows])


def unit_factors(rows: int, columns: int) -> Array:
    """Return the factors (rows columns, rows, columns) with one 1 each, column by column."""
    return np.eye(rows * columns).reshape(-1, columns, rows).transpose(0, 2, 1)

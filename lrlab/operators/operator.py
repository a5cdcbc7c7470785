"""What every measurement operator can do: b = A(W) for a matrix W (d1, d2) that is given by factors; least squares."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy.sparse.linalg import LinearOperator

from lrlab.arrays import Array, Indices
from lrlab.lowrank import LowRank

Checkpoint = Callable[[float], None]
Map = Callable[[Array], Array]
Derived = TypeVar("Derived", bound="Operator")


def proceed(fraction: float) -> None:
    """Let a computation go on."""


class Operator(ABC):
    """A linear map A from matrices W (d1, d2) to m numbers, and what recovery needs of it.

    It works on *images*: `left(U)` and `right(V)` map factors linearly to arrays with as many columns, and `pair` makes
    A(U V^T) from two of these. A solver that keeps the images of its factors reads the data once a product.

    shape (d1, d2); size m; symmetric: W is symmetric and both images are the same; dtype of all arrays.
    scale, trace: E[scale (A*(A(W)) - trace sum(A(W)) I)] = W over the draw of the measurements, so that `moment` is an
    unbiased estimate of W (Soltani & Hegde 2018, section 1.3, for symmetric W; Jain & Dhillon 2013, Algorithm 1).
    """

    shape: tuple[int, int]
    size: int
    dtype: np.dtype
    scale: float
    symmetric: bool = False
    trace: float = 0.0
    checkpoint: Checkpoint = staticmethod(proceed)
    """Called before each product with the data, and in the middle of long ones; raises an error to end the run."""

    @abstractmethod
    def left(self, U: Array) -> Array:
        """Return the image of a left factor U (d1, k)."""

    @abstractmethod
    def right(self, V: Array) -> Array:
        """Return the image of a right factor V (d2, k)."""

    @abstractmethod
    def pair(self, P: Array, Q: Array) -> Array:
        """Return A(U V^T) (m,) from the images P of U and Q of V."""

    @abstractmethod
    def pull_left(self, r: Array, Q: Array) -> Array:
        """Return A*(r) V (d1, k) from the image Q of V."""

    @abstractmethod
    def pull_right(self, r: Array, P: Array) -> Array:
        """Return A*(r)^T U (d2, k) from the image P of U."""

    @abstractmethod
    def adjoint(self, r: Array) -> Array:
        """Return A*(r) (d1, d2): for solvers that work on whole matrices."""

    def __call__(self, W: LowRank) -> Array:
        """Return A(W) (m,)."""
        return self.pair(self.left(W.left), self.right(W.V))

    def moment(self, d: Array) -> "Moment":
        """Return the unbiased estimate of W from d = A(W)."""
        return Moment(self, d)

    @abstractmethod
    def subset(self, rows: Indices) -> "Operator":
        """Return the operator of some of the measurements, rows (sorted indices into 0..m-1)."""

    def refit_left(self, P: Array, Q: Array, b: Array, U: Array, ridge: float, rtol: float) -> Array:
        """Return a U of lower ||A(U V^T) - b||^2 + ridge ||U||_F^2 than the given one; P, Q are the images of U, V.

        By conjugate gradients, until the gradient has shrunk by rtol: the change of U has minimum norm without a ridge.
        """
        forward = lambda D: self.pair(self.left(D), Q)  # noqa: E731
        return least_squares(forward, lambda r: self.pull_left(r, Q), b - self.pair(P, Q), U, ridge, rtol).D

    def refit_right(self, P: Array, Q: Array, b: Array, V: Array, ridge: float, rtol: float) -> Array:
        """Return a V of lower ||A(U V^T) - b||^2 + ridge ||V||_F^2 than the given one; P, Q are the images of U, V."""
        forward = lambda D: self.pair(P, self.right(D))  # noqa: E731
        return least_squares(forward, lambda r: self.pull_right(r, P), b - self.pair(P, Q), V, ridge, rtol).D

    def tangent_map(self, P: Array, Q: Array) -> tuple[Map, Map]:
        """Return Z = [A; B] -> A(A V^T + U B^T) and its adjoint, P and Q the images of U and V; Z = A if symmetric."""
        if self.symmetric:
            return lambda Z: 2 * self.pair(self.left(Z), P), lambda r: 2 * self.pull_left(r, P)
        d1 = self.shape[0]
        forward = lambda Z: self.pair(self.left(Z[:d1]), Q) + self.pair(P, self.right(Z[d1:]))  # noqa: E731
        return forward, lambda r: np.vstack([self.pull_left(r, Q), self.pull_right(r, P)])

    def _watched(self, other: Derived) -> Derived:
        """Return an operator made from this one, with the same checkpoint."""
        other.checkpoint = self.checkpoint
        return other

    def batches(self, b: Array, count: int) -> Iterator[tuple["Operator", Array]]:
        """Yield the operator and measurements of `count` disjoint batches; of all, endlessly, if it is 0."""
        while not count:
            yield self, b
        # Every count-th sample: consecutive entries of a table would all lie in a few of its rows.
        for rows in (np.arange(first, self.size, count) for first in range(count)):
            yield self.subset(rows), b[rows]


class Moment(LinearOperator):
    """The matrix M = W + scale (A*(d) - trace sum(d) I) (d1, d2) by its products: M @ V, M.T @ U.

    `c * A.moment(d)` and `W - A.moment(d)` are such matrices, so that a gradient step reads W - eta * G. The mean of M
    over the measurements is W + T if d = A(T).
    """

    def __init__(self, A: Operator, d: Array, W: LowRank | None = None) -> None:
        self.A, self.d = A, d
        self.W: Any = W
        super().__init__(A.dtype, A.shape)

    def __rmul__(self, factor: float) -> "Moment":
        return Moment(self.A, float(factor) * self.d)

    def __rsub__(self, W: LowRank) -> "Moment":
        return Moment(self.A, -self.d, W)

    def times(self, V: Array, image: Array) -> Array:
        """Return M V (d1, k) from the image of V, which saves a reading of the data."""
        A, product = self.A, self.A.pull_left(self.d, image)
        product = A.scale * (product - A.trace * self.d.sum() * V if A.trace else product)
        return product if self.W is None else product + self.W.left @ (self.W.V.T @ V)

    def _matmat(self, V: Array) -> Array:
        return self.times(V, self.A.right(V))

    def _rmatmat(self, U: Array) -> Array:
        A, product = self.A, self.A.pull_right(self.d, self.A.left(U))
        product = A.scale * (product - A.trace * self.d.sum() * U if A.trace else product)
        return product if self.W is None else product + self.W.V @ (self.W.left.T @ U)

    def dense(self) -> Array:
        """Return M itself (d1, d2)."""
        A, M = self.A, self.A.scale * self.A.adjoint(self.d)
        if A.trace:
            M[np.diag_indices_from(M)] -= A.scale * A.trace * self.d.sum()
        return M if self.W is None else M + self.W.dense()


class Solution(NamedTuple):
    """A solution, the number of steps, and the remaining fraction of the gradient if these did not suffice."""

    D: Array
    steps: int
    left: float


def least_squares(
    forward: Map,
    pull: Map,
    rest: Array,
    D: Array,
    ridge: float,
    rtol: float,
    limit: int = 500,
    gradient: Array | None = None,
) -> Solution:
    """Return D + S, where S minimizes ||forward(S) - rest||^2 + ridge ||D + S||_F^2; `pull` is the adjoint of forward.

    Conjugate gradients on the normal equations (CGLS) end when the gradient has shrunk by the factor rtol, so that a
    warm start moves on, or to rounding error. gradient: pull(rest) - ridge D in higher precision. Later gradients then
    follow by their own recursion, because a residual norm that noise keeps large would spoil them in low precision.
    Reference: Paige & Saunders (1982), "LSQR: an algorithm for sparse linear equations and sparse least squares".
    """
    follow, gradient = gradient is not None, pull(rest) - ridge * D if gradient is None else gradient
    direction, now = gradient, float(np.vdot(gradient, gradient))
    first, floor, largest, steps = now, (4 * float(np.finfo(gradient.dtype).eps)) ** 2, 1.0, 0
    target = rtol**2 * now
    while now > target and steps < limit:
        image = forward(direction)
        curvature = float(image @ image) + (ridge and ridge * float(np.vdot(direction, direction)))
        largest = max(largest, curvature / now)
        # A direction in the null space of the measurements, but for rounding errors of the gradient.
        if not curvature > floor * largest * now:
            return Solution(D, steps, 0.0)
        step, steps = now / curvature, steps + 1
        D = D + step * direction
        if follow:
            gradient = gradient - step * (pull(image) + ridge * direction if ridge else pull(image))
        else:
            rest = rest - step * image
            gradient = pull(rest) - ridge * D if ridge else pull(rest)
            target = max(target, floor * largest * float(rest @ rest))
        before, now = now, float(np.vdot(gradient, gradient))
        direction = gradient + (now / before) * direction
    return Solution(D, steps, 0.0 if now <= target else min(1.0, float(np.sqrt(now / first))))

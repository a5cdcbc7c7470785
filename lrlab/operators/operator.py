"""What every measurement operator can do: b = A(W) for a matrix W (d1, d2) that is given by factors."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from lrlab.arrays import Array, Indices
from lrlab.linalg import solve_positive
from lrlab.lowrank import LowRank
from lrlab.operators.lagged import Lagged, Map, Products, stacked

DIRECT_UNKNOWNS = 600
"""Up to so many unknowns a least-squares step forms its normal equations; above, it takes conjugate gradients."""
EXACT = 1e-10
"""Reduction of the gradient of such a step."""


Checkpoint = Callable[[float], None]
Derived = TypeVar("Derived", bound="Operator")


def proceed(fraction: float) -> None:
    """Let a computation go on."""


class Operator(ABC):
    """A linear map A from matrices W (d1, d2) to m numbers, and what recovery needs of it.

    It works on *images*: `left(U)` and `right(V)` map factors linearly to arrays with as many columns, from which
    `pair` makes A(U V^T). A solver that keeps the images of its factors reads the data once a product.

    shape (d1, d2); size m; symmetric: W is symmetric and both images are the same; dtype of all arrays.
    scale, trace: E[scale (A*(A(W)) - trace sum(A(W)) I)] = W over the draw of the measurements, so that `moment` is an
    unbiased estimate of W (Soltani & Hegde 2018, section 1.3, where symmetric; Jain & Dhillon 2013, Algorithm 1).
    """

    shape: tuple[int, int]
    size: int
    dtype: np.dtype
    scale: float
    symmetric: bool = False
    trace: float = 0.0
    checkpoint: Checkpoint = staticmethod(proceed)
    """Called before each product with the data, and in the middle of long ones; it raises where the run has to end."""

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
        """Return A*(r) V (d1, k), where Q is the image of V."""

    @abstractmethod
    def pull_right(self, r: Array, P: Array) -> Array:
        """Return A*(r)^T U (d2, k), where P is the image of U."""

    @abstractmethod
    def adjoint(self, r: Array) -> Array:
        """Return A*(r) (d1, d2): for solvers that work on whole matrices."""

    def forward(self, W: LowRank) -> Array:
        """Return A(W) (m,)."""
        return self.pair(self.left(W.left), self.right(W.V))

    def moment(self, r: Array) -> Array:
        """Return the unbiased estimate of W from r = A(W) as a matrix (d1, d2)."""
        M = self.scale * self.adjoint(r)
        if self.trace:
            M[np.diag_indices_from(M)] -= self.scale * self.trace * r.sum()
        return M

    def moment_left(self, r: Array, V: Array, Q: Array) -> Array:
        """Return `moment(r)` times V (d1, k), where Q is the image of V."""
        product = self.pull_left(r, Q)
        return self.scale * (product - self.trace * r.sum() * V if self.trace else product)

    def moment_right(self, r: Array, U: Array, P: Array) -> Array:
        """Return `moment(r)`^T times U (d2, k), where P is the image of U."""
        product = self.pull_right(r, P)
        return self.scale * (product - self.trace * r.sum() * U if self.trace else product)

    @abstractmethod
    def left_normal(self, Q: Array) -> Array:
        """Return the normal matrix (k d1, k d1) of U -> A(U V^T), unknowns ordered column by column of U."""

    @abstractmethod
    def right_normal(self, P: Array) -> Array:
        """Return the normal matrix (k d2, k d2) of V -> A(U V^T), unknowns ordered column by column of V."""

    def left_products(self, Q: Array) -> Products:
        """Return the map U -> A(U V^T), where Q is the image of V."""
        return Products(
            lambda D: self.pair(self.left(D), Q), lambda r: self.pull_left(r, Q), lambda: self.left_normal(Q)
        )

    def right_products(self, P: Array) -> Products:
        """Return the map V -> A(U V^T), where P is the image of U."""
        return Products(
            lambda D: self.pair(P, self.right(D)), lambda r: self.pull_right(r, P), lambda: self.right_normal(P)
        )

    def solve_left(
        self, Q: Array, b: Array, ridge: float = 0.0, start: Array | None = None, lagged: Lagged | None = None
    ) -> Array:
        """Return U (d1, k) that minimises ||A(U V^T) - b||^2 + ridge ||U||_F^2, where Q is the image of V.

        lagged: what was learnt from problems like this one; without a ridge.
        """
        return _solved(self.left_products(Q), b, ridge, start, lagged)

    def solve_right(
        self, P: Array, b: Array, ridge: float = 0.0, start: Array | None = None, lagged: Lagged | None = None
    ) -> Array:
        """Return V (d2, k) that minimises ||A(U V^T) - b||^2 + ridge ||V||_F^2, as `solve_left` does."""
        return _solved(self.right_products(P), b, ridge, start, lagged)

    def improve_left(self, Q: Array, rest: Array, U: Array, ridge: float = 0.0, rtol: float = EXACT) -> Array:
        """Return a U nearer to that of `solve_left`, by conjugate gradients; rest = b - A(U V^T) at the given one.

        Ends when the gradient has fallen by the factor rtol.
        """
        J = self.left_products(Q)
        return least_squares(J.forward, J.pull, rest, U, ridge, rtol)

    def improve_right(self, P: Array, rest: Array, V: Array, ridge: float = 0.0, rtol: float = EXACT) -> Array:
        """Return a V nearer to that of `solve_right`, as `improve_left` does; rest = b - A(U V^T) at the given one."""
        J = self.right_products(P)
        return least_squares(J.forward, J.pull, rest, V, ridge, rtol)

    def first(self, count: int) -> "Operator | None":
        """Return the operator of the first measurements in single precision; None where they are not like the others.

        Measurements that are drawn independently of each other are; entries of a table, which are sorted, are not.
        """
        return None

    def _watched(self, other: Derived) -> Derived:
        """Return an operator made from this one, with the same checkpoint."""
        other.checkpoint = self.checkpoint
        return other

    def subset(self, rows: Indices) -> "Operator":
        """Return the operator of some of the measurements, rows (indices into 0..m-1)."""
        raise NotImplementedError(f"{type(self).__name__} cannot be split into batches")


def _solved(J: Products, b: Array, ridge: float, start: Array | None, lagged: Lagged | None) -> Array:
    rhs = J.pull(b)
    if rhs.size > DIRECT_UNKNOWNS:
        D = np.zeros_like(rhs) if start is None else start
        return least_squares(J.forward, J.pull, b - J.forward(D), D, ridge, EXACT)
    if lagged is not None:
        return lagged.solve(J, b)
    return stacked(solve_positive(J.normal(), rhs.T.ravel(), ridge), rhs)


def least_squares(forward: Map, pull: Map, rest: Array, U: Array, ridge: float, rtol: float, limit: int = 500) -> Array:
    """Return U + D, where D makes ||forward(D) - rest||^2 + ridge ||U + D||_F^2 small; `pull` is forward's adjoint.

    Conjugate gradients on the normal equations, with an updated misfit (CGLS). They end when the gradient has fallen by
    the factor rtol from that at entry, so that a warm start moves on, or to rounding error.
    """
    gradient = pull(rest) - ridge * U
    direction, now = gradient, float(np.vdot(gradient, gradient))
    target, floor, largest = rtol**2 * now, (4 * float(np.finfo(rest.dtype).eps)) ** 2, 1.0
    for _ in range(limit):
        if now == 0.0:
            break
        image = forward(direction)
        curvature = float(image @ image) + ridge * float(np.vdot(direction, direction))
        largest = max(largest, curvature / now)
        # A direction in the null space of the measurements, but for rounding errors of the gradient.
        if not curvature > floor * largest * now:
            break
        step = now / curvature
        U, rest = U + step * direction, rest - step * image
        gradient = pull(rest) - ridge * U
        before, now = now, float(np.vdot(gradient, gradient))
        if now <= max(target, floor * largest * float(rest @ rest)):
            break
        direction = gradient + (now / before) * direction
    return U


def unsettled(rest: Array, change: Array, b: Array) -> float:
    """Return ||change|| / ||rest||: how far the fit A(W) still moves, in units of its misfit rest = A(W) - b.

    0 when the misfit or the change is rounding error of b. It stays of order 1 while the misfit falls at a constant
    rate, however small it already is, and goes to 0 where noise leaves a misfit that no further step reduces.
    """
    misfit, moved, rounding = float(np.linalg.norm(rest)), float(np.linalg.norm(change)), rounding_error(b)
    return 0.0 if misfit <= rounding or moved <= rounding / 16 else moved / misfit


def alignment(rest: Array, image: Array, b: Array) -> float:
    """Return the cosine between the misfit rest = A(W) - b and what a direction changes of A(W).

    0 when the misfit is rounding error of b, or the cosine of its own arithmetic. It does not depend on the size of
    the misfit, and goes to 0 at a stationary point where noise leaves one.
    """
    misfit, size = float(np.linalg.norm(rest)), float(np.linalg.norm(image))
    if misfit <= rounding_error(b) or size == 0.0:
        return 0.0
    cosine = abs(float(rest @ image)) / (misfit * size)
    return cosine if cosine > 8 * np.finfo(b.dtype).eps else 0.0


def unresolvable(cosine: float, b: Array) -> bool:
    """Tell whether a step along a direction of such an `alignment` changes the squared misfit by rounding alone."""
    return cosine**2 <= 64 * float(np.finfo(b.dtype).eps)


def rounding_error(b: Array) -> float:
    """Return the misfit that rounding leaves: 128 eps ||b||."""
    return 128 * float(np.finfo(b.dtype).eps) * float(np.linalg.norm(b))

"""Moves on the manifold of matrices of rank k: tangent vectors, their measurements, ways on and back to the manifold.

At W = U diag(s) V^T a tangent vector is A V^T + U B^T, A (d1, k), B (d2, k). Where W is symmetric, B = A. Images of
the factors (see `operators.operator`) are carried along, so that the data is read once a product.
"""

from typing import NamedTuple

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.linalg import solve_positive
from lrlab.lowrank import LowRank
from lrlab.operators.operator import Operator, rounding_error
from lrlab.operators.rank_one import tall


class Vector(NamedTuple):
    """The tangent vector A V^T + U B^T."""

    A: Array
    B: Array

    def dot(self, other: "Vector") -> float:
        """Return the sum of products of all entries of A and B."""
        return float((self.A * other.A).sum() + (self.B * other.B).sum())

    def inner(self, other: "Vector", W: LowRank) -> float:
        """Return the inner product of both as matrices, tangent at W; of a general W, B is orthogonal to V."""
        if W.U is not W.V:
            return self.dot(other)
        along = ((W.U.T @ self.A).T * (W.U.T @ other.A)).sum()
        return 2.0 * float((self.A * other.A).sum() + along)

    def plus(self, other: "Vector", times: float) -> "Vector":
        """Return this vector plus another one, scaled."""
        return Vector(self.A + times * other.A, self.B + times * other.B)

    def times(self, factor: float) -> "Vector":
        """Return this vector, scaled."""
        return Vector(factor * self.A, factor * self.B)


class EvaluatedMatrix(NamedTuple):
    """An estimate W with the images P of U and Q of V, and the misfit A(W) - b."""

    W: LowRank
    P: Array
    Q: Array
    misfit: Array

    @property
    def objective(self) -> float:
        """F = ||A(W) - b||^2 / 2."""
        return float(self.misfit @ self.misfit) / 2


class Line(NamedTuple):
    """A direction, split along and across the factors, with what the operator makes of it.

    A = U M + Qa Ra, B = V N + Qb Rb with Qa orthogonal to U and Qb to V; their images; image, A(A V^T + U B^T).
    """

    M: Array
    Qa: Array
    Ra: Array
    left: Array
    N: Array
    Qb: Array
    Rb: Array
    right: Array
    image: Array


def point(operator: Operator, W: LowRank, b: Array) -> EvaluatedMatrix:
    """Return the estimate with its images and its misfit."""
    P = operator.left(W.U)
    Q = P if operator.symmetric else operator.right(W.V)
    return EvaluatedMatrix(W, P, Q, operator.pair(P * W.s, Q) - b)


def projected(operator: Operator, W: LowRank, right: Array, left: Array) -> Vector:
    """Return the nearest tangent vector to a matrix G, given right = G V and left = G^T U."""
    if operator.symmetric:
        A = right - W.U @ (W.U.T @ right) / 2
        return Vector(A, A)
    return Vector(right, left - W.V @ (W.V.T @ left))


def gradient(operator: Operator, at: EvaluatedMatrix) -> Vector:
    """Return the gradient of f = ||A(W) - b||^2 / 2 on the manifold, times `scale`: the projection of A*(misfit)."""
    W = at.W
    right = operator.scale * operator.pull_left(at.misfit, at.Q)
    left = right if operator.symmetric else operator.scale * operator.pull_right(at.misfit, at.P)
    return projected(operator, W, right, left)


def newton_step(operator: Operator, W: LowRank, slope: Vector) -> Vector:
    """Return the step to the minimum if A*A were its mean: minus the gradient, without the bias of the trace.

    Where W is symmetric the mean of scale A*A takes T to T + c tr(T) I, c = scale m trace. On the tangent space I is
    U U^T, so that the inverse takes T to T - c tr(T) U U^T / (1 + c k).
    """
    if not operator.trace:
        return slope.times(-1.0)
    c = operator.scale * operator.size * operator.trace
    trace = 2.0 * float((W.U * slope.A).sum())
    A = W.U * W.U.dtype.type(c * trace / (2 * (1 + c * W.U.shape[1]))) - slope.A
    return Vector(A, A)


def transported(operator: Operator, direction: Vector, old: LowRank, new: LowRank) -> Vector:
    """Return the nearest tangent vector at `new` to a tangent vector at `old`."""
    (A, B), (Uo, _, Vo) = direction, old
    right = A @ (Vo.T @ new.V) + Uo @ (B.T @ new.V)
    left = right if operator.symmetric else Vo @ (A.T @ new.U) + B @ (Uo.T @ new.U)
    return projected(operator, new, right, left)


def across(U: Array, A: Array) -> tuple[Array, Array, Array]:
    """Return M, Q, R with A = U M + Q R, Q orthonormal and orthogonal to U."""
    M = U.T @ A
    rest = A - U @ M
    again = U.T @ rest
    rest -= U @ again
    # No more directions than the space has beside U.
    Q = np.linalg.qr(rest)[0][:, : len(U) - U.shape[1]]
    # Columns of Q that rounding left in U's span (rest may be tiny) are turned out of it.
    Q = np.linalg.qr(Q - U @ (U.T @ Q))[0]
    return M + again, Q, Q.T @ rest


def line(operator: Operator, at: EvaluatedMatrix, direction: Vector) -> Line:
    """Return a direction as a line to move along: two readings of the data, one where W is symmetric."""
    M, Qa, Ra = across(at.W.U, direction.A)
    left = operator.left(Qa)
    image_left = tall(at.P, M) + tall(left, Ra)
    if operator.symmetric:
        return Line(M, Qa, Ra, left, M, Qa, Ra, left, 2 * operator.pair(image_left, at.P))
    N, Qb, Rb = across(at.W.V, direction.B)
    right = operator.right(Qb)
    image = operator.pair(image_left, at.Q) + operator.pair(at.P, tall(at.Q, N) + tall(right, Rb))
    return Line(M, Qa, Ra, left, N, Qb, Rb, right, image)


def moved(operator: Operator, at: EvaluatedMatrix, along: Line, step: float, b: Array) -> EvaluatedMatrix:
    """Return the nearest matrix of rank k to W + step (A V^T + U B^T), by an SVD of size 2k; no reading of the data."""
    W, k = at.W, len(at.W.s)
    core = np.zeros((k + len(along.Ra), k + len(along.Rb)), operator.dtype)
    core[:k, :k] = np.diag(W.s) + step * (along.M + along.N.T)
    core[k:, :k] = step * along.Ra
    core[:k, k:] = step * along.Rb.T
    left, P = np.hstack([W.U, along.Qa]), np.hstack([at.P, along.left])
    if operator.symmetric:
        turn, s, _ = lowrank.from_core(np.eye(len(core), dtype=operator.dtype), core, k)
        U, P = left @ turn, tall(P, turn)
        return EvaluatedMatrix(LowRank(U, s, U), P, P, operator.pair(P * s, P) - b)
    turn, s, back = lowrank.from_dense(core, k)
    V, Q = np.hstack([W.V, along.Qb]) @ back, tall(np.hstack([at.Q, along.right]), back)
    U, P = left @ turn, tall(P, turn)
    return EvaluatedMatrix(LowRank(U, s, V), P, Q, operator.pair(P * s, Q) - b)


def refitted(operator: Operator, at: EvaluatedMatrix, b: Array) -> EvaluatedMatrix:
    """Return a symmetric estimate with the eigenvalues that make its misfit least, largest in size first."""
    squares = at.P * at.P
    s = at.W.s - solve_positive(squares.T @ squares, squares.T @ at.misfit)
    order = np.argsort(-np.abs(s), kind="stable")
    U, P, s = at.W.U[:, order], at.P[:, order], s[order]
    return EvaluatedMatrix(LowRank(U, s, U), P, P, operator.pair(P * s, P) - b)


def solved(misfit: Array, b: Array) -> bool:
    """Return whether nothing but rounding is left of the misfit."""
    return float(np.linalg.norm(misfit)) <= rounding_error(b)


class Path(NamedTuple):
    """The path W(eta) = (U + eta X) diag(s) (V + eta Y)^T: A(W(eta)) = A(W) + eta first + eta^2 second."""

    first: Array
    second: Array

    @staticmethod
    def along(A: Operator, at: EvaluatedMatrix, step: Vector) -> "Path":
        """Return the path from W."""
        P, s = A.left(step.A), at.W.s
        Q = P if A.symmetric else A.right(step.B)
        cross = A.pair(P * s, at.Q)
        first = 2 * cross if A.symmetric else cross + A.pair(at.P * s, Q)
        return Path(first, A.pair(P * s, Q))


def least(rest: Array, path: Path) -> float:
    """Return the eta that minimises ||rest + eta first + eta^2 second||^2, a root of its cubic derivative."""
    first, second = path.first, path.second
    products = (second @ second / 2, first @ second, first @ first / 2 + rest @ second, rest @ first)
    quartic = np.array([*products, 0.0], dtype=np.float64)
    if not np.isfinite(quartic).all() or not quartic[:3].any():
        return 0.0
    roots = np.roots(np.polyder(quartic))
    real = roots.real[np.abs(roots.imag) <= 1e-8 * np.abs(roots)]
    return float(real[np.argmin(np.polyval(quartic, real))]) if len(real) else 0.0

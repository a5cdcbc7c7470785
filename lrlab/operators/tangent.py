"""Matrices of rank k with their images and residuals, and the Gauss-Newton step in their tangent space.

At W = U diag(s) V^T a tangent vector A V^T + U B^T is stored as its factors, A (d1, k) above B (d2, k). If W is
symmetric, B = A and only A is stored.
"""

from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.operators.operator import Map, Operator, Solution, least_squares


class EvaluatedMatrix(NamedTuple):
    """An estimate W with the images P of U and Q of V, and the residual d = A(W) - b."""

    W: LowRank
    P: Array
    Q: Array
    d: Array

    @property
    def objective(self) -> float:
        """F = ||A(W) - b||^2 / 2."""
        return float(self.d @ self.d) / 2


def point(A: Operator, W: LowRank, b: Array) -> EvaluatedMatrix:
    """Return the estimate with its images and its residual."""
    P = A.left(W.U)
    Q = P if A.symmetric else A.right(W.V)
    return EvaluatedMatrix(W, P, Q, A.pair(P * W.s, Q) - b)


def jacobian(A: Operator, at: EvaluatedMatrix, D: Array | float = 1.0) -> tuple[Map, Map]:
    """Return Z -> A(A D V^T + U D B^T), D diagonal, and its adjoint."""
    return A.tangent_map(at.P * D, at.Q * D)


def gauss_newton_step(
    A: Operator, at: EvaluatedMatrix, rtol: float, limit: int, weight: float = 0.0, near: Operator | None = None
) -> Solution:
    """Return the tangent vector Z that minimizes ||A(A V^T + U B^T) + d||^2, of least norm, by conjugate gradients.

    weight: of the nuclear norm, which adds mu (||A D^-1 + U D^-1 diag(s)||^2 + the same of B and V), D^2 = diag(|s|) /
    s_1, mu = weight / s_1. near: A in single precision, for all but the first gradient of a problem without a weight.
    """
    W, none = at.W, np.zeros((sum(A.shape[: 2 - A.symmetric]), len(at.W.s)), A.dtype)
    if weight:
        s1 = float(np.abs(W.s).max())
        D = np.sqrt(np.maximum(np.abs(W.s) / s1, 1e-8))
        present = W.U * (np.sign(W.s) * D * s1)
        present = present if A.symmetric else np.vstack([present, W.V * (D * s1)])
        solution = least_squares(*jacobian(A, at, D), -at.d, present, (1 + A.symmetric) * weight / s1, rtol, limit)
        return solution._replace(D=(solution.D - present) * D)
    measured, pulled = jacobian(A, at)
    if near is None:
        return least_squares(measured, pulled, -at.d, none, 0.0, rtol, limit)
    gradient = pulled(-at.d)
    size = float(np.linalg.norm(gradient))
    # U V^T / sqrt(k) is a tangent vector of unit length: its image is at most the norm of the map.
    norm = (1 + A.symmetric) * float(np.linalg.norm(A.pair(at.P, at.Q))) / np.sqrt(len(W.s))
    if size <= 4 * float(np.finfo(A.dtype).eps) * norm * float(np.linalg.norm(at.d)):
        return Solution(none, 0, 0.0)
    single = jacobian(near, EvaluatedMatrix(W, *(image.astype(near.dtype) for image in at[1:])))
    rest, first = (array.astype(near.dtype) for array in (at.d, gradient / size))
    solution = least_squares(*single, rest, none.astype(near.dtype), 0.0, rtol, limit, first)
    return solution._replace(D=size * solution.D.astype(A.dtype))


def stationarity(A: Operator, at: EvaluatedMatrix, b: Array) -> float:
    """Return the cosine between the residual and the change of A(W) along the tangent gradient.

    0 at a stationary point of F on the matrices of rank k, and if the residual is rounding error of b.
    """
    if solved(at.d, b):
        return 0.0
    measured, pulled = jacobian(A, at)
    return alignment(at.d, measured(pulled(at.d)), b)


def alignment(d: Array, image: Array, b: Array) -> float:
    """Return the cosine between the residual d = A(W) - b and the change of A(W) along a direction.

    0 if the residual is rounding error of b, or the cosine is rounding error itself. It does not depend on the size of
    the residual, and goes to 0 at a stationary point, with noise too.
    """
    size = float(np.linalg.norm(image))
    if solved(d, b) or size == 0.0:
        return 0.0
    cosine = abs(float(d @ image)) / (float(np.linalg.norm(d)) * size)
    return cosine if cosine > 8 * np.finfo(b.dtype).eps else 0.0


def unsettled(d: Array, change: Array, b: Array) -> float:
    """Return ||change|| / ||d||: how far the fit A(W) still moves, in units of its residual d = A(W) - b.

    0 if the residual or the change is rounding error of b. It stays of order 1 while the residual falls at a constant
    rate, and goes to 0 once noise is all that the residual holds.
    """
    moved = float(np.linalg.norm(change))
    return 0.0 if solved(d, b) or moved <= rounding_error(b) / 16 else moved / float(np.linalg.norm(d))


def unresolvable(cosine: float, b: Array) -> bool:
    """Tell whether a step along a direction of such an `alignment` changes ||d||^2 only by rounding."""
    return cosine**2 <= 64 * float(np.finfo(b.dtype).eps)


def solved(d: Array, b: Array) -> bool:
    """Return whether the residual is rounding error."""
    return float(np.linalg.norm(d)) <= rounding_error(b)


def rounding_error(b: Array) -> float:
    """Return the residual norm that rounding leaves: 128 eps ||b||."""
    return 128 * float(np.finfo(b.dtype).eps) * float(np.linalg.norm(b))

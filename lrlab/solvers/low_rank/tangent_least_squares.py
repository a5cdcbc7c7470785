"""Least squares in the tangent space of matrices of rank k, by conjugate gradients: the step of Gauss-Newton."""

from collections.abc import Callable

import numpy as np

from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.operators.operator import Operator, alignment
from lrlab.operators.rank_one import RankOne
from lrlab.solvers.low_rank.tangent import EvaluatedMatrix, Vector, solved

LEAST_RATIO = 1e-8
"""Singular values, over the largest, below which the penalty treats all alike."""


def least_squares_step(
    operator: Operator, at: EvaluatedMatrix, tol: float, limit: int, weight: float = 0.0
) -> tuple[Vector, int, float]:
    """Return the tangent vector (A, B) that minimises ||A(A V^T + U B^T) + misfit||^2, of least norm.

    With a weight of the nuclear norm: plus mu (||A D^-1 + U D^-1 diag(s)||^2 + the same of B and V), D^2 = diag(|s|) /
    s_1, mu = weight / s_1. Beside it the steps it took, and the share of the gradient that remains: 0 unless `limit`
    was reached before `tol` or rounding error.
    """
    X = Vector(np.zeros_like(at.W.U), np.zeros_like(at.W.V))
    D, mu, present = penalty(at.W, weight) if weight else (1.0, 0.0, X)
    measured, pulled = jacobian(operator, at, D)
    r = -at.misfit
    S = pulled(r).plus(present, -mu)
    P, first = S, S.dot(S)
    now, target, count, largest = first, tol**2 * first, 0, 0.0
    while now > target and count < limit:
        # With many unknowns there are hundreds of steps: a cancelled run ends before the next one.
        operator.checkpoint(count / limit)
        image = measured(P)
        curvature = float(image @ image) + mu * P.dot(P)
        largest = max(largest, curvature / P.dot(P))
        alpha = now / curvature
        X, r = X.plus(P, alpha), r - alpha * image
        S = pulled(r).plus(X.plus(present, 1.0), -mu) if mu else pulled(r)
        before, now = now, S.dot(S)
        P, count = S.plus(P, now / before), count + 1
        target = max(target, (4 * float(np.finfo(r.dtype).eps)) ** 2 * largest * float(r @ r))
    return Vector(X.A * D, X.B * D), count, 0.0 if now <= target else min(1.0, float(np.sqrt(now / first)))


def rank_one_step(
    operator: Operator, near: RankOne, at: EvaluatedMatrix, tol: float, limit: int
) -> tuple[Vector, int, float]:
    """Return what `least_squares_step` does, by conjugate gradients with `near`, the operator in single precision.

    The first gradient is computed in double. Later ones are updated by their own recursion: computed from a misfit in
    single precision, which noise keeps from going to 0, they would have that one's rounding errors. Where the first one
    is rounding error itself, the step is 0.
    """
    W, k = at.W, len(at.W.s)
    slope = jacobian(operator, at)[1](-at.misfit)
    parts = (2.0 * slope.A,) if operator.symmetric else slope
    gradient = np.concatenate([part.T.ravel() for part in parts])
    size = float(np.linalg.norm(gradient))
    # Of the tangent vector U V^T / sqrt(k), of unit length: no more than the norm of the map.
    unit_image = float(np.linalg.norm(operator.pair(at.P, at.Q))) / np.sqrt(k)
    if size <= 4 * float(np.finfo(operator.dtype).eps) * unit_image * float(np.linalg.norm(at.misfit)):
        return Vector(np.zeros_like(W.U), np.zeros_like(W.V)), 0, 0.0
    measured, pulled = near.tangent_map(at.P.astype(near.dtype), at.Q.astype(near.dtype))
    S = (gradient / size).astype(near.dtype)
    X, D, first = np.zeros_like(S), S.copy(), float(S @ S)
    now, count = first, 0
    while now > tol**2 * first and count < limit:
        operator.checkpoint(count / limit)
        image = measured(D)
        alpha = now / float(image @ image)
        X, S = X + alpha * D, S - alpha * pulled(image)
        before, now = now, float(S @ S)
        D, count = S + (now / before) * D, count + 1
    Z = size * X.astype(operator.dtype)
    A = Z[: k * len(W.U)].reshape(k, -1).T
    B = A if operator.symmetric else Z[k * len(W.U) :].reshape(k, -1).T
    return Vector(A, B), count, 0.0 if now <= tol**2 * first else min(1.0, float(np.sqrt(now / first)))


def penalty(W: LowRank, weight: float) -> tuple[Array, float, Vector]:
    """Return the diagonal D (k,), mu, and the factors that are penalised, in units of A D^-1 and B D^-1."""
    largest = float(np.abs(W.s).max())
    D = np.sqrt(np.maximum(np.abs(W.s) / largest, LEAST_RATIO))
    signed = W.U * (np.sign(W.s) * D * largest)
    return D, weight / largest, Vector(signed, signed if W.U is W.V else W.V * (D * largest))


def jacobian(
    operator: Operator, at: EvaluatedMatrix, D: Array | float = 1.0
) -> tuple[Callable[[Vector], Array], Callable[[Array], Vector]]:
    """Return (A, B) -> A(A D V^T + U D B^T) and its adjoint; with one unknown A = B where W is symmetric."""
    P, Q = at.P * D, at.Q * D
    if operator.symmetric:
        # One unknown Z, stored as the pair (Z, Z): `dot` counts it twice, which is the 2 that the adjoint leaves out.
        def pulled_one(r: Array) -> Vector:
            Z = operator.pull_left(r, P)
            return Vector(Z, Z)

        return lambda X: 2 * operator.pair(operator.left(X.A), P), pulled_one
    measured = lambda X: operator.pair(operator.left(X.A), Q) + operator.pair(P, operator.right(X.B))  # noqa: E731
    return measured, lambda r: Vector(operator.pull_left(r, Q), operator.pull_right(r, P))


def stationarity(operator: Operator, at: EvaluatedMatrix, b: Array) -> float:
    """Return the cosine between the misfit and what a step along the tangent gradient changes of A(W).

    0 at a stationary point of f on the matrices of rank k, and where the misfit is rounding error of b.
    """
    if solved(at.misfit, b):
        return 0.0
    measured, pulled = jacobian(operator, at)
    return alignment(at.misfit, measured(pulled(at.misfit)), b)

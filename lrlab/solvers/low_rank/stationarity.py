"""How far an estimate of rank k is from a stationary point of ||A(W) - b||^2 on the matrices of its rank."""

from lrlab.arrays import Array
from lrlab.operators.operator import Operator, alignment
from lrlab.solvers.low_rank.tangent import EvaluatedMatrix, Vector, solved


def tangent_gradient(operator: Operator, at: EvaluatedMatrix) -> Vector:
    """Return the gradient in (A, B) of ||A(W + A V^T + U B^T) - b||^2 / 2 at 0."""
    A = operator.pull_left(at.misfit, at.Q)
    return Vector(A, A if operator.symmetric else operator.pull_right(at.misfit, at.P))


def stationarity(operator: Operator, at: EvaluatedMatrix, b: Array) -> float:
    """Return the cosine between the misfit and what a step along the tangent gradient changes of A(W).

    0 at a stationary point, and where the misfit is rounding error of b.
    """
    if solved(at.misfit, b):
        return 0.0
    A, B = tangent_gradient(operator, at)
    image = operator.pair(operator.left(A), at.Q)
    if not operator.symmetric:
        image = image + operator.pair(at.P, operator.right(B))
    return alignment(at.misfit, image, b)

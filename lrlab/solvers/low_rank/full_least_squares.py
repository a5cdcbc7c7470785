"""Least squares over all entries of the matrix: what measurements give without any use of low rank."""

import math
from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.models.protocols import LowRankData
from lrlab.operators.least_squares import least_squares
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import SolverEntry

ACCURACY = 1e-13


def full_least_squares(
    problem: LowRankData,
    *,
    inner_steps: Annotated[
        int, Parameter(meaning="most conjugate-gradient steps", low=1, high=100_000, scale="log")
    ] = 2000,
    rng: Generator,
) -> Iterates:
    r"""Recover W (d1, d2), whatever its rank, from b = A(W) where there are enough measurements.

    minimise   ||A(W) - b||^2 over all matrices W; of the least norm where several do
    update     conjugate gradients on the normal equations (CGLS) from W = 0, to rounding error, at once
    converges  to W from about m = d1 d2 measurements on, where no method needs low rank, and never below

    Yields its solution: objective ||A(W) - b||^2 / 2.
    Reference: Paige & Saunders (1982), "LSQR: an algorithm for sparse linear equations and sparse least squares".
    """
    A, b = problem.operator, problem.b
    Q = A.right(np.eye(A.shape[1], dtype=A.dtype))
    forward, pull = lambda D: A.pair(A.left(D), Q), lambda r: A.pull_left(r, Q)
    W = least_squares(forward, pull, b, np.zeros(A.shape, A.dtype), 0.0, ACCURACY, inner_steps).D
    estimate = lowrank.from_symmetric(W) if A.symmetric else lowrank.from_dense(W)
    rest = A(estimate) - b
    yield Iterate(estimate, float(rest @ rest) / 2)


ENTRY = SolverEntry(
    name="least-squares",
    title="Least squares (all entries)",
    update=r"\hat W = \arg\min_W \|\mathcal A(W) - b\|^2, \quad \text{of the least norm where several minimise"
    r" it}",
    summary="All d1 d2 entries as unknowns, of least norm: shows whether low rank is needed at all.",
    run=full_least_squares,
    families=("low-rank",),
    memory=1.0,
    matrix=lambda spec, options: math.prod(spec.size),
)

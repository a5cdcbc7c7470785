"""Least squares over all entries of the matrix: what measurements give without any use of low rank."""

import math
from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.models.protocols import LowRankData
from lrlab.operators.least_squares import least_squares
from lrlab.parameters import number
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import solver


@solver(family="low-rank", name="least-squares", matrix=lambda spec, options: math.prod(spec.size))
def full_least_squares(
    problem: LowRankData,
    *,
    inner_steps: Annotated[int, number(1, 100_000, "most conjugate-gradient steps", scale="log")] = 2000,
    rng: Generator,
) -> Iterates:
    r"""Least squares (all entries).

    All d1 d2 entries as unknowns, of least norm: shows whether low rank is needed at all.

    .. math:: \hat W = \arg\min_W \|\mathcal A(W) - b\|^2, \quad \text{of the least norm if several minimize it}

    minimize    ||A(W) - b||^2 over all matrices W (d1, d2); of the least norm if several minimize it
    update      conjugate gradients on the normal equations (CGLS) from W = 0, to rounding error, at once
    converges   to W from about m = d1 d2 measurements on, from which on no method needs low rank, and never below
    cost        d1 d2 unknowns: two products with the data per step

    Yields its solution: objective ||A(W) - b||^2 / 2.

    Reference: Paige & Saunders (1982), "LSQR: an algorithm for sparse linear equations and sparse least squares".
    """
    A, b = problem.operator, problem.b
    Q = A.right(np.eye(A.shape[1], dtype=A.dtype))
    forward, pull = lambda D: A.pair(A.left(D), Q), lambda r: A.pull_left(r, Q)
    W = least_squares(forward, pull, b, np.zeros(A.shape, A.dtype), 0.0, 1e-13, inner_steps).D
    estimate = lowrank.from_symmetric(W) if A.symmetric else lowrank.from_dense(W)
    rest = A(estimate) - b
    yield Iterate(estimate, float(rest @ rest) / 2)

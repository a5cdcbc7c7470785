"""Conjugate directions of Polak and Ribiere in the tangent spaces of matrices of rank k, with exact steps."""

import numpy as np
from numpy.random import Generator

from lrlab.lowrank import LowRank, from_product, from_square
from lrlab.models.protocols import LowRankData
from lrlab.operators.operator import Operator
from lrlab.operators.tangent import point
from lrlab.protocol import Iterates
from lrlab.solver_entry import solver
from lrlab.solvers.low_rank.descent import WholeSteps, descent, steps_to_the_end
from lrlab.solvers.low_rank.starts import Directions, Start, started

FEW, MOST = 2**15, 2**27
"""Sizes of the data, in numbers, between which steps of Gauss-Newton gain from single precision."""
MUCH = 2**23
"""Least size of data whose first part refines the initialization."""


@solver(family="low-rank", oracle="rank", memory=0.7, max_iter=1000)
def tangent_descent(
    problem: LowRankData, *, directions: Directions = "conjugate", start: Start = "moment", rng: Generator
) -> Iterates:
    r"""Tangent descent.

    Conjugate gradients on the manifold of rank k with exact steps: cheap, whatever the condition number.

    .. math:: W \leftarrow P_k(W + \eta D), \quad D = -H^{-1} T + \beta D', \quad T = P_U G + G P_V - P_U G P_V

    minimize    F(W) = ||A(W) - b||^2 / 2  over W (d1, d2) of rank k
    update      G = A*(d), d = A(W) - b,  T = P_U G + G P_V - P_U G P_V, the gradient of F on the tangent space,
                N = H^-1 T, H the mean of A*A on the tangent space: T itself, but for the trace if W is symmetric,
                D = -N + beta D', D' the last direction carried over, beta of Polak & Ribiere, never negative,
                W <- nearest matrix of rank k to W + eta D,  eta = -<d, A(D)> / ||A(D)||^2, halved until F falls
    leaves      minima that have the wrong terms, by steps with the whole gradient, see `WholeSteps`
    converges   linearly from a spectral initialization, once m is a few times the degrees of freedom; the condition
                number of W costs a few such steps
    cost        O(m (d1 + d2) k): reads the data twice (symmetric) or four times

    CONVERGED says that T = 0 up to the tolerance, with noise too. If independent measurements have eight million
    numbers, their first part refines the initialization in single precision before the rest is read.
    Yields an Iterate per step: objective F, residual the cosine between d and A(D). Ends STALLED if no step lowers F.

    Reference: Vandereycken (2013), "Low-rank matrix completion by Riemannian optimization"; Soltani & Hegde (2018),
    section 1.3, for the bias of the trace.
    """
    A, b, W = problem.operator, problem.b, None
    conjugately, leave = directions == "conjugate", WholeSteps(A, b, rng).leave
    if (part := first_part(A, problem.rank)) is not None:
        y, before, cosine = b[: part.size].astype(part.dtype), np.inf, 1.0
        first, whole = started(part, y, problem.rank, rng, start, settled=0.1), float(np.linalg.norm(y))
        for at, residual in descent(part, y, point(part, first, y), conjugately):
            size = float(np.linalg.norm(at.d))
            if size <= 3e-5 * whole or residual < 3e-5 or (size > 0.99 * before and residual > 0.7 * cosine):
                break
            before, cosine = size, residual
        # A first part that is not fitted is noise, or a wrong turn: the moment of all measurements is better.
        W = orthonormalized(at.W) if size < 0.5 * whole else None
    W = started(A, b, problem.rank, rng, start) if W is None else W
    return (yield from steps_to_the_end(A, b, point(A, W, b), conjugately, leave))


def first_part(A: Operator, rank: int) -> Operator | None:
    """Return the operator of the first of many measurements, in single precision; None if there are not many.

    Three times the degrees of freedom determine a matrix as well as all measurements do, up to noise.
    """
    count = 3 * rank * (sum(A.shape) - rank) // (1 + A.symmetric)
    return A.first(count) if A.size * sum(A.shape) > MUCH and 2 * count < A.size else None


def in_single(A: Operator) -> Operator | None:
    """Return the operator in single precision; None if it is so, is small or too large, or has no such copy."""
    return A.first(A.size) if A.dtype == np.float64 and FEW < A.size * sum(A.shape) <= MOST else None


def orthonormalized(W: LowRank) -> LowRank:
    """Return W in double precision, with factors that are orthonormal to it."""
    if W.U is W.V:
        return from_square(W.U.astype(float), W.s)
    return from_product(W.left.astype(float), W.V.astype(float), len(W.s))

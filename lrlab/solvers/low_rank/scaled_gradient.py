"""Scaled gradient descent on the factors of a low-rank matrix (ScaledGD), with an exact line search."""

from typing import Annotated, Any

import numpy as np

from lrlab import lowrank
from lrlab.linalg import solve_positive
from lrlab.models.protocols import LowRankData
from lrlab.operators.tangent import alignment, point
from lrlab.solver_entry import Generator, Iterate, Iterates, choice, solver
from lrlab.solvers.low_rank.tangent import Start, WholeSteps, started
from lrlab.solvers.methods.newton import quartic_step


@solver(family="low-rank", oracle="rank", memory=0.6, max_iter=1000)
def scaled_gradient(
    problem: LowRankData,
    *,
    directions: Annotated[str, choice("conjugate", "gradient", help="Polak-Ribiere, or as published")] = "conjugate",
    start: Start = "moment",
    rng: Generator,
) -> Iterates:
    r"""Scaled gradient descent.

    Gradients scaled by the singular values; scarce entries of ill-conditioned tables take matrix-irls.

    .. math:: W \leftarrow (U + \eta X) \operatorname{diag}(s) (V + \eta Y)^\top, \ X = -G V \operatorname{diag}(1/s)

    minimize    F(W) = ||A(W) - b||^2 / 2  over W = U diag(s) V^T (d1, d2) of rank k; symmetric: V = U, s then refitted
    direction   (X, Y) = -(G V diag(1/s), G^T U diag(1/s)),  G = A*(A(W) - b), or conjugate ones (Polak-Ribiere)
    update      W <- (U + eta X) diag(s) (V + eta Y)^T; F is a quartic polynomial of eta, minimized exactly;
                steps with the whole gradient leave minima that have the wrong terms (`WholeSteps`)
    converges   near W linearly, at a rate that does not depend on its singular values, from enough measurements
    cost        three products with each side of the data; memory O(m k) besides the data

    Yields the point before each step: objective F; residual the cosine between A(W) - b and A of the direction.

    Reference: Tong, Ma, Chi (2021), "Accelerating ill-conditioned low-rank matrix estimation via scaled gradient
    descent" (ScaledGD); Polak & Ribiere (1969). The line search and the refit are additions of lrlab.
    """
    A, b = problem.operator, problem.b
    at, leave = point(A, started(A, b, problem.rank, rng, start), b), WholeSteps(A, b, rng).leave
    d1, old = A.shape[0], list[Any]()
    while True:
        (U, s, V), P, Q, d = at
        left = A.pull_left(d, Q)
        G = np.vstack([left, left if A.symmetric else A.pull_right(d, P)])
        scaled = step = -G / np.copysign(np.maximum(np.abs(s), 1e-10 * np.abs(s).max() or 1.0), s)
        G = G * s
        slope = -float(np.vdot(G, scaled))
        if old and directions == "conjugate":
            conjugate = scaled + max(0.0, (slope + float(np.vdot(G, old[0]))) / old[2]) * old[1]
            step = conjugate if np.vdot(G, conjugate) < 0 else scaled
        left = A.left(step[:d1])
        right = left if A.symmetric else A.right(step[d1:])
        first, second = A.pair(left * s, Q) + A.pair(P * s, right), A.pair(left * s, right)
        yield Iterate(at.W, at.objective, alignment(d, first, b))
        eta = quartic_step(d, first, second)
        U, V = U + eta * step[:d1], V + eta * step[d1:]
        if A.symmetric:
            squares = (P + eta * left) ** 2
            W = lowrank.from_square(U, solve_positive(squares.T @ squares, squares.T @ b))
        new = point(A, W if A.symmetric else lowrank.from_product(U * s, V), b)
        # Earlier directions in the coordinates of the new factors.
        turn = np.linalg.pinv(U) @ new.W.U, np.linalg.pinv(V) @ new.W.V
        turned = [np.vstack([one[:d1] @ turn[0], one[d1:] @ turn[1]]) for one in (scaled, step)]
        better = leave(new, at.objective)
        at, old = better or new, [*turned, slope] if better is None and slope > 0 else []

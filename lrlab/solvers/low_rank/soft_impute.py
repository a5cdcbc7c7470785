"""Soft-impute: completion of a table by the nuclear norm, along a path of penalties."""

from typing import Annotated

import numpy as np

from lrlab import lowrank
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.krylov import leading, nearest, random_block
from lrlab.operators.operator import Moment
from lrlab.solver_entry import Generator, Iterate, Iterates, number, solver
from lrlab.solvers.low_rank.completion import penalty_note, refuse_features

Shrinkage = Annotated[float, number(1e-8, 1, "last penalty over the least with W = 0", symbol="λ/λ₀", scale="log")]
Path = Annotated[int, number(1, 100, "penalties on the way to the last one, each from the solution before")]


@solver(models="inductive-completion", refuse=refuse_features)
def soft_impute(problem: LowRankData, *, shrinkage: Shrinkage = 0.03, path: Path = 10, rng: Generator) -> Iterates:
    r"""Soft-impute (nuclear norm).

    Convex completion by the nuclear norm along a path of penalties; needs no rank and no features.

    .. math:: W \leftarrow S_\lambda\bigl(Z + \mathcal A^*(b - \mathcal A(Z))\bigr), \quad Z = W + \beta (W - W')

    minimize    F(W) = sum_ij (W_ij - b_ij)^2 / 2 + lambda ||W||_*, over all W (n1, n2)
    update      W <- S_lambda(Z + A*(b - A(Z))), S_lambda lowers singular values;  Z = W + beta (W - W_old)
    path        lambda falls from ||A*(b)||_2 in equal ratios, whenever W moves by less than a hundredth
    converges   F - F* = O(1 / t^2); momentum restarts if F rises
    cost        the k singular values above lambda of a sparse matrix plus one of low rank; memory O(m + (n1 + n2) k)

    Yields objective F and, at the last lambda, residual ||W - Z||_F / ||W||_F, at least dist(0, dF(W)) / (2 ||W||_F).

    Reference: Mazumder, Hastie, Tibshirani (2010), "Spectral regularization algorithms for learning large incomplete
    matrices", Algorithm 1; Yao & Kwok (2015), "Accelerated inexact soft-impute".
    """
    A, b = problem.operator, problem.b
    W = old = lowrank.zero(A.shape, 0)
    penalties = float(nearest(A.moment(b / A.scale), 1, rng, 1e-13).s[0]) * np.geomspace(1.0, shrinkage, path + 1)[1:]
    for k, penalty in enumerate(penalties, 1):
        momentum, value, change = 1.0, np.inf, np.inf
        while k == path or change >= 0.01:
            beta = (momentum - 1) / (momentum + 2)
            Z = LowRank(np.hstack([W.U, old.U]), np.hstack([(1 + beta) * W.s, -beta * old.s]), np.hstack([W.V, old.V]))
            W, old = shrunk(Moment(A, (b - A(Z)) / A.scale, Z), W, penalty, rng), W
            change = float(np.linalg.norm(lowrank.difference(Z, W))) / (float(np.linalg.norm(W.s)) or 1.0)
            rest, before = A(W) - b, value
            value = float(rest @ rest) / 2 + penalty * float(W.s.sum())
            note = penalty_note("shrinkage", shrinkage, " of the least penalty that gives 0", rest, b)
            yield Iterate(W, value, change if k == path else None, note if k == path else "")
            momentum = 1.0 if value > before else momentum + 1.0


def shrunk(M: Moment, W: LowRank, level: float, rng: Generator) -> LowRank:
    """Return M with singular values lowered by `level`, or to 0; W is near the leading part of M."""
    count, part = len(W.s) + 5, lowrank.zero(M.shape, 0)
    while len(part.s) < min(M.shape) and (part.s > level).all():
        # Whole decompositions are faster for more than a twentieth of the singular values.
        if 20 * count > min(M.shape):
            part = lowrank.from_dense(M.dense())
        else:
            start = random_block(M.shape[1], count, rng, M.dtype, W.V)
            part = leading(M.matmat, start, count, transposed=M.rmatmat, floor=level, settled=1e-13)[0]
        count *= 2
    return part.truncated(int((part.s > level).sum()))._replace(s=part.s[part.s > level] - level)

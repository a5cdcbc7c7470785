"""Soft-impute: completion of a table by the nuclear norm, along a path of penalties."""

from typing import Annotated, cast

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.entries import Entries
from lrlab.operators.krylov import leading, random_block
from lrlab.operators.operator import Moment
from lrlab.parameters import Parameter, number
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import solver
from lrlab.solvers.low_rank.completion import penalty_note, refuse_features

COARSE, SPARE, SHARE = 1e-2, 5, 20
"""Change that lets the path proceed to its next penalty, singular values sought beyond the number of the last step, and
their number, one in so many of all, above which a table is decomposed whole."""


@solver(models="inductive-completion", refuse=refuse_features)
def soft_impute(
    problem: LowRankData,
    *,
    shrinkage: Annotated[
        float, number(1e-8, 1, "last penalty relative to the least one that gives W = 0", symbol="λ/λ₀", scale="log")
    ] = 0.03,
    path: Annotated[int, number(1, 100, "penalties on the way to the last one, each a warm start")] = 10,
    accelerated: Annotated[bool, Parameter(meaning="extrapolate, restarted if the objective rises")] = True,
    rng: Generator,
) -> Iterates:
    r"""Soft-impute (nuclear norm).

    Convex completion by the nuclear norm along a path of penalties; needs no rank and no features.

    .. math:: W \leftarrow S_\lambda\bigl(Z + \mathcal A^*(b - \mathcal A(Z))\bigr), \quad Z = W + \beta (W - W')

    minimize    F(W) = sum_ij (W_ij - b_ij)^2 / 2 + lambda ||W||_*, over all W (n1, n2)
    update      W <- S_lambda(Z + A*(b - A(Z))), S_lambda lowers singular values;  Z = W + beta (W - W_old)
    path        lambda falls from ||A*(b)||_2 in equal ratios, whenever W moves by less than a hundredth
    converges   F - F* = O(1 / t), accelerated O(1 / t^2)
    cost        the k singular values above lambda of a sparse matrix plus one of low rank; memory O(m + (n1 + n2) k)

    Yields after each update: objective F; residual ||W - Z||_F / ||W||_F, which bounds half the distance of 0 from the
    subdifferential, none before the last lambda.

    Reference: Mazumder, Hastie, Tibshirani (2010), "Spectral regularization algorithms for learning large incomplete
    matrices", Algorithm 1; Yao & Kwok (2015), "Accelerated inexact soft-impute".
    """
    A, b = cast(Entries, problem.operator), problem.b
    W = old = lowrank.zero(A.shape, 0)
    greatest = float(np.linalg.norm(shrunk(A, W, b, 0.0, 1, rng).s, np.inf))
    levels = iter(greatest * np.geomspace(1.0, shrinkage, path + 1)[1:])
    level, momentum, value = next(levels), 1.0, np.inf
    while True:
        beta = (momentum - 1) / (momentum + 2) if accelerated else 0.0
        s = np.hstack([(1 + beta) * W.s, -beta * old.s])
        Z = LowRank(np.hstack([W.U, old.U]), s, np.hstack([W.V, old.V]))
        W, old = shrunk(A, Z, b, level, len(W.s) + SPARE, rng), W
        change = float(np.linalg.norm(lowrank.difference(Z, W))) / (float(np.linalg.norm(W.s)) or 1.0)
        rest, before, last = A(W) - b, value, level <= greatest * shrinkage * (1 + 1e-12)
        value = float(rest @ rest) / 2 + level * float(W.s.sum())
        note = penalty_note("shrinkage", shrinkage, " of the least penalty that gives 0", rest, b) if last else ""
        yield Iterate(W, value, change if last else None, note)
        momentum = 1.0 if value > before else momentum + 1.0
        if not last and change < COARSE:
            level, momentum, value = next(levels), 1.0, np.inf


def shrunk(A: Entries, Z: LowRank, b: Array, level: float, guess: int, rng: Generator) -> LowRank:
    """Return Z + A*(b - A(Z)) with singular values lowered by `level`, without those below it.

    It is sparse plus of low rank; `guess` is how many of its values are above the level.
    """
    M, n = Moment(A, (b - A(Z)) / A.scale, Z), min(A.shape)
    while True:
        if A.shape[0] * A.shape[1] <= 64**2 or SHARE * guess > n:
            U, s, V = lowrank.from_dense(M.dense())
            break
        start = random_block(A.shape[1], guess, rng, b.dtype, near=Z.V[:, : guess // 2 + 1])
        U, s, V = leading(M.matmat, start, guess, transposed=M.rmatmat, floor=level, settled=1e-13)[0]
        if s[-1] <= level or not level:
            break
        guess *= 2
    retained = int((s > level).sum())
    return LowRank(U[:, :retained], s[:retained] - level, V[:, :retained])

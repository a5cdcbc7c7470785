"""Completion of a table of low rank from some of its entries: soft-impute and alternating least squares."""

from typing import Annotated, NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.models.table_spec import TableSpec
from lrlab.operators.entries import Entries
from lrlab.operators.operator import unsettled
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import Options, SolverEntry
from lrlab.solvers.low_rank.requirements import BLOCK_BYTES, ranked_entry, refuse_features
from lrlab.solvers.low_rank.starts import leading_triples, spectral_start
from lrlab.solvers.methods.matrix_memory import block_bytes

DECOMPOSED = 64**2
"""Tables of up to so many entries are decomposed whole."""
SHARE = 20
"""From this share of all singular values on, decomposing the whole table is faster."""
SQUARED = 1e-4
SPARE = 5
EXACT = 1e-13
COARSE = 1e-2
"""Relative change at which the path proceeds to its next penalty."""


def als(
    problem: LowRankData,
    *,
    ridge: Annotated[float, Parameter(meaning="weight of (‖U‖² + ‖V‖²) / 2 in the objective", low=0, high=1e9)] = 0.1,
    rng: Generator,
) -> Iterates:
    r"""Complete a table W (n1, n2) of a known rank k from its entries b at m places.

    minimise    F(U, V) = sum over places (u_i^T v_j - b_ij)^2 / 2 + ridge (||U||_F^2 + ||V||_F^2) / 2
    start       the leading singular triples of the zero-filled table, shared evenly by U and V
    update      each row of V, then each of U, by its own k x k least squares; minimum norm where it is singular
    converges   F never rises. With a ridge its minima over large enough k are those of the nuclear norm

    Yields after each sweep: objective F; residual the change of the fit in the sweep relative to the misfit, 0 when
    the misfit is rounding error. Memory O((n1 + n2) k^2).
    Reference: Zhou, Wilkinson, Schreiber, Pan (2008), "Large-scale parallel collaborative filtering for the Netflix
    prize", section 3; Koren, Bell, Volinsky (2009), "Matrix factorization techniques for recommender systems".
    """
    A, b = problem.operator, problem.b
    W = spectral_start(A, b, problem.rank, rng)
    U = W.U * np.sqrt(W.s)
    fit = np.zeros_like(b)
    while True:
        V = A.solve_right(A.left(U), b, ridge)
        U = A.solve_left(A.right(V), b, ridge)
        fit, before = A.pair(A.left(U), A.right(V)), fit
        objective = (np.vdot(fit - b, fit - b) + ridge * (np.vdot(U, U) + np.vdot(V, V))) / 2
        note = penalty_note("ridge", ridge, "", fit - b, b) if ridge else ""
        yield Iterate(lowrank.from_product(U, V), float(objective), unsettled(fit - b, fit - before, b), note)


def soft_impute(
    problem: LowRankData,
    *,
    shrinkage: Annotated[
        float,
        Parameter(
            meaning="last penalty over the least one that gives W = 0", symbol="λ/λ₀", low=1e-8, high=1, scale="log"
        ),
    ] = 0.03,
    path: Annotated[
        int, Parameter(meaning="penalties on the way to the last one, each a warm start", low=1, high=100)
    ] = 10,
    accelerated: Annotated[
        bool, Parameter(meaning="extrapolate between iterations, restarted when the objective rises")
    ] = True,
    rng: Generator,
) -> Iterates:
    r"""Complete a table W (n1, n2) of unknown rank from its entries b at m places by the nuclear norm.

    minimise    F(W) = sum over places (W_ij - b_ij)^2 / 2 + lambda ||W||_*
    update      W <- S_lambda(Z + A*(b - A(Z))): the unseen entries are filled in from Z, singular values lowered by
                lambda. Z = W, or accelerated, Z = W + beta (W - W_old) with Nesterov's beta
    path        lambda falls from the norm of the zero-filled table in equal ratios, going on when W moves by less
                than a hundredth; the last one stays
    converges   F - F* = O(1 / t), accelerated O(1 / t^2)

    The table that is decomposed is sparse plus of low rank: block Krylov iteration from the last singular vectors
    finds the part above lambda by products in O(m k + (n1 + n2) k^2). The problem's rank is not used.
    Yields after each update: objective F at the present lambda; residual ||W - Z||_F / ||W||_F, which bounds half the
    distance of 0 from the subdifferential of F at W; none before the last lambda is reached.
    Reference: Mazumder, Hastie, Tibshirani (2010), "Spectral regularization algorithms for learning large incomplete
    matrices", Algorithm 1; Yao & Kwok (2015), "Accelerated inexact soft-impute"; Beck & Teboulle (2009), FISTA.
    """
    A, b = problem.operator, problem.b
    assert isinstance(A, Entries)
    state = old = Filled(lowrank.zero(A.shape, 0), np.zeros(A.size))
    greatest = float(np.linalg.norm(shrunk(A, state, b, 0.0, 1, rng).s, np.inf))
    penalties = iter(greatest * np.geomspace(1.0, shrinkage, path + 1)[1:])
    level, last = next(penalties), greatest * shrinkage
    momentum, value = 1.0, np.inf
    while True:
        beta = (momentum - 1) / (momentum + 2) if accelerated else 0.0
        Z = state.extrapolated(old, beta)
        W = shrunk(A, Z, b, level, len(state.W.s) + SPARE, rng)
        old, state = state, Filled(W, A.forward(W))
        change = float(np.linalg.norm(lowrank.difference(Z.W, W))) / (float(np.linalg.norm(W.s)) or 1.0)
        final = level <= last * (1 + 1e-12)
        rest = state.fit - b
        value, before = float(rest @ rest) / 2 + level * float(W.s.sum()), value
        note = penalty_note("shrinkage", shrinkage, " of the least penalty that gives 0", rest, b) if final else ""
        yield Iterate(W, value, change if final else None, note)
        momentum = 1.0 if value > before else momentum + 1.0
        if not final and change < COARSE:
            level, momentum, value = next(penalties), 1.0, np.inf


def penalty_note(option: str, weight: float, unit: str, rest: Array, b: Array) -> str:
    """Return what a penalty is and what it leaves of the entries, rest = A(W) - b, in one sentence."""
    left = np.linalg.norm(rest) / (np.linalg.norm(b) or 1.0)
    words = f"The minimum is that with the penalty {option} = {weight:g}{unit}"
    return f"{words}: it leaves a misfit of {left:.2g}, noise among it; a smaller {option} leaves less."


class Filled(NamedTuple):
    """A completed table W and its entries at the observed places; W may be a difference, so s may be negative."""

    W: LowRank
    fit: Array

    def extrapolated(self, old: "Filled", beta: float) -> "Filled":
        """Return W + beta (W - W_old), a sum of the terms of both."""
        if beta == 0.0:
            return self
        W, V = self.W, old.W
        terms = np.hstack([W.U, V.U]), np.concatenate([(1 + beta) * W.s, -beta * V.s]), np.hstack([W.V, V.V])
        return Filled(LowRank(*terms), (1 + beta) * self.fit - beta * old.fit)


def above(M: Array, level: float) -> LowRank:
    """Return the singular triples of M, at least all those above `level`."""
    # A Gram matrix keeps singular values to eps ||M||^2 / s only, but takes a fifth of the time.
    if M.size <= DECOMPOSED or level <= SQUARED * np.linalg.norm(M):
        return lowrank.from_dense(M)
    if M.shape[0] > M.shape[1]:
        V, s, U = above(M.T, level)
        return LowRank(U, s, V)
    values, vectors = np.linalg.eigh(M @ M.T)
    retained = np.flatnonzero(values > level**2)[::-1]
    s = np.sqrt(values[retained])
    return LowRank(vectors[:, retained], s, (M.T @ vectors[:, retained]) / s)


def shrunk(A: Entries, Z: Filled, b: Array, level: float, guess: int, rng: Generator) -> LowRank:
    """Return the table Z + A*(b - A(Z)) with singular values lowered by `level`, those below it left out."""
    S, W = A.sparse(b - Z.fit), Z.W
    left, transposed, smaller = W.left, S.T.tocsr(), min(A.shape)
    times, back = lambda V: left @ (W.V.T @ V) + S @ V, lambda U: W.V @ (left.T @ U) + transposed @ U
    while True:
        if A.shape[0] * A.shape[1] <= DECOMPOSED or SHARE * guess > smaller:
            triples = above(W.dense() + S.toarray(), level)
            break
        near = W.V[:, : guess // 2 + 1]
        triples = leading_triples(times, back, A.shape, guess, rng, b.dtype, near=near, floor=level, settled=EXACT)
        if triples.s[-1] <= level or not level:
            break
        guess *= 2
    retained = int((triples.s > level).sum())
    return LowRank(triples.U[:, :retained], triples.s[:retained] - level, triples.V[:, :retained])


def path_workspace(spec: TableSpec, options: Options) -> int:
    """Return bytes of tables of intermediate rank, decomposed whole where they are small."""
    n1, n2 = spec.table
    return block_bytes(spec, BLOCK_BYTES) + 64 * spec.measurements + 8 * 8 * min(n1 * n2, 400 * (n1 + n2))


def als_workspace(spec: TableSpec, options: Options) -> int:
    """Hold what is left of the entries, in two orders, and a normal matrix for each row of a factor."""
    k, (n1, n2) = spec.given_rank, spec.table
    return block_bytes(spec, BLOCK_BYTES) + 24 * spec.measurements + 8 * (n1 + n2) * (k * k + 4 * k)


ENTRIES = (
    SolverEntry(
        title="Soft-impute (nuclear norm)",
        update=r"W \leftarrow S_\lambda\bigl(Z + \mathcal A^*(b - \mathcal A(Z))\bigr), \quad Z = W + \beta (W -"
        r" W_{\text{old}}), \qquad S_\lambda \text{ lowers all singular values by } \lambda",
        summary="Convex completion by the nuclear norm along a path of penalties; needs no rank and no features.",
        run=soft_impute,
        models=("inductive-completion",),
        workspace=path_workspace,
        refuse=refuse_features,
    ),
    ranked_entry(
        title="Alternating least squares",
        update=r"v_j \leftarrow \arg\min_v \sum_{i \in \Omega_j} (u_i^\top v - b_{ij})^2 + \rho \|v\|^2, \qquad"
        r" u_i \leftarrow \arg\min_u \sum_{j \in \Omega_i} (u^\top v_j - b_{ij})^2 + \rho \|u\|^2",
        summary="Completion without features: every row of each factor by its own small least squares, with a ridge.",
        run=als,
        models=("inductive-completion",),
        workspace=als_workspace,
        refuse=refuse_features,
    ),
)

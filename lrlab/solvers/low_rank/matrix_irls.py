"""MatrixIRLS: completion of a table, with features or without, by least squares reweighted for low rank."""

from collections.abc import Callable
from typing import Annotated, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.sparse.linalg import LinearOperator, cg

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.models.table_spec import TableSpec
from lrlab.operators.entries import Entries
from lrlab.operators.orthonormal import Orthonormal
from lrlab.parameters import InputError, Parameter
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solver_entry import Options
from lrlab.solvers.low_rank.requirements import ranked_entry
from lrlab.solvers.low_rank.starts import leading_triples
from lrlab.solvers.low_rank.tangent import point, solved
from lrlab.solvers.low_rank.tangent_least_squares import stationarity

Measurements = Entries | Orthonormal

MOST_COMBINED = 4000
"""Entries with features up to which they are combined: for 4,000 of them the decomposition takes some seconds."""
DECOMPOSED = 200**2
"""Tables of up to so many entries are decomposed whole."""
SHARE = 20
"""From this share of all singular values on, decomposing the whole table is faster."""
LARGEST = 1000**2
"""Larger tables are never decomposed whole: that would take seconds, in which no run can be cancelled."""
LEAST_GAP = 1e-12
SETTLED = 1e-14
COARSEST, FINEST = 1e-3, 1e-14
"""Bounds of the accuracy of the weighted least-squares problem, relative to its right-hand side."""


def matrix_irls(
    problem: LowRankData,
    *,
    inner_tol: Annotated[
        float,
        Parameter(
            meaning="accuracy of a weighted least-squares problem, relative to eps over the largest singular value",
            low=1e-12,
            high=1,
            scale="log",
        ),
    ] = 1e-2,
    inner_steps: Annotated[
        int, Parameter(meaning="most conjugate-gradient steps in one iteration", low=1, high=100_000, scale="log")
    ] = 60,
    rng: Generator,
) -> Iterates:
    r"""Recover a matrix X (d1, d2) of rank about k from m entries b = A(X) of a table: X itself, or with features.

    minimise   F_eps(X) = sum_i f(sigma_i(X)) over X with A(X) = b; f(s) = log s from eps on, below
               log eps + (s^2 / eps^2 - 1) / 2: a smoothed log-determinant
    start      the X of least norm: zero beside the entries, without features
    update     eps <- min(eps, sigma_{k+1}(X)), with the weights w_ij = 1 / (max(sigma_i, eps) max(sigma_j, eps)) of
               U^T Z V in the singular bases of X:  X <- argmin <Z, W(Z)> over Z with A(Z) = b
    converges  quadratically near a table of rank k, whatever its singular values; no step can raise F_eps

    With the tangent space T of the r singular triples above eps, X = P_T(G) + what is left of the entries, where G
    minimises ||A(P_T(G)) - b||^2 + <G, v G>, v = eps^2 / (sigma_i sigma_j - eps^2) in the core,
    eps / (sigma_i - eps) beside it: conjugate gradients in r (d1 + d2) unknowns, with that diagonal as
    preconditioner, O(m r) each. The rank k decides eps alone. Entries with features are first combined so that they are
    orthonormal (`Orthonormal`), which entries of X itself are: O(m^3) once, O(m^2) a step, for at most 4,000 of them.
    Yields after each update the leading part of X, of rank k: objective ||A(W) - b||^2 / 2 there; residual the cosine
    between the misfit and what a step along the tangent gradient changes of it, which stays above 0 where noise makes
    X pass through entries that no matrix of rank k has. Ends FINISHED when X moves no more.
    Reference: Kuemmerle & Mayrink Verdun (2021), "A scalable second order method for ill-conditioned matrix completion
    from few samples", Algorithm 1 and its implementation in the tangent space (MatrixIRLS).
    """
    entries, given = problem.operator, problem.b
    assert isinstance(entries, Entries)
    A: Measurements = entries if entries.plain else Orthonormal(entries)
    b = given if isinstance(A, Entries) else A.combined(given)
    left, right = (np.zeros((n, 0)) for n in A.shape)
    eps, X = np.inf, Filled(left, right, left, right, b)
    while True:
        triples = X.triples(A, problem.rank + 1, rng)
        W = triples.truncated(problem.rank)
        at = point(entries, W, given)
        yield Iterate(W, at.objective, stationarity(entries, at, given), f"Smoothing eps {eps:.2e}.")
        if solved(at.misfit, given):
            return Stop.CONVERGED
        eps = min(eps, float(triples.s[-1]))
        above = triples.truncated(int((triples.s > eps * (1 + LEAST_GAP)).sum()))
        tol = min(max(inner_tol * eps / float(triples.s[0]), FINEST), COARSEST)
        new = reweighted(A, b, above, eps, X, tol, inner_steps)
        if not len(above.s) or new.distance(X) <= SETTLED * float(np.linalg.norm(triples.s)):
            return Stop.FINISHED
        X = new


class Filled(NamedTuple):
    """The matrix U L^T + R V^T + A*(rest): U, V orthonormal; without features, sparse with `rest` at the places."""

    U: Array
    L: Array
    R: Array
    V: Array
    rest: Array

    def times(self, A: Measurements, V: Array) -> Array:
        """Return the matrix times V (d2, any)."""
        return self.U @ (self.L.T @ V) + self.R @ (self.V.T @ V) + A.pull_left(self.rest, A.right(V))

    def transposed(self, A: Measurements, U: Array) -> Array:
        """Return the transposed matrix times U (d1, any)."""
        return self.L @ (self.U.T @ U) + self.V @ (self.R.T @ U) + A.pull_right(self.rest, A.left(U))

    def triples(self, A: Measurements, count: int, rng: Generator) -> LowRank:
        """Return the leading singular triples."""
        if decomposed_whole(A.shape, count):
            return lowrank.from_dense(self.U @ self.L.T + self.R @ self.V.T + A.adjoint(self.rest), count)
        near = self.V if self.V.shape[1] else None
        return leading_triples(
            lambda V: self.times(A, V),
            lambda U: self.transposed(A, U),
            A.shape,
            count,
            rng,
            A.dtype,
            near=near,
            settled=1e-12,
            checkpoint=A.checkpoint,
        )

    def distance(self, other: "Filled") -> float:
        """Return a bound on the Frobenius norm of the difference: that of its factors plus that of its entries."""
        left = np.hstack([self.U, self.R, -other.U, -other.R])
        right = np.hstack([self.L, self.V, other.L, other.V])
        factors = lowrank.from_product(left, right).s
        return float(np.linalg.norm(factors) + np.linalg.norm(self.rest - other.rest))


def decomposed_whole(shape: tuple[int, int], count: int) -> bool:
    """Return whether a table is decomposed whole for so many singular triples."""
    entries = shape[0] * shape[1]
    return entries <= DECOMPOSED or (entries <= LARGEST and SHARE * count > min(shape))


def reweighted(A: Measurements, b: Array, at: LowRank, eps: float, X: Filled, tol: float, limit: int) -> Filled:
    """Return the matrix of least <Z, W(Z)> that has the given measurements.

    A tangent vector U C V^T + B V^T + U D^T, B orthogonal to U and D to V, is the vector of the entries of C, B and D.
    """
    (U, s, V), beside = at, eps / (at.s - eps)
    (n1, n2), r = A.shape, len(s)
    weights = np.concatenate([(eps**2 / (np.outer(s, s) - eps**2)).ravel(), np.tile(beside, n1 + n2)])
    share, left_image, right_image = len(b) / (n1 * n2), A.left(U), A.right(V)

    def parts(G: Array) -> tuple[Array, Array, Array]:
        core, end = r * r, r * (r + n1)
        return G[:core].reshape(r, r), G[core:end].reshape(n1, r), G[end:].reshape(n2, r)

    def measured(G: Array) -> Array:
        C, B, D = parts(G)
        return A.pair(A.left(np.hstack([U @ C + B, U])), A.right(np.hstack([V, D])))

    def tangent(right: Array, left: Array) -> Array:
        C = U.T @ right
        return np.concatenate([C.ravel(), (right - U @ C).ravel(), (left - V @ C.T).ravel()])

    def pulled(rest: Array) -> Array:
        return tangent(A.pull_left(rest, right_image), A.pull_right(rest, left_image))

    def operator(by: Callable[[Array], Array]) -> LinearOperator:
        return LinearOperator((len(weights), len(weights)), matvec=by, dtype=weights.dtype)

    normal, eased = operator(lambda G: pulled(measured(G)) + weights * G), operator(lambda G: G / (share + weights))
    # Of a table that solves the problem for other weights, the part that these leave of it.
    start = tangent(X.times(A, V), X.transposed(A, U)) / (1 + weights)
    right = pulled(b)
    G, _ = cg(normal, right, start, rtol=tol, maxiter=limit, M=eased)
    # Past the accuracy of the arithmetic conjugate gradients may lead far away.
    if np.linalg.norm(normal @ G - right) > np.linalg.norm(normal @ start - right):
        G = start
    C, B, D = parts(G)
    return Filled(U, D, U @ C + B, V, b - measured(G))


def refuse_many_with_features(spec: TableSpec, options: Options) -> None:
    """Refuse so many entries with features that to combine them would take long at once."""
    if spec.values().get("features") != "canonical" and spec.measurements > MOST_COMBINED:
        expected = f"such that at most {MOST_COMBINED:,} entries with features are observed"
        got = f"{spec.values()['observed']:g}, which is {spec.measurements:,}"
        raise InputError("observed", expected, got, "take gauss-newton, which has no such limit")


ENTRY = ranked_entry(
    name="matrix-irls",
    title="MatrixIRLS (log-determinant)",
    update=r"X \leftarrow \arg\min_{Z_\Omega = b} \langle Z, \mathcal W(Z) \rangle, \quad \mathcal W(Z) = U"
    r" \bigl(w \circ U^\top Z V\bigr) V^\top, \quad w_{ij} = \frac{1}{\max(\sigma_i, \epsilon) \max(\sigma_j,"
    r" \epsilon)}",
    summary="Reweighted least squares for a smoothed log-determinant: the first to try without features, whatever the "
    "condition; with features for up to 4,000 entries.",
    run=matrix_irls,
    models=("inductive-completion",),
    memory=1.5,
    # With features, the products of all pairs of measurements.
    matrix=lambda spec, options: 0 if spec.size == spec.table else spec.measurements**2 // 2,
    refuse=refuse_many_with_features,
)

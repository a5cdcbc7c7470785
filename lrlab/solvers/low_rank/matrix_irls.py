"""MatrixIRLS: completion of a table without features, by least squares reweighted for low rank."""

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.krylov import nearest
from lrlab.operators.operator import Moment
from lrlab.operators.tangent import point, solved, stationarity
from lrlab.solver_entry import Generator, Iterate, Iterates, Stop, solver
from lrlab.solvers.low_rank.completion import refuse_features


@solver(models="inductive-completion", oracle="rank", memory=1.5, refuse=refuse_features)
def matrix_irls(problem: LowRankData, *, rng: Generator) -> Iterates:
    r"""MatrixIRLS (log-determinant).

    Reweighted least squares for a smoothed log-determinant: the first to try without features, whatever the condition
    number.

    .. math:: X \leftarrow \arg\min_{Z_\Omega = b} \langle Z, \mathcal W(Z) \rangle, \quad
        \mathcal W(Z) = U \bigl(w \circ U^\top Z V\bigr) V^\top, \quad
        w_{ij} = \frac{1}{\max(\sigma_i, \epsilon) \max(\sigma_j, \epsilon)}

    minimize    F_eps(X) = sum_i f(sigma_i(X)) over X (d1, d2) with A(X) = b; f(s) = log s from eps on, below
                log eps + (s^2 / eps^2 - 1) / 2: a smoothed log-determinant
    start       the X of least norm, zero except at the entries
    update      eps <- min(eps, sigma_{k+1}(X)), with the weights w_ij = 1 / (max(sigma_i, eps) max(sigma_j, eps)) of
                U^T Z V in the singular bases of X:  X <- argmin <Z, W(Z)> over Z with A(Z) = b
    converges   quadratically near a table of rank k, whatever its singular values; no step can raise F_eps
    cost        O(m r) per conjugate gradient

    With the tangent space T of the r singular triples above eps, X = P_T(G) + the residual of the entries, and G
    minimizes ||A(P_T(G)) - b||^2 + <G, v G>, v = eps^2 / (sigma_i sigma_j - eps^2) in the core, eps / (sigma_i - eps)
    elsewhere: conjugate gradients in r (d1 + d2) variables, with that diagonal as preconditioner. Yields after each
    update the leading part of X, of rank k: objective ||A(W) - b||^2 / 2, residual its `stationarity`, above 0 if noise
    remains. Ends FINISHED when X moves no more.

    Reference: Kuemmerle & Mayrink Verdun (2021), "A scalable second order method for ill-conditioned matrix completion
    from few samples", Algorithm 1 and its implementation in the tangent space (MatrixIRLS).
    """
    A, b = problem.operator, problem.b
    eps, W = np.inf, lowrank.zero(A.shape, 0)
    X = Moment(A, b / A.scale, W)
    while True:
        triples = nearest(X, problem.rank + 1, rng, settled=1e-12)
        W, before, s = triples.truncated(problem.rank), W, triples.s
        at = point(A, W, b)
        yield Iterate(W, at.objective, stationarity(A, at, b), f"Smoothing eps {eps:.2e}.")
        if solved(at.d, b):
            return Stop.CONVERGED
        eps = min(eps, float(s[-1]))
        above = triples.truncated(int((s > eps * (1 + 1e-12)).sum()))
        if not len(above.s) or np.linalg.norm(lowrank.difference(W, before)) <= 1e-14 * np.linalg.norm(s):
            return Stop.FINISHED
        X = reweighted(X, b, above, eps, min(max(0.01 * eps / float(s[0]), 1e-14), 1e-3), 60)


def reweighted(X: Moment, b: Array, at: LowRank, eps: float, tol: float, limit: int) -> Moment:
    """Return the matrix of least <Z, W(Z)> with given measurements; U C V^T + B V^T + U D^T is stored as C, B and D."""
    A, (U, s, V), beside = X.A, at, eps / (at.s - eps)
    (n1, n2), r = A.shape, len(s)
    weights = np.concatenate([(eps**2 / (np.outer(s, s) - eps**2)).ravel(), np.tile(beside, n1 + n2)])
    fraction, left_image, right_image = len(b) / (n1 * n2), A.left(U), A.right(V)

    def factors(G: Array) -> tuple[Array, Array]:
        C, B, D = (part.reshape(-1, r) for part in np.split(G, [r * r, r * (r + n1)]))
        return np.hstack([U @ C + B, U]), np.hstack([V, D])

    def tangent(right: Array, left: Array) -> Array:
        C = U.T @ right
        return np.concatenate([C.ravel(), (right - U @ C).ravel(), (left - V @ C.T).ravel()])

    def measured(G: Array) -> Array:
        left, right = factors(G)
        return A.pair(A.left(left), A.right(right))

    pulled = lambda rest: tangent(A.pull_left(rest, right_image), A.pull_right(rest, left_image))  # noqa: E731
    size = len(weights), len(weights)
    normal = LinearOperator(size, lambda G: pulled(measured(G)) + weights * G, dtype=weights.dtype)
    eased = LinearOperator(size, lambda G: G / (fraction + weights), dtype=weights.dtype)
    # Of a table that solves the problem for other weights, the part that these leave of it.
    start = tangent(X @ V, X.rmatmat(U)) / (1 + weights)
    right = pulled(b)
    G, _ = cg(normal, right, start, rtol=tol, maxiter=limit, M=eased)
    # Past the accuracy of the arithmetic conjugate gradients may lead far away.
    if np.linalg.norm(normal @ G - right) > np.linalg.norm(normal @ start - right):
        G = start
    L, R = factors(G)
    return Moment(A, (b - measured(G)) / A.scale, LowRank(L, np.ones(2 * r), R))

"""Quantities of theorems that no solver computes: numbers of what is drawn from a spec, each with its parts by name."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, svds

from lrlab.arrays import Array
from lrlab.models.low_rank_problem import orthonormal
from lrlab.operators.rank_one import weighted_gram

Parts = dict[str, float]


def properties(spec: Any) -> Parts:
    """Return what Properties 1-3 bound by delta (Jain & Dhillon 2013, Theorem 1), of a drawn rank-one operator.

    start: ||S - W|| / ||W|| with S = (1/m) sum b_i A_i; B: ||B_y - I||; G: ||G_y||, for orthogonal unit vectors u that
    are drawn for themselves. B_x and G_x have the same law where d1 = d2.
    """
    problem = spec.build()
    A, W = problem.operator, problem.truth
    P = A.left(orthonormal(np.random.default_rng(spec.streams().solver), spec.d1, 2))
    B, G = (weighted_gram(A.Y, weights, A.Y) / spec.m for weights in (P[:, 0] ** 2, P[:, 0] * P[:, 1]))
    gaps = {"start": (A.moment(problem.b) - W.dense()) / W.s[0], "B": B - np.eye(spec.d2), "G": G}
    return {name: float(np.linalg.norm(gap, 2)) for name, gap in gaps.items()}


def isometry(spec: Any) -> Parts:
    """Return ||A(Z)||^2 / (m ||Z||_F^2) for two rank-one Z (Jain & Dhillon 2013, Claim 3).

    high: of Z = x_1 y_1^T, or of the leading singular pair of a dense A_1; low: of one that is drawn for itself. Dense
    measurements of a Z that is independent of them are standard normal, and are drawn as such: A is never formed.
    """
    if spec.operator == "dense":
        rng = np.random.default_rng(spec.streams().data)
        first = np.linalg.norm(rng.standard_normal((spec.d1, spec.d2)), 2)
        high, low = (rng.standard_normal(spec.m) for _ in range(2))
        high[0] = first
    else:
        A, rng = spec.build().operator, np.random.default_rng(spec.streams().solver)
        vectors = (A.X[0], A.Y[0]), (rng.standard_normal(spec.d1), rng.standard_normal(spec.d2))
        high, low = ((A.X @ u) * (A.Y @ v) / np.linalg.norm(u) / np.linalg.norm(v) for u, v in vectors)
    return {"high": float(np.mean(high**2)), "low": float(np.mean(low**2))}


def generalisation_gaps(spec: Any) -> Parts:
    """Return sqrt(n) (L(Z) - L_n(Z)) of the empirical minimisers of Claims 7 and 8 (Yu et al. 2014, appendix C).

    One label of each row is seen, losses are linear, balls have radius 1. frobenius, trace: over either ball where the
    features are d signs over sqrt(d); line: over both where they are signs along one direction.
    """
    rng = np.random.default_rng(spec.streams().data)
    label = rng.integers(spec.labels, size=spec.n)
    signs = rng.integers(0, 2, size=(spec.n, spec.d)) * 2.0 - 1.0
    X = csr_array((np.ones(spec.n), (label, np.arange(spec.n))), shape=(spec.labels, spec.n)) @ signs
    line = np.bincount(label, signs[:, 0], minlength=spec.labels)
    root = np.sqrt(spec.n)
    whole, largest = np.linalg.norm(X), np.linalg.norm(X, 2)
    return {
        "frobenius": float(whole / np.sqrt(spec.d) / root),
        "trace": float(largest / np.sqrt(spec.d) / root),
        "line": float(np.linalg.norm(line) / root),
    }


def contraction(spec: Any) -> Parts:
    """Return q = 2 rho (Soltani & Hegde 2018, Definition 1 and Theorem 4) of a drawn network, in two senses.

    fixed: of L_1 - L_2 = L in the spectral norm, as the definition has it. tangent: of the worst direction of the
    tangent space at L, whose matrices have rank 2r, in the Frobenius norm: these are where iterates near L differ.
    """
    problem = spec.build()
    A, L, p = problem.operator, problem.truth, spec.p
    ones = A.adjoint(np.ones(spec.m)) * A.scale
    P = L.U @ L.U.T

    def projected(z: Array) -> Array:
        Z = z.reshape(p, p)
        PZ = P @ (Z + Z.T) / 2.0
        return PZ + PZ.T - PZ @ P

    def deviation(Z: Array) -> Array:
        return Z - A.moment(A.pair(A.left(Z), A.X))

    def transposed(Z: Array) -> Array:
        r = A.pair(A.left(Z), A.X)
        return Z - A.scale * A.adjoint(r) + np.trace(Z) * ones

    restricted = LinearOperator(
        (p * p, p * p),
        matvec=lambda z: projected(deviation(projected(z))).ravel(),
        rmatvec=lambda z: projected(transposed(projected(z))).ravel(),
        dtype=float,
    )
    start = np.random.default_rng(spec.streams().solver).standard_normal(p * p)
    (worst,) = svds(restricted, k=1, tol=1e-2, v0=start, return_singular_vectors=False)
    fixed = np.linalg.norm(deviation(L.dense()), 2) / np.abs(L.s).max()
    return {"fixed": 2.0 * float(fixed), "tangent": 2.0 * float(worst)}


def statistical_error(spec: Any) -> Parts:
    """Return both terms of the statistical error (Soltani & Hegde 2018, eq. 6): |1^T e| / m and ||A*(e)|| / m."""
    problem = spec.build()
    e = problem.b - problem.operator.forward(problem.truth)
    moment = np.linalg.norm(problem.operator.adjoint(e), 2)
    return {"mean": float(abs(e.sum()) / spec.m), "moment": float(moment / spec.m)}


class Quantity(NamedTuple):
    """What is computed of a spec on the seed of a trial, and the names of its parts."""

    parts_of: Callable[[Any], Parts]
    parts: tuple[str, ...]


QUANTITIES: dict[str, Quantity] = {
    "properties": Quantity(properties, ("start", "B", "G")),
    "isometry": Quantity(isometry, ("high", "low")),
    "generalisation-gaps": Quantity(generalisation_gaps, ("frobenius", "trace", "line")),
    "statistical-error": Quantity(statistical_error, ("mean", "moment")),
    "contraction": Quantity(contraction, ("fixed", "tangent")),
}
"""By name."""

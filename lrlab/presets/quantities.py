"""Quantities in theorems that no solver computes: numbers of simulated data, each with its parts by name."""

import math
from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, svds

from lrlab.arrays import Array
from lrlab.models.low_rank_problem import orthonormal
from lrlab.operators.rank_one import weighted_gram
from lrlab.presets.label_quantities import (
    Parts,
    frequency_gaps,
    generalisation_gaps,
    perturbation,
    rank_distances,
    rank_fits,
    sign_moments,
)
from lrlab.presets.products import PRODUCTS, fast_products, threaded_products
from lrlab.runs.job import make_job
from lrlab.runs.run import Newest, run_job


def properties(spec: Any) -> Parts:
    """Return the quantities in Properties 1-3 (Jain & Dhillon 2013, Theorem 1) for a random rank-one operator.

    start: ||S - W|| / ||W|| with S = (1/m) sum b_i A_i; B: ||B_y - I||; G: ||G_y||, for independent orthogonal unit
    vectors u. B_x and G_x have the same distribution if d1 = d2.
    """
    problem = spec.build()
    A, W = problem.operator, problem.truth
    P = A.left(orthonormal(np.random.default_rng(spec.streams().solver), spec.d1, 2))
    B, G = (weighted_gram(A.Y, weights, A.Y) / spec.m for weights in (P[:, 0] ** 2, P[:, 0] * P[:, 1]))
    gaps = {"start": (A.moment(problem.b).dense() - W.dense()) / W.s[0], "B": B - np.eye(spec.d2), "G": G}
    return {name: float(np.linalg.norm(gap, 2)) for name, gap in gaps.items()}


def isometry(spec: Any) -> Parts:
    """Return ||A(Z)||^2 / (m ||Z||_F^2) for two rank-one Z (Jain & Dhillon 2013, Claim 3).

    high: Z = x_1 y_1^T, or the leading singular pair of a dense A_1; low: an independent Z. Dense measurements of an
    independent Z are standard normal, so lrlab simulates them without A.
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


def contraction(spec: Any) -> Parts:
    """Return q = 2 rho (Soltani & Hegde 2018, Definition 1 and Theorem 4) of a random network, in two senses.

    fixed: for L_1 - L_2 = L in the spectral norm, as in the definition. tangent: for the worst direction of the tangent
    space at L = U diag(s) U^T in the Frobenius norm. The space contains the differences of iterates near L, and
    matrices of rank 2r. A direction is U S U^T + N U^T + U N^T with N orthogonal to U,
    stored as U S + 2^(1/2) N (p, r).
    """
    problem = spec.build()
    A, L, p, r = problem.operator, problem.truth, spec.p, spec.r
    U, X, XU = L.U, A.X, A.X @ L.U
    ones = A.scale * (X.T @ XU)

    def parts(g: Array) -> tuple[Array, Array]:
        """Return S and N of a direction, projected on the tangent space."""
        G = g.reshape(p, r)
        S = U.T @ G
        return (S + S.T) / 2.0, (G - U @ S) / math.sqrt(2.0)

    def stored(WU: Array) -> Array:
        """Return the projection of a symmetric W on the tangent space, from W U."""
        S = U.T @ WU
        return (U @ S + math.sqrt(2.0) * (WU - U @ S)).ravel()

    def rest(S: Array, N: Array, image: Array) -> Array:
        """Return (W - A*(image)) U of a direction W, without the trace term."""
        return U @ S + N - A.scale * (X.T @ (image[:, None] * XU))

    def image_of(S: Array, N: Array) -> Array:
        return np.einsum("ij,ij->i", XU @ S + 2.0 * (X @ N), XU)

    def deviation(g: Array) -> Array:
        S, N = parts(g)
        image = image_of(S, N)
        return stored(rest(S, N, image) + A.scale * image.sum() * U)

    def transposed(g: Array) -> Array:
        S, N = parts(g)
        return stored(rest(S, N, image_of(S, N)) + np.trace(S) * ones)

    restricted = LinearOperator((p * r, p * r), matvec=deviation, rmatvec=transposed, dtype=float)
    start = np.random.default_rng(spec.streams().solver).standard_normal(p * r)
    (worst,) = svds(restricted, k=1, tol=1e-2, v0=start, return_singular_vectors=False)
    fixed = np.linalg.norm(L.dense() - A.moment(A(L)).dense(), 2) / np.abs(L.s).max()
    return {"fixed": 2.0 * float(fixed), "tangent": 2.0 * float(worst)}


def statistical_error(spec: Any) -> Parts:
    """Return both terms of the statistical error (Soltani & Hegde 2018, eq. 6): |1^T e| / m and ||A*(e)|| / m."""
    problem = spec.build()
    e = problem.b - problem.operator(problem.truth)
    moment = np.linalg.norm(problem.operator.adjoint(e), 2)
    return {"mean": float(abs(e.sum()) / spec.m), "moment": float(moment / spec.m)}


def link_gap(spec: Any) -> Parts:
    """Return phi: |phi| of the link, the eigengap of E[M/4] (Yi et al. 2015, eq. 3.1)."""
    return {"phi": abs(float(spec.link_function.moments.phi))}


WS = 8
"""Matrices per set of measurements."""
SWEEPS, RECOVERED = 300, 0.01
"""Most sweeps of alternating minimization, and the largest relative error of a recovered matrix."""


def many_matrices(spec: Any) -> Parts:
    """Return the fraction of several W that alternating minimization recovers (Jain & Dhillon 2013, section 3.1).

    fixed: with one rank-one operator for all; fresh: with a new operator for each.
    """
    specs = [spec.replace(seed=int(seed)) for seed in spec.streams().data.generate_state(WS)]
    first, parts = specs[0].build().operator, {}
    for name in ("fixed", "fresh"):
        recovered = 0
        for own in specs:
            problem, job = own.build(), make_job(own, "altmin")
            if name == "fixed":
                problem.operator = first
            rng = np.random.default_rng(own.streams().solver)
            iterates = islice(job.entry.run(problem, **dict(job.options), rng=rng), SWEEPS)
            recovered += any(problem.score(one.estimate)["error"] < RECOVERED for one in iterates)
        parts[name] = recovered / WS
    return parts


def convex_rank(spec: Any) -> Parts:
    """Return rank and error of the solution of the nuclear-norm program (Soltani & Hegde 2018, section 1: improper).

    rank: eigenvalues above a thousandth of the largest; error: relative, in the spectral norm.
    """
    job = make_job(spec, "nuclear-norm", mu_share=1e-3, max_iter=2000, tol=1e-5)
    run = run_job(job, newest=Newest())
    estimate: Any = run.estimate
    s = np.abs(estimate.s)
    return {"rank": float(np.sum(s > 1e-3 * s.max())), "error": run.metrics["spectral_error"]}


class Quantity(NamedTuple):
    """A function of a spec with the seed of a trial, and the names of its parts.

    along: names of PLACES that the function takes in addition to the spec, or "".
    """

    parts_of: Callable[..., Parts]
    parts: tuple[str, ...]
    along: str = ""


QUANTITIES: dict[str, Quantity] = {
    "properties": Quantity(properties, ("start", "B", "G")),
    "isometry": Quantity(isometry, ("high", "low")),
    "generalisation-gaps": Quantity(generalisation_gaps, ("frobenius", "trace", "line")),
    "frequency-gaps": Quantity(frequency_gaps, ("frobenius", "trace"), "frequency"),
    "rank-fits": Quantity(rank_fits, ("closed",)),
    "rank-distances": Quantity(rank_distances, ("leml",), "weight"),
    "perturbation": Quantity(perturbation, ("norm", "ratio"), "distance"),
    "sign-moments": Quantity(sign_moments, ("matrix", "length"), "distance"),
    "statistical-error": Quantity(statistical_error, ("mean", "moment")),
    "link-gap": Quantity(link_gap, ("phi",)),
    "many-matrices": Quantity(many_matrices, ("fixed", "fresh")),
    "convex-rank": Quantity(convex_rank, ("rank", "error")),
    "fast-products": Quantity(fast_products, PRODUCTS, "features_per_row"),
    "threaded-products": Quantity(threaded_products, PRODUCTS, "threads"),
    "contraction": Quantity(contraction, ("fixed", "tangent")),
}
"""By name."""

"""Quantities in theorems: numbers of simulated data that no solver computes, each with its parts by name, and formulas.

Preset files have formulas for lines in figures and for positions on an axis.
"""

import ast
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from itertools import islice
from timeit import timeit
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.sparse import csr_array, diags_array, hstack
from scipy.sparse.linalg import LinearOperator, svds

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.low_rank_problem import orthonormal
from lrlab.models.multilabel import MultilabelProblem
from lrlab.operators.rank_one import weighted_gram
from lrlab.runs.job import cores, make_job
from lrlab.runs.run import run_job
from lrlab.solvers.multilabel.labels import SQUARED, Labels
from lrlab.solvers.multilabel.leml_steps import Risk
from lrlab.theory import spiked

Parts = dict[str, float]
SLOPE = math.sqrt(2.0 / math.pi)
"""lambda = E|g|, g ~ N(0, 1) (Qiu et al. 2017, Lemma 1)."""
WS = 8
"""Matrices per set of measurements."""
SWEEPS, RECOVERED = 300, 0.01
"""Most sweeps of alternating minimization, and the largest relative error of a recovered matrix."""
PRODUCTS, REPEATS = ("gradient", "hessian"), 7
"""The timed products of LEML with the factor W, and how many times each is timed."""
Actions = tuple[Callable[[], Array], Callable[[], Array]]
"""The gradient, and the Hessian product."""


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

    def applied(g: Array, transposed: bool = False) -> Array:
        """Return the projection of W minus the debiased moment of its measurements, W a direction."""
        G = g.reshape(p, r)
        S, N = (U.T @ G + G.T @ U) / 2.0, (G - U @ (U.T @ G)) / math.sqrt(2.0)
        WU = U @ S + N
        image = np.einsum("ij,ij->i", X @ (WU + N), XU)
        trace = np.trace(S) * ones if transposed else A.scale * image.sum() * U
        moved = WU - A.scale * (X.T @ (image[:, None] * XU)) + trace
        along = U @ (U.T @ moved)
        return (along + math.sqrt(2.0) * (moved - along)).ravel()

    restricted = LinearOperator((p * r, p * r), matvec=applied, rmatvec=partial(applied, transposed=True), dtype=float)
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
    run = run_job(job, scored=())
    estimate: Any = run.estimate
    s = np.abs(estimate.s)
    return {"rank": float(np.sum(s > 1e-3 * s.max())), "error": run.metrics["spectral_error"]}


def generalisation_gaps(spec: Any, largest: float | None = None) -> Parts:
    """Return sqrt(n) (L(Z) - L_n(Z)) at the empirical minimizers in Claims 7 and 8 (Yu et al. 2014, appendix C).

    Each row shows one label, losses are linear, balls have radius 1. frobenius, trace: over the ball of that norm, with
    d random signs over sqrt(d) as features; line: over both balls, with random signs along one direction.
    A row shows the first label with probability `largest`, and the others uniformly: P in Theorem 6, from 1 / labels
    to 1. Without `largest`, it shows all labels uniformly.
    """
    rng = np.random.default_rng(spec.streams().data)
    label = rng.integers(largest is not None, spec.labels, size=spec.n)
    if largest is not None:
        label = np.where(rng.random(spec.n) < largest, 0, label)
    signs = rng.integers(0, 2, size=(spec.n, spec.d)) * 2.0 - 1.0
    X = csr_array((np.ones(spec.n), (label, np.arange(spec.n))), shape=(spec.labels, spec.n)) @ signs
    line, root = np.bincount(label, signs[:, 0], minlength=spec.labels), np.sqrt(spec.n)
    return {
        "frobenius": float(np.linalg.norm(X) / np.sqrt(spec.d) / root),
        "trace": float(np.linalg.norm(X, 2) / np.sqrt(spec.d) / root),
        "line": float(np.linalg.norm(line) / root),
    }


def rank_fits(spec: Any) -> Parts:
    """Return closed: min ||Y - X Z||_F^2 / 2 over Z of rank k, by the singular values of U_X^T Y (Yu et al., eq. 3)."""
    problem: Any = spec.build()
    Y = problem.Y.toarray()
    s = np.linalg.svd(np.linalg.qr(problem.X)[0].T @ Y, compute_uv=False)
    return {"closed": float((np.vdot(Y, Y) - np.vdot(s[: spec.rank], s[: spec.rank])) / 2.0)}


def rank_distances(spec: Any, weight: float) -> Parts:
    """Return leml: the relative excess of LEML's squared residual norm with a weight lambda over the smallest one."""
    problem = spec.build()
    job = make_job(spec, "leml-squared", regularization=weight, inner="exact", tol=1e-10, max_iter=1000)
    # Only the last iterate is scored.
    Z: Any = run_job(job, scored=()).estimate
    gap = problem.Y.toarray() - (problem.X @ Z.left) @ Z.V.T
    return {"leml": float(np.vdot(gap, gap)) / 2.0 / rank_fits(spec)["closed"] - 1.0}


def perturbation(spec: Any, distance: float) -> Parts:
    """Return the quantities in Theorem 2 (Qiu et al. 2017), for a W' at a spectral distance from W and a random batch.

    norm: ||(sqrt(d2) / (lambda m)) (A'(sign A(W)) - A'(sign A(W'))) - (W - W')||; ratio: norm over the larger of
    ||W - W'|| and its square root. W' has columns of length 1 and rank at most 2k.
    """
    problem = spec.build()
    W = problem.truth
    other = at_distance(W, np.random.default_rng(spec.streams().solver), distance)
    total = np.zeros((spec.d2, spec.d1))
    for samples in problem.blocks(0):
        samples.add_moment(np.sign(samples.margins(W)) - np.sign(samples.margins(other)), total)
    moment = total.T / (problem.signs_per_label * SLOPE)
    norm = float(np.linalg.norm(moment - (W.dense() - other.dense()), 2))
    return {"norm": norm, "ratio": norm / max(distance, math.sqrt(distance))}


def at_distance(W: LowRank, rng: np.random.Generator, distance: float) -> LowRank:
    """Return W + t D with normalized columns and ||W - W'|| = `distance`, D a random matrix of the rank of W."""
    U, V = (rng.standard_normal((side, len(W.s))) for side in W.shape)
    D = lowrank.columns_normalized(lowrank.from_product(U, V))

    def moved(t: float) -> LowRank:
        return lowrank.columns_normalized(lowrank.from_product(np.hstack([W.left, t * D.left]), np.hstack([W.V, D.V])))

    def excess(t: float) -> float:
        return float(np.linalg.norm(W.dense() - moved(t).dense(), 2)) - distance

    return moved(brentq(excess, 0.0, 10.0, xtol=1e-6 * distance))


def sign_moments(spec: Any, distance: float) -> Parts:
    """Return both sides of Lemma 2 (Qiu et al. 2017) over ||w - w'||, as means over m samples with different signs.

    matrix: ||E gg^T |sign<g, w> - sign<g, w'>|^2||; length: E ||g||^2 |..|^2 / d1. The signs differ with probability
    angle / pi; then the part of g in the plane of w and w' points between them, with an independent length.
    """
    rng, angle = np.random.default_rng(spec.streams().data), 2.0 * math.asin(distance / 2.0)
    plane = orthonormal(rng, spec.d1, 2)
    g = rng.standard_normal((spec.m, spec.d1))
    direction = rng.uniform(math.pi / 2.0, math.pi / 2.0 + angle, spec.m)
    own = g @ plane
    turned = np.linalg.norm(own, axis=1)[:, None] * np.column_stack([np.cos(direction), np.sin(direction)])
    g += (turned - own) @ plane.T
    share: float = 4.0 * angle / math.pi / distance
    matrix = float(np.linalg.norm(g.T @ g / spec.m, 2))
    return {"matrix": share * matrix, "length": share * float(np.vdot(g, g)) / spec.m / spec.d1}


def fast_products(spec: Any, features: float) -> Parts:
    """Return the speed-up of LEML's fast products (Yu et al. 2014, eq. 10 and 11), with so many nonzero features a row.

    The gradient and the Hessian product of the factor W (eq. 8 and 9) on simulated rows, squared loss, against products
    with a stored table of the rows h_j (x) x_i.
    """
    spec = spec.replace(density=features / spec.d)
    problem, factors = spec.build(), _factors(spec)
    return _speed_ups(direct(problem, *factors), in_parts(problem, *factors, 1))


def threaded_products(spec: Any, threads: float) -> Parts:
    """Return the speed-up of both products on threads over one; nothing if there are fewer cores."""
    if threads > cores():
        return {}
    problem, factors = spec.build(), _factors(spec)
    with ThreadPoolExecutor(int(threads)) as pool:
        return _speed_ups(in_parts(problem, *factors, 1), in_parts(problem, *factors, int(threads), pool.map))


def _factors(spec: Any) -> tuple[Array, Array, Array]:
    """Return W, a direction S and H."""
    rng = np.random.default_rng(spec.seed)
    W, S, H = (rng.standard_normal((size, spec.rank)) for size in (spec.d, spec.d, spec.labels))
    return W, S, H


def _speed_ups(slow: Actions, fast: Actions) -> Parts:
    """Return the ratios of median times, taken in turn."""
    ratios = {}
    for name, *pair in zip(PRODUCTS, slow, fast, strict=True):
        seconds = [[timeit(action, number=1) for action in pair] for _ in range(REPEATS + 1)][1:]
        ratios[name] = float(np.divide(*np.median(seconds, axis=0)))
    return ratios


def in_parts(problem: MultilabelProblem, W: Array, S: Array, H: Array, count: int, run: Any = map) -> Actions:
    """Return the fast products of rows in parts; run: `map`, or the same on threads."""
    cuts = np.linspace(0, len(problem.Y.indptr) - 1, count + 1).astype(int)
    parts = []
    for rows in map(slice, cuts, cuts[1:]):
        own: Any = SimpleNamespace(X=problem.X[rows], Y=problem.Y[rows], mask=problem.mask[rows], intercept=False)
        parts.append(Risk(Labels(own, SQUARED), 0.0).of_features(H)[1])
    products = [derivatives(W)[1] for derivatives in parts]
    return (
        lambda: sum(run(lambda derivatives: derivatives(W)[0], parts)),
        lambda: sum(run(lambda product: product(S), products)),
    )


def direct(problem: MultilabelProblem, W: Array, S: Array, H: Array) -> Actions:
    """Return both with a stored table of the rows h_j (x) x_i, one for each label observed (eq. 8 and 9)."""
    rows, columns = problem.mask.nonzero()
    Z = csr_array(hstack([diags_array(H[columns, c]) @ problem.X[rows] for c in range(H.shape[1])]))
    y, w, s = problem.Y.toarray()[rows, columns], W.T.ravel(), S.T.ravel()
    shape = W.shape[::-1]
    return lambda: (Z.T @ (Z @ w - y)).reshape(shape).T, lambda: (Z.T @ (Z @ s)).reshape(shape).T


QUANTITIES: dict[str, Callable[..., Parts]] = {
    function.__name__.replace("_", "-"): function
    for function in (properties, isometry, contraction, statistical_error, link_gap, many_matrices, convex_rank)
    + (generalisation_gaps, rank_fits, rank_distances, perturbation, sign_moments, fast_products, threaded_products)
}
"""Functions of a spec with the seed of a trial, and of the place if the axis is not a parameter, by name."""


def evaluated(formula: str, specs: Sequence[Any], x: ArrayLike = math.nan) -> Array:
    """Return a formula, such as "2 * noise * sqrt(p / m)" or "0.5**x", at each of the specs.

    Its names are attributes of the specs, FUNCTIONS of these, `pi`, and `x`: the positions on an axis that is not a
    parameter, such as the iteration. pandas evaluates it, with functions such as `sqrt` and `log`. pandas is no
    sandbox: formulas come from lrlab's own files.
    """
    places = np.broadcast_to(x, len(specs))
    values: dict[str, Any] = {"pi": math.pi, "x": places}
    for name in {node.id for node in ast.walk(ast.parse(formula)) if isinstance(node, ast.Name)}:
        if name in FUNCTIONS:
            values[name] = np.array([FUNCTIONS[name](*one) for one in zip(specs, places.tolist(), strict=True)])
        elif hasattr(specs[0], name):
            values[name] = np.array([getattr(spec, name) for spec in specs], float)
    numbers = pd.eval(formula, local_dict=values, global_dict={}, engine="python")
    return np.broadcast_to(np.asarray(numbers, float), len(specs))


@lru_cache(maxsize=1024)
def pairwise_limit(spec: Any) -> float:
    """Return the exact limit of Algorithm 1's error, sqrt(2 - 2 <b, b-hat>), for large p at a fixed n/p.

    Reference: `theory.spiked`.
    """
    overlap = spiked.predict(spec.link_function.moments, spec.n / spec.p).overlap
    return math.sqrt(2.0 - 2.0 * math.sqrt(overlap))


def frequent_label(spec: Any, largest: float) -> float:
    """Return the norm of a (L, d) matrix of independent entries of variance p_l / d for large L and d.

    p_l is `largest` in the first row and the same in all others, 1 in sum. The first row adds a term of rank one to the
    Gram matrix of the others, whose eigenvalues follow the law of Marchenko and Pastur; the largest one leaves these
    if R(1/P) + P exceeds their edge, R being the R-transform of that law.
    """
    rest, rows = 1.0 - largest, spec.labels - 1.0
    if largest <= rest / rows * (1.0 + math.sqrt(rows / spec.d)):
        return math.sqrt(rest) * (1.0 / math.sqrt(rows) + 1.0 / math.sqrt(spec.d))
    return math.sqrt(largest + rest / spec.d / (1.0 - rest / (rows * largest)))


FUNCTIONS: dict[str, Callable[[Any, float], float]] = {
    # The eigengap of E[M/4], its smaller eigenvalue and its larger one (Yi et al. 2015, eq. 3.1 and 3.2).
    "phi": lambda spec, x: spec.link_function.moments.phi,
    "width": lambda spec, x: 1.0 - spec.link_function.moments.mu0**2,
    "scale": lambda spec, x: FUNCTIONS["phi"](spec, x) + FUNCTIONS["width"](spec, x),
    "pairwise_limit": lambda spec, x: pairwise_limit(spec),
    "frequent_label": frequent_label,
}
"""Numbers of a spec and a position on the axis, by their names in formulas."""

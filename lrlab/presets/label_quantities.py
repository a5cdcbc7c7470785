"""Quantities in theorems about many labels (Yu et al. 2014; Qiu et al. 2017), see `quantities`."""

import math
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.sparse import csr_array

from lrlab import lowrank
from lrlab.arrays import Indices
from lrlab.lowrank import LowRank
from lrlab.models.low_rank_problem import orthonormal
from lrlab.runs.job import make_job
from lrlab.runs.run import Newest, run_job

Parts = dict[str, float]
SLOPE = math.sqrt(2.0 / math.pi)
"""lambda = E|g|, g ~ N(0, 1) (Qiu et al. 2017, Lemma 1)."""


def generalisation_gaps(spec: Any) -> Parts:
    """Return sqrt(n) (L(Z) - L_n(Z)) at the empirical minimizers in Claims 7 and 8 (Yu et al. 2014, appendix C).

    Each row shows one label, losses are linear, balls have radius 1. frobenius, trace: over the ball of that norm, with
    d random signs over sqrt(d) as features; line: over both balls, with random signs along one direction.
    """
    rng = np.random.default_rng(spec.streams().data)
    return _gaps(spec, rng, rng.integers(spec.labels, size=spec.n))


def frequency_gaps(spec: Any, largest: float) -> Parts:
    """Return the gaps if a row shows the first label with probability `largest`, and the others uniformly.

    `largest` is P in Theorem 6, from 1 / labels to 1.
    """
    rng = np.random.default_rng(spec.streams().data)
    others = rng.integers(1, spec.labels, size=spec.n)
    return _gaps(spec, rng, np.where(rng.random(spec.n) < largest, 0, others))


def _gaps(spec: Any, rng: np.random.Generator, label: Indices) -> Parts:
    """Return the gaps if row i shows label[i]."""
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


def least_misfit(problem: Any, rank: int) -> float:
    """Return min ||Y - X Z||_F^2 / 2 over Z of rank k, by the singular values of U_X^T Y (Yu et al. 2014, eq. 3)."""
    Y = problem.Y.toarray()
    s = np.linalg.svd(np.linalg.qr(problem.X)[0].T @ Y, compute_uv=False)
    return float((np.vdot(Y, Y) - np.vdot(s[:rank], s[:rank])) / 2.0)


def rank_fits(spec: Any) -> Parts:
    """Return closed: the smallest squared residual norm of rank k, for a nonsingular Gram matrix of features."""
    return {"closed": least_misfit(spec.build(), spec.rank)}


def rank_distances(spec: Any, weight: float) -> Parts:
    """Return leml: the relative excess of LEML's squared residual norm with a weight lambda over the smallest one."""
    problem = spec.build()
    job = make_job(spec, "leml-squared", regularization=weight, inner="exact", tol=1e-10, max_iter=1000)
    # Only the last iterate is scored.
    Z: Any = run_job(job, newest=Newest()).estimate
    gap = problem.Y.toarray() - (problem.X @ Z.left) @ Z.V.T
    least = least_misfit(problem, spec.rank)
    return {"leml": float(np.vdot(gap, gap)) / 2.0 / least - 1.0}


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
    D = lowrank.columns_normalised(lowrank.from_product(U, V))

    def moved(t: float) -> LowRank:
        return lowrank.columns_normalised(lowrank.from_product(np.hstack([W.left, t * D.left]), np.hstack([W.V, D.V])))

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


PLACES = {
    "weight": "regularization strength of the nuclear norm, λ",
    "distance": "distance  ‖W − W′‖₂ or ‖w − w′‖",
    "frequency": "largest probability of a label to be observed, P",
    "features_per_row": "nonzero features per row",
    "threads": "threads",
}
"""Titles of axes that are not parameters of a spec, by name."""

"""The l1 norm: basis pursuit for exact data, and the LASSO on the columns that its duality gap does not rule out."""

from typing import Annotated, Any

import numpy as np

from lrlab.solver_entry import Generator, InputError, Iterate, Iterates, Options, choice, number
from lrlab.solvers.compressed_sensing.steps import SparseData, moved, sparse_solver, strength_of
from lrlab.theory.sparse_limits import soft, soft_threshold_limits


def refuse_inexact(spec: Any, options: Options) -> None:
    """Raise InputError for data that no signal of interest fits exactly."""
    if spec.noise or spec.bits:
        raise InputError("noise", "0 and bits 0 for basis-pursuit", spec.noise or spec.bits, "take lasso instead")


@sparse_solver(memory=2.5, max_iter=5000, refuse=refuse_inexact)
def basis_pursuit(problem: SparseData, *, rng: Generator) -> Iterates:
    r"""Basis pursuit (Douglas-Rachford).

    The l1 minimizer among all signals that fit the data, by thresholds and projections in turn.

    .. math:: x \leftarrow P_{A x = y}(v), \qquad v \leftarrow v + \eta(2 x - v; \gamma) - x

    minimize    ||x||_1  subject to A x = y, and x >= 0 if entries are known to be so
    start       v = A^+ y, the fit of the smallest l2 norm; gamma = ||y|| / sqrt(n)
    converges   to a minimizer; residual: relative distance between the projection and the threshold
    cost        two passes over a basis of the rows of A, orthonormal by one QR factorization

    Without noise x is recovered if n/p is above the Donoho-Tanner threshold of s/p (`theory.sparse_limits`).

    Reference: Chen, Donoho & Saunders (1998), "Atomic decomposition by basis pursuit"; Combettes & Pesquet (2007),
    "A Douglas-Rachford splitting approach to nonsmooth convex variational signal recovery".
    """
    Q, R = np.linalg.qr(problem.A.T)
    fit = Q @ np.linalg.lstsq(R.T, problem.y, rcond=None)[0]
    gamma, v = float(np.linalg.norm(problem.y)) / np.sqrt(len(problem.y)), fit
    while True:
        x = v - Q @ (Q.T @ v) + fit
        sparse = soft(2.0 * x - v, gamma, problem.nonnegative)
        yield Iterate(sparse, objective=float(np.abs(sparse).sum()), residual=moved(x, sparse))
        v = v + sparse - x


Choice = Annotated[str, choice("universal", "given", "cross-validation", help="rule for the regularization strength")]
Strength = Annotated[float, number(0, 1e3, "regularization strength λ, if it is given", symbol="λ", scale="log")]


def predict_lasso(spec: Any, options: Options) -> dict[str, float]:
    """Return the limits for a strength that is known; nothing for exact data or cross-validation."""
    universal = spec.effective_noise * np.sqrt(2.0 * np.log(spec.p))
    strength = {"universal": universal, "given": float(options["strength"])}.get(str(options["rule"]), 0.0)
    return soft_threshold_limits(spec, strength=float(strength)) if strength else {}


@sparse_solver(oracle="noise", memory=0.1, max_iter=5000, predict=predict_lasso)
def lasso(problem: SparseData, *, rule: Choice = "universal", strength: Strength = 0.1, rng: Generator) -> Iterates:
    r"""LASSO, by FISTA.

    Least squares with an l1 penalty: accelerated proximal gradient steps until the duality gap closes.

    .. math:: x \leftarrow \eta\bigl(v + \tfrac1L A^\top (y - A v);\ \tfrac\lambda L\bigr), \qquad
        v \leftarrow x + \beta_t (x - x_{\text{old}})

    minimize    F(x) = ||y - A x||^2 / 2 + lambda ||x||_1, over x >= 0 if entries are known to be so
    start       x = 0; L the curvature along the gradient, larger if need be; momentum restarts when it points uphill
    screening   x_j = 0 at the minimum if |a_j^T u| + ||a_j|| sqrt(2 gap) < lambda, u the feasible multiple of y - A x
    converges   F by O(1/t^2), linearly at the end; residual: the duality gap over ||y||^2 / 2
    universal   the strength sigma sqrt(2 log p), with quantization in sigma; a small one if there is no noise
    cost        two passes over the columns of A (n, p) that are left

    Reference: Beck & Teboulle (2009), "A fast iterative shrinkage-thresholding algorithm for linear inverse problems",
    section 4; Ndiaye, Fercoq, Gramfort & Salmon (2017), "Gap safe screening rules for sparsity enforcing penalties".
    """
    A, y, positive, p = problem.A, problem.y, problem.nonnegative, problem.shape[1]
    lam, half = strength_of(problem, rule, strength), float(y @ y) / 2.0 or 1.0
    columns, lengths = np.arange(p), np.sqrt(np.einsum("ij,ij->j", A, A))
    x = last = np.zeros(p)
    r = r_last = y
    slopes_last, t, beta = y @ A, 1.0, 0.0
    curvature = float(np.sum((A @ slopes_last) ** 2)) / (float(slopes_last @ slopes_last) or 1.0)
    L = curvature or 1.0
    # The squared rounding error of a residual, which must not raise L.
    slack = 1e-24 * half
    while True:
        slopes = r @ A
        sizes = slopes if positive else np.abs(slopes)
        scale = lam / max(lam, float(sizes.max(initial=0.0))) if lam else 0.0
        F = float(r @ r) / 2.0 + lam * float(np.abs(x).sum())
        gap = max(F - scale * float(y @ r) + scale**2 * float(r @ r) / 2.0, 0.0)
        yield Iterate(np.bincount(columns, x, p), objective=F, residual=gap / half, note=f"λ = {lam:.3g}.")
        # The gap is known up to a rounding error of 1e-12.
        radius = np.sqrt(2.0 * gap + 1e-12 * half)
        kept = (scale * sizes + lengths * radius >= lam) | (x != 0.0) | (last != 0.0)
        # A copy costs as much as a pass: it waits until three in ten columns drop out.
        if np.count_nonzero(kept) < 0.7 * len(kept):
            A, columns, lengths = A[:, kept], columns[kept], lengths[kept]
            x, last, slopes, slopes_last = x[kept], last[kept], slopes[kept], slopes_last[kept]
        # Residual and gradient are affine, so that their values at v need no pass over A.
        v, r_v, slopes_v = x + beta * (x - last), r + beta * (r - r_last), slopes + beta * (slopes - slopes_last)
        following = soft(v + slopes_v / L, lam / L, positive)
        while np.sum((r_v - (ahead := y - A @ following)) ** 2) > L * np.sum((following - v) ** 2) + slack:
            # By half, until L bounds the curvature along the step.
            L *= 1.5
            following = soft(v + slopes_v / L, lam / L, positive)
        uphill = (v - following) @ (following - x) > 0.0
        before, t = (1.0, 1.0) if uphill else (t, (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0)
        last, r_last, slopes_last, x, r, beta = x, r, slopes, following, ahead, (before - 1.0) / t

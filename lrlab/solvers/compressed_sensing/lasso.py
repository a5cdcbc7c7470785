"""The LASSO by FISTA, with a duality gap."""

from typing import Annotated, Any

import numpy as np
from numpy.random import Generator

from lrlab.parameters import choice, number
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import Options
from lrlab.solvers.compressed_sensing.steps import SparseData, sparse_solver
from lrlab.theory.sparse_limits import lasso_limits, soft

LEAST = 1e-3
"""Strength for exact data, relative to the one from which the estimate is 0."""
Choice = Annotated[str, choice("universal", "given", "cross-validation", help="rule for the regularization strength")]
Strength = Annotated[float, number(0, 1e3, "regularization strength λ, if it is given", symbol="λ", scale="log")]


def strength_of(problem: SparseData, rule: str, strength: float) -> float:
    """Return the regularization strength that a rule asks for."""
    if rule == "cross-validation":
        from sklearn.linear_model import LassoCV

        fitted = LassoCV(fit_intercept=False, positive=problem.nonnegative).fit(problem.A, problem.y)
        return float(fitted.alpha_) * problem.shape[0]
    universal = problem.noise * np.sqrt(2.0 * np.log(problem.shape[1]))
    return strength if rule == "given" else float(universal or LEAST * np.abs(problem.y @ problem.A).max())


def predict(spec: Any, options: Options) -> dict[str, float]:
    """Return the limits for a strength that is known; nothing for exact data or cross-validation."""
    universal = spec.effective_noise * np.sqrt(2.0 * np.log(spec.p))
    strength = {"universal": universal, "given": float(options["strength"])}.get(str(options["rule"]), 0.0)
    return lasso_limits(spec, float(strength)) if strength else {}


@sparse_solver(oracle="noise", memory=0.1, max_iter=5000, predict=predict)
def lasso(problem: SparseData, *, rule: Choice = "universal", strength: Strength = 0.1, rng: Generator) -> Iterates:
    r"""LASSO, by FISTA.

    Least squares with an l1 penalty, by accelerated proximal gradient steps until the duality gap closes.

    .. math:: x \leftarrow \eta\bigl(v + \tfrac1L A^\top (y - A v);\ \tfrac\lambda L\bigr), \qquad
        v \leftarrow x + \beta_t (x - x_{\text{old}})

    minimize    F(x) = ||y - A x||^2 / 2 + lambda ||x||_1, over x >= 0 if entries are known to be so
    start       x = 0, restarted without momentum when it points uphill (O'Donoghue & Candes 2015)
    converges   F by O(1/t^2), linearly at the end; residual: the duality gap over ||y||^2 / 2, with the dual point
                y - A x scaled until |A^T (y - A x)| <= lambda
    cost        two passes over A (n, p)

    The universal strength is sigma sqrt(2 log p), with quantization in sigma, and small if there is no noise.

    Reference: Beck & Teboulle (2009), "A fast iterative shrinkage-thresholding algorithm for linear inverse problems",
    section 4; the strength is that of Donoho & Johnstone (1994).
    """
    A, y, positive = problem.A, problem.y, problem.nonnegative
    lam, L = strength_of(problem, rule, strength), float(np.linalg.norm(A, 2)) ** 2
    x = last = np.zeros(A.shape[1])
    slopes_last, t, beta, half = y @ A, 1.0, 0.0, float(y @ y) / 2.0 or 1.0
    while True:
        r = y - A @ x
        slopes = r @ A
        excess = float(slopes.max() if positive else np.abs(slopes).max())
        dual = r * min(1.0, lam / excess if excess > 0 else 1.0)
        F = float(r @ r) / 2.0 + lam * float(np.abs(x).sum())
        gap = F - float(y @ dual - dual @ dual / 2.0)
        yield Iterate(x, objective=F, residual=max(gap, 0.0) / half, note=f"λ = {lam:.3g}.")
        # The gradient is linear, so that the one at v costs no pass.
        v = x + beta * (x - last)
        following = soft(v + (slopes + beta * (slopes - slopes_last)) / L, lam / L, positive)
        if (v - following) @ (following - x) > 0.0:
            t, following = 1.0, soft(x + slopes / L, lam / L, positive)
        t, before = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0, t
        last, slopes_last, x, beta = x, slopes, following, (before - 1.0) / t

"""The LASSO by FISTA, with a duality gap."""

from typing import Annotated, Any

import numpy as np
from numpy.random import Generator

from lrlab.parameters import choice, number
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import Options
from lrlab.solvers.compressed_sensing.steps import SparseData, residual, sparse_solver, strength_of
from lrlab.theory.sparse_limits import lasso_limits, soft

GROWTH, ROUNDING = 1.5, 1e-24
"""Growth of a curvature L that is too small, and squared rounding error of a residual, relative to y."""
Choice = Annotated[str, choice("universal", "given", "cross-validation", help="rule for the regularization strength")]
Strength = Annotated[float, number(0, 1e3, "regularization strength λ, if it is given", symbol="λ", scale="log")]


def predict(spec: Any, options: Options) -> dict[str, float]:
    """Return the limits for a strength that is known; nothing for exact data or cross-validation."""
    universal = spec.effective_noise * np.sqrt(2.0 * np.log(spec.p))
    strength = {"universal": universal, "given": float(options["strength"])}.get(str(options["rule"]), 0.0)
    return lasso_limits(spec, float(strength)) if strength else {}


@sparse_solver(oracle="noise", memory=0.1, max_iter=5000, predict=predict)
def lasso(problem: SparseData, *, rule: Choice = "universal", strength: Strength = 0.1, rng: Generator) -> Iterates:
    r"""LASSO, by FISTA.

    Least squares with an l1 penalty: accelerated proximal gradient steps until the duality gap closes.

    .. math:: x \leftarrow \eta\bigl(v + \tfrac1L A^\top (y - A v);\ \tfrac\lambda L\bigr), \qquad
        v \leftarrow x + \beta_t (x - x_{\text{old}})

    minimize    F(x) = ||y - A x||^2 / 2 + lambda ||x||_1, over x >= 0 if entries are known to be so
    start       x = 0; L the curvature along the gradient there, larger if a step needs it; a restart without momentum
                when it points uphill (O'Donoghue & Candes 2015)
    converges   F by O(1/t^2), linearly at the end; residual: the duality gap over ||y||^2 / 2, with the dual point
                y - A x scaled until |A^T (y - A x)| <= lambda
    cost        one pass over A (n, p), and one over the columns of the estimate's support

    The universal strength is sigma sqrt(2 log p), with quantization in sigma, and small if there is no noise.

    Reference: Beck & Teboulle (2009), "A fast iterative shrinkage-thresholding algorithm for linear inverse problems",
    section 4; Donoho & Johnstone (1994) for the strength.
    """
    A, y, positive = problem.A, problem.y, problem.nonnegative
    lam, half = strength_of(problem, rule, strength), float(y @ y) / 2.0 or 1.0
    x = last = np.zeros(A.shape[1])
    r = r_last = y
    slopes_last, t, beta = y @ A, 1.0, 0.0
    L, slack = float(np.sum((A @ slopes_last) ** 2)) / (float(slopes_last @ slopes_last) or 1.0) or 1.0, ROUNDING * half
    while True:
        slopes = r @ A
        excess = float(slopes.max() if positive else np.abs(slopes).max())
        dual = r * min(1.0, lam / excess if excess > 0 else 1.0)
        F = float(r @ r) / 2.0 + lam * float(np.abs(x).sum())
        gap = F - float(y @ dual - dual @ dual / 2.0)
        yield Iterate(x, objective=F, residual=max(gap, 0.0) / half, note=f"λ = {lam:.3g}.")
        # Residual and gradient are affine, so that their values at v need no pass over A.
        v, r_v, slopes_v = x + beta * (x - last), r + beta * (r - r_last), slopes + beta * (slopes - slopes_last)
        following = soft(v + slopes_v / L, lam / L, positive)
        while np.sum((r_v - (ahead := residual(A, y, following))) ** 2) > L * np.sum((following - v) ** 2) + slack:
            L *= GROWTH
            following = soft(v + slopes_v / L, lam / L, positive)
        uphill = (v - following) @ (following - x) > 0.0
        before, t = (1.0, 1.0) if uphill else (t, (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0)
        last, r_last, slopes_last, x, r, beta = x, r, slopes, following, ahead, (before - 1.0) / t

"""Steps that several solvers of compressed sensing share."""

from functools import partial
from typing import Any

import numpy as np

from lrlab.arrays import Array, Indices
from lrlab.solver_entry import solver

SparseData = Any
"""The data of `models.compressed_sensing.SparseProblem`: A (n, p), y (n,), and the oracle information that a solver
declares."""
sparse_solver = partial(solver, family="compressed-sensing")
LEAST = 1e-3
"""Strength for exact data, relative to the smallest one whose estimate is 0."""


def strength_of(problem: SparseData, rule: str, strength: float) -> float:
    """Return the regularization strength that a rule asks for."""
    if rule == "cross-validation":
        from sklearn.linear_model import LassoCV

        fitted = LassoCV(fit_intercept=False, positive=problem.nonnegative).fit(problem.A, problem.y)
        return float(fitted.alpha_) * problem.shape[0]
    universal = problem.noise * np.sqrt(2.0 * np.log(problem.shape[1]))
    return strength if rule == "given" else float(universal or LEAST * np.abs(problem.y @ problem.A).max())


def moved(x: Array, following: Array) -> float:
    """Return how far an estimate moves, relative to its length."""
    return float(np.linalg.norm(following - x)) / (float(np.linalg.norm(following)) or 1.0)


def residual(A: Array, y: Array, x: Array) -> Array:
    """Return y - A x, from the columns of the support if they are few."""
    support = np.flatnonzero(x)
    return y - (A[:, support] @ x[support] if 4 * len(support) < len(x) else A @ x)


def least_squares(A: Array, y: Array, support: Indices) -> Array:
    """Return the x with this support (indices) that minimizes ||y - A x||."""
    x = np.zeros(A.shape[1])
    x[support] = np.linalg.lstsq(A[:, support], y, rcond=None)[0]
    return x

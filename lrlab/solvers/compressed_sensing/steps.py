"""Steps that several solvers of compressed sensing share."""

from functools import partial
from typing import Any

import numpy as np

from lrlab.arrays import Array
from lrlab.solver_entry import solver

SparseData = Any
"""The data of `models.compressed_sensing.SparseProblem`: A (n, p), y (n,), and the oracle information that a solver
declares."""
sparse_solver = partial(solver, family="compressed-sensing")


def moved(x: Array, following: Array) -> float:
    """Return how far an estimate moves, relative to its length."""
    return float(np.linalg.norm(following - x)) / (float(np.linalg.norm(following)) or 1.0)


def strength_of(problem: SparseData, rule: str, strength: float) -> float:
    """Return the regularization strength that a rule asks for."""
    if rule == "cross-validation":
        from sklearn.linear_model import LassoCV

        folds = min(5, len(problem.y))
        fitted = LassoCV(cv=folds, fit_intercept=False, positive=problem.nonnegative).fit(problem.A, problem.y)
        return float(fitted.alpha_) * problem.shape[0]
    # Exact data take a thousandth of the smallest strength whose estimate is 0.
    universal = problem.noise * np.sqrt(2.0 * np.log(problem.shape[1]))
    return strength if rule == "given" else float(universal or 1e-3 * np.abs(problem.y @ problem.A).max())

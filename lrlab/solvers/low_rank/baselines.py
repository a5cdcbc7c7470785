"""Baselines: least squares without any use of low rank, and completion of the table before regression."""

import math
from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.entries import Entries
from lrlab.operators.operator import least_squares
from lrlab.operators.tangent import solved
from lrlab.solver_entry import Generator, InputError, Iterate, Iterates, Options, number, solver
from lrlab.solvers.low_rank.matrix_irls import matrix_irls


@solver(family="low-rank", name="least-squares", matrix=lambda spec, options: math.prod(spec.size))
def full_least_squares(
    problem: LowRankData,
    *,
    inner_steps: Annotated[int, number(1, 100_000, "most conjugate-gradient steps", scale="log")] = 2000,
    rng: Generator,
) -> Iterates:
    r"""Least squares (all entries).

    Least squares over all d1 d2 entries, of least norm: shows whether low rank is needed at all.

    .. math:: \hat W = \arg\min_W \|\mathcal A(W) - b\|^2, \quad \text{of the least norm if several minimize it}

    minimize    ||A(W) - b||^2 over all matrices W (d1, d2); of the least norm if several minimize it
    update      conjugate gradients on the normal equations (CGLS) from W = 0, to rounding error, at once
    converges   to W from about m = d1 d2 measurements on, which suffice for every method, and never below
    cost        d1 d2 variables: two products with the data per step

    Yields its solution: objective ||A(W) - b||^2 / 2.

    Reference: Paige & Saunders (1982), "LSQR: an algorithm for sparse linear equations and sparse least squares".
    """
    A, b = problem.operator, problem.b
    Q = A.right(np.eye(A.shape[1], dtype=A.dtype))
    forward, pull = lambda D: A.pair(A.left(D), Q), lambda r: A.pull_left(r, Q)
    W = least_squares(forward, pull, b, np.zeros(A.shape, A.dtype), 0.0, 1e-13, inner_steps).D
    estimate = lowrank.from_symmetric(W) if A.symmetric else lowrank.from_dense(W)
    rest = A(estimate) - b
    yield Iterate(estimate, float(rest @ rest) / 2)


def refuse_no_features(spec: Any, options: Options) -> None:
    """Refuse tables without features, which leave nothing to regress."""
    if spec.values().get("features") == "canonical":
        expected = "other than canonical for this solver, which regresses on them"
        raise InputError("features", expected, "canonical", "take matrix-irls or gauss-newton, which complete tables")


@solver(models=("inductive-completion", "multilabel-regression"), oracle="rank", memory=1.5, refuse=refuse_no_features)
def complete_then_regress(problem: LowRankData, *, rng: Generator) -> Iterates:
    r"""Complete first, then regress.

    Completes the table without its features, then fits W to it: needs many more entries, for comparison.

    .. math:: \hat R = \text{table of rank } k \text{ completed from its entries}, \qquad
        \hat W = X^{+} \hat R\, (Y^{+})^\top

    complete    R = X W Y^T (n1, n2), of rank k too, from its entries only, by matrix-irls
    regress     W = argmin ||X W Y^T - R||_F = X^+ R (Y^+)^T, of rank k as R is; Y = I for regression
    converges   to W only if entries determine the table without features: from k (n1 + n2 - k) entries on; methods that
                use the features from the start need k (d1 + d2 - k)
    cost        as the completion

    Yields the regression on the table after each iteration of the completion: objective ||A(W) - b||^2 / 2; residual
    from the completion, which says nothing about W unless A(W) - b is rounding error: such a run ends SETTLED.

    Reference: Jain & Dhillon (2013), "Provable inductive matrix completion", sections 4 and 5, who argue against it.
    """
    A, b = problem.operator, problem.b
    assert isinstance(A, Entries)
    n1, n2 = A.table
    white, left, right = A.whitened()
    unknowns = problem.rank * (n1 + n2 - problem.rank)
    few = f"{len(b)} observed entries do not determine a matrix with {unknowns} degrees of freedom."
    note = "" if len(b) >= unknowns else few
    plain: Any = SimpleNamespace(operator=A.without_features(), b=b, rank=problem.rank)
    for state in matrix_irls(plain, rng=rng):
        R: LowRank = state.estimate
        W = lowrank.from_product(left(pulled(white.X, R.left)), right(pulled(white.Y, R.V)), problem.rank)
        misfit = A(W) - b
        exact = solved(misfit, b)
        yield Iterate(W, float(misfit @ misfit) / 2, 0.0 if exact else state.residual, note, optimal=exact)


def pulled(X: Array | None, U: Array) -> Array:
    """Return X^+ U for features with X^T X = n I."""
    return U if X is None else X.T @ U / len(X)

"""Completion first, regression second: features are not used before the table is complete."""

from types import SimpleNamespace
from typing import Annotated, Any

from numpy.random import Generator

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.entries import Entries
from lrlab.operators.tangent import solved
from lrlab.parameters import InputError, choice
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import Options, solver
from lrlab.solvers.low_rank.gauss_newton import gauss_newton
from lrlab.solvers.low_rank.matrix_irls import matrix_irls

COMPLETIONS = {"matrix-irls": matrix_irls, "gauss-newton": gauss_newton}


def refuse_no_features(spec: Any, options: Options) -> None:
    """Refuse tables without features, which leave nothing to regress."""
    if spec.values().get("features") == "canonical":
        expected = "other than canonical for this solver, which regresses on them"
        raise InputError("features", expected, "canonical", "take matrix-irls or gauss-newton, which complete tables")


@solver(models=("inductive-completion", "multilabel-regression"), oracle="rank", memory=1.5, refuse=refuse_no_features)
def complete_then_regress(
    problem: LowRankData,
    *,
    completion: Annotated[
        str, choice("matrix-irls", "gauss-newton", help="solver that completes the table, with its own defaults")
    ] = "matrix-irls",
    rng: Generator,
) -> Iterates:
    r"""Complete first, then regress.

    Completes the table without its features, then fits W to it: needs many more entries, for comparison.

    .. math:: \hat R = \text{table of rank } k \text{ completed from its entries}, \qquad
        \hat W = X^{+} \hat R\, (Y^{+})^\top

    complete    R = X W Y^T (n1, n2), of rank k too, from its entries only
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
    for state in COMPLETIONS[completion](plain, rng=rng):
        R: LowRank = state.estimate
        W = lowrank.from_product(left(pulled(white.X, R.left)), right(pulled(white.Y, R.V)), problem.rank)
        misfit = A(W) - b
        exact = solved(misfit, b)
        yield Iterate(W, float(misfit @ misfit) / 2, 0.0 if exact else state.residual, note, optimal=exact)


def pulled(X: Array | None, U: Array) -> Array:
    """Return X^+ U for features with X^T X = n I."""
    return U if X is None else X.T @ U / len(X)

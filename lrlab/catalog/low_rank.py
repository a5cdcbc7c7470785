"""Low-rank matrices: their models, and the solvers that serve all of their operators."""

from lrlab.models.completion import InductiveCompletion, MultilabelRegression
from lrlab.models.low_rank import LowRankSpec, RankOneSensing
from lrlab.models.network import PolynomialNetwork
from lrlab.solver_entry import Options, SolverEntry
from lrlab.solvers.low_rank import gauss_newton, tangent_descent

MODELS = (RankOneSensing, InductiveCompletion, MultilabelRegression, PolynomialNetwork)
ALL = tuple(spec.model for spec in MODELS)


def tangent_workspace(spec: LowRankSpec, options: Options) -> int:
    """Hold a dozen images of factors and vectors of length m; the start's basis, and the first part of the data."""
    k, (d1, d2) = spec.true_rank, spec.size
    first = 4 * min(spec.measurements // 2, tangent_descent.FIRST_PART * spec.degrees_of_freedom) * (d1 + d2)
    return 8 * (spec.measurements * (12 * k + 8) + 60 * (k + 5) * (d1 + d2)) + first + 2**22


SOLVERS = (
    SolverEntry(
        name="tangent-descent",
        title="Tangent descent",
        summary="Conjugate directions on the manifold of rank k, debiased gradients, exact steps: cheap and robust.",
        reference="after Soltani & Hegde (2018), section 5.3; Vandereycken (2013)",
        run=tangent_descent.tangent_descent,
        models=ALL,
        workspace=tangent_workspace,
    ),
    SolverEntry(
        name="gauss-newton",
        title="Gauss-Newton",
        summary="Solves the linear problem in each tangent space; exact from 1.5 times the degrees of freedom.",
        reference="Zilber & Nadler (2022), GNIMC",
        run=gauss_newton.gauss_newton,
        models=ALL,
        workspace=tangent_workspace,
    ),
)

"""Completion of ill-conditioned tables from few entries: GNIMC, MatrixIRLS, R2RILS and damped Gauss-Newton."""

from itertools import islice

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse.linalg import lsqr

import lrlab
from lrlab import catalog, lowrank
from lrlab.operators.operator import Moment
from lrlab.operators.rank_one import RankOne
from lrlab.operators.tangent import point
from lrlab.parameters import InputError
from lrlab.protocol import Stop
from lrlab.solvers.low_rank import gnimc, matrix_irls

TABLE = lrlab.spec("inductive-completion", features="canonical", n1=40, n2=35, rank=3, observed=0.5)
HARD = lrlab.spec(
    "inductive-completion", features="canonical", n1=80, n2=80, rank=3, observed=0.24, condition=10, seed=1000
)
"""3.3 times the degrees of freedom."""
SOLVERS = ("gnimc", "matrix-irls", "r2rils")


@pytest.mark.parametrize("name", [*SOLVERS, "gauss-newton"])
def test_a_table_is_completed_from_few_entries(name):
    trace = lrlab.solve(HARD, name)
    assert trace.stop is Stop.CONVERGED and trace.metrics["error"] < 1e-10


@pytest.mark.parametrize("seed", [3001, 3004])
def test_gauss_newton_completes_scarce_and_ill_conditioned_tables(seed):
    """2.2 times the degrees of freedom; with a penalty that faded faster these ended at errors above 1."""
    sizes = {"n1": 150, "n2": 150, "rank": 5, "observed": 0.144, "condition": 10}
    trace = lrlab.solve(lrlab.spec("inductive-completion", features="canonical", **sizes, seed=seed), "gauss-newton")
    assert trace.stop is Stop.CONVERGED and trace.metrics["error"] < 1e-10


@pytest.mark.parametrize("solver", ["r2rils", "matrix-irls"])
def test_features_are_refused(solver):
    with pytest.raises(InputError, match="set features=canonical"):
        lrlab.solve(lrlab.spec("inductive-completion"), solver)


def test_the_update_of_gnimc_is_that_of_its_factors_whatever_their_scaling():
    rng = np.random.default_rng(2)
    problem = lrlab.spec("rank-one-sensing", d1=7, d2=6, rank=2, m=60).build()
    W, new = (one.estimate for one in islice(gnimc.gnimc(problem, first_steps=500, rng=rng), 2))
    at = point(problem.operator, W, problem.b)
    # The factors themselves, scaled unequally, and LSQR in bases of theirs that are orthonormal.
    C = rng.standard_normal((2, 2))
    U, V = W.left @ C, W.V @ np.linalg.inv(C).T
    Qu, Ru = np.linalg.qr(U)
    Qv, Rv = np.linalg.qr(V)
    assert isinstance(problem.operator, RankOne)
    rows = [np.concatenate([np.outer(x, Qv.T @ y).ravel(), np.outer(y, Qu.T @ x).ravel()])
            for x, y in zip(problem.operator.X, problem.operator.Y, strict=True)]  # fmt: skip
    z = lsqr(np.array(rows), -at.d, atol=1e-15, btol=1e-15, iter_lim=500)[0]
    dU, dV = z[:14].reshape(7, 2) @ np.linalg.inv(Rv).T, z[14:].reshape(6, 2) @ np.linalg.inv(Ru).T
    np.testing.assert_allclose(new.dense(), (U + dU) @ (V + dV).T, atol=1e-8)


@pytest.mark.parametrize("eps", [0.01, 0.3])
def test_reweighted_least_squares_has_the_entries_and_the_least_weighted_norm(eps):
    problem = lrlab.spec("inductive-completion", features="canonical", n1=7, n2=6, rank=2, observed=0.6).build()
    A, b = problem.operator, problem.b
    W = lowrank.from_dense(np.random.default_rng(0).standard_normal((7, 6)), 2)
    X = matrix_irls.reweighted(Moment(A, b / A.scale, lowrank.zero(A.shape, 0)), b, W, eps * W.s[1], 1e-15, 500).dense()
    U, s, Vt = np.linalg.svd(W.dense())
    sizes = np.maximum(np.pad(s[:2], (0, 5)), eps * W.s[1])
    weights = 1 / np.outer(sizes[:7], sizes[:6])
    assert np.allclose(X[A.rows, A.columns], b, atol=1e-9)
    free = np.ones((7, 6), bool)
    free[A.rows, A.columns] = False

    def weighted(z):
        Z = X.copy()
        Z[free] = z
        return np.sum(weights * (U.T @ Z @ Vt.T) ** 2)

    assert minimize(weighted, X[free], tol=1e-12).fun == pytest.approx(weighted(X[free]), rel=1e-6)


def test_large_tables_are_decomposed_by_products(monkeypatch):
    whole = lrlab.solve(HARD, "matrix-irls")
    monkeypatch.setattr("lrlab.operators.krylov.FORMED", 0)
    trace = lrlab.solve(HARD, "matrix-irls")
    assert trace.metrics["error"] < 1e-10 and abs(len(trace.rows) - len(whole.rows)) <= 3


def test_a_table_of_zeros_is_zero():
    problem = TABLE.build()
    problem.b = np.zeros_like(problem.b)
    for name in (*SOLVERS, "gauss-newton", "nuclear-norm"):
        iterate = next(catalog.solver(name).run(problem, rng=np.random.default_rng(0)))
        assert not iterate.estimate.dense().any() and iterate.residual == 0 and iterate.objective == 0


@pytest.mark.parametrize("seed", [1003, 1005])
def test_matrix_irls_stays_at_the_table_that_it_has_found(seed):
    """Conjugate gradients past the accuracy of the arithmetic led these from errors of 1e-13 to 0.02 and 8."""
    spec = lrlab.spec("inductive-completion", features="canonical", n1=100, n2=100, rank=3, observed=0.3, seed=seed)
    trace = lrlab.solve(spec, "matrix-irls")
    assert trace.stop is Stop.CONVERGED and trace.metrics["error"] < 1e-12


@pytest.mark.parametrize(("solver", "option"), [("als", "ridge = 0.1"), ("soft-impute", "shrinkage = 0.03")])
def test_a_penalised_minimum_names_its_penalty_and_what_it_leaves(solver, option):
    spec = lrlab.spec("inductive-completion", features="canonical", n1=60, n2=50, rank=2, observed=0.3)
    trace = lrlab.solve(spec, solver, max_iter=1000)
    message, misfit = trace.summary()["message"], trace.metrics["misfit"]
    assert trace.stop is lrlab.Stop.CONVERGED and misfit > 1e-3
    assert f"penalty {option}" in message and f"residual norm of {misfit:.2g}" in message

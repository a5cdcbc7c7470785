"""Solvers of low-rank sensing and completion: recovery, stationarity, independent implementations, baselines."""

from functools import partial
from itertools import islice

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse.linalg import lsqr

import lrlab
from lrlab import catalog, lowrank
from lrlab.engine.solve import solve
from lrlab.models.completion import InductiveCompletion, MultilabelRegression
from lrlab.models.network import PolynomialNetwork
from lrlab.models.rank_one_sensing import RankOneSensing
from lrlab.operators.operator import Moment
from lrlab.operators.rank_one import RankOne
from lrlab.operators.tangent import point
from lrlab.protocol import Stop
from lrlab.solvers.low_rank import gnimc, matrix_irls
from lrlab.solvers.low_rank.altmin import altmin
from lrlab.solvers.low_rank.completion import als
from lrlab.solvers.low_rank.scaled_gradient import scaled_gradient as scaled
from lrlab.solvers.low_rank.soft_impute import soft_impute
from lrlab.solvers.low_rank.svp import svp
from tests.solvers import driving

SENSING = RankOneSensing(m=600, d1=20, d2=15, rank=3)
DENSE = SENSING.replace(operator="dense")
FEATURES = InductiveCompletion(n1=60, n2=50, d1=10, d2=8, rank=2, observed=0.2)
TABLE = InductiveCompletion(n1=40, n2=30, rank=2, observed=0.5, features="canonical")
LABELS = MultilabelRegression(n=100, d=8, labels=20, rank=2, observed=0.3)
NETWORK = PolynomialNetwork(m=400, p=15, r=3)
CASES = [
    (altmin, SENSING, {}),
    (altmin, SENSING, {"inner": "exact"}),
    (altmin, DENSE, {}),
    (altmin, FEATURES, {}),
    (altmin, FEATURES, {"inner": "inexact"}),
    (altmin, TABLE, {}),
    (altmin, LABELS, {}),
    (scaled, SENSING, {}),
    (scaled, SENSING, {"directions": "gradient"}),
    (scaled, DENSE, {}),
    (scaled, FEATURES, {}),
    (scaled, TABLE, {}),
    (scaled, LABELS, {}),
    (scaled, NETWORK, {}),
    (svp, DENSE, {}),
    (svp, DENSE, {"step": "fixed"}),
    (svp, FEATURES, {}),
    (als, TABLE, {"ridge": 0.0}),
]
NAMES = [f"{solver.__name__}-{spec.model}-{number}" for number, (solver, spec, _) in enumerate(CASES)]
every_case = pytest.mark.parametrize(("solver", "spec", "options"), CASES, ids=NAMES)
run = partial(driving.run, max_iter=400)


def misfit(problem, W) -> np.ndarray:
    return problem.operator(W) - problem.b


@every_case
def test_without_noise_the_matrix_is_recovered_to_rounding_error(solver, spec, options):
    problem = spec.build()
    stop, iterates = run(solver, problem, **options)
    assert stop == Stop.CONVERGED and problem.score(iterates[-1].estimate)["error"] < 1e-12
    for iterate in iterates:
        assert iterate.residual > 1e-6 or problem.score(iterate.estimate)["misfit"] < 1e-13
        assert iterate.objective == pytest.approx((misfit(problem, iterate.estimate) ** 2).sum() / 2, abs=1e-12)


@pytest.mark.parametrize("start", ["clipped", "random"])
@pytest.mark.parametrize("name", ["tangent-descent", "scaled-gradient", "gauss-newton", "altmin"])
def test_other_starts_lead_to_the_same_matrix(name, start):
    # Alternating least squares converge slowly on networks.
    for spec in (SENSING, NETWORK.replace(m=600))[: 1 if name == "altmin" else 2]:
        if spec.model in catalog.solver(name, "rank-one-sensing").models:
            trace = solve(spec, name, start=start, max_iter=400)
            assert trace.stop is Stop.CONVERGED and trace.metrics["error"] < 1e-10
            assert trace.rows[0]["error"] != solve(spec, name, max_iter=1).rows[0]["error"]


@pytest.mark.parametrize("spec", [SENSING, LABELS])
@pytest.mark.parametrize("inner", ["inexact", "exact"])
def test_altmin_with_a_ridge_ends_at_a_stationary_point(spec, inner):
    problem = spec.replace(noise=0.1).build()
    _, iterates = run(altmin, problem, inner=inner, ridge=3.0)
    U, s, V = W = iterates[-1].estimate
    rest = misfit(problem, W)
    G = problem.operator.adjoint(rest)
    assert iterates[-1].objective == pytest.approx((rest @ rest + 3.0 * s @ s) / 2)
    assert G @ V + 3.0 * U * s == pytest.approx(np.zeros_like(U), abs=1e-5 * np.linalg.norm(G))
    assert G.T @ U + 3.0 * V * s == pytest.approx(np.zeros_like(V), abs=1e-5 * np.linalg.norm(G))


def test_altmin_follows_algorithm_1():
    problem = SENSING.replace(noise=0.2).build()
    X, Y, b, k = problem.operator.X, problem.operator.Y, problem.b, problem.rank
    _, iterates = run(altmin, problem, max_iter=3, inner="exact")
    U = np.linalg.svd(np.einsum("i,ij,ik->jk", b, X, Y))[0][:, :k]
    for iterate in iterates:
        V = np.linalg.lstsq(np.einsum("ia,ij->ija", X @ U, Y).reshape(len(b), -1), b)[0].reshape(-1, k)
        V = np.linalg.qr(V)[0]
        hat = np.linalg.lstsq(np.einsum("ia,ij->ija", Y @ V, X).reshape(len(b), -1), b)[0].reshape(-1, k)
        U = np.linalg.qr(hat)[0]
        assert iterate.estimate.dense() == pytest.approx(hat @ V.T, abs=1e-10)


def test_fresh_samples_end_after_their_sweeps():
    problem = SENSING.replace(m=6000).build()
    stop, iterates = run(altmin, problem, fresh_samples=5)
    assert stop == Stop.EXHAUSTED and len(iterates) == 5
    errors = [problem.score(iterate.estimate)["error"] for iterate in iterates]
    assert errors[-1] < 1e-2 * errors[0]
    assert len(run(altmin, FEATURES.replace(observed=1.0, noise=0.1).build(), fresh_samples=2)[1]) == 2


def test_svp_with_a_fixed_step_is_projected_gradient():
    problem = DENSE.replace(noise=0.1).build()
    A = problem.operator.A.reshape(DENSE.m, -1)
    W = np.zeros(A.shape[1])
    for iterate in run(svp, problem, max_iter=4, step="fixed", isometry=0.5)[1]:
        U, s, Vt = np.linalg.svd((W + A.T @ (problem.b - A @ W) / (1.5 * DENSE.m)).reshape(20, 15))
        W = ((U[:, :3] * s[:3]) @ Vt[:3]).ravel()
        assert iterate.estimate.dense().ravel() == pytest.approx(W, abs=1e-12)


def test_soft_impute_is_optimal():
    problem = TABLE.replace(noise=0.3).build()
    stop, iterates = run(soft_impute, problem, max_iter=2000, shrinkage=0.2)
    W, S = iterates[-1].estimate, problem.operator.adjoint(problem.b)
    level = 0.2 * np.linalg.norm(S, 2)
    G = -problem.operator.adjoint(misfit(problem, W))
    assert stop == Stop.CONVERGED
    assert W.U.T @ G @ W.V == pytest.approx(level * np.eye(len(W.s)), abs=1e-5 * level)
    assert np.linalg.norm(G, 2) <= level * (1 + 1e-6)
    value = ((W.dense() - S)[S != 0] ** 2).sum() / 2 + level * W.s.sum()
    assert iterates[-1].objective == pytest.approx(value)


def test_als_with_a_ridge_and_enough_rank_solves_the_nuclear_norm_problem():
    problem = TABLE.replace(noise=0.3).build()
    level = 0.3 * np.linalg.norm(problem.operator.adjoint(problem.b), 2)
    convex = run(soft_impute, problem, max_iter=2000, shrinkage=0.3)[1][-1]
    problem.rank = len(convex.estimate.s) + 2
    factored = run(als, problem, max_iter=2000, ridge=float(level))[1]
    assert (np.diff([iterate.objective for iterate in factored]) <= 1e-9).all()
    assert factored[-1].objective == pytest.approx(convex.objective, rel=1e-8)
    assert factored[-1].estimate.dense() == pytest.approx(convex.estimate.dense(), abs=1e-4)


@pytest.mark.parametrize("spec", [SENSING, NETWORK.replace(signs="mixed"), NETWORK.replace(signs="positive")])
@pytest.mark.parametrize("directions", ["gradient", "conjugate"])
def test_scaled_gradients_do_not_see_the_condition_number(spec, directions):
    lengths = []
    for condition in (1.0, 1000.0):
        problem = spec.replace(condition=condition).build()
        stop, iterates = run(scaled, problem, directions=directions)
        assert stop == Stop.CONVERGED and problem.score(iterates[-1].estimate)["error"] < 1e-12
        lengths.append(len(iterates))
    assert lengths[1] < 2 * lengths[0]


ENTRIES = lrlab.spec("inductive-completion", features="canonical", n1=40, n2=35, rank=3, observed=0.5)
HARD = lrlab.spec(
    "inductive-completion", features="canonical", n1=80, n2=80, rank=3, observed=0.24, condition=10, seed=1000
)
"""3.3 times the degrees of freedom."""
COMPLETIONS = ("gnimc", "matrix-irls", "r2rils")


@pytest.mark.parametrize("name", [*COMPLETIONS, "gauss-newton"])
def test_a_table_is_completed_from_few_entries(name):
    trace = lrlab.solve(HARD, name)
    assert trace.stop is Stop.CONVERGED and trace.metrics["error"] < 1e-10


@pytest.mark.parametrize("seed", [3001, 3004])
def test_gauss_newton_completes_scarce_and_ill_conditioned_tables(seed):
    """2.2 times the degrees of freedom; with a penalty that faded faster these ended at errors above 1."""
    sizes = {"n1": 150, "n2": 150, "rank": 5, "observed": 0.144, "condition": 10}
    trace = lrlab.solve(lrlab.spec("inductive-completion", features="canonical", **sizes, seed=seed), "gauss-newton")
    assert trace.stop is Stop.CONVERGED and trace.metrics["error"] < 1e-10


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
    problem = ENTRIES.build()
    problem.b = np.zeros_like(problem.b)
    for name in (*COMPLETIONS, "gauss-newton", "nuclear-norm"):
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


FEATURED = lrlab.spec("inductive-completion", n1=60, n2=50, d1=10, d2=12, rank=2, seed=1000)
"""40 unknowns with features, 216 without."""


@pytest.mark.parametrize("features", ["orthonormal", "correlated"])
def test_it_needs_the_entries_that_decide_the_table(features):
    spec = FEATURED.replace(observed=0.3, features=features)
    trace = lrlab.solve(spec, "complete-then-regress")
    assert trace.metrics["error"] < 1e-6
    few = spec.replace(observed=0.05, features="orthonormal")
    assert few.measurements > 3 * few.degrees_of_freedom
    trace = lrlab.solve(few, "complete-then-regress", max_iter=25)
    assert trace.stop is not Stop.CONVERGED and trace.metrics["error"] > 0.3
    assert "degrees of freedom" in trace.note
    assert lrlab.solve(few, "gauss-newton").metrics["error"] < 1e-10


def test_the_second_stage_is_the_regression_on_the_completed_table():
    spec = lrlab.spec("multilabel-regression", n=70, d=5, labels=20, rank=2, observed=0.3, noise=0.1)
    trace = lrlab.solve(spec, "complete-then-regress")
    A = trace.problem.operator
    table = lrlab.spec("inductive-completion", n1=70, n2=20, rank=2, features="canonical").build()
    table.operator, table.b = A.without_features(), trace.problem.b
    states = catalog.solver("matrix-irls").run(table, rng=np.random.default_rng(0))
    *_, state = islice(states, len(trace.rows))
    expected = np.linalg.lstsq(A.X, state.estimate.dense(), rcond=None)[0]
    np.testing.assert_allclose(trace.estimate.dense(), expected, atol=1e-6)


@pytest.mark.parametrize(
    "spec",
    [
        lrlab.spec("rank-one-sensing", d1=6, d2=5, rank=2, m=60),
        lrlab.spec("polynomial-network", p=6, r=2, m=60),
        lrlab.spec("inductive-completion", n1=40, n2=40, d1=5, d2=4, rank=2, observed=0.05),
    ],
    ids=lambda spec: spec.model,
)
def test_enough_measurements_need_no_low_rank_and_few_do(spec):
    assert lrlab.solve(spec, "least-squares").metrics["error"] < 1e-8
    few = spec.replace(m=12) if hasattr(spec, "m") else spec.replace(observed=0.008)
    trace = lrlab.solve(few, "least-squares")
    problem = few.build()
    d1, d2 = few.size
    rows = np.array([problem.operator.adjoint(e).ravel() for e in np.eye(len(problem.b))])
    expected = np.linalg.lstsq(rows, problem.b, rcond=1e-12)[0].reshape(d1, d2)
    np.testing.assert_allclose(trace.estimate.dense(), expected, atol=1e-7)
    assert trace.metrics["misfit"] < 1e-8 and trace.metrics["error"] > 0.1

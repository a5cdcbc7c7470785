"""Solvers of low-rank sensing and completion: recovery, stationarity, independent implementations, baselines."""

from itertools import islice

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse.linalg import lsqr

import lrlab
from lrlab import catalog, lowrank
from lrlab.engine.solve import solve
from lrlab.operators.operator import Moment
from lrlab.operators.rank_one import RankOne
from lrlab.operators.tangent import point
from lrlab.protocol import Stop
from lrlab.runs.run import trial_spec
from lrlab.solvers.low_rank import gnimc, matrix_irls
from lrlab.solvers.low_rank.altmin import altmin
from lrlab.solvers.low_rank.completion import als, soft_impute
from lrlab.solvers.low_rank.svp import svp
from tests.solvers.driving import run

SENSING = lrlab.spec("rank-one-sensing", m=600, d1=20, d2=15, rank=3)
DENSE = SENSING.replace(operator="dense")
COMPLETION = lrlab.spec("inductive-completion", n1=60, n2=50, d1=10, d2=8, rank=2, observed=0.2)
TABLE = COMPLETION.replace(n1=40, n2=30, observed=0.5, features="canonical")
LABELS = lrlab.spec("multilabel-regression", n=100, d=8, labels=20, rank=2, observed=0.3)
NETWORK = lrlab.spec("polynomial-network", m=400, p=15, r=3)
HARD = TABLE.replace(n1=80, n2=80, rank=3, observed=0.24, condition=10, seed=1000)
"""3.3 times the degrees of freedom."""
SCARCE = TABLE.replace(n1=150, n2=150, rank=5, observed=0.144, condition=10)
"""2.2 times the degrees of freedom: with a penalty that faded faster, Gauss-Newton ended at errors above 1."""
FOUND = TABLE.replace(n1=100, n2=100, rank=3, observed=0.3)
"""Conjugate gradients past the accuracy of the arithmetic led Matrix-IRLS from errors of 1e-13 to 0.02 and 8."""
UNITS = NETWORK.replace(m=480, p=40, r=4, seed=1001)
"""All solvers ended at points of the wrong signs if units differed, and some called them converged."""
MANY = lrlab.spec("polynomial-network", m=1500, p=24, r=2, condition=3, seed=4)
EXACT = [
    *(("altmin", spec, {}) for spec in (SENSING, DENSE, COMPLETION, TABLE, LABELS)),
    ("altmin", SENSING, {"inner": "exact"}),
    ("altmin", COMPLETION, {"inner": "inexact"}),
    *(("scaled-gradient", spec, {}) for spec in (SENSING, DENSE, COMPLETION, TABLE, LABELS, NETWORK)),
    *(("svp", spec, {}) for spec in (DENSE, COMPLETION)),
    ("svp", DENSE, {"step": "fixed"}),
    ("als", TABLE, {"ridge": 0.0}),
    *((name, spec, {}) for name in ("tangent-descent", "gauss-newton")
      for spec in (SENSING, DENSE, COMPLETION, TABLE, LABELS, NETWORK)),
    # Alternating least squares converge slowly on networks.
    *((name, spec, {"start": start}) for start in ("clipped", "random")
      for name in ("tangent-descent", "scaled-gradient", "gauss-newton", "altmin")
      for spec in (SENSING, NETWORK.replace(m=600))[: 1 if name == "altmin" else 2]),
    *((name, HARD, {}) for name in ("gnimc", "matrix-irls", "r2rils", "gauss-newton")),
    *(("gauss-newton", SCARCE.replace(seed=seed), {}) for seed in (3001, 3004)),
    *(("matrix-irls", FOUND.replace(seed=seed), {}) for seed in (1003, 1005)),
    *((name, UNITS.replace(signs=signs, condition=condition), {})
      for name in ("tangent-descent", "scaled-gradient", "gauss-newton")
      for signs, condition in (("mixed", 10), ("mixed", 1000), ("positive", 100))),
    *((name, MANY.replace(signs=signs), {"step_rule": rule}) for name in ("ep-rom", "ap-rom", "gfm")
      for signs in ("positive", "mixed") for rule in ("fixed", "adaptive")),
    *((name, NETWORK.replace(m=400, p=5, r=5, seed=2), {}) for name in ("ep-rom", "gfm", "geco")),
]  # fmt: skip


ROUGH = ("ep-rom", "ap-rom", "gfm", "geco")
"""Solvers whose fixed points need not be stationary."""


def named(value):
    return getattr(value, "model", str(value))


@pytest.mark.parametrize(("name", "spec", "options"), EXACT, ids=named)
def test_exact_measurements_give_the_exact_matrix(name, spec, options):
    tol, stop = (1e-10, Stop.SETTLED) if name in ROUGH else (1e-8, Stop.CONVERGED)
    trace = lrlab.solve(spec, name, max_iter=200, tol=tol, **options)
    most = 1e-9 if name in ROUGH else 1e-12 if spec.condition == 1 else 1e-10
    assert trace.stop is stop and trace.metrics["error"] < most
    if name in ("tangent-descent", "gauss-newton") and not options and spec.condition == 1:
        # Up to rounding, once only rounding remains.
        objectives = trace.table["objective"].to_numpy()
        assert (np.diff(objectives) <= 1e-20 * objectives[0]).all()


@pytest.mark.parametrize("name", ["altmin", "tangent-descent", "scaled-gradient", "gauss-newton"])
def test_initializations_differ(name):
    starts = ({}, {"start": "clipped"}, {"start": "random"})
    assert len({lrlab.solve(SENSING, name, max_iter=1, **start).metrics["error"] for start in starts}) == 3


NEAR = [
    # 1.5 times the degrees of freedom for Gauss-Newton; of ten, 7 without weights at rank 1. 3 for tangent descent.
    ("gauss-newton", lrlab.spec("rank-one-sensing", d1=30, d2=30, rank=3, m=257), 3, 3),
    ("gauss-newton", lrlab.spec("rank-one-sensing", d1=30, d2=30, rank=1, m=88, seed=31000), 10, 9),
    ("tangent-descent", lrlab.spec("polynomial-network", p=60, r=4, m=702), 1, 1),
    # Twice; of ten, 5 and 4 from the moment, without weights.
    *(("gauss-newton", lrlab.spec("polynomial-network", p=p, r=1, m=2 * p, seed=31000), 10, 10) for p in (40, 100)),
]


@pytest.mark.parametrize(("name", "spec", "trials", "least"), NEAR, ids=named)
def test_matrices_are_recovered_close_to_the_degrees_of_freedom(name, spec, trials, least):
    traces = [solve(trial_spec(spec, trial), name, max_iter=150) for trial in range(trials)]
    assert sum(trace.stop is Stop.CONVERGED and trace.metrics["error"] < 1e-10 for trace in traces) >= least


@pytest.mark.parametrize("spec", [SENSING, NETWORK, COMPLETION, TABLE], ids=named)
def test_measurements_of_zero_give_zero_at_once(spec):
    problem = spec.build()
    problem.b = np.zeros_like(problem.b)
    for entry in catalog.solvers_for(spec.model):
        iterate = next(entry.run(problem, **dict(entry.fixed), rng=np.random.default_rng(0)))
        assert not iterate.estimate.dense().any() and not iterate.residual and iterate.objective == 0, entry.name


@pytest.mark.parametrize("spec", [SENSING, LABELS])
@pytest.mark.parametrize("inner", ["inexact", "exact"])
def test_altmin_with_a_ridge_ends_at_a_stationary_point(spec, inner):
    problem = spec.replace(noise=0.1).build()
    _, iterates = run(altmin, problem, inner=inner, ridge=3.0)
    U, s, V = W = iterates[-1].estimate
    rest = problem.operator(W) - problem.b
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
    assert len(run(altmin, COMPLETION.replace(observed=1.0, noise=0.1).build(), fresh_samples=2)[1]) == 2


def test_svp_with_a_fixed_step_is_projected_gradient():
    problem = DENSE.replace(noise=0.1).build()
    A = problem.operator.A.reshape(DENSE.m, -1)
    W = np.zeros(A.shape[1])
    for iterate in run(svp, problem, max_iter=4, step="fixed", isometry=0.5)[1]:
        U, s, Vt = np.linalg.svd((W + A.T @ (problem.b - A @ W) / (1.5 * DENSE.m)).reshape(20, 15))
        W = ((U[:, :3] * s[:3]) @ Vt[:3]).ravel()
        assert iterate.estimate.dense().ravel() == pytest.approx(W, abs=1e-12)


def test_als_with_a_ridge_and_enough_rank_solves_the_nuclear_norm_problem():
    problem = TABLE.replace(noise=0.3).build()
    level = 0.3 * np.linalg.norm(problem.operator.adjoint(problem.b), 2)
    convex = run(soft_impute, problem, max_iter=2000, shrinkage=0.3)[1][-1]
    problem.rank = len(convex.estimate.s) + 2
    factored = run(als, problem, max_iter=2000, ridge=float(level))[1]
    assert (np.diff([iterate.objective for iterate in factored]) <= 1e-9).all()
    assert factored[-1].objective == pytest.approx(convex.objective, rel=1e-8)
    assert factored[-1].estimate.dense() == pytest.approx(convex.estimate.dense(), abs=1e-4)


def test_the_update_of_gnimc_is_that_of_its_factors_whatever_their_scaling():
    rng = np.random.default_rng(2)
    problem = lrlab.spec("rank-one-sensing", d1=7, d2=6, rank=2, m=60).build()
    W, new = (one.estimate for one in islice(gnimc.gnimc(problem, rng=rng), 2))
    at = point(problem.operator, W, problem.b)
    # The factors themselves, scaled unequally, and LSQR in bases of theirs that are orthonormal.
    C = rng.standard_normal((2, 2))
    U, V = W.left @ C, W.V @ np.linalg.inv(C).T
    Qu, Ru = np.linalg.qr(U)
    Qv, Rv = np.linalg.qr(V)
    assert isinstance(problem.operator, RankOne)
    rows = [np.concatenate([np.outer(x, Qv.T @ y).ravel(), np.outer(y, Qu.T @ x).ravel()])
            for x, y in zip(problem.operator.X, problem.operator.Y, strict=True)]  # fmt: skip
    z = lsqr(np.array(rows), -at.d, atol=1e-15, btol=1e-15, iter_lim=10)[0]
    dU, dV = z[:14].reshape(7, 2) @ np.linalg.inv(Rv).T, z[14:].reshape(6, 2) @ np.linalg.inv(Ru).T
    np.testing.assert_allclose(new.dense(), (U + dU) @ (V + dV).T, atol=1e-8)


@pytest.mark.parametrize("spec", [SENSING, NETWORK.replace(signs="mixed"), NETWORK.replace(signs="positive")])
@pytest.mark.parametrize("directions", ["gradient", "conjugate"])
def test_scaled_gradients_do_not_see_the_condition_number(spec, directions):
    one, other = (
        lrlab.solve(spec.replace(condition=c), "scaled-gradient", directions=directions) for c in (1.0, 1000.0)
    )
    assert one.stop is other.stop is Stop.CONVERGED and max(one.metrics["error"], other.metrics["error"]) < 1e-12
    assert len(other.rows) < 2 * len(one.rows)


SMALL = {
    "network": lrlab.spec("polynomial-network", m=60, p=8, r=2, noise=0.1, seed=1),
    "rank-one": lrlab.spec("rank-one-sensing", m=60, d1=7, d2=5, rank=2, noise=0.1, seed=1),
    "dense": lrlab.spec("rank-one-sensing", m=60, d1=5, d2=7, rank=2, noise=0.1, operator="dense", seed=1),
    "features": COMPLETION.replace(n1=20, n2=15, d1=6, d2=5, rank=1, observed=0.4, features="correlated", noise=0.1),
    "canonical": TABLE.replace(noise=0.3),
}


@pytest.mark.parametrize("share", [0.3, 0.01])
@pytest.mark.parametrize(
    ("solver", "name"), [*(("nuclear-norm", name) for name in SMALL), ("soft-impute", "canonical")]
)
def test_a_nuclear_norm_minimum_is_proved_by_duality(solver, name, share):
    """The dual of ||A(W) - b||^2 / 2 + mu ||W||_* is <b, v> - ||v||^2 / 2 over ||A*(v)|| <= mu."""
    option = {"mu_share": share} if solver == "nuclear-norm" else {"shrinkage": share}
    trace = lrlab.solve(SMALL[name], solver, max_iter=3000, tol=1e-9, **option)
    A, b, W = trace.problem.operator, trace.problem.b, trace.estimate
    mu, d = share * np.linalg.norm(A.adjoint(b), 2), A(W) - b
    v = -d * min(1.0, mu / np.linalg.norm(A.adjoint(d), 2))
    primal = d @ d / 2 + mu * np.abs(W.s).sum()
    assert trace.stop is Stop.CONVERGED and abs(primal - (b @ v - v @ v / 2)) < 1e-7 * primal
    assert trace.metrics["objective"] == pytest.approx(primal, rel=1e-10)


@pytest.mark.parametrize("precision", ["double", "single"])
def test_little_weight_recovers_from_exact_measurements(precision):
    spec = lrlab.spec("polynomial-network", m=600, p=20, r=2, precision=precision)
    trace = lrlab.solve(spec, "nuclear-norm", mu_share=1e-4, max_iter=400)
    W = trace.estimate
    assert trace.stop is Stop.CONVERGED and trace.metrics["error"] < 2e-3
    assert W.U is W.V and W.s.dtype == spec.build().operator.dtype and np.count_nonzero(W.s) == 2


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


@pytest.mark.parametrize(("solver", "option"), [("als", "ridge = 0.1"), ("soft-impute", "shrinkage = 0.03")])
def test_a_penalised_minimum_names_its_penalty_and_what_it_leaves(solver, option):
    trace = lrlab.solve(TABLE.replace(n1=60, n2=50, observed=0.3), solver, max_iter=1000)
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

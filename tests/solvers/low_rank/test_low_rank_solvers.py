"""Solvers of general low-rank sensing: recovery, stationarity, and independent implementations."""

from functools import partial

import numpy as np
import pytest

from lrlab import catalog
from lrlab.engine.solve import solve
from lrlab.models.completion import InductiveCompletion, MultilabelRegression
from lrlab.models.network import PolynomialNetwork
from lrlab.models.rank_one_sensing import RankOneSensing
from lrlab.protocol import Stop
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

"""LEML and the nuclear norm: derivatives, optima, invariants, units, and agreement with independent implementations."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array

from lrlab import catalog
from lrlab.data.dataset import Dataset
from lrlab.data.label_task import LabelProblem
from lrlab.lowrank import LowRank, from_dense
from lrlab.protocol import Limits, Stop
from lrlab.runs.run import drive
from lrlab.solvers.multilabel import labels as label_tables
from lrlab.solvers.multilabel import leml_steps
from lrlab.solvers.multilabel.cplst import cplst
from lrlab.solvers.multilabel.labels import LOGISTIC, SQUARED, SQUARED_HINGE
from lrlab.solvers.multilabel.leml import leml
from lrlab.solvers.multilabel.predictors import Affine
from lrlab.solvers.multilabel.trace_norm import trace_norm
from tests.solvers import driving
from tests.solvers.driving import SPEC, SPECS, dense, observed_of, run

LOSSES = {"squared": SQUARED, "logistic": LOGISTIC, "hinge": SQUARED_HINGE}
leml_squared, leml_logistic, leml_hinge, plst = (
    partial(leml, loss="squared"), partial(leml, loss="logistic"), partial(leml, loss="squared-hinge"),
    partial(cplst, labels_only=True),
)  # fmt: skip
SOLVERS = {"squared": leml_squared, "logistic": leml_logistic, "hinge": leml_hinge}
every_solver = pytest.mark.parametrize("name", SOLVERS)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(label_tables, "BLOCK", 150)


def objective(problem, name, W, H, weight):
    """Return J by its definition, from dense tables."""
    observed = observed_of(problem)
    a, b = LOSSES[name].coded(problem.Y.toarray()), dense(problem.X) @ W @ H.T
    losses = {"squared": (a - b) ** 2 / 2, "logistic": np.log1p(np.exp(-a * b)), "hinge": np.maximum(0, 1 - a * b) ** 2}
    return losses[name][observed].sum() + weight / 2 * ((W**2).sum() + (H**2).sum())


@every_solver
@pytest.mark.parametrize("spec", [*SPECS.values(), SPEC.replace(n=2000, observed=0.02)], ids=[*SPECS, "few-observed"])
def test_objectives_fall_and_are_those_of_the_estimate(name, spec):
    problem = spec.build()
    _, iterates = run(SOLVERS[name], problem, max_iter=12, regularization=0.5)
    for iterate in iterates:
        U, s, V = iterate.estimate
        assert U.T @ U == pytest.approx(np.eye(len(s)), abs=1e-9) and (np.diff(s) <= 1e-12).all()
        direct = objective(problem, name, U * np.sqrt(s), V * np.sqrt(s), 0.5)
        assert iterate.objective == pytest.approx(direct, rel=1e-9)
        assert isinstance(iterate.estimate, LOSSES[name].kind)
    values = np.array([iterate.objective for iterate in iterates])
    assert (np.diff(values) <= 1e-9 * values[0]).all()


@every_solver
def test_residuals_vanish_at_a_stationary_point_of_an_independent_solver(name, monkeypatch):
    monkeypatch.setattr(leml_steps, "NEWTON_STEPS", 50)
    problem = SPECS["dense-missing"].build()
    stop, iterates = run(SOLVERS[name], problem, max_iter=3000, regularization=2.0, steps=100)
    assert stop is Stop.CONVERGED
    U, s, V = iterates[-1].estimate
    d, L, k = 9, 7, 2

    def J(w):
        return objective(problem, name, w[: d * k].reshape(d, k), w[d * k :].reshape(L, k), 2.0)

    w = np.concatenate([(U * np.sqrt(s)).ravel(), (V * np.sqrt(s)).ravel()])
    optimum = minimize(J, w, method="BFGS", options={"gtol": 1e-6, "maxiter": 200})
    assert iterates[-1].objective == pytest.approx(optimum.fun, rel=1e-8)


def test_another_rank_can_be_fitted():
    problem = SPEC.build()
    for solver in SOLVERS.values():
        assert run(solver, problem, 1, fitted_rank=4)[1][0].estimate.s.shape == (4,)
        assert run(solver, problem, 1, fitted_rank=100)[1][0].estimate.s.shape == (7,)


TALL, WIDE = SPECS["sparse"], SPEC.replace(n=20, d=40)


@pytest.mark.parametrize("spec", [SPEC, TALL, WIDE, WIDE.replace(density=0.5)])
@pytest.mark.parametrize("weight", [0.0, 3.0])
def test_cplst_is_the_optimum_that_leml_finds(spec, weight):
    problem = spec.build()
    stop, (only,) = run(cplst, problem, regularization=weight)
    assert stop is Stop.FINISHED
    options = {"penalty": "frobenius", "inner": "exact"}
    finals = [run(leml_squared, problem, 3000, s, 1e-12, regularization=weight, **options)[1][-1] for s in range(3)]
    best = min(finals, key=lambda it: it.objective)
    assert best.objective == pytest.approx(only.objective, rel=1e-10)
    assert best.estimate.dense() == pytest.approx(only.estimate.dense(), abs=1e-8 * only.estimate.s[0])


@pytest.mark.parametrize("spec", [SPEC, WIDE, WIDE.replace(density=0.5)])
@pytest.mark.parametrize("weight", [0.0, 3.0])
@pytest.mark.parametrize(("solver", "centred"), [(cplst, True), (plst, True), (plst, False)])
def test_label_spaces_are_those_of_tables_less_their_means_or_not(spec, weight, solver, centred):
    problem, rank = spec.build(), 2
    X, Y = dense(problem.X), dense(problem.Y)
    Xc, Yc = X - centred * X.mean(axis=0), Y - centred * Y.mean(axis=0)
    B = np.linalg.pinv(Xc.T @ Xc + weight * np.eye(spec.d), hermitian=True) @ Xc.T @ Yc
    V = np.linalg.eigh(Yc.T @ Xc @ B if solver is cplst else Yc.T @ Yc)[1][:, -rank:]
    only = run(solver, problem, regularization=weight, centred=centred)[1][0]
    Z = B @ V @ V.T
    assert only.estimate.dense() == pytest.approx(Z, abs=1e-8)
    scores = only.estimate.scores(problem.X)(slice(None))
    assert scores == pytest.approx(Xc @ Z + centred * Y.mean(axis=0), abs=1e-8)
    assert only.objective == pytest.approx((((Y - scores) ** 2).sum() + weight * (Z**2).sum()) / 2)
    again = (Affine if centred else LowRank).restored(only.estimate.arrays())
    assert again.scores(problem.X)(slice(3, 5)) == pytest.approx(scores[3:5])
    small = from_dense(1e-14 * Z)
    assert 1e14 * small.scores(X)(slice(None)) == pytest.approx(X @ Z), "whatever the unit of the features"


TRACE_NORMS = {loss: partial(trace_norm, loss=loss) for loss in ("squared", "logistic")}
CONVEX = driving.SPECS | {"wide": driving.SPEC.replace(d=5, labels=12)}
every_loss = pytest.mark.parametrize("name", list(TRACE_NORMS))
every_convex = pytest.mark.parametrize("spec", CONVEX.values(), ids=CONVEX)


def converged(name, problem, **options):
    return driving.run(TRACE_NORMS[name], problem, max_iter=3000, **options)


def smooth(problem, name, W):
    """Return the loss and its gradient by their definitions, from dense tables."""
    X, observed = driving.dense(problem.X), driving.observed_of(problem)
    a, b = LOSSES[name].coded(problem.Y.toarray()), X @ W
    if name == "squared":
        return (observed * (a - b) ** 2).sum() / 2, X.T @ (observed * (b - a))
    return (observed * np.log1p(np.exp(-a * b))).sum(), X.T @ (observed * -a / (1 + np.exp(a * b)))


@pytest.mark.slow
@every_loss
@every_convex
def test_the_residual_bounds_the_nearest_subgradient_down_to_the_optimum_and_objectives_never_rise(spec, name):
    problem, weight = spec.build(), 2.0
    scale = np.linalg.norm(smooth(problem, name, np.zeros(spec.size))[1])
    stop, iterates = converged(name, problem, regularization=weight)
    assert stop is Stop.CONVERGED
    for iterate in [*iterates[:100], iterates[-1]]:
        U, s, V = iterate.estimate
        value, g = smooth(problem, name, iterate.estimate.dense())
        assert iterate.objective == pytest.approx(value + weight * s.sum(), rel=1e-9)
        # The nearest subgradient: U V^T on the support of W, and the rest of -g / weight elsewhere, clipped at 1.
        on = s > 0
        P, Q = U[:, on] @ U[:, on].T, V[:, on] @ V[:, on].T
        rest = (np.eye(len(P)) - P) @ g @ (np.eye(len(Q)) - Q)
        gap = np.hypot(
            np.linalg.norm(g - rest + weight * U[:, on] @ V[:, on].T),
            np.linalg.norm(np.maximum(np.linalg.svd(rest, compute_uv=False) - weight, 0)),
        )
        assert gap <= iterate.residual * scale * (1 + 1e-9) + 1e-9 * scale
    values = np.array([iterate.objective for iterate in iterates])
    assert (np.diff(values) <= 1e-12 * values[0]).all()


@every_loss
def test_zero_is_the_solution_from_the_norm_of_the_gradient_on(name):
    problem = CONVEX["sparse-missing"].build()
    largest = np.linalg.norm(smooth(problem, name, np.zeros((30, 7)))[1], 2)
    stop, (only,) = converged(name, problem, regularization=1.001 * largest)
    assert stop is Stop.CONVERGED and not only.estimate.dense().any()
    assert converged(name, problem, regularization=0.98 * largest)[1][-1].estimate.s[0] > 0


DRAWN = np.random.default_rng(7100)
ROWS = DRAWN.standard_normal((60, 8)) + 0.3
LABELS = csr_array((ROWS @ DRAWN.standard_normal((8, 4)) + DRAWN.standard_normal((60, 4)) > 0).astype(float))
RUNS = [
    ("leml-squared", {"regularization": 1e-3}),
    ("leml-squared", {"regularization": 1e-3, "inner": "exact"}),
    ("leml-logistic", {}),
    ("leml-squared-hinge", {}),
    ("trace-norm-squared", {"regularization": 1e-3}),
    ("trace-norm-logistic", {}),
    ("binary-relevance", {"regularization": 1e-3}),
    ("binary-relevance", {"loss": "logistic"}),
    ("binary-relevance", {"loss": "squared-hinge"}),
]


def ended(solver, options, size, most=60, observed=None):
    """Return the stop of a run on rows half of whose features are `size` times as large, and its last objective."""
    X = ROWS * np.where(np.arange(8) < 4, 1.0, size)
    data, last = Dataset(X, LABELS, observed=observed), []
    problem = LabelProblem(data, data.rows(slice(0, 0)), 4, scaling="none")
    entry = catalog.solver(solver, "multilabel")
    iterates = entry.run(problem, **dict(entry.settle(options).options), rng=np.random.default_rng(0))
    stop = drive(iterates, lambda number, seconds, at: last.append(at.objective), Limits(max_iter=most))
    return stop, last[-1]


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "options"), RUNS)
def test_a_claim_of_an_optimum_holds_in_any_units(solver, options):
    best = ended(solver, options, 1.0, 400)[1]
    for size in (1e4, 1e8):
        stop, value = ended(solver, options, size)
        # A penalty is next to nothing on weights of larger features.
        assert stop not in (Stop.CONVERGED, Stop.FINISHED) or value < 1.01 * best


def test_ridge_regression_is_exact_in_any_units():
    sizes = (1.0, 1e4, 1e6, 1e8)
    ends = [ended("binary-relevance", {"regularization": 1e-3}, size) for size in sizes]
    assert all(stop is Stop.CONVERGED for stop, _ in ends)
    assert [value for _, value in ends] == pytest.approx([ends[0][1]] * len(sizes), rel=1e-4)

"""Kernel LEML: kernels, features and predictors against scikit-learn, explicit features and definitions."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.preprocessing import StandardScaler

from lrlab.data.rows import read
from lrlab.models.multilabel import Multilabel
from lrlab.models.multilabel_problem import MultilabelProblem
from lrlab.protocol import Stop
from lrlab.runs.run import drive
from lrlab.solvers.multilabel import kernel_features, leml
from lrlab.solvers.multilabel.kernel_features import (
    Kernel,
    KernelRank,
    SignedKernelRank,
    drawn_landmarks,
    features,
    landmark_count,
    moments,
    usual_bandwidth,
)
from lrlab.solvers.multilabel.kernel_leml import kernel_leml

DATA = Path(os.environ.get("LRLAB_DATA", Path(__file__).parents[4] / "shared" / "data"))
SPEC = Multilabel(n=60, d=5, labels=6, rank=2, per_row=2, noise=0.2)
SPECS = {"dense": SPEC, "sparse": SPEC.replace(d=25, density=0.3), "missing": SPEC.replace(observed=0.5)}
every_spec = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
every_kernel = pytest.mark.parametrize("name", kernel_features.NAMES)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(kernel_features, "BLOCK", 200)
    monkeypatch.setattr(kernel_features, "ROWS", 7)


def run(problem, max_iter=5, seed=0, tol=1e-8, **options):
    iterates = []
    solver = kernel_leml(problem, rng=np.random.default_rng(seed), **options)
    return drive(solver, lambda i, s, it: iterates.append(it), max_iter=max_iter, tol=tol), iterates


def dense(table):
    return table.toarray() if issparse(table) else np.asarray(table)


def whole(estimate, X):
    return estimate.scores(X)(slice(None))


def rows(rng, n=40, d=6, sparse=False):
    X = rng.standard_normal((n, d))
    return csr_array(np.where(rng.random((n, d)) < 0.4, X, 0.0)) if sparse else X


def independent(kernel, X, Z):
    X, Z = dense(X), dense(Z)
    if kernel.name == "rbf":
        return rbf_kernel(X, Z, gamma=1 / (2 * kernel.bandwidth**2))
    c = kernel.centre
    return polynomial_kernel(X - c, Z - c, degree=kernel.degree, gamma=1 / kernel.bandwidth**2, coef0=1)


@every_kernel
@pytest.mark.parametrize("sparse", [False, True])
def test_kernels_are_those_of_scikit_learn(name, sparse):
    rng = np.random.default_rng(0)
    X, Z = rows(rng, sparse=sparse), rows(rng, 30, sparse=sparse)
    kernel = Kernel(name, 1.7, 3, rng.standard_normal(6))
    assert kernel.between(X, Z) == pytest.approx(independent(kernel, X, Z), rel=1e-10)
    assert kernel.diagonal(X) == pytest.approx(np.diag(independent(kernel, X, X)))


@pytest.mark.parametrize("sparse", [False, True])
def test_units_and_bandwidths(sparse):
    rng = np.random.default_rng(1)
    X = dense(rows(rng, sparse=sparse))
    X[:, 2] = 3.0
    X = csr_array(X) if sparse else X
    mean, deviation = moments(X)
    scaler = StandardScaler().fit(dense(X))
    assert mean == pytest.approx(scaler.mean_) and deviation == pytest.approx(scaler.scale_)
    c = rng.standard_normal(6)
    D = np.linalg.norm(dense(X)[:, None] - dense(X)[None], axis=2)[np.triu_indices(40, 1)]
    assert usual_bandwidth("rbf", X, c, rng) == pytest.approx(np.median(D[D > 0]))
    assert usual_bandwidth("polynomial", X, c, rng) == pytest.approx(((dense(X) - c) ** 2).sum(1).mean() ** 0.5)
    same = np.tile(rng.standard_normal(6), (5, 1))
    assert [usual_bandwidth(name, same, same[0], rng) for name in kernel_features.NAMES] == [1.0, 1.0]


@every_kernel
@pytest.mark.parametrize("sparse", [False, True])
def test_features_have_the_kernel_as_inner_products(name, sparse):
    rng = np.random.default_rng(2)
    X = rows(rng, sparse=sparse)
    kernel = Kernel(name, 2.0, 2, rng.standard_normal(6))
    K = independent(kernel, X, X)
    result = features(kernel, X, np.arange(40))
    # A polynomial of degree 2 in 6 variables has 28 coefficients.
    assert result.Phi.shape == (40, 40 if name == "rbf" else 28)
    assert result.Phi @ result.Phi.T == pytest.approx(K, abs=1e-8 * K.max())
    assert result.Phi[result.landmarks] @ np.tril(result.R).T == pytest.approx(
        K[np.ix_(result.landmarks, result.landmarks)]
    )


@every_kernel
@pytest.mark.parametrize("sparse", [False, True])
def test_nystrom_is_its_formula_and_all_landmarks_are_exact(name, sparse):
    rng = np.random.default_rng(3)
    X = rows(rng, sparse=sparse)
    kernel = Kernel(name, 2.0, 2, np.zeros(6))
    K, some = independent(kernel, X, X), np.arange(0, 40, 3)
    result = features(kernel, X, some)
    formula = K[:, some] @ np.linalg.pinv(K[np.ix_(some, some)], hermitian=True) @ K[some]
    assert result.Phi @ result.Phi.T == pytest.approx(formula, abs=1e-7 * K.max())
    # Every row twice: the first copies are fewer than all rows, and tell all of them.
    twice = np.vstack([dense(X), dense(X)])
    twice = csr_array(twice) if sparse else twice
    result, exact = features(kernel, twice, np.arange(40)), features(kernel, twice, np.arange(80))
    for Phi in (result.Phi, exact.Phi):
        assert Phi @ Phi.T == pytest.approx(np.tile(K, (2, 2)), abs=1e-8 * K.max())
    assert exact.Phi.shape[1] == result.Phi.shape[1] <= 40


@pytest.mark.parametrize("choice", ["uniform", "spread"])
def test_landmarks_are_distinct_and_of_the_requested_number(choice):
    rng = np.random.default_rng(4)
    X = rows(rng)
    kernel = Kernel("rbf", 1.0, 2, np.zeros(6))
    first, again = (drawn_landmarks(kernel, X, 9, choice, np.random.default_rng(5)) for _ in range(2))
    assert (first == again).all() and len(first) == 9 and (np.diff(first) > 0).all()
    assert (drawn_landmarks(kernel, X, 40, choice, rng) == np.arange(40)).all()
    assert [landmark_count(*sizes) for sizes in [(50, 0), (50, 9), (50, 90), (6000, 0)]] == [50, 9, 50, 1000]


def test_landmarks_spread_out_reach_every_cluster():
    rng = np.random.default_rng(6)
    cluster = np.repeat(np.arange(5), [400, 30, 10, 5, 5])
    X = 100.0 * rng.standard_normal((5, 3))[cluster] + 1e-3 * rng.standard_normal((450, 3))
    kernel = Kernel("rbf", 10.0, 2, np.zeros(3))
    assert set(cluster[drawn_landmarks(kernel, X, 5, "spread", rng)]) == set(range(5))
    exactly = np.repeat(np.eye(3), 20, axis=0)
    assert len(drawn_landmarks(kernel, exactly, 10, "spread", rng)) == 3


@pytest.mark.parametrize("spec", [SPECS["dense"], SPECS["sparse"]], ids=["dense", "sparse"])
@every_kernel
def test_the_squared_loss_at_full_rank_is_kernel_ridge_regression(spec, name):
    problem = spec.build()
    options = {"kernel": name, "bandwidth": 3.0, "penalty": "frobenius", "regularization": 0.5, "fitted_rank": 6}
    stop, iterates = run(problem, 500, units="given", steps=200, tol=1e-10, **options)
    assert stop is Stop.CONVERGED
    X, X_test = dense(problem.X), dense(problem.X_test)
    kernel = Kernel(name, 3.0, 2, np.zeros(X.shape[1]))
    ridge = KernelRidge(alpha=0.5, kernel="precomputed").fit(independent(kernel, X, X), problem.Y.toarray())
    expected = ridge.predict(independent(kernel, X_test, X))
    assert whole(iterates[-1].estimate, problem.X_test) == pytest.approx(expected, abs=1e-6)


@every_spec
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_degree_one_is_leml_with_a_constant_feature(spec, loss):
    problem = spec.build()
    X, X_test = (np.hstack([np.ones((len(dense(Z)), 1)), dense(Z) / 2.0]) for Z in (problem.X, problem.X_test))
    explicit = MultilabelProblem(X, problem.Y, problem.mask, X_test, problem.Y_test, 2)
    # Convex: both reach the same predictor.
    options = {"penalty": "frobenius", "regularization": 1.0, "fitted_rank": 5, "steps": 100}
    if loss == "logistic":
        options["newton_steps"] = 20
    _, mine = run(problem, 300, kernel="polynomial", degree=1, bandwidth=2.0, units="given", loss=loss, **options)
    solver = leml.leml_squared if loss == "squared" else leml.leml_logistic
    theirs = []
    drive(solver(explicit, rng=np.random.default_rng(1), **options), lambda i, s, it: theirs.append(it), max_iter=300)
    assert mine[-1].objective == pytest.approx(theirs[-1].objective, rel=1e-7)
    scores = whole(mine[-1].estimate, problem.X_test)
    assert scores == pytest.approx(whole(theirs[-1].estimate, X_test), abs=1e-3)
    assert type(mine[-1].estimate) is (KernelRank if loss == "squared" else SignedKernelRank)


@every_spec
@pytest.mark.parametrize("landmarks", [0, 25])
def test_estimates_are_normalised_and_travel_whole(spec, landmarks):
    problem = spec.build()
    _, iterates = run(problem, 3, landmarks=landmarks)
    values = [iterate.objective for iterate in iterates]
    assert (np.diff(values) <= 1e-9 * values[0]).all()
    estimate = iterates[-1].estimate
    K = independent(estimate.kernel, estimate.landmarks, estimate.landmarks)
    assert estimate.U.T @ K @ estimate.U == pytest.approx(np.eye(2), abs=1e-6)
    arrays = estimate.arrays()
    assert all(isinstance(part, np.ndarray) and np.issubdtype(part.dtype, np.number) for part in arrays.values())
    for copy in (KernelRank.restored(arrays), pickle.loads(pickle.dumps(estimate))):
        assert (whole(copy, problem.X_test) == whole(estimate, problem.X_test)).all()
    again = run(problem, 3, landmarks=landmarks)[1][-1].estimate
    assert (again.U == estimate.U).all()
    assert iterates[-1].note.endswith(f"; {landmarks or 60} landmarks")


def test_predictions_do_not_depend_on_units_of_features():
    problem, factors = SPEC.build(), np.array([1.0, 50.0, 0.01, 3.0, 7.0])
    other = MultilabelProblem(problem.X * factors, problem.Y, None, problem.X_test * factors, problem.Y_test, 2)
    for kernel in kernel_features.NAMES:
        mine, theirs = (run(p, 2, kernel=kernel)[1][-1].estimate for p in (problem, other))
        assert whole(mine, problem.X_test) == pytest.approx(whole(theirs, other.X_test), abs=1e-6)


@pytest.mark.parametrize("options", [{}, {"loss": "logistic"}, {"kernel": "polynomial"}, {"landmarks": 60}])
def test_labels_that_no_hyperplane_separates_are_learned(options):
    rng = np.random.default_rng(7)
    X, X_test = rng.standard_normal((2, 400, 4))

    def labels(X):
        product, radius = X[:, 0] * X[:, 1], (X[:, 2:] ** 2).sum(axis=1)
        return np.stack([product > 0, product <= 0, radius > 1.4, radius <= 1.4], axis=1).astype(float)

    problem = MultilabelProblem.of(X, labels(X), None, X_test, labels(X_test), 4)
    linear = next(leml.leml_squared(problem, rng=rng)).estimate
    result = run(problem, 5, **options)[1][-1].estimate
    assert problem.score(linear)["auc"] < 0.65 and problem.score(result)["auc"] > 0.85
    assert problem.score(result)["hamming"] < 0.25


def test_emotions_are_predicted_better_than_by_a_linear_model():
    folder = DATA / "emotions"
    if not folder.exists():
        pytest.skip("needs the data set emotions")
    given = read(folder / "emotions-train.arff", folder / "emotions.xml")
    fresh = read(folder / "emotions-test.arff", folder / "emotions.xml", like=given)
    problem = MultilabelProblem.of(given.X, given.Y, None, fresh.X, fresh.Y, 6)
    mean, deviation = moments(problem.X)
    X, X_test = (np.hstack([np.ones((len(Z), 1)), (Z - mean) / deviation]) for Z in (problem.X, problem.X_test))
    explicit = MultilabelProblem(X, problem.Y, None, X_test, problem.Y_test, 6)
    solvers = {
        "linear": lambda weight: leml.leml_logistic(explicit, regularization=weight, rng=np.random.default_rng(0)),
        "kernel": lambda weight: kernel_leml(
            problem, loss="logistic", regularization=weight, rng=np.random.default_rng(0)
        ),
    }
    tests, best = {"linear": explicit, "kernel": problem}, {"linear": 0.0, "kernel": 0.0}
    for name, solver in solvers.items():
        for weight in (0.3, 1.0, 3.0):
            result = [
                tests[name].score(iterate.estimate)["auc"] for _, iterate in zip(range(5), solver(weight), strict=False)
            ]
            best[name] = max(best[name], *result)
    assert best["kernel"] > best["linear"] + 0.01

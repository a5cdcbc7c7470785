"""WSABIE, kernel LEML and Bayesian compressed sensing: steps, losses and predictors by their definitions."""

from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import StandardScaler

from lrlab.models.multilabel import MultilabelProblem
from lrlab.protocol import Stop
from lrlab.solvers.multilabel import compressed_labels, predictors, warp, wsabie
from lrlab.solvers.multilabel.bcs import bcs
from lrlab.solvers.multilabel.compressed_labels import Compressed
from lrlab.solvers.multilabel.kernel_leml import kernel_leml
from lrlab.solvers.multilabel.leml import leml
from lrlab.solvers.multilabel.warp import Negatives, Watched, rank_weights, violators
from tests.solvers import driving
from tests.solvers.driving import SPEC, SPECS, dense, every_spec, observed_of


def run(problem, epochs, seed=0, **options):
    iterates = wsabie.wsabie(problem, rng=np.random.default_rng(seed), **options)
    return [next(iterates) for _ in range(epochs)]


@pytest.mark.parametrize("most", [1000, 5])
def test_trials_are_geometric_and_estimate_the_rank(most, monkeypatch):
    monkeypatch.setattr(warp, "GATHERED", 3000)
    L, v, copies = 31, 4, 20_000
    negatives = Negatives(csr_array(([1.0], ([0], [0])), shape=(1, L)), None)
    H = np.arange(L, dtype=float)[:, None]
    rows, least = np.zeros(copies, int), np.full(copies, L - v - 0.5)
    label, number = violators(negatives, rows, least, np.ones((copies, 1)), H, most, np.random.default_rng(1))
    m, hit = L - 1, number > 0
    limit, p = min(m, most), v / m
    t = np.arange(1, limit + 1)
    chances = p * (1 - p) ** (t - 1)
    assert (label[hit] >= L - v).all() and number.max() <= limit
    error = 4 * np.sqrt(0.25 / copies)
    assert np.bincount(number, minlength=limit + 1)[1:] / copies == pytest.approx(chances, abs=error)
    assert np.bincount(label[hit])[L - v :] / hit.sum() == pytest.approx(1 / v, abs=error * 1.5)
    estimates = np.where(hit, m / np.maximum(number, 1), 0.0)
    assert estimates.mean() == pytest.approx(float((m / t * chances).sum()), abs=4 * estimates.std() / copies**0.5)


@every_spec
@pytest.mark.parametrize("norm", [1e3, 1.1])
def test_a_step_is_the_sum_of_the_steps_of_its_pairs(spec, norm, monkeypatch):
    problem, X = spec.build(), dense(spec.build().X)
    monkeypatch.setattr(wsabie, "violators", lambda negatives, rows, *_: (rows % 7, rows % 3))
    options = {"rate": 0.3, "norm": norm, "batch": 10_000, "fitted_rank": 3}
    (only,) = run(problem, 1, seed=2, **options)
    rng = np.random.default_rng(2)
    W, H = (rng.standard_normal((size, 3)) * (wsabie.SHORT / np.sqrt(3)) for size in (X.shape[1], 7))
    G_W, G_H = np.zeros_like(W), np.zeros_like(H)
    scale = 1 / np.sqrt((X**2).mean(axis=0) * X.shape[1])
    on = problem.Y.toarray() > 0
    for i, j in zip(*np.nonzero(on), strict=True):
        other, N = i % 7, i % 3
        if N:
            weight = sum(1 / r for r in range(1, int((observed_of(problem)[i] & ~on[i]).sum()) // N + 1))
            x = scale * X[i]
            G_W += weight * np.outer(x, H[j] - H[other])
            G_H[j] += weight * (x @ W)
            G_H[other] -= weight * (x @ W)
    lengths = [0.3 / (np.sqrt((G**2).mean(axis=1, keepdims=True)) + 1e-12) for G in (G_W, G_H)]
    moved = W + lengths[0] * G_W, H + lengths[1] * G_H
    bounded = [P * np.minimum(1, norm / np.linalg.norm(P, axis=1, keepdims=True)) for P in moved]
    assert only.estimate.dense() == pytest.approx((scale[:, None] * bounded[0]) @ bounded[1].T)


@every_spec
def test_the_loss_and_the_threshold_are_those_of_their_definitions(spec):
    problem, rng = spec.build(), np.random.default_rng(3)
    W, H = rng.standard_normal((problem.X.shape[1], 3)), rng.standard_normal((7, 3))
    watched = Watched(problem.X, problem.Y, problem.mask, rng)
    loss, threshold = watched.measure(watched.X @ W, H, 0.5)
    scores, on, observed = dense(problem.X) @ W @ H.T, problem.Y.toarray() > 0, observed_of(problem)
    total = 0.0
    for i, j in zip(*np.nonzero(on), strict=True):
        excess = 0.5 - scores[i, j] + scores[i, observed[i] & ~on[i]]
        ahead = excess[excess > 0]
        if len(ahead):
            total += sum(1 / r for r in range(1, len(ahead) + 1)) * np.mean(ahead)
    assert loss == pytest.approx(total / on.sum())
    # The threshold is one of the scores, but for rounding.
    assert (scores[observed] > threshold + 1e-9).sum() == on.sum()
    assert rank_weights(3) == pytest.approx([0, 1, 1.5, 11 / 6])


@pytest.mark.slow
@every_spec
def test_labels_are_learned_in_any_units(spec):
    spec = spec.replace(n=600, noise=0.1)
    problem = spec.build()
    iterates = run(problem, 25, rate=0.2)
    score = problem.score(iterates[-1].estimate)
    assert score["auc"] > 0.85 and score["precision_1"] > 0.7 and score["hamming"] < 0.25
    assert iterates[-1].objective < 0.6 * iterates[0].objective
    units = 10.0 ** np.linspace(-3, 3, problem.X.shape[1])
    X, X_test = (
        table * units if isinstance(table, np.ndarray) else csr_array(table.multiply(units))
        for table in (problem.X, problem.X_test)
    )
    other = run(MultilabelProblem(X, problem.Y, problem.mask, X_test, problem.Y_test, 2), 2, rate=0.2)[-1].estimate
    assert other.dense() * units[:, None] == pytest.approx(iterates[1].estimate.dense(), abs=1e-6)


run_kernel = partial(driving.run, kernel_leml, max_iter=5)


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    monkeypatch.setattr(predictors, "ROWS", 7)


def whole(estimate, X):
    return estimate.scores(X)(slice(None))


@pytest.mark.parametrize("name", ["dense", "sparse"])
def test_the_squared_loss_at_full_rank_is_kernel_ridge_regression(name):
    problem = SPECS[name].build()
    options = {"bandwidth": 3.0, "penalty": "frobenius", "regularization": 0.5, "fitted_rank": 7}
    stop, iterates = run_kernel(problem, max_iter=500, steps=200, tol=1e-10, **options)
    assert stop is Stop.CONVERGED
    units = StandardScaler().fit(dense(problem.X))
    X, X_test = units.transform(dense(problem.X)), units.transform(dense(problem.X_test))
    ridge = KernelRidge(alpha=0.5, kernel="rbf", gamma=1 / 18).fit(X, problem.Y.toarray())
    assert whole(iterates[-1].estimate, problem.X_test) == pytest.approx(ridge.predict(X_test), abs=1e-6)


@every_spec
@pytest.mark.parametrize("landmarks", [0, 25])
def test_objectives_of_kernel_leml_fall(spec, landmarks):
    _, iterates = run_kernel(spec.build(), max_iter=3, landmarks=landmarks)
    values = [iterate.objective for iterate in iterates]
    assert (np.diff(values) <= 1e-9 * values[0]).all()
    assert iterates[-1].note.endswith(f"; {landmarks or 80} landmarks")


@pytest.mark.parametrize("options", [{}, {"loss": "logistic"}, {"landmarks": 60}])
def test_labels_that_no_hyperplane_separates_are_learned(options):
    rng = np.random.default_rng(7)
    X, X_test = rng.standard_normal((2, 400, 4))

    def labels(X):
        product, radius = X[:, 0] * X[:, 1], (X[:, 2:] ** 2).sum(axis=1)
        return np.stack([product > 0, product <= 0, radius > 1.4, radius <= 1.4], axis=1).astype(float)

    problem = MultilabelProblem(X, csr_array(labels(X)), None, X_test, csr_array(labels(X_test)), 4)
    linear = next(leml(problem, rng=rng)).estimate
    result = run_kernel(problem, **options)[1][-1].estimate
    assert problem.score(linear)["auc"] < 0.65 and problem.score(result)["auc"] > 0.85
    assert problem.score(result)["hamming"] < 0.25


run_bcs = partial(driving.run, bcs, max_iter=30)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(compressed_labels, "BLOCK", 200)


@pytest.mark.parametrize("spec", [SPEC, SPECS["sparse"], SPEC.replace(d=100)])
def test_with_all_labels_w_is_the_ridge_regression(spec):
    problem = spec.build()
    stop, (only,) = run_bcs(problem, regularization=2.0, variance=0.3, ratio=0.5)
    X, T = dense(problem.X), problem.Y.toarray() @ only.estimate.Phi.T
    ridge = np.linalg.solve(X.T @ X + 2.0 * np.eye(X.shape[1]), X.T @ T)
    assert stop is Stop.FINISHED
    assert only.estimate.W == pytest.approx(ridge, abs=1e-9) and only.estimate.Phi.shape == (4, 7)


@pytest.mark.parametrize("spec", [SPECS["dense-missing"], SPECS["sparse-missing"], SPEC.replace(observed=0.1)])
@pytest.mark.parametrize("shape", [0.1, 1.0, 20.0])
def test_unobserved_labels_have_their_posterior_means(spec, shape):
    """By the covariance of all labels of a row, for two updates from the prior."""
    problem = spec.build()
    iterates = run_bcs(problem, max_iter=60, ratio=0.6, variance=0.05, shape=shape, regularization=2.0)[1]
    X, Y, off, Phi = dense(problem.X), problem.Y.toarray(), ~observed_of(problem), iterates[0].estimate.Phi
    rate = shape * (Y.sum() + 1) / (np.count_nonzero(~off) + 1)
    ridge = np.linalg.solve(X.T @ X + 2.0 * np.eye(X.shape[1]), X.T)
    W, mean, v = ridge @ Y @ Phi.T, Y.astype(float), np.full(Y.shape, rate / shape)
    for iterate in iterates[:2]:
        for i, unknown in enumerate(off):
            part = Phi[:, unknown]
            S = np.linalg.inv(np.diag(1 / v[i, unknown]) + part.T @ part / 0.05)
            mean[i, unknown] = S @ part.T @ (W.T @ X[i] - Phi @ Y[i]) / 0.05
            v[i, unknown] = (rate + (mean[i, unknown] ** 2 + np.diag(S)) / 2) / (shape + 0.5)
        before, W = W, ridge @ mean @ Phi.T
        assert iterate.estimate.W == pytest.approx(W, abs=1e-8)
        assert iterate.residual == pytest.approx(np.linalg.norm(W - before) / np.linalg.norm(W))
    assert iterates[-1].residual < iterates[0].residual


@pytest.mark.parametrize("rounds", [1, 3])
def test_predictions_are_the_posterior_means_of_labels(rounds):
    rng = np.random.default_rng(3)
    W, Phi, X = rng.standard_normal((6, 4)), rng.standard_normal((4, 7)), rng.standard_normal((30, 6))
    estimate = Compressed(W, Phi, np.array([1.5, 0.3, 0.2, rounds]))
    v, S = np.full((30, 7), 0.2), np.empty((30, 7, 7))
    for _ in range(rounds):
        S = np.linalg.inv(np.einsum("ij,jl->ijl", 1 / v, np.eye(7)) + Phi.T @ Phi / 0.2)
        mean = np.einsum("ijl,il->ij", S, X @ W @ Phi) / 0.2
        v = (0.3 + (mean**2 + np.einsum("ijj->ij", S)) / 2) / 2.0
    scores = estimate.scores(X)
    assert scores(slice(None)) == pytest.approx(mean) and scores(slice(4, 9)) == pytest.approx(mean[4:9])
    assert estimate.s[:4] == pytest.approx(np.linalg.svd(W @ Phi, compute_uv=False)[:4])
    again = Compressed.restored(estimate.arrays())
    assert (again.scores(X)(slice(None)) == scores(slice(None))).all()
    for place, wrong in ((0, 0.0), (2, -1.0), (3, 1e9)):
        settings = estimate.settings.copy()
        settings[place] = wrong
        with pytest.raises(ValueError, match="settings .* of no such estimate"):
            Compressed.restored({**estimate.arrays(), "settings": settings})


def test_the_number_of_projections_is_a_share_of_labels_or_the_rank():
    problem = SPEC.build()
    assert [len(run_bcs(problem, ratio=ratio)[1][0].estimate.Phi) for ratio in (0.0, 0.01, 0.5, 1.0)] == [2, 1, 4, 7]

"""WSABIE: its sampling, steps and loss against loops that follow the definitions, and labels in any units."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from lrlab.models.multilabel_problem import MultilabelProblem
from lrlab.solvers.multilabel import warp, wsabie
from lrlab.solvers.multilabel.warp import Negatives, Watched, rank_weights, violators
from tests.solvers.driving import dense, every_spec, observed_of


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
    if most > m:
        # The tail beyond m trials is small here: this is the series of the docstring.
        assert (m / t * chances).sum() == pytest.approx(v * np.log(m / v) / (1 - p), rel=5e-3)


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


def test_tables_without_observed_or_without_positive_labels():
    X = np.random.default_rng(4).standard_normal((6, 3))
    nothing, everything = np.zeros((6, 4)), np.ones((6, 4))
    for Y, mask in ((nothing, None), (nothing, nothing), (everything, None), (everything, nothing)):
        problem = MultilabelProblem.of(X, Y, mask, X, everything, 2)
        (only,) = run(problem, 1)
        assert only.objective == 0 and np.isfinite(problem.score(only.estimate)["hamming"])


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

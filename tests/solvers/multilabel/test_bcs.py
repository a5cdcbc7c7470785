"""Bayesian compressed sensing of labels: exact evidence, a bound that rises, and posteriors by other means."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from lrlab.models.multilabel import Multilabel
from lrlab.protocol import Stop
from lrlab.solvers.multilabel import compressed_labels
from lrlab.solvers.multilabel.bcs import bcs
from lrlab.solvers.multilabel.compressed_labels import Compressed
from tests.solvers import driving
from tests.solvers.driving import dense

SPEC = Multilabel(n=40, d=6, labels=7, rank=2, per_row=2)
SPECS = {
    "dense-missing": SPEC.replace(observed=0.5),
    "sparse-missing": SPEC.replace(d=60, density=0.2, observed=0.5),
    "few-seen": SPEC.replace(observed=0.1),
}
every_spec = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)


run = partial(driving.run, bcs, max_iter=30)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(compressed_labels, "BLOCK", 200)


@pytest.mark.parametrize("spec", [SPEC, SPEC.replace(d=60, density=0.2), SPEC.replace(d=60)])
def test_with_all_labels_the_objective_is_the_evidence_and_w_the_ridge_regression(spec):
    problem = spec.build()
    stop, (only,) = run(problem, regularization=2.0, variance=0.3, ratio=0.5)
    X, T = dense(problem.X), problem.Y.toarray() @ only.estimate.Phi.T
    covariance = 0.3 * (np.eye(40) + X @ X.T / 2.0)
    evidence = sum(multivariate_normal.logpdf(t, np.zeros(40), covariance) for t in T.T)
    ridge = np.linalg.solve(X.T @ X + 2.0 * np.eye(X.shape[1]), X.T @ T)
    assert stop is Stop.FINISHED and -only.objective == pytest.approx(evidence, rel=1e-9)
    assert only.estimate.W == pytest.approx(ridge, abs=1e-9) and only.estimate.Phi.shape == (4, 7)


@every_spec
@pytest.mark.parametrize("shape", [0.1, 1.0, 20.0])
def test_the_bound_never_falls(spec, shape):
    problem = spec.build()
    _, iterates = run(problem, max_iter=60, ratio=0.6, variance=0.05, shape=shape)
    values = np.array([-iterate.objective for iterate in iterates])
    assert (np.diff(values) >= -1e-9 * np.abs(values[0])).all()
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


def test_no_observed_and_no_positive_labels_are_no_error():
    problem = SPEC.replace(observed=1e-4).build()
    assert problem.mask.nnz == 0
    _, iterates = run(problem, max_iter=3)
    assert np.isfinite(iterates[-1].objective) and iterates[-1].residual == 0


def test_the_number_of_projections_is_a_share_of_labels_or_the_rank():
    problem = SPEC.build()
    assert [len(run(problem, ratio=ratio)[1][0].estimate.Phi) for ratio in (0.0, 0.01, 0.5, 1.0)] == [2, 1, 4, 7]

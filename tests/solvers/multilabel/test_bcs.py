"""Bayesian compressed sensing of labels: exact evidence, a bound that rises, and posteriors by other means."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import digamma, gammaln
from scipy.stats import multivariate_normal

from lrlab.models.multilabel import Multilabel
from lrlab.protocol import Stop
from lrlab.runs.run import drive
from lrlab.solvers.multilabel import hidden_labels
from lrlab.solvers.multilabel.bcs import bcs
from lrlab.solvers.multilabel.compressed_labels import Compressed
from lrlab.solvers.multilabel.hidden_labels import Sparsity, inferred, posterior

SPEC = Multilabel(n=40, d=6, labels=7, rank=2, per_row=2)
SPECS = {
    "dense-missing": SPEC.replace(observed=0.5),
    "sparse-missing": SPEC.replace(d=60, density=0.2, observed=0.5),
    "few-seen": SPEC.replace(observed=0.1),
}
every_spec = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(hidden_labels, "BLOCK", 200)


def run(problem, max_iter=30, seed=0, tol=1e-8, **options):
    iterates = []
    solver = bcs(problem, rng=np.random.default_rng(seed), **options)
    return drive(solver, lambda i, s, it: iterates.append(it), max_iter=max_iter, tol=tol), iterates


def dense(table):
    return table if isinstance(table, np.ndarray) else table.toarray()


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


def test_the_posterior_of_labels_is_that_of_joint_gaussians():
    rng = np.random.default_rng(1)
    Phi, rest, variance = rng.standard_normal((4, 7)), rng.standard_normal((5, 4)), 0.3
    v = rng.random((5, 7)) * (rng.random((5, 7)) < 0.7)
    result = posterior(rest, v, Phi, variance)
    for i in range(5):
        free = v[i] > 0
        S = np.linalg.inv(np.diag(1 / v[i, free]) + Phi[:, free].T @ Phi[:, free] / variance)
        assert result.mean[i, free] == pytest.approx(S @ Phi[:, free].T @ rest[i] / variance)
        assert result.variance[i, free] == pytest.approx(np.diag(S))
        assert (result.mean[i, ~free] == 0).all() and (result.variance[i, ~free] == 0).all()


def dense_bound(problem, state, options):
    """Return the bound from its definition, with full covariances: Q(W) = N(M, S), Q(y_i) = N(m_i, C_i), Q(alpha)."""
    M, S, m, C, a, b, Phi = state
    weight, variance, prior = options
    X, Y, observed = dense(problem.X), problem.Y.toarray(), problem.mask.toarray()
    (n, d), k, total = X.shape, len(Phi), 0.0
    tau = weight / variance
    for c in range(k):
        total += d / 2 * np.log(tau / (2 * np.pi)) - tau / 2 * (M[:, c] @ M[:, c] + np.trace(S))
        total += np.linalg.slogdet(2 * np.pi * np.e * S)[1] / 2
    for i in range(n):
        free = ~observed[i]
        P = Phi[:, free]
        gap = Phi @ Y[i] + P @ m[i] - M.T @ X[i]
        square = gap @ gap + np.trace(P @ C[i] @ P.T) + k * X[i] @ S @ X[i]
        total -= square / (2 * variance) + k / 2 * np.log(2 * np.pi * variance)
        if free.any():
            total += np.linalg.slogdet(2 * np.pi * np.e * C[i])[1] / 2
        logs, means = digamma(a) - np.log(b[i]), a / b[i]
        squares = m[i] ** 2 + np.diag(C[i])
        total += (logs / 2 - np.log(2 * np.pi) / 2 - means * squares / 2).sum()
        total += (prior.shape * np.log(prior.rate) - gammaln(prior.shape)) * free.sum()
        total += ((prior.shape - 1) * logs - prior.rate * means).sum()
        total += (a - np.log(b[i]) + gammaln(a) + (1 - a) * digamma(a)).sum()
    return total


def test_the_objective_is_the_bound_of_its_definition_and_stationary_in_every_part():
    problem, variance, weight = SPECS["dense-missing"].replace(n=12).build(), 0.2, 3.0
    _, iterates = run(problem, 400, tol=1e-13, ratio=0.5, variance=variance, regularization=weight, shape=0.8)
    Phi, M = iterates[-1].estimate.Phi, iterates[-1].estimate.W
    X, Y, observed = dense(problem.X), problem.Y.toarray(), problem.mask.toarray()
    prior = Sparsity(*iterates[-1].estimate.settings[:2])
    # At convergence the factors follow from each other; a fixed point with full matrices gives the label factors.
    a, b = (
        prior.shape + 0.5,
        [np.full((~row).sum(), prior.rate / prior.shape * (prior.shape + 0.5)) for row in observed],
    )
    m, C = [None] * 12, [None] * 12
    for _ in range(1000):
        for i in range(12):
            P = Phi[:, ~observed[i]]
            C[i] = np.linalg.inv(np.diag(a / b[i]) + P.T @ P / variance)
            m[i] = C[i] @ P.T @ (M.T @ X[i] - Phi @ Y[i]) / variance
            b[i] = prior.rate + (m[i] ** 2 + np.diag(C[i])) / 2
    S = np.linalg.inv(X.T @ X / variance + weight / variance * np.eye(6))
    options = (weight, variance, prior)
    assert -iterates[-1].objective == pytest.approx(dense_bound(problem, (M, S, m, C, a, b, Phi), options), rel=1e-7)

    def of_W(w):
        return dense_bound(problem, (w.reshape(M.shape), S, m, C, a, b, Phi), options)

    def of_first_row(y):
        return dense_bound(problem, (M, S, [y, *m[1:]], C, a, b, Phi), options)

    def of_first_rates(rates):
        return dense_bound(problem, (M, S, m, C, a, [np.exp(rates), *b[1:]], Phi), options)

    for part, at in ((of_W, M.ravel()), (of_first_row, m[0]), (of_first_rates, np.log(b[0]))):
        assert approx_fprime(at, part, 1e-5) == pytest.approx(0, abs=2e-2)


@every_spec
@pytest.mark.parametrize("shape", [0.1, 1.0, 20.0])
def test_the_bound_never_falls(spec, shape):
    problem = spec.build()
    _, iterates = run(problem, 60, ratio=0.6, variance=0.05, shape=shape)
    values = np.array([-iterate.objective for iterate in iterates])
    assert (np.diff(values) >= -1e-9 * np.abs(values[0])).all()
    assert iterates[-1].residual < iterates[0].residual


def test_observed_labels_are_never_inferred():
    problem = SPECS["dense-missing"].build()
    rng, prior = np.random.default_rng(2), Sparsity(1.0, 0.2)
    Phi, predicted = rng.standard_normal((4, 7)), rng.standard_normal((40, 4))
    v = np.where(problem.mask.toarray(), 0.0, prior.variance)
    result = inferred(v, problem.Y @ Phi.T, predicted, Phi, prior, 0.1)
    assert ((result.v > 0) == ~problem.mask.toarray()).all() and ((v > 0) == (result.v > 0)).all()


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


def test_sparser_priors_give_sparser_labels():
    rng = np.random.default_rng(4)
    y = np.zeros(30)
    y[[3, 17]] = 1.0
    Phi = rng.standard_normal((14, 30)) / np.sqrt(14)
    Z = (Phi @ y)[None]
    linear, sparse = (
        Compressed(np.eye(14), Phi, np.array([0.1, 0.006, 1e-4, rounds])).labels(Z)[0] for rounds in (1, 40)
    )
    assert np.abs(linear - y).max() > 0.2 and sparse == pytest.approx(y, abs=0.15)


@pytest.mark.parametrize("observed", [1.0, 0.5])
def test_labels_are_learned(observed):
    problem = Multilabel(n=300, d=10, labels=12, rank=3, per_row=2, noise=0.1, observed=observed).build()
    score = problem.score(run(problem, 15, ratio=0.8, regularization=1.0)[1][-1].estimate)
    assert score["auc"] > 0.85 and score["precision_1"] > 0.7 and score["hamming"] < 0.14


def test_no_observed_and_no_positive_labels_are_no_error():
    problem = SPEC.replace(observed=1e-4).build()
    assert problem.mask.nnz == 0
    _, iterates = run(problem, 3)
    assert np.isfinite(iterates[-1].objective) and iterates[-1].residual == 0


def test_the_number_of_projections_is_a_share_of_labels_or_the_rank():
    problem = SPEC.build()
    assert [len(run(problem, ratio=ratio)[1][0].estimate.Phi) for ratio in (0.0, 0.01, 0.5, 1.0)] == [2, 1, 4, 7]

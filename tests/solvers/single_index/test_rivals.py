"""What users would reach for instead of Algorithm 1: against direct formulas, scipy, scikit-learn and exact limits."""

from itertools import islice

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

import lrlab
from lrlab import catalog, linalg
from lrlab.linalg import unit

SENSING = lrlab.spec("one-bit-sensing", n=400, p=8, noise=0.4, seed=3)
TILTED = lrlab.spec("flipped-logistic", n=400, p=8, intercept=1.5, seed=3)
PHASE = lrlab.spec("one-bit-phase-retrieval", n=400, p=8, seed=3)
SPARSE = lrlab.spec("one-bit-sensing", n=300, p=60, sparsity=4, noise=0.3, seed=3)
LOSSES = {"logistic": lambda m: np.logaddexp(0, -m), "probit": lambda m: -norm.logcdf(m)}


def iterates(problem, name, number=400, **options):
    trace = []
    entry = catalog.solver(name)
    for iterate in islice(entry.run(problem, **dict(entry.fixed) | options, rng=np.random.default_rng(0)), number):
        trace.append(iterate)
        if iterate.residual == 0:
            break
    return trace


def estimate(problem, name, **options):
    return iterates(problem, name, **options)[-1].estimate


def same_line(a, b, tol=1e-9):
    assert np.linalg.norm(linalg.align(a, unit(b)) - unit(b)) < tol


# Moments


def test_marginal_mean_is_the_mean_of_y_x_and_its_largest_entries():
    problem = SPARSE.build()
    mean = (problem.y[:, None] * problem.X).mean(axis=0)
    largest = np.argsort(-np.abs(mean))[:4]
    (iterate,) = iterates(problem, "marginal-mean")
    assert set(np.flatnonzero(iterate.estimate)) == set(largest)
    np.testing.assert_allclose(iterate.estimate[largest], mean[largest] / np.linalg.norm(mean[largest]))
    assert iterate.objective == pytest.approx(-np.linalg.norm(mean[largest]))
    np.testing.assert_allclose(estimate(problem, "marginal-mean", kept=60), unit(mean))


@pytest.mark.parametrize("spec", [SENSING, TILTED], ids=lambda spec: spec.model)
def test_sir_is_least_squares_with_an_intercept(spec):
    problem = spec.build()
    Z = np.column_stack([np.ones(400), problem.X])
    theta, (rest,), *_ = np.linalg.lstsq(Z, problem.y)
    (iterate,) = iterates(problem, "sir")
    same_line(iterate.estimate, theta[1:])
    assert -iterate.objective == pytest.approx(1 - rest / np.sum((problem.y - problem.y.mean()) ** 2))


def root_inverse(S):
    values, vectors = np.linalg.eigh(S)
    return vectors @ np.diag(values**-0.5) @ vectors.T


@pytest.mark.parametrize("spec", [TILTED, PHASE, PHASE.replace(threshold=0.3)], ids=lambda spec: spec.model)
def test_phd_is_the_direct_formula(spec):
    problem = spec.build()
    X, y = problem.X, problem.y
    W = root_inverse(X.T @ X / 400)
    Z = X @ W
    values, vectors = np.linalg.eigh(np.mean((y - y.mean())[:, None, None] * Z[:, :, None] * Z[:, None, :], axis=0))
    k = np.argmax(np.abs(values))
    (iterate,) = iterates(problem, "phd")
    same_line(iterate.estimate, W @ vectors[:, k])
    assert iterate.objective == pytest.approx(-np.abs(values[k]))


@pytest.mark.parametrize("spec", [SENSING, TILTED, PHASE], ids=lambda spec: spec.model)
def test_save_is_the_direct_formula(spec):
    problem = spec.build()
    X, y = problem.X, problem.y
    W = root_inverse(np.cov(X.T, bias=True))
    Z = (X - X.mean(axis=0)) @ W
    K = np.zeros((8, 8))
    for answer in (1, -1):
        rest = np.eye(8) - np.cov(Z[y == answer].T, bias=True)
        K += np.mean(y == answer) * rest @ rest
    values, vectors = np.linalg.eigh(K)
    (iterate,) = iterates(problem, "save")
    same_line(iterate.estimate, W @ vectors[:, -1])
    assert iterate.objective == pytest.approx(-values[-1])


@pytest.mark.parametrize("name", ["marginal-mean", "sir", "phd", "save"])
def test_streamed_equals_in_memory(name):
    spec = TILTED.replace(n=1000)
    whole = estimate(spec.build(), name)
    blocked = spec.build()
    blocked.block_rows = 128
    # The block size decides which numbers are simulated, so the blocked problem gets the same rows.
    blocked.__dict__["_data"] = (spec.build().X, spec.build().y)
    np.testing.assert_allclose(estimate(blocked, name), whole, atol=1e-10)


# Binary iterative hard thresholding


@pytest.mark.parametrize("name", ["biht", "nbiht"])
@pytest.mark.parametrize("kept", [0, 60])
def test_biht_takes_the_documented_steps(name, kept):
    problem = SPARSE.build()
    X, y, s = problem.X, problem.y, kept or 4
    trace = iterates(problem, name, number=6, kept=kept, step=0.7)
    for now, after in zip(trace, trace[1:], strict=False):
        step = now.estimate + 0.35 / 300 * X.T @ (y - np.sign(X @ now.estimate))
        step[np.argsort(-np.abs(step))[s:]] = 0
        step /= np.linalg.norm(step) if name == "nbiht" else 1
        np.testing.assert_allclose(after.estimate, step, atol=1e-12)
        moved = np.linalg.norm(step - now.estimate) / np.linalg.norm(now.estimate)
        assert now.residual == pytest.approx(moved)
        assert now.objective == pytest.approx(-np.mean(np.minimum(0, y * (X @ now.estimate))))
        assert np.count_nonzero(now.estimate) <= s


@pytest.mark.parametrize("name", ["biht", "nbiht"])
def test_without_noise_all_signs_become_consistent(name):
    trace = lrlab.solve(SPARSE.replace(noise=0, n=600), name, max_iter=2000)
    assert trace.stop.name == "CONVERGED" and trace.metrics["residual"] == 0 == trace.metrics["objective"]
    assert (np.sign(trace.problem.X @ trace.estimate) == trace.problem.y).all() and trace.metrics["error"] < 0.05


@pytest.mark.parametrize(
    ("name", "options", "most"),
    [("link-free-refinement", {}, 4), *(("link-free-refinement", {"kept": k}, k) for k in (2, 60)),
     ("marginal-mean", {"kept": 2}, 2), ("sparse-pairwise-moment", {"kept": 5}, 5)],
)  # fmt: skip
def test_as_many_entries_are_not_zero_as_asked_for(name, options, most):
    trace = lrlab.solve(SPARSE.replace(n=800), name, max_iter=6, **options)
    assert 1 <= np.count_nonzero(trace.estimate) <= most
    assert most < 60 or np.count_nonzero(trace.estimate) == 60


# Regression


@pytest.mark.parametrize("name", ["logistic", "probit"])
@pytest.mark.parametrize("spec", [SENSING, TILTED], ids=lambda spec: spec.model)
def test_regression_ends_where_others_end(name, spec):
    problem, loss = spec.build(), LOSSES[name]
    X, y = problem.X, problem.y
    trace = iterates(problem, name)
    assert len(trace) > 4 and trace[-1].residual < 1e-7
    assert np.diff([i.objective for i in trace]).max() <= 1e-12
    if name == "logistic":
        other = LogisticRegression(C=np.inf, tol=1e-10, solver="newton-cholesky").fit(X, y).coef_[0]
    else:
        other = minimize(lambda t: loss(y * (X @ t[1:] + t[0])).mean(), np.zeros(9), options={"gtol": 1e-7}).x[1:]
    np.testing.assert_allclose(trace[-1].estimate, other, atol=1e-6 if name == "logistic" else 1e-4)
    # The intercept is not part of the estimate: the objective is checked at the best one.
    for iterate in (trace[2], trace[-1]):
        best = minimize(lambda c, b=iterate.estimate: loss(y * (X @ b + c[0])).mean(), [0.0]).fun
        assert iterate.objective >= best - 1e-9
    assert trace[-1].objective == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize("seed", [54, 1164, 2124, 2499, 2604, 2634, 3099, 3939])
def test_eigenvalues_that_lapack_misses_by_itself_are_found(seed):
    """LAPACK returns none if it is asked for the largest alone; on other processors of other samples."""
    assert lrlab.solve(PHASE.replace(n=76, p=38, seed=seed), "phd").stop.name == "FINISHED"

"""Best-subset logistic regression: against exhaustive search, scikit-learn and its own words."""

import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

import lrlab
from lrlab import catalog, metrics
from lrlab.solvers.single_index.regression import newton
from lrlab.solvers.single_index.subset import subset_logistic
from lrlab.theory.likelihoods import LOGISTIC, PROBIT

SPEC = lrlab.spec("one-bit-sensing", n=300, p=12, sparsity=3, noise=0.5, seed=4)
MARGINS = np.array([-300.0, -40.0, -3.0, -0.1, 0.0, 0.7, 5.0, 40.0, 300.0])


def run(spec, **options):
    return list(subset_logistic(spec.build(), **options, rng=np.random.default_rng(0)))


def scikit(X, y):
    model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000, solver="newton-cholesky").fit(X, y)
    theta = np.r_[model.intercept_, model.coef_[0]]
    return theta, np.logaddexp(0, -y * (theta[0] + X @ theta[1:])).mean()


@pytest.mark.parametrize("likelihood", [LOGISTIC, PROBIT], ids=lambda likelihood: likelihood.name)
def test_likelihoods_have_the_derivatives_they_claim_and_are_finite_far_out(likelihood):
    m, h = MARGINS[1:-1], 1e-4
    for function, derivative in ((likelihood.loss, likelihood.slope), (likelihood.slope, likelihood.curvature)):
        central = (function(m + h) - function(m - h)) / (2 * h)
        np.testing.assert_allclose(derivative(m), central, atol=1e-5)
    for function in (likelihood.loss, likelihood.slope, likelihood.curvature):
        assert np.isfinite(function(MARGINS)).all()
    assert (likelihood.curvature(MARGINS) >= 0).all() and (likelihood.slope(MARGINS) <= 0).all()


@pytest.mark.parametrize("likelihood", [LOGISTIC, PROBIT], ids=lambda likelihood: likelihood.name)
def test_newton_falls_and_ends_where_scipy_ends(likelihood):
    problem = SPEC.build()
    Z, y = np.column_stack([np.ones(300), problem.X[:, :5]]), problem.y

    def loss(theta):
        return likelihood.loss(y * (Z @ theta)).mean()

    path = list(newton(likelihood, Z, y, np.full(6, 3.0)))
    assert np.diff([loss(theta) for theta in path]).max() <= 0
    scipy = minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-9, "xrtol": 1e-9})
    np.testing.assert_allclose(path[-1], scipy.x, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_exchanges_reach_the_best_support(seed):
    problem = SPEC.replace(seed=seed).build()
    last = run(SPEC.replace(seed=seed))[-1]
    losses = {chosen: scikit(problem.X[:, chosen], problem.y)[1] for chosen in combinations(range(12), 3)}
    best = min(losses, key=losses.get)
    assert tuple(np.flatnonzero(last.estimate)) == best
    assert last.objective == pytest.approx(losses[best], abs=1e-9)
    np.testing.assert_allclose(last.estimate[list(best)], scikit(problem.X[:, best], problem.y)[0][1:], atol=1e-5)


def test_with_a_charge_the_best_support_of_any_size_is_reached():
    problem, charge = SPEC.build(), np.log(12) / 300
    last = run(SPEC, kept=5, selection="at-most")[-1]
    losses = {
        chosen: scikit(problem.X[:, chosen], problem.y)[1] + charge * size
        for size in range(1, 6)
        for chosen in combinations(range(12), size)
        if set(chosen) >= set(np.flatnonzero(np.abs(problem.truth) > 0.5))
    }
    best = min(losses, key=losses.get)
    assert tuple(np.flatnonzero(last.estimate)) == best and last.objective == pytest.approx(losses[best], abs=1e-9)


@pytest.mark.parametrize("selection", ["exactly", "at-most"])
def test_objective_falls_and_belongs_to_the_estimate(selection):
    spec = lrlab.spec("one-bit-sensing", n=400, p=200, sparsity=8, noise=0.3, seed=1)
    problem, iterates = spec.build(), run(spec, selection=selection)
    assert len(iterates) > 1 and np.diff([i.objective for i in iterates]).max() < 0
    assert [i.residual == 0 for i in iterates] == [False] * (len(iterates) - 1) + [True]
    for iterate in iterates:
        support = np.flatnonzero(iterate.estimate)
        charge = len(support) * np.log(200) / 400 if selection == "at-most" else 0.0
        assert len(support) == 8 or (selection == "at-most" and len(support) < 8)
        assert iterate.objective == pytest.approx(scikit(problem.X[:, support], problem.y)[1] + charge, abs=1e-7)


def test_with_full_support_it_is_logistic_regression():
    problem = SPEC.build()
    iterates = run(SPEC, kept=12)
    assert len(iterates) == 1
    np.testing.assert_allclose(iterates[0].estimate, scikit(problem.X, problem.y)[0][1:], atol=1e-6)


def with_equal_entries(seed, noise):
    """Return a problem whose ten non-zero entries are of one size, and so are all found."""
    problem = lrlab.spec("one-bit-sensing", n=1000, p=1000, sparsity=10, noise=noise, seed=seed).build()
    problem.truth = np.sign(problem.truth) / np.sqrt(10)
    return problem


@pytest.mark.parametrize(("noise", "known"), [(0.1, 0.034), (0.316, 0.062)])
def test_error_where_every_entry_is_large_enough_to_be_selected(noise, known):
    errors = []
    for seed in range(5):
        problem = with_equal_entries(seed, noise)
        *_, last = subset_logistic(problem, rng=np.random.default_rng(0))
        errors.append(metrics.direction_error(last.estimate, problem.truth))
        support = np.flatnonzero(problem.truth)
        assert set(np.flatnonzero(last.estimate)) == set(support)
        oracle = np.zeros(1000)
        oracle[support] = scikit(problem.X[:, support], problem.y)[0][1:]
        assert errors[-1] == pytest.approx(metrics.direction_error(oracle, problem.truth), abs=1e-4)
    assert np.median(errors) < 1.25 * known


def test_a_charge_omits_entries_that_are_indistinguishable_from_noise():
    exact, charged = (
        [
            lrlab.solve(
                lrlab.spec("one-bit-sensing", n=1000, p=1000, sparsity=10, noise=0.316, seed=seed),
                "subset-logistic",
                selection=selection,
            ).metrics["error"]
            for seed in range(5)
        ]
        for selection in ("exactly", "at-most")
    )
    assert np.median(charged) < 0.8 * np.median(exact)


def test_separable_answers_end_with_a_direction():
    spec = lrlab.spec("one-bit-sensing", n=500, p=100, sparsity=5, noise=0.0, seed=2)
    trace = lrlab.solve(spec, "subset-logistic")
    assert np.isfinite(trace.estimate).all() and trace.metrics["error"] < 0.1 and trace.stop.name == "CONVERGED"


def test_memory_stays_within_the_claim_of_the_catalogue():
    spec = lrlab.spec("one-bit-sensing", n=2000, p=80, sparsity=50, noise=0.5)
    problem = spec.build()
    problem.load(True)
    options = {"kept": 0, "selection": "exactly"}
    tracemalloc.start()
    list(subset_logistic(problem, rng=np.random.default_rng(0)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= catalog.solver("subset-logistic").workspace(spec, options)


def test_what_cannot_work_is_refused_beforehand():
    with pytest.raises(lrlab.InputError, match="link must be one with mu_1 .* got 0 on one-bit-phase-retrieval: take"):
        lrlab.solve(lrlab.spec("one-bit-phase-retrieval"), "subset-logistic")
    with pytest.raises(lrlab.InputError, match=r"kept must be in 0\.\.p = 12, got 13: lower it"):
        lrlab.solve(SPEC, "subset-logistic", kept=13)
    with pytest.raises(lrlab.InputError, match="n must be at least twice the 12 entries kept = 24 .* got 20: raise n"):
        lrlab.solve(SPEC.replace(n=20), "subset-logistic", kept=12)

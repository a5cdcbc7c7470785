"""What users would reach for instead of Algorithm 1: against direct formulas, scipy, scikit-learn and exact limits."""

import tracemalloc
from itertools import islice

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

import lrlab
from lrlab import catalog, metrics
from lrlab.linalg import unit
from lrlab.models import single_index
from lrlab.solvers.single_index import sparse_regression
from lrlab.solvers.single_index.regression import LOGISTIC, PROBIT
from lrlab.theory import principal_hessian
from lrlab.theory.predicted_overlap import least_squares_overlap

SENSING = lrlab.spec("one-bit-sensing", n=400, p=8, noise=0.4, seed=3)
TILTED = lrlab.spec("flipped-logistic", n=400, p=8, intercept=1.5, seed=3)
PHASE = lrlab.spec("one-bit-phase-retrieval", n=400, p=8, seed=3)
SPARSE = lrlab.spec("one-bit-sensing", n=300, p=60, sparsity=4, noise=0.3, seed=3)
LOSSES = {"logistic": lambda m: np.logaddexp(0, -m), "probit": lambda m: -norm.logcdf(m)}


def iterates(problem, name, number=400, **options):
    trace = []
    for iterate in islice(catalog.solver(name).run(problem, **options, rng=np.random.default_rng(0)), number):
        trace.append(iterate)
        if iterate.residual == 0:
            break
    return trace


def estimate(problem, name, **options):
    return iterates(problem, name, **options)[-1].estimate


def same_line(a, b, tol=1e-9):
    assert metrics.direction_error(a, unit(b)) < tol


def median_error(spec, name, seeds=5, **options):
    return np.median([lrlab.solve(spec.replace(seed=k), name, **options).metrics["error"] for k in range(seeds)])


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
    assert np.count_nonzero(estimate(problem, "marginal-mean", kept=2)) == 2


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


@pytest.mark.parametrize("whitening", ["sample", "identity"])
@pytest.mark.parametrize("spec", [TILTED, PHASE, PHASE.replace(threshold=0.3)], ids=lambda spec: spec.model)
def test_phd_is_the_direct_formula(spec, whitening):
    problem = spec.build()
    X, y = problem.X, problem.y
    W = root_inverse(X.T @ X / 400) if whitening == "sample" else np.eye(8)
    Z = X @ W
    values, vectors = np.linalg.eigh(np.mean((y - y.mean())[:, None, None] * Z[:, :, None] * Z[:, None, :], axis=0))
    k = np.argmax(np.abs(values))
    (iterate,) = iterates(problem, "phd", whitening=whitening)
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
def test_streamed_equals_in_memory(name, monkeypatch):
    spec = TILTED.replace(n=1000)
    whole = estimate(spec.build(), name)
    blocked = spec.build()
    blocked.block_rows = 128
    # The block decides which numbers are drawn: the blocked problem is fed the same rows.
    blocked.__dict__["_data"] = (spec.build().X, spec.build().y)
    np.testing.assert_allclose(estimate(blocked, name), whole, atol=1e-10)
    stored = spec.replace(n=5000)
    monkeypatch.setattr(single_index, "BLOCK_BYTES", 2**14)
    in_memory = estimate(stored.build(), name)
    monkeypatch.setattr(single_index, "IN_MEMORY", 0)
    np.testing.assert_allclose(estimate(stored.build(), name), in_memory, atol=1e-10)


@pytest.mark.parametrize("name", ["sir", "phd", "save", "marginal-mean"])
def test_answers_that_are_all_the_same_give_no_direction_and_no_error(name):
    spec = lrlab.spec("flipped-logistic", n=40, p=4, intercept=5.0, seed=2)
    problem = spec.build()
    assert (problem.y == 1).all()
    assert np.isfinite(estimate(problem, name)).all()


@pytest.mark.parametrize("name", ["marginal-mean", "sir", "phd", "save", "nbiht", "logistic", "sparse-probit"])
def test_memory_stays_within_the_claim_of_the_catalogue(name):
    spec = lrlab.spec("flipped-logistic", n=1500, p=500, intercept=1.0, noise=0.5)
    problem, entry = spec.build(), catalog.solver(name)
    problem.load(True)
    options = {option: parameter.default for option, parameter in entry.options.items()}
    estimate(lrlab.spec("flipped-logistic", n=40, p=4).build(), name)
    tracemalloc.start()
    estimate(problem, name, number=3, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Without the constant for blocks of measurements, which small problems do not need.
    assert peak <= entry.workspace(spec, options)
    assert peak <= entry.workspace(spec, options) - 2**26 + 3 * problem.block_rows * 500 * 8 or not entry.streams


# Limits


@pytest.mark.parametrize("ratio", [3, 10])
def test_least_squares_and_marginal_mean_reach_their_limits(ratio):
    spec = lrlab.spec("flipped-logistic", n=200 * ratio, p=200, intercept=1.0)
    sensing = lrlab.spec("one-bit-sensing", n=200 * ratio, p=200, noise=0.3)
    for model in (spec, sensing):
        for name in ("sir", "marginal-mean"):
            traces = [lrlab.solve(model.replace(seed=k), name) for k in range(8)]
            predicted = traces[0].metrics["limit_overlap"]
            assert np.mean([t.metrics["overlap"] for t in traces]) == pytest.approx(predicted, abs=0.04)


@pytest.mark.parametrize("whitening", ["sample", "identity"])
@pytest.mark.parametrize(
    ("model", "settings"),
    [
        ("one-bit-phase-retrieval", {"n": 1000, "threshold": 1.0}),
        ("one-bit-phase-retrieval", {"n": 4000, "threshold": 0.4}),
        ("one-bit-phase-retrieval", {"n": 4000, "threshold": 1.0, "noise": 1.0}),
        ("flipped-logistic", {"n": 20_000, "intercept": 3.0}),
        ("one-bit-phase-retrieval", {"n": 800, "threshold": 0.3}),
    ],
)
def test_phd_reaches_its_limit(model, settings, whitening):
    spec = lrlab.spec(model, p=200, **settings)
    limit = principal_hessian.predict(spec.link_function.moments, spec.n / 200, whitening)
    traces = [lrlab.solve(spec.replace(seed=k), "phd", whitening=whitening) for k in range(4)]
    assert traces[0].metrics["limit_overlap"] == limit.overlap
    assert np.mean([t.metrics["overlap"] for t in traces]) == pytest.approx(limit.overlap, abs=0.06)
    top = abs(limit.value) if limit.overlap else max(-limit.lower, limit.upper)
    assert np.mean([-t.metrics["objective"] for t in traces]) == pytest.approx(top, rel=0.05)


def test_limits_where_recovery_is_impossible():
    odd, even = SENSING.link_function.moments, PHASE.link_function.moments
    assert principal_hessian.predict(odd, 20.0).overlap == 0
    assert least_squares_overlap(even, 20.0) == 0 == least_squares_overlap(odd, 0.9)
    assert principal_hessian.predict(even, 1e6).overlap == pytest.approx(1, abs=1e-4)
    assert principal_hessian.predict(even, 1e6, "identity").overlap == pytest.approx(1, abs=1e-4)


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
    spec = SPARSE.replace(noise=0, n=600)
    trace = lrlab.solve(spec, name, max_iter=2000)
    problem = trace.problem
    assert trace.stop.name == "CONVERGED" and trace.metrics["residual"] == 0 == trace.metrics["objective"]
    assert (np.sign(problem.X @ trace.estimate) == problem.y).all() and trace.metrics["error"] < 0.05


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


@pytest.mark.parametrize("name", ["logistic", "probit"])
def test_separable_answers_give_a_direction_that_parts_them(name):
    for spec in (SENSING.replace(noise=0), SENSING.replace(n=30, p=40)):
        trace = lrlab.solve(spec, name)
        problem = trace.problem
        assert trace.stop.name in ("CONVERGED", "FINISHED") and "separable" in trace.note
        assert np.isfinite(trace.estimate).all()
        index = problem.X @ trace.estimate
        assert index[problem.y > 0].min() > index[problem.y < 0].max()
    assert median_error(SENSING.replace(noise=0, n=2000), name, seeds=3) < 0.02


def penalised_by_lbfgs(loss, X, y, rho):
    """Minimise mean loss + rho ||b||_1 over (c, b+, b-), both parts non-negative."""
    p = X.shape[1]

    def value(t):
        return loss(y * (X @ (t[1 : p + 1] - t[p + 1 :]) + t[0])).mean() + rho * t[1:].sum()

    bounds = [(None, None), *[(0, None)] * (2 * p)]
    options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000, "maxfun": 10**6}
    trace = minimize(value, np.zeros(2 * p + 1), bounds=bounds, method="L-BFGS-B", options=options)
    return trace.x[1 : p + 1] - trace.x[p + 1 :], trace.fun


@pytest.mark.parametrize("name", ["logistic", "probit"])
def test_each_level_of_the_path_is_the_optimum_of_its_problem(name):
    likelihood = {"logistic": LOGISTIC, "probit": PROBIT}[name]
    problem = TILTED.replace(p=6, n=150).build()
    X, y = problem.X, problem.y
    levels = sparse_regression.path_levels(likelihood, X, y)
    thetas = list(sparse_regression.path(likelihood, X, y, levels[:12], 1e-9 * levels[0]))
    assert not thetas[0][1:].any() and thetas[1][1:].any()
    for k in (3, 11):
        b, value = penalised_by_lbfgs(LOSSES[name], X, y, levels[k])
        assert sparse_regression.objective(likelihood, X, y, thetas[k], levels[k]) <= value + 1e-10
        np.testing.assert_allclose(thetas[k][1:], b, atol=2e-5)
        assert sparse_regression.optimality(likelihood, X, y, thetas[k], levels[k]) <= 1e-9 * levels[0]


def test_the_path_agrees_with_scikit_learn():
    problem = SPARSE.build()
    X, y = problem.X, problem.y
    levels = sparse_regression.path_levels(LOGISTIC, X, y)
    *_, theta = sparse_regression.path(LOGISTIC, X, y, levels[:9], 1e-9 * levels[0])
    other = LogisticRegression(l1_ratio=1.0, C=1 / (300 * levels[8]), solver="saga", tol=1e-12, max_iter=20_000)
    np.testing.assert_allclose(theta[1:], other.fit(X, y).coef_[0], atol=1e-6)


@pytest.mark.parametrize("name", ["sparse-logistic", "sparse-probit"])
def test_sparse_regression_falls_along_the_path_to_the_level_best_on_held_out_data(name):
    loss, problem = LOSSES[name.removeprefix("sparse-")], SPARSE.build()
    X, y = problem.X, problem.y
    trace = iterates(problem, name)
    assert len(trace) > 5 and trace[-1].residual < 1e-7
    assert np.diff([i.objective for i in trace]).max() < 0
    assert np.count_nonzero(trace[0].estimate) == 0 < np.count_nonzero(trace[-1].estimate) < 60
    rho = float(trace[-1].note.split()[1].rstrip(","))
    for iterate in trace[1:]:
        b = iterate.estimate
        best = minimize(lambda c, b=b: loss(y * (X @ b + c[0])).mean() + rho * np.abs(b).sum(), [0.0]).fun
        assert iterate.objective == pytest.approx(best, rel=2e-3)


def test_held_out_losses_are_those_of_fits_without_the_fold():
    problem = SPARSE.replace(p=12, sparsity=3).build()
    X, y = problem.X, problem.y
    levels = sparse_regression.path_levels(LOGISTIC, X, y)
    fold = np.arange(300) % 3
    losses = sparse_regression.held_out_losses(LOGISTIC, problem, levels, fold)
    assert losses.shape[1] == 3 and len(losses) <= sparse_regression.LEVELS
    level = 6
    for k in range(3):
        inside, outside = fold != k, fold == k
        model = LogisticRegression(l1_ratio=1.0, C=1 / (200 * levels[level]), solver="saga", tol=1e-8, max_iter=9000)
        margin = y[outside] * model.fit(X[inside], y[inside]).decision_function(X[outside])
        assert losses[level, k] == pytest.approx(np.logaddexp(0, -margin).mean(), abs=2e-3)
    mean = losses.mean(axis=1)
    best = sparse_regression.chosen_level(losses, "best")
    cautious = sparse_regression.chosen_level(losses, "one-standard-error")
    assert mean[best] == mean.min() and cautious <= best
    assert mean[cautious] <= mean[best] + losses[best].std(ddof=1) / np.sqrt(3)


# All of them


@pytest.mark.parametrize(
    ("spec", "name", "known"),
    [
        (lrlab.spec("one-bit-sensing"), "marginal-mean", 0.094),
        (lrlab.spec("one-bit-sensing"), "sir", 0.06),
        (lrlab.spec("one-bit-sensing"), "save", 0.06),
        (lrlab.spec("one-bit-sensing"), "logistic", 0.028),
        (lrlab.spec("one-bit-sensing"), "probit", 0.028),
        (lrlab.spec("one-bit-sensing"), "nbiht", 0.034),
        (lrlab.spec("one-bit-phase-retrieval"), "phd", 0.064),
        (lrlab.spec("one-bit-phase-retrieval"), "save", 0.08),
    ],
)
def test_errors_are_what_a_prototype_measured(spec, name, known):
    assert median_error(spec, name, seeds=9) < 1.25 * known


@pytest.mark.parametrize(("noise", "known"), [(0.1, 0.043), (0.316, 0.08)])
def test_normalised_biht_on_a_signal_of_equal_entries(noise, known):
    errors = []
    for seed in range(5):
        problem = lrlab.spec("one-bit-sensing", n=1000, p=1000, sparsity=10, noise=noise, seed=seed).build()
        problem.truth = np.sign(problem.truth) / np.sqrt(10)
        errors.append(metrics.direction_error(estimate(problem, "nbiht", number=50), problem.truth))
    assert np.median(errors) < 1.25 * known


@pytest.mark.parametrize("name", ["sparse-logistic", "nbiht", "logistic"])
def test_same_seed_same_trace_and_inputs_unchanged(name):
    problem = SPARSE.build()
    X, y = problem.X.copy(), problem.y.copy()
    first, second = (iterates(problem, name, number=12) for _ in range(2))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a.estimate, b.estimate)
        assert a.objective == b.objective
    np.testing.assert_array_equal(problem.X, X)
    np.testing.assert_array_equal(problem.y, y)


BLIND_FIRST = ["marginal-mean", "sir", "biht", "nbiht", "logistic", "probit", "sparse-logistic", "sparse-probit"]


def test_what_cannot_work_is_refused_beforehand():
    for name in BLIND_FIRST:
        with pytest.raises(lrlab.InputError, match=r"link must be one with mu_1 = .* got 0 on one-bit-phase-retrieval"):
            lrlab.solve(PHASE, name)
    with pytest.raises(lrlab.InputError, match=r"link must be one with mu_2 - mu_0 = .* got 0 on one-bit-sensing"):
        lrlab.solve(SENSING, "phd")
    with pytest.raises(lrlab.InputError, match="a constant on flipped-logistic"):
        lrlab.solve(lrlab.spec("flipped-logistic", flip=0.5), "save")
    for name, spec in (("sir", SENSING), ("phd", PHASE), ("save", PHASE)):
        with pytest.raises(lrlab.InputError, match="n must be at least 2p = 16 for this solver, got 15"):
            lrlab.solve(spec.replace(n=15), name)
    assert lrlab.solve(PHASE.replace(n=15), "phd", whitening="identity").stop.name == "FINISHED"
    with pytest.raises(lrlab.InputError, match=r"kept must be in 0\.\.p = 8, got 9"):
        lrlab.solve(SENSING, "nbiht", kept=9)
    with pytest.raises(lrlab.InputError, match="n must be at least twice the folds = 10 for this solver, got 9"):
        lrlab.solve(SENSING.replace(n=9), "sparse-logistic")
    with pytest.raises(lrlab.InputError, match=r"step must be a number in 0.001\.\.100, got 0"):
        lrlab.solve(SENSING, "biht", step=0)

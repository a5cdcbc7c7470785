"""Moments and what users would take instead: by definition, sparse by the Fantope, against scikit-learn and scipy."""

import itertools
from itertools import combinations, islice
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

import lrlab
from lrlab import catalog, linalg
from lrlab.linalg import unit
from lrlab.models.single_index import FlippedLogistic, OneBitPhaseRetrieval, OneBitSensing
from lrlab.protocol import Stop
from lrlab.solvers.single_index import fantope
from lrlab.solvers.single_index.class_moments import choose, class_moments, heights, pair_moments
from lrlab.solvers.single_index.sparse_pairwise import sparse_choice


def by_definition(X, y, pairs):
    n = len(y)
    chosen = list(zip(range(1, n, 2), range(0, n, 2), strict=False)) if pairs == "consecutive" else (
        list(itertools.combinations(range(n), 2))
    )  # fmt: skip
    M, M_agree = np.zeros((2, X.shape[1], X.shape[1]))
    for i, j in chosen:
        d = np.outer(X[i] - X[j], X[i] - X[j]) / 4 / len(chosen)
        M += (y[i] - y[j]) ** 2 * d
        M_agree += (y[i] + y[j]) ** 2 * d
    return M, M_agree


@pytest.mark.parametrize("pairs", ["consecutive", "all"])
@pytest.mark.parametrize("n", [40, 41])
def test_moments_equal_the_sums_of_the_paper(pairs, n):
    problem = FlippedLogistic(n=n, p=5, intercept=0.5).build()
    for fast, slow in zip(pair_moments(problem, pairs), by_definition(problem.X, problem.y, pairs), strict=True):
        assert np.allclose(fast, slow, atol=1e-12) and (fast == fast.T).all()


def test_the_objective_falls_and_ends_at_the_top_eigenvector():
    spec = OneBitSensing(n=3000, p=20)
    trace = lrlab.solve(spec, "pairwise-moment", tol=1e-10, max_iter=2000)
    objective = trace.table["objective"].to_numpy()
    assert trace.stop is Stop.CONVERGED
    assert (np.diff(objective) <= 1e-12).all()
    M = pair_moments(spec.build(), "consecutive")[0]
    values, vectors = np.linalg.eigh(M)
    assert objective[-1] == pytest.approx(-values[-1], rel=1e-12)
    assert abs(vectors[:, -1] @ trace.estimate) == pytest.approx(1.0, abs=1e-12)
    lanczos = lrlab.solve(spec, "pairwise-moment", eigensolver="lanczos")
    assert len(lanczos.rows) == 1 and abs(lanczos.estimate @ trace.estimate) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("threshold", "winner"), [(1.2, "M"), (0.25, "M'")])
def test_the_moment_with_the_gap_is_chosen(threshold, winner):
    spec = OneBitPhaseRetrieval(n=40_000, p=20, threshold=threshold)
    trace = lrlab.solve(spec, "pairwise-moment")
    assert trace.note.startswith(f"{winner} chosen: its largest eigenvalue stands out more, ")
    assert trace.metrics["overlap"] == pytest.approx(trace.metrics["limit_overlap"], abs=0.1)


NAME = "sparse-pairwise-moment"
SPEC = lrlab.spec("one-bit-sensing", n=4000, p=60, sparsity=4, noise=0.3, seed=3)
MODELS = (
    SPEC,
    lrlab.spec("flipped-logistic", n=60_000, p=60, sparsity=4, flip=0.1, seed=3),
    lrlab.spec("one-bit-phase-retrieval", n=8000, p=60, sparsity=4, threshold=1.0, seed=3),
    lrlab.spec("one-bit-phase-retrieval", n=20_000, p=60, sparsity=4, threshold=0.35, seed=3),
)


def moment(p=24, s=3, n=600, seed=0, strength=0.6):
    """Return a sample covariance with a sparse spike: what the Fantope problem is made for."""
    rng = np.random.default_rng(seed)
    b = np.zeros(p)
    b[:s] = s**-0.5
    X = rng.standard_normal((n, p)) + np.sqrt(strength) * np.outer(rng.standard_normal(n), b)
    return X.T @ X / n


@pytest.mark.parametrize(("p", "rho"), [(12, 0.0), (12, 0.05), (20, 0.15), (30, 0.1), (16, 2.0)])
def test_admm_ends_where_its_bound_says_that_nothing_lies_higher(p, rho):
    M, bounds = moment(p), []
    for weights, vectors, gap in islice(fantope.fantope_admm(M, rho), 3000):
        P = (vectors * weights) @ vectors.T
        value = np.vdot(M, P) - rho * np.abs(P).sum()
        bounds.append(value + gap)
        assert np.trace(P) == pytest.approx(1.0) and weights.min() >= 0
        if gap <= 1e-6:
            break
    # The bound is lambda_max(M - W) over |W| <= rho: W = 0 and W = clip(M) are such.
    known = [np.linalg.eigvalsh(M - W)[-1] for W in (np.zeros_like(M), np.clip(M, -rho, rho))]
    assert -1e-12 <= gap <= 1e-6 and min(bounds) >= value - 1e-9 and value <= min(known) + 1e-9


@pytest.mark.parametrize("spec", MODELS, ids=lambda spec: f"{spec.model}-{spec.seed}-{spec.n}")
def test_it_recovers_a_sparse_signal_where_the_dense_method_does_worse(spec):
    trace = lrlab.solve(spec, NAME)
    dense = lrlab.solve(
        spec, "pairwise-moment", eigensolver="lanczos", moment="M" if "M chosen" in trace.note else "M'"
    )
    assert ("M' chosen" if spec.link_function.moments.phi < 0 else "M chosen") in trace.note
    assert trace.metrics["support"] >= 0.75
    assert trace.metrics["error"] < 0.4
    assert trace.metrics["error"] < 0.6 * dense.metrics["error"]


def test_the_best_support_is_recovered_on_a_small_problem():
    spec = SPEC.replace(p=12, sparsity=3, n=3000)
    trace = lrlab.solve(spec, NAME, max_iter=300, moment="M")
    problem = spec.build()
    dx = problem.X[1::2] - problem.X[::2]
    dx = dx[problem.y[1::2] != problem.y[::2]]
    M = dx.T @ dx / (spec.n // 2)
    best = max(np.linalg.eigvalsh(M[np.ix_(chosen, chosen)])[-1] for chosen in combinations(range(12), 3))
    assert trace.metrics["objective"] == pytest.approx(-best, rel=1e-9)


@pytest.mark.slow
def test_entries_that_do_not_stand_out_are_left_out():
    errors = [
        [
            lrlab.solve(SPEC.replace(noise=0.0, sparsity=10, seed=seed), NAME, kept=kept).metrics["error"]
            for kept in (0, 10)
        ]
        for seed in range(1001, 1013)
    ]
    chosen, all_of_them = np.mean(errors, axis=0)
    assert chosen < 0.95 * all_of_them
    dense = lrlab.solve(SPEC.replace(sparsity=0, n=2000), NAME, max_iter=60)
    assert "with 60 of 60 entries" in dense.note, "a signal that is not sparse has all of them"


def choices(spec, seeds):
    return [choose(class_moments(spec.replace(seed=seed).build())) for seed in seeds]


def wrong_choices(spec, seeds):
    right = "M" if spec.link_function.moments.phi > 0 else "M'"
    return float(np.mean([moment != right for moment, _ in choices(spec, seeds)]))


@pytest.mark.parametrize("p", [2, 5])
@pytest.mark.parametrize(
    ("spec", "most"),
    [
        (OneBitSensing(noise=0.1), 0.06),
        (OneBitSensing(noise=1.0), 0.06),
        (FlippedLogistic(), 0.2),
        (OneBitPhaseRetrieval(threshold=0.3), 0.2),
        (OneBitPhaseRetrieval(threshold=1.0), 0.1),
        (OneBitPhaseRetrieval(threshold=2.0), 0.12),
    ],
    ids=("sign", "noisy sign", "logistic", "t=.3", "t=1", "t=2"),
)
def test_the_right_moment_is_chosen_of_few_unknowns(spec, most, p):
    """The larger top eigenvalue of M and M' alone chose wrongly in half of these at p = 2, and in .4 at p = 5."""
    assert wrong_choices(spec.replace(n=10 * p, p=p), range(20_000, 20_100)) <= most
    assert wrong_choices(spec.replace(n=100 * p, p=p), range(20_000, 20_020)) == 0.0


def test_a_doubtful_choice_is_called_uncertain_and_a_clear_one_is_right():
    spec, wrong = FlippedLogistic(n=60, p=3), {True: [], False: []}
    for moment, note in choices(spec, range(3000, 3300)):
        wrong["uncertain" in note].append(moment != "M")
    assert min(map(len, wrong.values())) > 30
    assert np.mean(wrong[False]) <= 0.02 < np.mean(wrong[True])


def noise_moments(n, p, rate, seeds):
    """Yield class moments of responses that do not depend on x, a fraction `rate` of them 1."""
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((n, p)), np.where(rng.random(n) < rate, 1.0, -1.0)
        yield class_moments(SimpleNamespace(shape=(n, p), blocks=lambda X=X, y=y: [(X, y)]))


@pytest.mark.parametrize(("n", "p", "rate"), [(200, 200, 0.3), (200, 200, 0.8), (400, 20, 0.3)])
def test_the_dense_choice_is_uncertain_for_responses_without_a_signal(n, p, rate):
    """At n = p and a rate of .3, noise stood out in M by 5 standard deviations, in 20 of 24 cases as a sure choice."""
    noise = list(noise_moments(n, p, rate, 24))
    for standing_out in zip(*map(heights, noise), strict=True):
        assert abs(np.mean(standing_out)) < 0.8
    assert sum("uncertain" in note for _, note in map(choose, noise)) >= 20


@pytest.mark.parametrize("spec", [OneBitSensing(noise=0.5), OneBitPhaseRetrieval(threshold=0.3)])
def test_the_sparse_choice_is_right(spec):
    spec = spec.replace(n=600, p=60, sparsity=3)
    sparse = [sparse_choice(class_moments(spec.replace(seed=seed).build()), 3) for seed in range(20)]
    assert {moment for moment, _ in sparse} == {"M" if spec.link_function.moments.phi > 0 else "M'"}
    assert not any("uncertain" in note for _, note in sparse)


@pytest.mark.parametrize(
    ("n", "p", "s", "rate"), [(1000, 100, 5, 0.5), (1000, 100, 90, 0.3), (1000, 100, 50, 0.3), (200, 200, 5, 0.3)]
)
def test_the_sparse_choice_is_uncertain_for_responses_without_a_signal(n, p, s, rate):
    """It called 16 of 20 sure, "30 standard deviations above pure noise"."""
    notes = [sparse_choice(moments, s)[1] for moments in noise_moments(n, p, rate, 20)]
    assert sum("uncertain" in note for note in notes) >= 14
    assert all("standard deviations of such an entry" in note and "above pure noise" not in note for note in notes)


@pytest.mark.slow
def test_a_narrow_band_is_found_with_and_without_its_link():
    spec = OneBitPhaseRetrieval(n=800, p=100, threshold=0.3)
    for solver, least in (("gamp", 8), ("link-free-refinement", 6)):
        overlaps = [lrlab.solve(spec.replace(seed=seed), solver).metrics["overlap"] for seed in range(8)]
        assert sum(overlap >= 0.98 for overlap in overlaps) >= least, (solver, overlaps)


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

"""Compressed sensing and 1-bit completion: data, published thresholds, bounds, second implementations, scores."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import expit, ndtr
from sklearn.linear_model import Lasso, OrthogonalMatchingPursuit

import lrlab
from lrlab import catalog
from lrlab.lowrank import from_dense
from lrlab.models.one_bit_completion import OneBitCompletion
from lrlab.parameters import InputError
from lrlab.runs import theory
from lrlab.theory import sparse_limits
from lrlab.theory.channels import answer


def spec(**values):
    return lrlab.spec("compressed-sensing", **{"n": 150, "p": 300, "sparsity": 15, "seed": 3, **values})


@pytest.mark.parametrize("entries", ["gaussian", "signs", "nonnegative"])
def test_data_are_what_the_equation_says(entries):
    problem = spec(entries=entries, noise=0.1, bits=3).build()
    x, A = problem.truth, problem.A
    assert np.count_nonzero(x) == 15 and x @ x == pytest.approx(15)
    assert entries != "nonnegative" or (x >= 0).all()
    assert np.square(A).sum(axis=0).mean() == pytest.approx(1.0, rel=0.02) and len(np.unique(problem.y)) == 8
    rest = problem.y - A @ x
    assert rest.std() == pytest.approx(problem.noise, rel=0.2) and abs(np.corrcoef(rest, A @ x)[0, 1]) < 0.25
    estimate = x + np.random.default_rng(0).standard_normal(300) * 0.1
    assert problem.score(estimate)["error"] == pytest.approx(np.linalg.norm(estimate - x) / np.sqrt(15))
    one = spec(entries=entries, bits=1, noise=0.1)
    assert "length" in one.remark and len(np.unique(np.abs(one.build().y))) == 1
    assert one.build().score(7.0 * one.build().truth)["error"] == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(InputError, match="at most p"):
        spec(sparsity=301)


def test_quantizers_and_thresholds_are_the_published_ones():
    """Steps of Max (1960), table II; rho = s/n of Donoho & Tanner (2009), weak thresholds of the two polytopes."""
    for bits, step in ((2, 0.9957), (3, 0.5860), (4, 0.3352), (5, 0.1881)):
        assert np.diff(sparse_limits.quantizer(bits).edges)[0] == pytest.approx(step, abs=1e-4)
    for positive, ratio, rho in ((False, 0.1, 0.189), (False, 0.5, 0.386), (True, 0.1, 0.241), (True, 0.5, 0.558)):
        assert sparse_limits.l1_threshold(rho * ratio, positive) == pytest.approx(ratio, rel=2e-3)


@pytest.mark.parametrize("bits", [0, 1, 4])
def test_the_channel_has_the_slopes_of_its_likelihood(bits):
    channel, w, h = sparse_limits.Measured(0.2, bits), np.linspace(-2.0, 2.0, 9), 1e-4
    y = np.arange(9) % 2**bits if bits else np.linspace(-1.0, 1.0, 9)
    low, at, high = (answer(channel, w + d, 0.3, y) for d in (-h, 0.0, h))
    assert at.score == pytest.approx((high.log_chance - low.log_chance) / (2 * h), abs=1e-5)
    assert at.curvature == pytest.approx(-(high.score - low.score) / (2 * h), abs=1e-4)
    total = sum(np.exp(answer(channel, w, 0.3, np.full(9, cell)).log_chance) for cell in range(2**bits))
    assert bits == 0 or total == pytest.approx(1.0)


def test_the_lasso_is_that_of_scikit_learn_and_its_gap_is_a_bound():
    for positive, entries in ((False, "gaussian"), (True, "nonnegative")):
        trace = lrlab.solve(spec(noise=0.1, entries=entries), "lasso", rule="given", strength=0.2, tol=1e-14)
        A, y = trace.problem.A, trace.problem.y
        other = Lasso(alpha=0.2 / 150, fit_intercept=False, positive=positive, tol=1e-12, max_iter=100_000).fit(A, y)
        assert trace.stop is lrlab.Stop.CONVERGED and trace.estimate == pytest.approx(other.coef_, abs=1e-6)
        gaps = trace.table["residual"] * (y @ y) / 2
        assert (gaps + 1e-9 >= trace.table["objective"] - trace.table["objective"].min()).all()
    # The largest strength leaves nothing.
    assert lrlab.solve(spec(), "lasso", rule="given", strength=1000.0).metrics["limit_error"] == pytest.approx(
        1.0, abs=1e-5
    )


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_omp_is_that_of_scikit_learn(seed):
    trace = lrlab.solve(spec(noise=0.2, seed=seed), "omp")
    peer = OrthogonalMatchingPursuit(n_nonzero_coefs=15, fit_intercept=False).fit(trace.problem.A, trace.problem.y)
    assert np.flatnonzero(trace.estimate).tolist() == np.flatnonzero(peer.coef_).tolist()
    assert trace.estimate == pytest.approx(peer.coef_, abs=1e-10)


def test_basis_pursuit_is_the_linear_program():
    trace = lrlab.solve(spec(n=60, p=120, sparsity=20), "basis-pursuit")
    A, y = trace.problem.A, trace.problem.y
    program = linprog(np.ones(240), A_eq=np.hstack([A, -A]), b_eq=y)
    assert trace.table["objective"].iloc[-1] == pytest.approx(program.fun, rel=1e-5)
    with pytest.raises(InputError, match="take lasso"):
        lrlab.solve(spec(noise=0.1), "basis-pursuit")


@pytest.mark.parametrize("solver", ["basis-pursuit", "amp", "gamp", "omp", "niht", "cosamp"])
def test_exact_data_give_the_signal_back(solver):
    trace = lrlab.solve(spec(), solver)
    assert trace.table["error"].iloc[-1] < 1e-6 and trace.table["support"].iloc[-1] == 1.0


@pytest.mark.parametrize(
    ("solver", "bits"), [("lasso", 0), ("lasso", 2), ("amp", 0), ("gamp", 0), ("gamp", 1), ("gamp", 3)]
)
def test_errors_are_those_of_the_limit(solver, bits):
    errors = []
    for seed in range(6):
        trace = lrlab.solve(spec(n=400, p=800, sparsity=60, noise=0.1, bits=bits, seed=seed), solver)
        errors.append(trace.table["error"].iloc[-1])
    limit = trace.job.entry.predict(trace.job.spec, dict(trace.job.options))["limit_error"]
    assert np.mean(errors) == pytest.approx(limit, rel=0.05)


SMALL = OneBitCompletion(n1=40, n2=30, rank=1, observed=0.5)


@pytest.mark.parametrize("link", ["probit", "logistic"])
def test_bits_follow_their_law(link):
    spec = OneBitCompletion(n1=300, n2=300, rank=2, observed=1, link=link, noise=0.4)
    problem = spec.build()
    M = problem.truth.dense()
    assert np.abs(M).max() == pytest.approx(1.0) and np.linalg.matrix_rank(M) == 2
    assert problem.trace_norm == pytest.approx(np.linalg.norm(M, "nuc"))
    chance = (ndtr if link == "probit" else expit)(M.ravel() / 0.4)
    for low in np.linspace(0.1, 0.8, 8):
        inside = (chance >= low) & (chance < low + 0.1)
        assert (problem.y[inside] > 0).mean() == pytest.approx(chance[inside].mean(), abs=0.02)
    assert problem.truth_loss == pytest.approx(-np.log(np.where(problem.y > 0, chance, 1 - chance)).mean())


def test_scores_are_recomputed():
    problem, rng = SMALL.build(), np.random.default_rng(0)
    M, W = problem.truth.dense(), rng.standard_normal((40, 30)) / 3
    p, q = ndtr(M / 0.3), ndtr(W / 0.3)
    scores = problem.score(from_dense(W))
    assert scores["error"] == pytest.approx(np.linalg.norm(W - M) / np.linalg.norm(M))
    assert scores["squared_error"] == pytest.approx(scores["error"] ** 2)
    apart = (np.sqrt(p) - np.sqrt(q)) ** 2 + (np.sqrt(1 - p) - np.sqrt(1 - q)) ** 2
    assert scores["hellinger"] == pytest.approx(apart.mean())
    assert scores["hamming"] == np.mean((W > 0) != (M > 0))
    exact = problem.score(problem.truth)
    assert exact == pytest.approx({"error": 0, "squared_error": 0, "hellinger": 0, "hamming": 0}, abs=1e-12)


def test_the_bound_is_that_of_the_information_of_bits():
    spec = OneBitCompletion(n1=12, n2=9, rank=1, observed=1, noise=0.6)
    squares = []
    for seed in range(3):
        problem = spec.replace(seed=seed).build()
        U, V = problem.truth.U[:, 0], problem.truth.V[:, 0] * problem.truth.s[0]
        # Rows: the derivative of all entries by one entry of U or V.
        J = [np.outer(e, V).ravel() for e in np.eye(12)] + [np.outer(U, e).ravel() for e in np.eye(9)]
        z = np.outer(U, V).ravel() / 0.6
        density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) / 0.6
        J = np.array(J)
        information = (J * density**2 / (ndtr(z) * ndtr(-z))) @ J.T
        squares.append(np.trace(J.T @ np.linalg.pinv(information, rcond=1e-10) @ J) / problem.truth.s[0] ** 2)
    assert theory.exact(spec)["bound_error"] == pytest.approx(np.sqrt(np.mean(squares)))


def test_what_is_said_of_a_run():
    family = catalog.family("one-bit-completion")
    shown = family.measured(SMALL)
    assert shown.words.startswith("600 bits for 69 degrees of freedom, 8.7 bits for each")
    problem = SMALL.build()
    assert (shown.panels[0].values[problem.operator.rows, problem.operator.columns] == problem.y).all()
    with pytest.raises(InputError, match=r"rank must be in 1\.\.min\(40, 30\) = 30, got 31"):
        SMALL.replace(rank=31)

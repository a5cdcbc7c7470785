"""Intervals for the entries of a direction: standard errors, their coverage, and where they are shown."""

import json

import numpy as np
import pytest
from scipy.special import expit

import lrlab
from lrlab import catalog, metrics
from lrlab.__main__ import main
from lrlab.figures import recovery
from lrlab.linalg import unit
from lrlab.runs.job import make_job
from lrlab.runs.run import solve
from lrlab.runs.trial import Trial, run_trial
from lrlab.solvers.single_index.link_free_state import MOST_ENTRIES, standard_errors, tangent_inverse
from lrlab.solvers.single_index.link_smoothing import COEFFICIENTS, EDGE, WIDTH, LogOdds

SOLVER = "link-free-refinement"


def line(steepness):
    """Return the log-odds steepness * z."""
    return LogOdds(steepness * (-EDGE + WIDTH * (np.arange(COEFFICIENTS) - 1.0)))


def answered(n=4000, p=6, seed=0, mix=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) @ (np.eye(p) if mix is None else mix)
    b = unit(rng.standard_normal(p))
    return X, (rng.random(n) < expit(2.0 * X @ b)).astype(float), b


def test_the_tangent_inverse_is_the_pseudo_inverse():
    X, _, b = answered(200)
    rest = X - np.outer(X @ b, X.T @ (X @ b) / np.sum((X @ b) ** 2))
    A = rest.T @ rest
    assert A @ b == pytest.approx(0.0, abs=1e-8)
    assert tangent_inverse(A, b) == pytest.approx(np.linalg.pinv(A, rcond=1e-10), rel=1e-4, abs=1e-8)


@pytest.mark.parametrize("correlated", [False, True])
def test_standard_errors_are_those_of_the_efficient_information(correlated):
    """With the true link: Cov = (P G^{-1} P) / (n E[h]), computed here from the population."""
    p = 6
    mix = (
        np.linalg.cholesky(0.6 ** np.abs(np.subtract.outer(np.arange(p), np.arange(p)))).T if correlated else np.eye(p)
    )
    X, answers, b = answered(20_000, p, mix=mix)
    G = mix.T @ mix
    z = np.sqrt(b @ G @ b) * np.linspace(-8, 8, 4001)
    chance = expit(2.0 * z)
    density = np.exp(-((z**2) / (2.0 * (b @ G @ b))))
    h = np.average(4.0 * chance * (1.0 - chance), weights=density)
    P = np.eye(p) - np.outer(b, b)
    expected = np.sqrt(np.diag(P @ np.linalg.inv(G) @ P) / (len(X) * h))
    assert standard_errors(X, answers, b, line(2.0)) == pytest.approx(expected, rel=0.05)


def test_entries_that_are_left_out_have_no_interval():
    X, answers, b = answered(p=8)
    sparse = unit(np.where(np.arange(8) < 3, b, 0.0))
    errors = standard_errors(X, answers, sparse, line(2.0))
    assert np.isfinite(errors[:3]).all() and np.isnan(errors[3:]).all()
    assert standard_errors(X, answers, np.eye(8)[0], line(2.0)) is None, "one entry is 1 or -1"
    wide = np.ones((4, MOST_ENTRIES + 1))
    assert standard_errors(wide, np.ones(4), unit(wide[0]), line(2.0)) is None


def test_coverage_counts_the_entries_whose_interval_holds_the_truth():
    truth = np.array([0.6, -0.8, 0.0, 0.0])
    errors = np.array([0.01, 0.5, 0.1, np.nan])
    scores = metrics.interval_scores(-truth - [0.1, 0.0, 0.0, 0.0], errors, truth)
    assert scores["coverage"] == pytest.approx(2 / 3)
    assert scores["width"] == pytest.approx(2 * 1.959964 * 0.61 / 3)
    assert metrics.interval_scores(truth, np.full(4, np.nan), truth) == {}


@pytest.mark.parametrize("model", ["one-bit-sensing", "flipped-logistic", "one-bit-phase-retrieval"])
def test_intervals_hold_the_truth_about_as_often_as_they_say(model):
    """A small share of the experiment of `benchmarks/coverage.py`; 6 runs of 20 entries say little more."""
    coverage = [solve(catalog.spec(model, seed=4000 + k), SOLVER).metrics["coverage"] for k in range(6)]
    assert np.mean(coverage) >= 0.85


def test_intervals_are_in_the_document_of_solve_and_in_its_rows(capsys):
    settings = ["--set", "n=800", "--set", "p=5", "--set", "seed=1", "--set", "max_iter=3"]
    assert main(["solve", "flipped-logistic", "--solver", SOLVER, *settings, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    trace = lrlab.solve(lrlab.spec("flipped-logistic", n=800, p=5, seed=1), SOLVER, max_iter=3)
    ends = np.array([[entry["low"], entry["estimate"], entry["high"]] for entry in document["intervals"]])
    assert ends[:, 1] == pytest.approx(trace.estimate)
    assert ends[:, 2] - ends[:, 0] == pytest.approx(2 * 1.959964 * trace.standard_errors)
    assert document["metrics"]["width"] == pytest.approx(np.mean(ends[:, 2] - ends[:, 0]))
    assert all({"coverage", "width"} <= set(row) for row in document["trace"])
    assert main(["solve", "flipped-logistic", "--solver", "logistic", *settings, "--json"]) == 0
    assert "intervals" not in json.loads(capsys.readouterr().out)


def test_a_trial_of_a_sweep_has_coverage_and_width():
    job = make_job(catalog.spec("flipped-logistic", n=400, p=5), SOLVER, max_iter=2)
    scores = run_trial(Trial(job, 0)).scores
    assert 0 <= scores["coverage"] <= 1 and scores["width"] > 0


def test_stems_have_bars_for_the_last_estimate_alone():
    trace = solve(catalog.spec("one-bit-sensing", n=500, p=8), SOLVER, max_iter=3)
    run = recovery.Recovery(
        "free", history=trace.history, estimate=trace.estimate, rows=trace.rows, standard_errors=trace.standard_errors
    )
    truth = trace.problem.truth
    figure = recovery.recovery(truth, [run])
    bars = [scatter.error_y.array for scatter in figure.data if scatter.error_y is not None]
    assert len(bars) == 1 and bars[0] == pytest.approx(1.959964 * trace.standard_errors)
    shown = [frame.data[0].error_y.visible for frame in recovery.recovery_frames(truth, [run])]
    assert shown == [False, False, True]

"""Competing methods that papers name: known flip probability, shifts, a monotone link, programs over signs."""

import numpy as np
import pytest
from scipy.optimize import minimize

import lrlab
from lrlab.parameters import InputError
from lrlab.solvers.single_index.plan_vershynin import plan_vershynin_lp

FLIPPED = lrlab.spec("flipped-logistic", n=800, p=6, flip=0.1, seed=2)


def clean(margin):
    return np.logaddexp(0.0, -margin)


def unbiased(margin, flip=0.1):
    return ((1 - flip) * clean(margin) - flip * clean(-margin)) / (1 - 2 * flip)


def shifted(margin, penalty=0.6):
    shifts = np.maximum(0.0, np.log(1.0 / penalty - 1.0) - margin)
    return clean(margin + shifts) + penalty * shifts


@pytest.mark.parametrize(
    ("solver", "settings", "loss"), [("unbiased-logistic", {}, unbiased), ("shift-logistic", {"penalty": 0.6}, shifted)]
)
def test_the_minimum_is_that_of_a_general_minimizer_of_the_printed_loss(solver, settings, loss):
    problem = FLIPPED.build()
    Z = np.column_stack([np.ones(800), problem.X])
    reference = minimize(lambda theta: loss(problem.y * (Z @ theta)).mean(), np.zeros(7), tol=1e-10)
    trace = lrlab.solve(FLIPPED, solver, **settings)
    assert trace.table["objective"].iloc[-1] == pytest.approx(reference.fun, abs=1e-6)
    assert trace.estimate == pytest.approx(reference.x[1:], abs=2e-3) and trace.stop.name == "CONVERGED"


def test_the_loss_is_unbiased_and_without_flips_or_shifts_both_are_logistic_regression():
    margin = np.linspace(-4, 4, 9)
    assert 0.9 * unbiased(margin) + 0.1 * unbiased(-margin) == pytest.approx(clean(margin))
    logistic = lrlab.solve(FLIPPED, "logistic").estimate
    assert lrlab.solve(FLIPPED, "unbiased-logistic", assumed_flip=0.0).estimate == pytest.approx(logistic, abs=1e-6)
    assert lrlab.solve(FLIPPED, "shift-logistic", penalty=1.0).estimate == pytest.approx(logistic, abs=1e-6)


def test_a_loss_without_a_minimum_is_said_so():
    separable = lrlab.spec("one-bit-sensing", n=60, p=20, noise=0.0, seed=1)
    for solver in ("unbiased-logistic", "shift-logistic"):
        assert lrlab.solve(separable, solver, **{"max_iter": 60}).stop.name == "NO_MINIMUM"
    assert lrlab.solve(FLIPPED, "unbiased-logistic", assumed_flip=0.45).stop.name == "NO_MINIMUM"


@pytest.mark.parametrize("solver", ["logistic", "probit", "shift-logistic", "unbiased-logistic"])
def test_a_rare_column_that_only_positive_responses_have_leaves_no_minimum(solver):
    """All other responses are ties along that column."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((200, 3))
    X[:, 2] = np.arange(200) < 6
    y = np.where((rng.random(200) < 1.0 / (1.0 + np.exp(-X[:, 0]))) | (X[:, 2] > 0), 1, -1)
    assert lrlab.recover(y, X=X, model="flipped-logistic", solver=solver).stop.name == "NO_MINIMUM"


def test_the_isotron_is_about_as_accurate_as_the_likelihood_of_a_monotone_link():
    spec = lrlab.spec("one-bit-sensing", n=3000, p=20, noise=0.3, seed=1)
    trace = lrlab.solve(spec, "isotron")
    assert trace.stop.name == "FINISHED"
    assert trace.metrics["error"] < 1.25 * lrlab.solve(spec, "probit").metrics["error"]
    assert trace.metrics["error"] < 0.8 * lrlab.solve(spec, "marginal-mean").metrics["error"]


def test_the_linear_program_obeys_all_signs_with_the_least_norm_and_says_when_none_does():
    spec = lrlab.spec("one-bit-sensing", n=200, p=60, sparsity=4, noise=0.0, seed=3)
    trace, problem = lrlab.solve(spec, "plan-vershynin-lp"), spec.build()
    signed = problem.y[:, None] * problem.X
    assert (signed @ trace.estimate > -1e-9).all() and trace.metrics["error"] < 0.4
    assert trace.table["objective"].iloc[-1] <= np.abs(problem.truth).sum() / (signed @ problem.truth).mean() + 1e-9
    with pytest.raises(InputError, match="plan-vershynin-ball"):
        lrlab.solve(spec.replace(noise=0.5), "plan-vershynin-lp")
    noisy = spec.replace(noise=0.5, n=2000).build()
    assert "No b obeys all signs" in next(plan_vershynin_lp(noisy, rng=np.random.default_rng(0))).note


@pytest.mark.parametrize("kept", [1, 2, 5])
def test_the_ball_estimate_maximizes_the_correlation(kept):
    spec = lrlab.spec("one-bit-sensing", n=100, p=5, noise=0.5, seed=4)
    problem = spec.build()
    mean = problem.y @ problem.X / 100
    b = lrlab.solve(spec, "plan-vershynin-ball", kept=kept).estimate
    rng = np.random.default_rng(0)
    points = rng.standard_normal((20_000, 5)) * rng.random((20_000, 5)) ** 3
    points /= np.maximum(np.linalg.norm(points, axis=1), np.abs(points).sum(axis=1) / np.sqrt(kept))[:, None]
    assert np.linalg.norm(b) == pytest.approx(1) and np.abs(b).sum() <= np.sqrt(kept) + 1e-9
    assert b @ mean >= (points @ mean).max()

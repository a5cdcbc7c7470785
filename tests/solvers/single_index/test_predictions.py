"""Predictions at the n and p of a spec, and for correlated designs: the law of runs, or nothing."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

import lrlab
from lrlab import catalog
from lrlab.models.single_index import draw_design
from lrlab.runs import theory
from lrlab.runs.job import make_job
from lrlab.solvers.single_index.family import inverse_trace


@pytest.mark.slow
@pytest.mark.parametrize("design", ["gaussian", "rademacher", "correlated"])
@pytest.mark.parametrize("solver", ["pairwise-moment", "sir", "gamp"])
def test_simulated_overlaps_have_the_law_of_runs(design, solver):
    job = make_job(lrlab.spec("one-bit-sensing", n=60, p=5, noise=0.5, design=design), solver)
    runs = [lrlab.solve(job.spec.replace(seed=4000 + k), solver).metrics["overlap"] for k in range(40)]
    simulated = job.entry.sample(job.spec, dict(job.options), 100)
    assert ks_2samp(runs, simulated).pvalue > 1e-3
    assert (simulated[:30] == job.entry.sample(job.spec.replace(seed=9), dict(job.options), 30)).all()


def test_a_prediction_is_a_mean_with_its_band_at_the_sizes_of_the_spec():
    numbers = theory.exact(make_job(lrlab.spec("one-bit-sensing", n=200, p=5, noise=0.1), "sir"))
    for measure in ("overlap", "error"):
        low, mean, high = (numbers[f"predicted_{measure}{end}"] for end in ("_low", "", "_high"))
        assert low < mean < high
    assert 0.9 < numbers["limit_overlap"] < 1.0


def test_too_large_a_problem_has_its_limit_alone():
    job = make_job(lrlab.spec("one-bit-sensing", n=50_000, p=100), "sir")
    assert job.entry.sample(job.spec, {}, 3) is None
    numbers = theory.exact(job)
    assert "limit_overlap" in numbers and "predicted_overlap" not in numbers


def test_a_solver_that_is_not_simulated_has_no_band():
    assert "predicted_overlap" not in theory.exact(make_job(catalog.spec("one-bit-sensing", n=200, p=5), "isotron"))


# Correlated designs


@pytest.mark.parametrize("correlation", [-0.95, 0.0, 0.5, 0.99])
def test_rows_have_the_covariance_whose_inverse_has_the_trace(correlation):
    p, X = 7, np.empty((50_000, 7))
    covariance = correlation ** np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    draw_design("correlated", np.random.default_rng(3), X, correlation, 5.0)
    assert X.T @ X / len(X) == pytest.approx(covariance, abs=0.03)
    assert inverse_trace(p, correlation) == pytest.approx(np.trace(np.linalg.inv(covariance)))


@pytest.mark.parametrize("solver", ["logistic", "probit", "sir"])
def test_limits_for_correlated_designs_are_met(solver):
    spec = catalog.spec("one-bit-sensing", n=1500, p=100, noise=0.5, design="correlated", correlation=-0.8)
    job = make_job(spec, solver)
    known = job.entry.predict(spec, dict(job.options))
    measured = [lrlab.solve(spec.replace(seed=6000 + seed), solver).metrics["overlap"] for seed in range(12)]
    assert known["limit_overlap"] == pytest.approx(np.mean(measured), abs=0.03)
    independent = job.entry.predict(spec.replace(design="gaussian"), dict(job.options))["limit_overlap"]
    assert known["limit_overlap"] < independent - 0.1
    uncorrelated = job.entry.predict(spec.replace(correlation=0.0), dict(job.options))["limit_overlap"]
    assert uncorrelated == pytest.approx(independent)


def test_methods_without_a_limit_there_are_run():
    spec = catalog.spec("flipped-logistic", intercept=1.0, design="correlated")
    for solver, options in (("pairwise-moment", {}), ("save", {}), ("phd", {"whitening": "identity"})):
        job = make_job(spec, solver, **options)
        assert job.entry.predict(spec, dict(job.options)) == {}
        assert job.entry.sample(spec, dict(job.options), 3).shape == (3,), "small problems are run"
        assert job.entry.sample(spec.replace(n=1_000_000), dict(job.options), 3) is None
    assert "sir, phd, glm" in spec.remark

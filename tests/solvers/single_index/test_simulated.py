"""Predictions at the n and p of a spec: the law of runs, whatever the design, and nothing for what is too large."""

import pytest
from scipy.stats import ks_2samp

import lrlab
from lrlab import catalog
from lrlab.runs import theory
from lrlab.runs.job import make_job


@pytest.mark.parametrize("design", ["gaussian", "rademacher", "correlated"])
@pytest.mark.parametrize("solver", ["pairwise-moment", "sir", "gamp"])
def test_simulated_overlaps_have_the_law_of_runs(design, solver):
    job = make_job(lrlab.spec("one-bit-sensing", n=60, p=5, noise=0.5, design=design), solver)
    runs = [lrlab.solve(job.spec.replace(seed=4000 + k), solver).metrics["overlap"] for k in range(40)]
    simulated = job.entry.draw(job.spec, dict(job.options), 100)
    assert ks_2samp(runs, simulated).pvalue > 1e-3
    assert (simulated[:30] == job.entry.draw(job.spec.replace(seed=9), dict(job.options), 30)).all()


def test_a_prediction_is_a_mean_with_its_band_at_the_sizes_of_the_spec():
    numbers = theory.exact(make_job(lrlab.spec("one-bit-sensing", n=200, p=5, noise=0.1), "sir"))
    for measure in ("overlap", "error"):
        low, mean, high = (numbers[f"predicted_{measure}{end}"] for end in ("_low", "", "_high"))
        assert low < mean < high
    assert 0.9 < numbers["limit_overlap"] < 1.0


def test_too_large_a_problem_has_its_limit_alone():
    job = make_job(lrlab.spec("one-bit-sensing", n=50_000, p=100), "sir")
    assert job.entry.draw(job.spec, {}, 3) is None
    numbers = theory.exact(job)
    assert "limit_overlap" in numbers and "predicted_overlap" not in numbers


def test_a_solver_that_is_not_simulated_has_no_band():
    assert "predicted_overlap" not in theory.exact(make_job(catalog.spec("one-bit-sensing", n=200, p=5), "isotron"))

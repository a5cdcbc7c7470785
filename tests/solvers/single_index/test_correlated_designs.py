"""Predictions for correlated designs: linear changes of x, limits, and runs of small problems."""

import numpy as np
import pytest

import lrlab
from lrlab import catalog
from lrlab.models import designs
from lrlab.runs.job import make_job


@pytest.mark.parametrize("correlation", [-0.95, 0.0, 0.5, 0.99])
def test_rows_have_the_covariance_whose_inverse_has_the_trace(correlation):
    p, X = 7, np.empty((50_000, 7))
    covariance = correlation ** np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    designs.draw("correlated", np.random.default_rng(3), X, correlation, 5.0)
    assert X.T @ X / len(X) == pytest.approx(covariance, abs=0.03)
    assert designs.inverse_trace(p, correlation) == pytest.approx(np.trace(np.linalg.inv(covariance)))


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
        assert job.entry.draw(spec, dict(job.options), 3).shape == (3,), "small problems are run"
        assert job.entry.draw(spec.replace(n=1_000_000), dict(job.options), 3) is None
    assert "sir, phd, glm" in spec.remark

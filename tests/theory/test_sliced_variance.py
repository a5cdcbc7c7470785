"""Limits of sliced average variance estimation: against draws of large problems, runs, and where they are simple."""

import numpy as np
import pytest

import lrlab
from lrlab.runs.job import make_job
from lrlab.theory.links import Moments
from lrlab.theory.principal_hessian import predict as predict_hessian
from lrlab.theory.sliced_variance import predict
from tests.thorough import a_third


@pytest.mark.parametrize(
    ("model", "settings", "ratio"),
    a_third(
        [
            ("one-bit-phase-retrieval", {}, 5),
            ("one-bit-phase-retrieval", {"threshold": 2.0, "noise": 0.3}, 8),
            ("one-bit-sensing", {"noise": 0.1}, 30),
            ("one-bit-sensing", {"noise": 1.0}, 60),
            ("custom-link", {"link": "tanh(3*z-1)"}, 12),
            ("flipped-logistic", {"intercept": 2.0}, 40),
        ]
    ),
)
def test_large_problems_have_the_limit(model, settings, ratio):
    """Above transitions and, in the last one, below."""
    spec = lrlab.spec(model, p=300, n=300 * ratio, **settings)
    job, count = make_job(spec, "save"), 30
    drawn = job.entry.draw(spec, dict(job.options), count)
    limit = job.entry.predict(spec, dict(job.options))["limit_overlap"]
    # Terms of order 1/p are left.
    assert abs(drawn.mean() - limit) < 3.5 * drawn.std(ddof=1) / np.sqrt(count) + 0.01


def test_the_largest_eigenvalue_is_that_of_a_run():
    spec = lrlab.spec("one-bit-sensing", p=300, n=9000, noise=0.1)
    runs = [lrlab.solve(spec.replace(seed=seed), "save") for seed in range(7000, 7004)]
    limit = predict(spec.link_function.moments, 30.0)
    assert np.mean([-run.rows[-1]["objective"] for run in runs]) == pytest.approx(limit.value, rel=0.03)
    assert limit.value > limit.edge


def test_for_even_links_it_is_that_of_the_second_moment():
    """Without a difference of means the eigenvector is that of the covariance within an answer, as of PHD."""
    for ratio in (2.5, 5.0, 20.0):
        moments = Moments(-0.4, 0.0, 0.3)
        limit, hessian = predict(moments, ratio), predict_hessian(moments, ratio)
        assert limit.overlap == pytest.approx(hessian.overlap, abs=1e-4)


def test_answers_may_change_names_and_more_of_them_are_better():
    for moments in (Moments(0.2, 0.5, 0.3), Moments(-0.5, 0.3, 0.4), Moments(0.0, 0.7, 0.0)):
        turned = Moments(-moments.mu0, -moments.mu1, -moments.mu2)
        overlaps = [predict(moments, ratio).overlap for ratio in (3.0, 10.0, 30.0, 100.0, 1000.0)]
        assert overlaps == pytest.approx([predict(turned, ratio).overlap for ratio in (3.0, 10.0, 30.0, 100.0, 1000.0)])
        assert overlaps == sorted(overlaps) and overlaps[-1] > 0.9


def test_where_nothing_leaves_the_bulk_the_overlap_is_0():
    limit = predict(Moments(0.0, 0.3, 0.0), 3.0)
    assert limit.overlap == 0.0 and np.isnan(limit.value) and limit.edge > 0.0

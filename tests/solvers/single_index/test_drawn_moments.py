"""Moments drawn without measurements: their law is that of moments of data, and so is what methods make of them."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

import lrlab
from lrlab import catalog
from lrlab.runs import theory
from lrlab.runs.job import make_job
from lrlab.solvers.single_index.drawn_moments import drawn_problems
from lrlab.solvers.single_index.moment_methods import class_moments
from lrlab.solvers.single_index.pairwise import pair_moments
from tests.thorough import a_third

TRIALS, DRAWS = 60, 200


def overlaps(spec, solver, **settings):
    """Return what runs reach, and what is drawn."""
    job = make_job(spec, solver, **settings)
    runs = [lrlab.solve(spec.replace(seed=4000 + k), solver, **settings).metrics["overlap"] for k in range(TRIALS)]
    return np.array(runs), job.entry.draw(spec, dict(job.options), DRAWS)


@pytest.mark.parametrize(
    ("model", "sizes", "solver", "settings"),
    a_third(
        [
            ("one-bit-sensing", {"n": 60, "p": 5, "noise": 0.5}, "pairwise-moment", {"eigensolver": "lanczos"}),
            ("one-bit-sensing", {"n": 300, "p": 12, "noise": 1.0}, "pairwise-moment", {"eigensolver": "lanczos"}),
            ("one-bit-sensing", {"n": 60, "p": 5}, "pairwise-moment", {"eigensolver": "lanczos", "pairs": "all"}),
            # Sums of many rows, drawn as Gaussian ones.
            ("flipped-logistic", {"n": 12_000, "p": 40, "flip": 0.3}, "pairwise-moment", {"eigensolver": "lanczos"}),
            ("flipped-logistic", {"n": 12_000, "p": 40, "intercept": 1.0, "flip": 0.3}, "save", {}),
            ("one-bit-sensing", {"n": 30, "p": 10}, "sir", {}),
            ("one-bit-sensing", {"n": 12, "p": 2, "noise": 2.0}, "marginal-mean", {}),
            ("flipped-logistic", {"n": 200, "p": 10, "intercept": 2.0}, "save", {}),
            ("one-bit-phase-retrieval", {"n": 60, "p": 12, "threshold": 0.5}, "phd", {}),
            ("one-bit-phase-retrieval", {"n": 60, "p": 20, "threshold": 1.5}, "spectral-optimal", {}),
            ("one-bit-phase-retrieval", {"n": 60, "p": 20, "threshold": 3.0}, "spectral-optimal", {"weights": "link"}),
        ]
    ),
)
def test_drawn_overlaps_have_the_law_of_runs(model, sizes, solver, settings):
    runs, drawn = overlaps(lrlab.spec(model, **sizes), solver, **settings)
    assert ks_2samp(runs, drawn).pvalue > 1e-3
    error = np.hypot(runs.std() / np.sqrt(len(runs)), drawn.std() / np.sqrt(len(drawn)))
    assert abs(runs.mean() - drawn.mean()) < 4.0 * error


def test_moments_have_the_means_and_spreads_of_those_of_data():
    spec = lrlab.spec("flipped-logistic", n=50, p=4, intercept=0.7)
    drawn = [problem.classes for problem in drawn_problems(spec.link_function, 50, 4, 800)]
    problems = [spec.replace(seed=k, truth="random").build() for k in range(800)]

    def turned(problem):
        # The first axis along b, as in the draws.
        q = np.linalg.qr(np.column_stack([problem.truth, np.eye(4)[:, :3]]))[0]
        q[:, 0] *= np.sign(q[:, 0] @ problem.truth)
        c = class_moments(problem)
        return np.concatenate([[c.n_pos], q.T @ c.s_pos, np.sort((q.T @ c.S_neg @ q).ravel())])

    own = np.array([np.concatenate([[c.n_pos], c.s_pos, np.sort(c.S_neg.ravel())]) for c in drawn])
    data = np.array([turned(problem) for problem in problems])
    error = np.hypot(own.std(axis=0), data.std(axis=0)) / np.sqrt(800)
    assert np.all(np.abs(own.mean(axis=0) - data.mean(axis=0)) < 4.5 * error)
    assert own.std(axis=0) == pytest.approx(data.std(axis=0), rel=0.2)


def test_pair_moments_have_the_trace_of_those_of_data():
    spec = lrlab.spec("one-bit-sensing", n=40, p=6, noise=0.3)
    drawn = [pair_moments(problem, "consecutive") for problem in drawn_problems(spec.link_function, 40, 6, 600)]
    data = [pair_moments(spec.replace(seed=k).build(), "consecutive") for k in range(600)]
    for k in (0, 1):
        own, theirs = (np.array([np.trace(both[k]) for both in several]) for several in (drawn, data))
        assert ks_2samp(own, theirs).pvalue > 1e-3


def test_more_draws_begin_with_the_same_ones_and_forget_the_seed():
    spec = lrlab.spec("one-bit-sensing", n=60, p=5)
    entry = catalog.solver("sir", spec.model)
    few, many = entry.draw(spec, {}, 30), entry.draw(spec.replace(seed=9), {}, 50)
    np.testing.assert_array_equal(few, many[:30])


def test_a_prediction_is_a_mean_with_its_band_at_the_sizes_of_the_spec():
    spec = lrlab.spec("one-bit-sensing", n=200, p=5, noise=0.1)
    numbers = theory.known(make_job(spec, "sir"))
    for measure in ("overlap", "error"):
        low, mean, high = (numbers[f"predicted_{measure}{end}"] for end in ("_low", "", "_high"))
        assert low < mean < high
    assert 0.9 < numbers["limit_overlap"] < 1.0


def test_thresholded_means_have_no_law_that_is_drawn():
    job = make_job(lrlab.spec("one-bit-sensing", n=200, p=8, sparsity=3), "marginal-mean")
    assert not any(name.startswith("predicted") for name in theory.refined(job))


@pytest.mark.parametrize("design", ["rademacher", "student", "correlated"])
def test_outside_of_the_assumptions_the_problem_itself_is_drawn(design):
    spec = lrlab.spec("one-bit-sensing", n=60, p=4, design=design, noise=0.5)
    runs, drawn = overlaps(spec, "pairwise-moment", eigensolver="lanczos")
    assert ks_2samp(runs, drawn).pvalue > 1e-3
    numbers = theory.refined(make_job(spec, "pairwise-moment"))
    assert "predicted_overlap" in numbers and not any(name.startswith("limit") for name in numbers)
    large = make_job(spec.replace(n=100_000, p=20), "pairwise-moment")
    assert theory.refined(large) == {}, "nothing is known, and nothing is said"


def test_too_large_a_problem_has_its_limit_alone():
    numbers = theory.known(make_job(lrlab.spec("one-bit-sensing", n=20_000, p=1000), "sir"))
    assert "limit_overlap" in numbers and "predicted_overlap" not in numbers

"""VAMP: the posterior mean and its own estimate of the overlap under any covariance, beside exact ones."""

import itertools

import numpy as np
import pytest

import lrlab
from lrlab.models.flipped_logistic import FlippedLogistic
from lrlab.models.one_bit_phase_retrieval import OneBitPhaseRetrieval
from lrlab.models.one_bit_sensing import OneBitSensing
from lrlab.parameters import InputError
from lrlab.protocol import Stop
from lrlab.solvers.single_index.vamp import growth, path, vamp
from lrlab.theory.correlated_overlap import eigenvalues, overlap, predicted
from lrlab.theory.state_evolution import overlaps

CORRELATED = OneBitSensing(n=1600, p=400, noise=0.1, design="correlated")


def rest(problem, most=400):
    for at in itertools.islice(path(problem), most):
        if at.change < 1e-8:
            break
    return at


def overlap_of(problem, at):
    return problem.score(at.b)["overlap"]


@pytest.mark.parametrize(
    "spec",
    [
        OneBitSensing(n=400, p=100, noise=0.1, design="correlated", correlation=0.95),
        OneBitSensing(n=400, p=100, noise=0.1, design="correlated"),
        OneBitSensing(n=400, p=100, noise=0.1, design="rademacher"),
        OneBitSensing(n=50, p=100, noise=0.1, design="correlated", correlation=0.95),
        FlippedLogistic(n=400, p=100, design="correlated", correlation=0.95),
        OneBitPhaseRetrieval(n=600, p=100, design="correlated", correlation=0.95),
    ],
    ids=repr,
)
def test_its_own_estimate_of_the_overlap_holds_in_correlated_designs(spec):
    problems = [spec.replace(seed=seed).build() for seed in range(21000, 21008)]
    ends = [rest(problem) for problem in problems]
    apart = [1.0 - at.variance - overlap_of(problem, at) for problem, at in zip(problems, ends, strict=True)]
    assert abs(np.mean(apart)) < 3.0 * np.std(apart, ddof=1) / np.sqrt(len(apart)) + 0.01


def test_its_estimate_is_the_posterior_mean():
    """By importance sampling from the prior; at three entries, variances that are averaged are not exact."""
    problem = OneBitSensing(n=25, p=3, noise=0.5, design="correlated", correlation=0.9, seed=1000).build()
    B = np.random.default_rng(0).standard_normal((200_000, 3)) / np.sqrt(3.0)
    chance = np.prod((1.0 + problem.y * problem.link(B @ problem.X.T)) / 2.0, axis=1)
    mean = chance @ B / chance.sum()
    at = rest(problem)
    assert at.b @ mean / np.linalg.norm(at.b) / np.linalg.norm(mean) > 0.995
    assert at.b == pytest.approx(mean, abs=0.1)


def test_the_overlap_is_that_of_state_evolution():
    overlaps_found = [lrlab.solve(CORRELATED.replace(seed=seed), "vamp").metrics["overlap"] for seed in range(5)]
    expected = lrlab.solve(CORRELATED, "vamp").metrics["limit_overlap"]
    assert expected == predicted(CORRELATED) and 0.83 < expected < 0.86
    assert np.mean(overlaps_found) == pytest.approx(expected, abs=0.015)


def test_without_correlation_state_evolution_is_the_known_one():
    for spec in (OneBitSensing(n=800, p=400, noise=0.1), FlippedLogistic(n=3000, p=600)):
        ratio = spec.n / spec.p
        assert overlap(spec.link_function, ratio, eigenvalues(0.0)) == pytest.approx(
            overlaps(spec.link_function, ratio).fast, abs=1e-4
        )
    assert eigenvalues(0.7).mean() == pytest.approx(1.0)
    assert predicted(OneBitSensing(n=400, p=100, design="student")) is None
    assert predicted(OneBitSensing(n=400, p=100, design="correlated", correlation=0.95)) is None
    assert predicted(OneBitPhaseRetrieval(n=3000, p=400)) is None


def test_small_and_extreme_problems_end_in_a_finite_estimate():
    for spec in (
        OneBitSensing(n=6, p=2, noise=0.0),
        OneBitSensing(n=3000, p=2, noise=0.0),
        OneBitSensing(n=50, p=20, noise=10.0),
        OneBitPhaseRetrieval(n=40, p=20, threshold=2.0),
        OneBitSensing(n=50, p=20, design="correlated", correlation=-0.99),
    ):
        steps = itertools.islice(vamp(spec.build(), rng=np.random.default_rng(0)), 60)
        assert all(np.isfinite(at.estimate).all() and np.isfinite(at.residual) for at in steps)


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.05])
@pytest.mark.parametrize(
    ("n", "p", "design"), [(300, 3, "gaussian"), (300, 3, "correlated"), (1600, 100, "correlated")]
)
def test_with_little_noise_the_length_comes_to_rest_too(n, p, design, noise):
    """Answers hardly tell it: left to itself it takes more than 2,000 iterations in most of these."""
    for seed in (0, 2, 3):
        problem = OneBitSensing(n=n, p=p, design=design, noise=noise, seed=seed).build()
        at = rest(problem, most=2000)
        assert at.change < 1e-8
        assert overlap_of(problem, at) > 0.98


def test_the_length_is_the_one_to_which_it_goes_by_itself(monkeypatch):
    problem = OneBitSensing(n=300, p=3, noise=0.1, seed=0).build()
    sooner = rest(problem, most=100)
    monkeypatch.setattr("lrlab.solvers.single_index.vamp.growth", lambda lengths: 1.0)
    assert rest(problem, most=100).change > 1e-4
    assert sooner.b == pytest.approx(rest(problem, most=2000).b, abs=1e-5)


@pytest.mark.filterwarnings("error")
def test_estimates_that_overshoot_are_damped_before_they_overflow():
    for design, seed in itertools.product(("gaussian", "correlated"), (0, 1)):
        spec = OneBitPhaseRetrieval(n=300, p=3, noise=0.0, threshold=2.0, design=design, seed=seed)
        assert lrlab.solve(spec, "vamp").stop is Stop.CONVERGED


def test_a_length_that_settles_is_extrapolated_and_one_that_goes_to_zero_is_not():
    settling = [0.3 + 0.2 * 0.99**k for k in range(4)]
    assert growth(settling) == pytest.approx(np.exp(0.3 - settling[-1]))
    assert growth([-0.25 * k for k in range(4)]) == 1.0
    assert growth([0.1, 0.3, 0.2, 0.25]) == growth([0.3] * 4) == growth(settling[:3]) == 1.0


def test_symmetric_links_need_whitened_measurements():
    with pytest.raises(InputError, match="n"):
        lrlab.solve(OneBitPhaseRetrieval(n=30, p=20), "vamp")

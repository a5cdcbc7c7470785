"""GAMP and the optimal spectral method: equations, agreement with state evolution, restarts, what is said of ends."""

from itertools import islice

import numpy as np
import pytest
from scipy.stats import norm

import lrlab
from lrlab.models.index_family import FlippedLogistic, OneBitPhaseRetrieval, OneBitSensing
from lrlab.protocol import Stop
from lrlab.solvers.methods.message_passing import State, iterations
from lrlab.solvers.single_index.gamp import gamp, predict_iterations
from lrlab.solvers.single_index.spectral_optimal import spectral_optimal
from lrlab.theory.predicted_overlap import best_overlap, predicted_iterations
from tests.thorough import a_third

SPECS = (
    OneBitSensing(n=1200, p=600, noise=0.1),
    OneBitSensing(n=3000, p=600, noise=1.0),
    OneBitSensing(n=600, p=600, noise=0.1, sparsity=30),
    FlippedLogistic(n=3000, p=600, flip=0.05, intercept=0.5),
    OneBitPhaseRetrieval(n=3000, p=600, threshold=0.3),
    OneBitPhaseRetrieval(n=3000, p=600, threshold=1.0),
    OneBitPhaseRetrieval(n=3000, p=600, threshold=2.0, noise=0.1),
)


def iterates(problem, number, **options):
    return list(islice(gamp(problem, rng=np.random.default_rng(0), **options), number))


def test_an_iteration_is_that_of_rangan():
    """With the score and curvature of a probit response."""
    problem = OneBitSensing(n=90, p=30, noise=0.4).build()
    X, y, p = problem.X, problem.y, 30
    rng = np.random.default_rng(1)
    b, V, w = rng.standard_normal(p) / 10, 0.6, rng.standard_normal(90)
    now, after = islice(iterations(problem, State(b, V, w)), 2)
    s = np.sqrt(V + 0.16)
    ratio = norm.pdf(w / s) / norm.cdf(y * w / s)
    g, h = y * ratio / s, ratio * (ratio + y * w / s) / s**2
    S = 1.0 / h.sum()
    mean, rest = (b + S * (X.T @ g)) / (1.0 + p * S), p * S / (1.0 + p * S)
    mean *= ((1.0 - rest) / (mean @ mean)) ** ((1.0 - rest) / 2.0)
    assert now.b is b and now.step == 1.0
    assert after.b == pytest.approx(mean) and after.V == pytest.approx(rest)
    assert after.w == pytest.approx(X @ mean - rest * g)
    assert now.log_chance == pytest.approx(norm.logcdf(y * w / s))


@pytest.mark.slow
@pytest.mark.parametrize("spec", a_third(SPECS), ids=repr)
def test_the_best_overlap_is_attained_and_every_iteration_predicted(spec):
    number, seeds = 25, 8
    paths = []
    for seed in range(seeds):
        problem = spec.replace(seed=seed).build()
        paths.append([problem.score(at.estimate)["overlap"] for at in iterates(problem, number)])
    mean, error = np.mean(paths, axis=0), np.std(paths, axis=0, ddof=1) / np.sqrt(seeds)
    assert np.all(np.abs(mean - predicted_iterations(spec, number)) < np.maximum(0.03, 3.5 * error))
    assert abs(mean[-1] - best_overlap(spec).best) < max(0.02, 3 * error[-1])


@pytest.mark.slow
def test_below_weak_recovery_nothing_is_claimed():
    spec = OneBitPhaseRetrieval(n=1000, p=500, threshold=0.3)
    traces = [lrlab.solve(spec.replace(seed=seed), "gamp") for seed in range(4)]
    assert best_overlap(spec).best == 0.0 == traces[0].metrics["limit_overlap"]
    assert np.mean([trace.metrics["overlap"] for trace in traces]) < 0.03


def test_near_a_threshold_no_curve_is_predicted():
    assert predict_iterations(OneBitPhaseRetrieval(n=300, p=150, threshold=2.0), {"kept": 0}, 25) == []
    assert all(len(predict_iterations(spec, {"kept": 0}, 25)) == 25 for spec in SPECS if not spec.sparsity)


def test_a_sparse_prior_is_used_where_entries_are_limited():
    problem = OneBitSensing(n=600, p=600, sparsity=30).build()
    sparse, dense = (problem.score(iterates(problem, 30, kept=k)[-1].estimate)["overlap"] for k in (0, 600))
    assert sparse > 0.9 > 0.6 > dense


@pytest.mark.slow
@pytest.mark.parametrize(
    "spec",
    [
        OneBitPhaseRetrieval(n=200, p=100, sparsity=2, seed=20002),
        OneBitPhaseRetrieval(n=200, p=100, sparsity=2, seed=20009),
        OneBitPhaseRetrieval(n=400, p=100, sparsity=5, seed=20007),
        OneBitPhaseRetrieval(n=542, p=200, sparsity=1, seed=607478),
        OneBitPhaseRetrieval(n=92, p=50, sparsity=3, threshold=0.3, seed=584741),
    ],
    ids=repr,
)
def test_few_entries_are_recovered_from_one_start_or_another(spec):
    """The first start ends at an overlap below .1 that it takes for 1."""
    assert lrlab.solve(spec, "gamp", max_iter=1000).metrics["overlap"] > 0.99


def test_a_state_that_the_responses_contradict_is_said_to_be_wrong():
    trace = lrlab.solve(OneBitPhaseRetrieval(n=92, p=50, sparsity=3, threshold=0.3, seed=20004), "gamp")
    assert trace.metrics["overlap"] < 0.1 and trace.stop is Stop.STALLED
    assert "it is wrong" in trace.note and trace.rows[-1]["residual"] > 4.0


@pytest.mark.parametrize(
    "spec",
    [
        OneBitPhaseRetrieval(n=1000, p=2, seed=20003),
        OneBitPhaseRetrieval(n=3000, p=2, seed=20060),
        OneBitSensing(n=1000, p=2, noise=0.0, seed=20024),
        OneBitPhaseRetrieval(seed=20001),
    ],
    ids=repr,
)
def test_right_ends_with_few_unknowns_are_not_called_wrong(spec):
    """If single responses decide, they seem all but impossible at w_i, though <x_i, b> obeys them."""
    trace = lrlab.solve(spec, "gamp")
    assert trace.stop is Stop.SETTLED and trace.metrics["overlap"] > 0.999 and "wrong" not in trace.note


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["counts", "link"])
def test_the_spectral_estimate_has_its_predicted_overlap(weights):
    spec = OneBitPhaseRetrieval(n=4000, p=400, threshold=0.5)
    traces = [lrlab.solve(spec.replace(seed=seed), "spectral-optimal", weights=weights) for seed in range(5)]
    overlap = np.mean([trace.metrics["overlap"] for trace in traces])
    assert overlap == pytest.approx(traces[0].metrics["limit_overlap"], abs=0.03) and overlap > 0.85


def test_spectral_weights_of_counts_find_the_sign_and_say_so():
    for threshold in (1.0, 0.4):
        problem, flipped = (OneBitPhaseRetrieval(n=2000, p=50, threshold=threshold).build() for _ in range(2))
        flipped.__dict__["_data"] = (problem.X, -problem.y)
        ends = [next(spectral_optimal(at, rng=np.random.default_rng(0))) for at in (problem, flipped)]
        assert "larger if y = 1" in ends[0].note and "smaller if y = 1" in ends[1].note
        assert abs(ends[0].estimate @ ends[1].estimate) == pytest.approx(1.0)
        assert ends[0].objective == pytest.approx(ends[1].objective)

"""GAMP of phase retrieval: exact where theory says so, every iteration predicted, and no claim that does not hold."""

import itertools

import numpy as np
import pytest

import lrlab
from lrlab.model_entry import Success
from lrlab.models.phase_retrieval import PhaseRetrieval
from lrlab.protocol import Stop
from lrlab.solvers.phase_retrieval.phase_gamp import gamp, predict_iterations
from lrlab.sweeps.definition import Span, Sweep
from lrlab.sweeps.theory import regions
from lrlab.theory.magnitudes import Magnitudes
from lrlab.theory.state_evolution import overlaps

OPTIONS = {"start": "optimal", "refine": "none"}


def iterates(problem, number, **options):
    return list(itertools.islice(gamp(problem, rng=np.random.default_rng(0), **options), number))


@pytest.mark.slow
@pytest.mark.parametrize(("field", "ratio"), [("real", 1.4), ("complex", 2.5)])
def test_exact_answers_are_recovered_with_few_measurements(field, ratio):
    for seed in range(1000, 1004):
        trace = lrlab.solve(PhaseRetrieval(p=300, m=round(300 * ratio), field=field, seed=seed), "gamp")
        assert trace.stop is Stop.CONVERGED and trace.metrics["error"] < 1e-6 and len(trace.rows) < 100
        assert trace.metrics["limit_overlap"] == trace.metrics["limit_best_overlap"] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("field", "ratio"), [("real", 0.9), ("complex", 1.9)])
def test_below_the_threshold_of_information_nothing_is_claimed(field, ratio):
    for seed in range(1000, 1003):
        spec = PhaseRetrieval(p=200, m=round(200 * ratio), field=field, seed=seed)
        trace = lrlab.solve(spec, "gamp")
        assert trace.stop in (Stop.STALLED, Stop.MAX_ITER) and trace.metrics["error"] > 0.1
        assert trace.metrics["limit_best_overlap"] == trace.metrics["limit_overlap"] < 0.8


SPECS = (
    PhaseRetrieval(m=700, p=500, field="real"),
    PhaseRetrieval(m=450, p=500, field="real"),
    PhaseRetrieval(m=750, p=300, field="complex"),
    PhaseRetrieval(m=900, p=300, field="complex", noise=0.2),
    PhaseRetrieval(m=540, p=300, field="real", noise=0.3, data="intensity"),
)


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_every_iteration_is_predicted(spec):
    number, seeds = 12, 5
    paths = []
    for seed in range(seeds):
        problem = spec.replace(seed=seed).build()
        paths.append([problem.score(at.estimate)["overlap"] for at in iterates(problem, number, refine="none")])
    mean, error = np.mean(paths, axis=0), np.std(paths, axis=0, ddof=1) / np.sqrt(seeds)
    predicted = predict_iterations(spec, OPTIONS, number)
    assert np.all(np.abs(mean - predicted) < np.maximum(0.06, 4 * error))


@pytest.mark.slow
@pytest.mark.parametrize(("field", "data"), [("real", "intensity"), ("complex", "magnitude")])
def test_noisy_answers_end_at_the_fixed_point(field, data):
    spec = PhaseRetrieval(m=800, p=200, field=field, data=data, noise=0.3)
    traces = [lrlab.solve(spec.replace(seed=seed), "gamp", tol=1e-5) for seed in range(2)]
    assert all(trace.stop is Stop.SETTLED for trace in traces)
    limits = overlaps(Magnitudes(field, 0.3, data), 4.0)
    assert np.mean([trace.metrics["overlap"] for trace in traces]) == pytest.approx(limits.best, abs=0.03)


def test_pictures_are_recovered_as_often_as_random_signals():
    spec = PhaseRetrieval(m=650, p=256, field="complex", truth="phantom")
    trace = lrlab.solve(spec, "gamp")
    assert trace.stop is Stop.CONVERGED and trace.metrics["error"] < 1e-6
    assert trace.metrics["limit_overlap"] == 1.0 and "limit_best_overlap" not in trace.metrics


@pytest.mark.parametrize("start", ["random", "truncated"])
def test_other_starts_predict_what_has_a_limit(start):
    spec = PhaseRetrieval(m=640, p=200, field="real")
    options = OPTIONS | {"start": start}
    expected = predict_iterations(spec, options, 5)
    assert len(expected) == (0 if start == "random" else 5)
    trace = lrlab.solve(spec, "gamp", start=start)
    assert trace.metrics["error"] < 1e-6


def test_predictions_end_where_gauss_newton_takes_over():
    spec = PhaseRetrieval(m=1500, p=500, field="real")
    expected = predict_iterations(spec, {"start": "optimal", "refine": "gauss-newton"}, 100)
    assert 3 < len(expected) < 30 and expected[-1] > 0.999 > expected[-2]
    assert len(predict_iterations(spec, OPTIONS, 100)) == 100


def test_maps_hatch_what_is_impossible_and_hard():
    spec = PhaseRetrieval(field="real")
    axes = {"p": Span(16, 96, 5, "log"), "ratio": Span(0.3, 3.0, 9)}
    found = regions(Sweep(spec=spec, axes=axes, solvers=["gamp"], success=Success("error", below=0.001)))
    tops = {region.name: np.nanmax(region.y) for region in found.regions if region.y}
    # Chance adds least at the largest p.
    by_chance = np.exp(2.0 * np.sqrt(2.0 / 96))
    assert tops == pytest.approx({"impossible": 1.0 / by_chance, "hard": 1.128 / by_chance}, abs=0.01)
    assert set(found.lines) == {"asymptotic weak recovery", "asymptotic error = 0.001"}


def test_a_run_that_stands_still_without_fitting_starts_again():
    """At 1.3 times the unknowns this start ends at an overlap of 0.52, a random one at the truth."""
    trace = lrlab.solve(lrlab.spec("phase-retrieval", p=500, m=650, field="real", seed=3001), "gamp", max_iter=400)
    assert trace.stop is Stop.CONVERGED and trace.metrics["error"] < 1e-6 and len(trace.rows) > 80

"""Solvers of phase retrieval: options, starts, GAMP; against LAPACK, theory, simulation and other implementations."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import least_squares

import lrlab
from lrlab import catalog
from lrlab.model_entry import Success
from lrlab.models.coded_diffraction import CodedDiffraction
from lrlab.models.phase_retrieval import PhaseRetrieval
from lrlab.protocol import Stop
from lrlab.solvers.phase_retrieval import amplitude_flow, phase_gauss_newton, phase_start, wirtinger
from lrlab.solvers.phase_retrieval.phase_gamp import gamp, predict_iterations
from lrlab.sweeps.definition import Span, Sweep
from lrlab.sweeps.theory import regions
from lrlab.theory import phase
from lrlab.theory.magnitudes import Magnitudes
from lrlab.theory.phase import STARTS
from lrlab.theory.state_evolution import overlaps
from tests.solvers import driving
from tests.thorough import a_third

SOLVERS = {entry.name: entry.run for entry in catalog.solvers_for("phase-retrieval")} | {
    "gauss-newton": phase_gauss_newton.phase_gauss_newton
}
SMALL = PhaseRetrieval(m=256, p=32)
FIELDS = ("real", "complex")


RECOVERED = [
    *((name, SMALL.replace(field=field, data=data), {})
      for name in SOLVERS for field in FIELDS for data in ("magnitude", "intensity")),
    *((name, SMALL.replace(m=320, field=field), options) for field in FIELDS for name, options in (
        ("wirtinger-flow", {"step": "schedule"}), ("amplitude-flow", {"step": "fixed"}),
        *(("amplitude-flow", {"weights": "truncated", "step": step}) for step in ("conjugate", "fixed")),
        ("alternating-projections", {"relaxation": 0.9}),
    )),
    *((name, SMALL.replace(m=640), {"start": start}) for name in SOLVERS for start in STARTS),
    *((entry.name, CodedDiffraction(side=24, truth="digit-2", code=code, seed=1), {})
      for entry in catalog.solvers_for("coded-diffraction") for code in ("phase", "octanary")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "spec", "options"), RECOVERED, ids=str)
def test_exact_data_are_recovered_in_every_way_from_every_initialization(name, spec, options):
    most = 600 if "start" in options else 1500 if options else 200
    trace = lrlab.solve(spec, name, max_iter=most, **options)
    assert spec.model != "coded-diffraction" or trace.rows[0]["error"] < 0.5, "a spectral start is near"
    assert trace.metrics["error"] < 1e-6 and trace.estimate.dtype == trace.problem.A.dtype
    assert options or (trace.stop is Stop.CONVERGED and trace.metrics["residual"] <= 1e-8)


def losses(name, problem, z, softening=0.1):
    """Return the objective of a solver, by its definition."""
    size, b = np.abs(problem.A @ z), problem.magnitude
    if name == "wirtinger-flow":
        return np.mean((size**2 - b**2) ** 2) / 2
    if name == "gauss-newton":
        return np.mean((size**2 - b**2) ** 2 / (b**2 + softening * np.mean(b**2))) / 8
    return np.mean((size - b) ** 2) / 2


DESCENDING = ("alternating-projections", "wirtinger-flow", "gauss-newton")
"""Solvers that promise never to raise their objective."""


@pytest.mark.parametrize("name", [name for name in SOLVERS if name != "gamp"])
@pytest.mark.parametrize("noise", [0.0, 0.3, 3.0])
def test_objectives_of_iterates_are_recomputed_and_noise_does_not_diverge(name, noise):
    problem = SMALL.replace(noise=noise, seed=1).build()
    _, iterates = driving.run(SOLVERS[name], problem, max_iter=60)
    objectives = [iterate.objective for iterate in iterates]
    assert objectives == pytest.approx([losses(name, problem, it.estimate) for it in iterates], rel=1e-9, abs=1e-14)
    if name in DESCENDING:
        assert (np.diff(objectives) <= 1e-14 + 1e-12 * np.array(objectives[1:])).all(), "no step raises the objective"
    assert all(iterate.residual >= 0 for iterate in iterates)
    assert np.linalg.norm(iterates[-1].estimate) < 2.0 * np.sqrt(problem.intensity.mean())


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("field", FIELDS)
def test_tiny_and_empty_data_end_in_peace(name, field):
    for seed in range(12):
        problem = PhaseRetrieval(m=3, p=2, field=field, noise=10.0, seed=seed).build()
        _, iterates = driving.run(SOLVERS[name], problem, max_iter=30)
        assert np.isfinite(iterates[-1].estimate).all() and np.isfinite(iterates[-1].residual)
        if not problem.y.any():
            assert not iterates[-1].estimate.any() and iterates[-1].residual == 0.0


def test_every_solver_predicts_the_overlap_of_its_initialization():
    for entry in catalog.solvers_for("phase-retrieval"):
        options = {name: parameter.default for name, parameter in entry.options.items()}
        prediction = entry.predict(PhaseRetrieval(), options)
        expected = {"predicted_start_overlap": pytest.approx(0.861, abs=2e-3)}
        assert prediction == expected | ({"limit_overlap": 1.0} if entry.name == "gamp" else {})


SPECS = [
    PhaseRetrieval(m=60, p=10), PhaseRetrieval(m=60, p=10, field="real"),
    CodedDiffraction(side=8, masks=3, oversampling=2),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS, ids=repr)
@pytest.mark.parametrize("beta", [0.0, 0.7])
def test_steps_are_those_of_the_paper_by_an_orthogonal_projection(spec, beta):
    problem = spec.build()
    A, b = problem.A @ np.eye(problem.shape[1]), problem.magnitude
    P = A @ np.linalg.pinv(A)
    run = SOLVERS["alternating-projections"](problem, relaxation=beta, rng=np.random.default_rng(3))
    first, *iterates = itertools.islice(run, 6)
    # The first v is A z_0; M v is all that the next estimate shows of it.
    v, residual = A @ first.estimate, first.residual
    for iterate in iterates:
        M = b * v / np.abs(v)
        assert np.allclose(iterate.estimate, np.linalg.pinv(A) @ M)
        inside, outside = M, v - beta * M
        after = P @ inside + outside - P @ outside
        assert residual == pytest.approx(np.linalg.norm(after - v) / np.linalg.norm(b))
        v, residual = after, iterate.residual


@pytest.mark.slow
def test_it_recovers_where_error_reduction_stagnates():
    spec = CodedDiffraction(side=16, masks=3, truth="digit-5", seed=4)
    stuck, free = (
        lrlab.solve(spec, solver, max_iter=300) for solver in ("alternating-projections", "hybrid-input-output")
    )
    assert stuck.metrics["error"] > 0.1 and free.metrics["error"] < 1e-3
    assert stuck.stop is not Stop.CONVERGED


def test_it_wanders_under_noise():
    spec = CodedDiffraction(side=16, photons=100.0)
    wandering, near = (
        lrlab.solve(spec, name, max_iter=500) for name in ("hybrid-input-output", "truncated-amplitude-flow")
    )
    assert wandering.stop is Stop.MAX_ITER and near.metrics["error"] < wandering.metrics["error"]


OPTIMAL = {"start": "optimal"}


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


PREDICTED = (
    PhaseRetrieval(m=700, p=500, field="real"),
    PhaseRetrieval(m=450, p=500, field="real"),
    PhaseRetrieval(m=750, p=300, field="complex"),
    PhaseRetrieval(m=900, p=300, field="complex", noise=0.2),
    PhaseRetrieval(m=540, p=300, field="real", noise=0.3, data="intensity"),
)


@pytest.mark.slow
@pytest.mark.parametrize("spec", a_third(PREDICTED), ids=repr)
def test_every_iteration_is_predicted(spec):
    seeds, predicted = 5, predict_iterations(spec, OPTIMAL, 12)
    paths = []
    for seed in range(seeds):
        problem = spec.replace(seed=seed).build()
        paths.append([problem.score(at.estimate)["overlap"] for at in iterates(problem, len(predicted))])
    mean, error = np.mean(paths, axis=0), np.std(paths, axis=0, ddof=1) / np.sqrt(seeds)
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
    expected = predict_iterations(PhaseRetrieval(m=640, p=200, field="real"), OPTIMAL | {"start": start}, 5)
    assert len(expected) == (0 if start == "random" else 5)
    few = lrlab.spec("coded-diffraction", side=12, masks=2, oversampling=2, photons=0.0246, seed=3283576863)
    assert lrlab.solve(few, "gauss-newton", start=start, max_iter=1).rows, "also if all weights are 0"


def test_predictions_end_where_gauss_newton_takes_over():
    spec = PhaseRetrieval(m=1500, p=500, field="real")
    expected = predict_iterations(spec, OPTIMAL, 100)
    assert 3 < len(expected) < 30 and expected[-1] > 0.999 > expected[-2]
    assert len(predict_iterations(spec.replace(noise=0.2), OPTIMAL, 100)) == 100


def test_maps_hatch_what_is_impossible_and_hard():
    spec = PhaseRetrieval(field="real")
    axes = {"p": Span(16, 96, 5, "log"), "ratio": Span(0.3, 3.0, 9)}
    found, drawn = regions(Sweep(spec=spec, axes=axes, solvers=["gamp"], success=Success("error", below=0.001)))
    tops = {region.name: np.nanmax(region.y) for region in found if region.y}
    # Chance adds least at the largest p.
    by_chance = np.exp(2.0 * np.sqrt(2.0 / 96))
    assert tops == pytest.approx({"impossible": 1.0 / by_chance, "hard": 1.128 / by_chance}, abs=0.01)
    assert set(drawn) == {"asymptotic weak recovery", "asymptotic error = 0.001"}


def test_a_run_that_stands_still_without_fitting_starts_again():
    """At 1.3 times the unknowns this start ends at an overlap of 0.66, a random one at the truth."""
    trace = lrlab.solve(lrlab.spec("phase-retrieval", p=500, m=650, field="real", seed=3002), "gamp", max_iter=400)
    assert trace.stop is Stop.CONVERGED and trace.metrics["error"] < 1e-6 and len(trace.rows) > 80


def gaussian(rng, shape, field):
    real = rng.standard_normal(shape)
    return real + 1j * rng.standard_normal(shape) if field == "complex" else real


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("start", STARTS[:-1])
@pytest.mark.parametrize("p", [20, 60])
def test_a_start_is_the_leading_eigenvector_of_its_matrix(p, field, start):
    problem = PhaseRetrieval(m=600, p=p, field=field, noise=0.1).build()
    s = problem.intensity / problem.intensity.mean()
    order, root = np.sort(s), np.sqrt(600 / p * (1 if field == "complex" else 2))
    T = {
        "optimal": np.array([max(1 - 1 / value, -10.0) if value > 0 else -10.0 for value in s]),
        "threshold": np.array([1 - root / max(value - 1 + root, root / 11) for value in s]),
        "truncated": np.array([value if value <= 9 else 0.0 for value in s]),
        "orthogonality": np.isin(s, order[500:]).astype(float),
        "correlation": np.isin(s, order[461:]) * np.minimum(s, 9.0) ** 0.25,
    }[start]
    exact = np.linalg.eigh((problem.A.conj().T * T) @ problem.A)[1][:, -1]
    z = phase_start.initial(problem, start, np.random.default_rng(0))
    assert np.linalg.norm(z) ** 2 == pytest.approx(problem.intensity.mean())
    assert abs(np.vdot(exact, z)) / np.linalg.norm(z) == pytest.approx(1.0, abs=1e-4)
    assert (z == phase_start.initial(problem, start, np.random.default_rng(0))).all()


CASES = [
    ("optimal", 2.5, {}), ("threshold", 2.5, {}),
    ("optimal", 5.0, {"noise": 0.4}), ("optimal", 5.0, {"noise": 0.4, "data": "intensity"}),
    ("correlation", 8.0, {}), ("orthogonality", 8.0, {"noise": 0.3}), ("truncated", 12.0, {}),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(("start", "ratio", "noise"), a_third(CASES))
def test_the_predicted_overlap_against_simulation(field, start, ratio, noise):
    spec = PhaseRetrieval(m=int(200 * ratio), p=200, field=field, **noise)
    overlaps = []
    for seed in range(5):
        problem = spec.replace(seed=seed).build()
        overlaps.append(problem.score(phase_start.initial(problem, start, np.random.default_rng(seed)))["overlap"])
    assert np.mean(overlaps) == pytest.approx(phase.start_overlap(ratio, field, start, **noise), abs=0.05)


def begin_of_overlap(field, start):
    """Return the m/p from which the overlap is positive, by bisection."""
    low, high = 0.1, 20.0
    while high / low > 1.0 + 1e-5:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if phase.start_overlap(middle, field, start) > 0.0 else (middle, high)
    return high


@pytest.mark.parametrize(("field", "known"), [("real", 0.5), ("complex", 1.0)])
def test_weak_recovery_begins_at_a_half_and_at_one(field, known):
    """Mondelli & Montanari (2018): no start does better; bounding T at -10 costs 1.5% at most."""
    thresholds = {start: begin_of_overlap(field, start) for start in STARTS[:-1]}
    assert known < thresholds["optimal"] < 1.015 * known
    assert phase.start_overlap(1e6, field, "random") == 0.0
    for start in STARTS[:-1]:
        assert thresholds[start] >= 0.999 * thresholds["optimal"]
        below, above = (phase.start_overlap(f * thresholds[start], field, start) for f in (0.99, 1.02))
        assert below == 0.0 < above < 0.1


NOISY = PhaseRetrieval(m=200, p=24, noise=0.2)


def noisy_problem(field, data="magnitude"):
    """Return a problem with noise, and a direction d."""
    return NOISY.replace(field=field, data=data).build(), gaussian(np.random.default_rng(7), 24, field) / 5


def slope(function, z, d):
    return (function(z + 1e-6 * d) - function(z - 1e-6 * d)) / 2e-6


@pytest.mark.parametrize("field", FIELDS)
def test_gradients_by_finite_differences(field):
    problem, d = noisy_problem(field)
    A, b, rng = problem.A, problem.magnitude, np.random.default_rng
    flow = amplitude_flow.amplitude_flow(problem, step="fixed", rng=rng(0))
    wirtinger_flow = wirtinger.wirtinger_flow(problem, step="schedule", rng=rng(0))
    first = np.abs(A @ phase_start.initial(problem, "optimal", rng(0)))
    weights = first / (first + 10.0 * b)
    for steps, loss, power, derivative in (
        (flow, lambda v: np.mean(weights * (np.abs(A @ v) - b) ** 2) / 2, 0, 1),
        (wirtinger_flow, lambda v: np.mean((np.abs(A @ v) ** 2 - b**2) ** 2) / 2, 2, 2),
    ):
        first, second = (next(steps).estimate for _ in range(2))
        fixed = 2.0 if field == "real" else 5.0
        t = (1.0 - np.exp(-1 / 330)) / np.linalg.norm(first) ** 2 if power else fixed
        assert derivative * np.vdot((first - second) / t, d).real == pytest.approx(slope(loss, first, d), rel=1e-4)


def test_gauss_newton_ends_where_scipy_does():
    problem, _ = noisy_problem("real", "intensity")
    A, b = problem.A, problem.magnitude
    last = driving.run(SOLVERS["gauss-newton"], problem, max_iter=40)[1][-1]

    def residuals(v):
        return ((A @ v) ** 2 - b**2) / np.sqrt(b**2 + np.mean(b**2)) / 2

    optimum = least_squares(residuals, last.estimate + 1e-4, xtol=1e-14, ftol=1e-14, gtol=1e-14)
    assert last.residual < 1e-8 and last.objective == pytest.approx(optimum.cost / 200)
    assert last.estimate == pytest.approx(optimum.x, abs=1e-6)

"""Phase retrieval: what solvers make of it, with every option."""

import itertools

import numpy as np
import pytest

import lrlab
from lrlab import catalog
from lrlab.models.coded_diffraction import CodedDiffraction
from lrlab.models.phase_retrieval import PhaseRetrieval
from lrlab.parameters import InputError
from lrlab.protocol import Interrupted, Stop
from lrlab.runs.run import drive
from lrlab.solvers.phase_retrieval import phase_gauss_newton
from lrlab.theory.phase import STARTS
from tests.thorough import a_third

KINDS = [(field, data) for field in ("real", "complex") for data in ("magnitude", "intensity")]

SOLVERS = {entry.name: entry.run for entry in catalog.solvers_for("phase-retrieval")} | {
    "gauss-newton": phase_gauss_newton.phase_gauss_newton
}
SMALL = PhaseRetrieval(m=256, p=32)


def solved(spec, name, *, max_iter=200, **options):
    """Return the problem, the iterates, and why it stopped."""
    problem, iterates = spec.build(), []
    rng = np.random.default_rng(spec.streams().solver)
    run = SOLVERS[name](problem, rng=rng, **options)
    stop = drive(run, lambda *news: iterates.append(news[-1]), max_iter=max_iter)
    return problem, iterates, stop


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize(("field", "data"), KINDS)
def test_recovery_without_noise(name, field, data):
    problem, iterates, stop = solved(SMALL.replace(field=field, data=data), name)
    assert stop is Stop.CONVERGED and iterates[-1].residual <= 1e-8
    assert iterates[-1].estimate.dtype == problem.A.dtype
    assert problem.score(iterates[-1].estimate)["error"] < 1e-6


FAITHFUL = [
    ("wirtinger-flow", {"step": "exact"}), ("wirtinger-flow", {"step": "schedule"}),
    ("amplitude-flow", {"weights": "truncated", "step": "exact"}), ("amplitude-flow", {"step": "exact"}),
    ("amplitude-flow", {"weights": "truncated", "step": "fixed"}), ("amplitude-flow", {"step": "fixed"}),
    ("amplitude-flow", {"weights": "truncated"}), ("alternating-projections", {"relaxation": 0.9}),
    ("gauss-newton", {"loss": "intensity"}), ("gauss-newton", {"loss": "amplitude"}),
]  # fmt: skip


@pytest.mark.parametrize("field", ["real", "complex"])
@pytest.mark.parametrize(("name", "options"), FAITHFUL)
def test_every_option_recovers(name, options, field):
    problem, iterates, _ = solved(SMALL.replace(m=320, field=field), name, max_iter=1500, **options)
    assert problem.score(iterates[-1].estimate)["error"] < 1e-6


@pytest.mark.parametrize(("name", "start"), a_third(list(itertools.product(SOLVERS, STARTS))))
def test_many_measurements_recover_from_any_start(name, start):
    problem, iterates, _ = solved(SMALL.replace(m=640), name, max_iter=600, start=start)
    assert problem.score(iterates[-1].estimate)["error"] < 1e-6


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
    problem, iterates, _ = solved(SMALL.replace(noise=noise, seed=1), name, max_iter=60)
    objectives = [iterate.objective for iterate in iterates]
    assert objectives == pytest.approx([losses(name, problem, it.estimate) for it in iterates], rel=1e-9, abs=1e-14)
    if name in DESCENDING:
        assert (np.diff(objectives) <= 1e-14 + 1e-12 * np.array(objectives[1:])).all(), "no step raises the objective"
    assert all(iterate.residual >= 0 for iterate in iterates)
    assert np.linalg.norm(iterates[-1].estimate) < 2.0 * np.sqrt(problem.intensity.mean())


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("field", ["real", "complex"])
def test_tiny_and_empty_data_end_in_peace(name, field):
    for seed in range(12):
        spec = PhaseRetrieval(m=3, p=2, field=field, noise=10.0, seed=seed)
        problem, iterates, _ = solved(spec, name, max_iter=30)
        assert np.isfinite(iterates[-1].estimate).all() and np.isfinite(iterates[-1].residual)
        if not problem.y.any():
            assert not iterates[-1].estimate.any() and iterates[-1].residual == 0.0


def test_the_catalogue_refuses_and_predicts():
    for entry in catalog.solvers_for("phase-retrieval"):
        options = {name: parameter.default for name, parameter in entry.options.items()}
        prediction = entry.predict(PhaseRetrieval(), options)
        expected = {"predicted_start_overlap": pytest.approx(0.861, abs=2e-3)}
        assert prediction == expected | ({"limit_overlap": 1.0} if entry.name == "gamp" else {})
    with pytest.raises(InputError, match="m must be more than p = 32 for this solver, got 32: raise m or"):
        catalog.solvers_for("phase-retrieval")[0].refuse(SMALL.replace(m=32), {})


@pytest.mark.parametrize("name", SOLVERS)
def test_a_run_ends_in_the_middle_of_its_start(name):
    problem = SMALL.build()
    problem.load(everything=True)
    calls = []

    def checkpoint(fraction):
        calls.append(fraction)
        if len(calls) == 5:
            raise Interrupted(Stop.CANCELLED)

    problem.checkpoint = checkpoint
    run = SOLVERS[name](problem, rng=np.random.default_rng(0))
    assert drive(run, lambda *news: None) is Stop.CANCELLED
    assert calls == sorted(calls) and 0 <= calls[0] and calls[-1] < 1


# Hybrid input-output


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

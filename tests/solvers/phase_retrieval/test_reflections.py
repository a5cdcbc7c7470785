"""Hybrid input-output and RAAR: their steps as the papers print them, and where they end."""

import itertools

import numpy as np
import pytest

import lrlab
from lrlab.models.coded_diffraction import CodedDiffraction
from lrlab.models.phase_retrieval import PhaseRetrieval
from lrlab.protocol import Stop
from lrlab.solvers.phase_retrieval.reflections import hybrid_input_output, raar

CODED = CodedDiffraction(side=8, masks=3, oversampling=2)
SPECS = [PhaseRetrieval(m=60, p=10), PhaseRetrieval(m=60, p=10, field="real"), CODED]


def dense(problem):
    """Return A as a matrix."""
    return problem.A @ np.eye(problem.shape[1])


@pytest.mark.parametrize("spec", SPECS, ids=repr)
@pytest.mark.parametrize("run", [hybrid_input_output, raar])
def test_steps_are_those_of_the_papers_by_an_orthogonal_projection(run, spec):
    problem, beta = spec.build(), 0.7
    A, b = dense(problem), problem.magnitude
    P = A @ np.linalg.pinv(A)
    iterates = list(itertools.islice(run(problem, relaxation=beta, rng=np.random.default_rng(3)), 6))
    from_start = next(raar(problem, rng=np.random.default_rng(3)))
    assert np.allclose(from_start.estimate, iterates[0].estimate)
    # The first v has the phases of A z_0 and lies in the range of A; M v is all that its first estimate shows of it.
    start = lrlab.catalog.solver("alternating-projections", spec.model).run(problem, rng=np.random.default_rng(3))
    v = A @ next(start).estimate
    for iterate in iterates:
        M = b * v / np.abs(v)
        assert np.allclose(iterate.estimate, np.linalg.pinv(A) @ M)
        reflected = 2 * (P @ (2 * M - v)) - (2 * M - v)
        if run is raar:
            after = beta / 2 * (reflected + v) + (1 - beta) * M
        else:
            inside, outside = M, v - beta * M
            after = P @ inside + outside - P @ outside
        assert iterate.residual == pytest.approx(np.linalg.norm(after - v) / np.linalg.norm(b))
        v = after


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hybrid-input-output", "raar"])
def test_they_recover_where_error_reduction_stagnates(name):
    spec = CodedDiffraction(side=16, masks=3, truth="digit-5", seed=4)
    stuck, free = (lrlab.solve(spec, solver, max_iter=300) for solver in ("alternating-projections", name))
    assert stuck.metrics["error"] > 0.1 and free.metrics["error"] < 1e-3
    assert stuck.stop is not Stop.CONVERGED


def test_under_noise_raar_stays_near_or_settles_and_input_output_wanders():
    spec = CodedDiffraction(side=16, photons=100.0)
    near = lrlab.solve(spec, "raar", max_iter=500)
    settled = lrlab.solve(spec, "raar", relaxation=0.5)
    wandering = lrlab.solve(spec, "hybrid-input-output", max_iter=500)
    assert settled.stop is Stop.SETTLED and near.stop is wandering.stop is Stop.MAX_ITER
    assert settled.metrics["error"] < near.metrics["error"] < wandering.metrics["error"]

"""Hybrid input-output: its step as the paper prints it, and where it ends."""

import itertools

import numpy as np
import pytest

import lrlab
from lrlab.models.coded_diffraction import CodedDiffraction
from lrlab.models.phase_retrieval import PhaseRetrieval
from lrlab.protocol import Stop
from lrlab.solvers.phase_retrieval.alternating_projections import alternating_projections

NAME = "hybrid-input-output"
CODED = CodedDiffraction(side=8, masks=3, oversampling=2)
SPECS = [PhaseRetrieval(m=60, p=10), PhaseRetrieval(m=60, p=10, field="real"), CODED]


def dense(problem):
    """Return A as a matrix."""
    return problem.A @ np.eye(problem.shape[1])


@pytest.mark.parametrize("spec", SPECS, ids=repr)
@pytest.mark.parametrize("beta", [0.0, 0.7])
def test_steps_are_those_of_the_paper_by_an_orthogonal_projection(spec, beta):
    problem = spec.build()
    A, b = dense(problem), problem.magnitude
    P = A @ np.linalg.pinv(A)
    run = alternating_projections(problem, relaxation=beta, rng=np.random.default_rng(3))
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
    stuck, free = (lrlab.solve(spec, solver, max_iter=300) for solver in ("alternating-projections", NAME))
    assert stuck.metrics["error"] > 0.1 and free.metrics["error"] < 1e-3
    assert stuck.stop is not Stop.CONVERGED


def test_it_wanders_under_noise():
    spec = CodedDiffraction(side=16, photons=100.0)
    wandering, near = (lrlab.solve(spec, name, max_iter=500) for name in (NAME, "truncated-amplitude-flow"))
    assert wandering.stop is Stop.MAX_ITER and near.metrics["error"] < wandering.metrics["error"]

"""Rank one from few Gaussian measurements, by the start and the weights that serve phase retrieval."""

import numpy as np
import pytest

import lrlab
from lrlab.engine.solve import solve
from lrlab.protocol import Stop
from lrlab.runs.run import trial_spec


@pytest.mark.parametrize("p", [40, 100])
def test_networks_of_one_unit_are_recovered_from_twice_the_degrees_of_freedom(p):
    """Of ten: 5 and 4 from the moment, without weights."""
    spec = lrlab.spec("polynomial-network", p=p, r=1, m=2 * p, seed=31000)
    traces = [solve(trial_spec(spec, trial), "gauss-newton") for trial in range(10)]
    assert all(trace.stop is Stop.CONVERGED and trace.metrics["error"] < 1e-8 for trace in traces)


def test_rank_one_sensing_is_recovered_from_one_and_a_half_times_the_degrees_of_freedom():
    """Of ten: 7 without weights."""
    spec = lrlab.spec("rank-one-sensing", d1=30, d2=30, rank=1, m=88, seed=31000)
    assert sum(solve(trial_spec(spec, trial), "gauss-newton").metrics["error"] < 1e-8 for trial in range(10)) >= 9


def test_noise_leaves_the_least_squares_minimum():
    for spec in (
        lrlab.spec("polynomial-network", p=20, r=1, m=300, noise=0.3, seed=31000),
        lrlab.spec("rank-one-sensing", d1=12, d2=10, rank=1, m=300, noise=0.3, seed=31000),
    ):
        here, there = (solve(spec, solver, tol=1e-9) for solver in ("gauss-newton", "tangent-descent"))
        assert here.stop is Stop.CONVERGED
        np.testing.assert_allclose(here.estimate.dense(), there.estimate.dense(), atol=1e-6)


def test_a_network_of_zeros_is_zero():
    problem = lrlab.spec("polynomial-network", p=20, r=1, m=60).build()
    problem.b = np.zeros_like(problem.b)
    run = lrlab.catalog.solver("gauss-newton", problem.spec.model).run
    assert not next(run(problem, rng=np.random.default_rng(0))).estimate.dense().any()


@pytest.mark.parametrize("d2", [1, 4])
def test_a_gradient_of_rounding_error_is_an_optimum(d2):
    for seed in range(6):
        rng = np.random.default_rng(31_007 + seed)
        x, z = rng.standard_normal((200, 1)), rng.standard_normal((200, d2))
        y = 0.1 * x[:, 0] * z[:, 0] + rng.standard_normal(200)
        trace = lrlab.recover(y, x, z, held_out=0.0, rank=1)
        assert trace.stop is lrlab.Stop.CONVERGED and trace.rows[-1]["residual"] < 1e-8
        assert np.allclose(trace.recovered.dense()[0], np.linalg.lstsq(x * z, y, rcond=None)[0])

"""A run that has converged to what the truth beats is called a local minimum, and no other run is."""

import pytest

import lrlab
from lrlab.runs.run import solve

FEW = {"m": 57, "d1": 30, "d2": 15, "rank": 1}
NETWORK = {"m": 150, "p": 30, "r": 2, "condition": 100, "signs": "positive"}


@pytest.mark.parametrize(
    ("model", "parameters", "solver"),
    [
        ("rank-one-sensing", {**FEW, "seed": 7421}, "gauss-newton"),
        (
            "polynomial-network",
            {**NETWORK, "seed": 7465},
            "tangent-descent",
        ),
        ("phase-retrieval", {"m": 50, "p": 20, "field": "real", "seed": 6218}, "alternating-projections"),
    ],
)
def test_a_stationary_point_that_the_truth_beats_is_a_local_minimum(model, parameters, solver):
    trace = solve(lrlab.spec(model, **parameters), solver)
    assert trace.metrics["error"] > 1e-3
    assert trace.stop is lrlab.Stop.LOCAL_MINIMUM
    assert "the truth fits the data better" in trace.summary()["message"]


@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize("solver", ["gauss-newton", "scaled-gradient", "nuclear-norm"])
def test_a_minimum_that_fits_as_well_as_the_truth_is_converged(solver, noise):
    spec = lrlab.spec("rank-one-sensing", m=400, d1=15, d2=12, rank=2, noise=noise, seed=7001)
    trace = solve(spec, solver, max_iter=2000)
    assert trace.stop is lrlab.Stop.CONVERGED
    assert trace.metrics["error"] < 2 * noise + 0.01


def test_a_rank_below_the_true_one_is_no_local_minimum():
    spec = lrlab.spec("rank-one-sensing", m=400, d1=15, d2=12, rank=2, assumed_rank=1, seed=7001)
    assert solve(spec, "gauss-newton").stop is lrlab.Stop.CONVERGED

"""Factors with more columns than the rank: plain gradients are slow there, preconditioned ones are not."""

import numpy as np
import pytest

import lrlab
from lrlab.parameters import InputError
from lrlab.protocol import Stop

SPECS = [
    lrlab.spec("rank-one-sensing", m=400, d1=16, d2=14, rank=2, condition=30, seed=1000),
    lrlab.spec("polynomial-network", m=300, p=16, r=2, condition=30, signs="positive", seed=1000),
]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.model)
def test_precgd_converges_linearly_with_too_many_columns_and_plain_gradients_do_not(spec):
    fast = lrlab.solve(spec, "precgd", columns=5, max_iter=600)
    assert fast.stop is Stop.CONVERGED and fast.metrics["error"] < 1e-10
    slow = lrlab.solve(spec, "overparameterised-gradient", columns=5, max_iter=400)
    errors = slow.table.error.to_numpy()
    assert errors[-1] > 1e-4
    rates = np.log(errors[99] / errors[199]), np.log(errors[199] / errors[399])
    assert rates[1] < 1.5 * rates[0], "a power of the iterations: doubling them divides the error by a constant"


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.model)
@pytest.mark.parametrize("name", ["precgd", "overparameterised-gradient"])
def test_objectives_never_rise_and_are_those_of_the_estimate(spec, name):
    trace = lrlab.solve(spec.replace(noise=0.1), name, max_iter=60)
    objective = trace.table.objective.to_numpy()
    assert (np.diff(objective) <= 1e-12 * objective[0]).all()
    rest = trace.problem.operator.forward(trace.estimate) - trace.problem.b
    assert objective[-1] == pytest.approx(rest @ rest / 2, rel=1e-8)
    assert (trace.estimate.s >= 0).all() and len(trace.estimate.s) == 4


def test_with_as_many_columns_as_the_rank_and_no_damping_to_speak_of_it_is_scaled_gradient_descent():
    spec = SPECS[0]
    steps = [
        lrlab.solve(spec, name, max_iter=5, **options).table.objective.to_numpy()
        for name, options in (
            ("precgd", {"columns": 2, "damping": 1e-6}),
            ("scaled-gradient", {"directions": "gradient"}),
        )
    ]
    np.testing.assert_allclose(*steps, rtol=1e-4)


def test_negative_weights_are_refused():
    with pytest.raises(InputError, match="signs must be positive for this solver"):
        lrlab.solve(lrlab.spec("polynomial-network", m=300, p=16, r=2), "precgd")


@pytest.mark.parametrize("seed", range(3000, 3003))
def test_labels_with_fewer_answers_than_features_are_no_room_for_more_columns(seed):
    """With twice the rank errors stayed near 0.01, at misfits of 1e-6: matrices of rank k + 1 fit, too."""
    spec = lrlab.spec("multilabel-regression", n=200, d=20, labels=30, rank=2, observed=0.07, seed=seed)
    trace = lrlab.solve(spec, "precgd")
    assert trace.stop is Stop.CONVERGED and trace.metrics["error"] < 1e-10
    more = lrlab.solve(spec, "precgd", columns=4, max_iter=300)
    assert more.stop is not Stop.CONVERGED and more.metrics["error"] > 1e-3

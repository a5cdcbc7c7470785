"""Least squares over all entries: exact from as many measurements as entries, of least norm below."""

import numpy as np
import pytest

import lrlab


@pytest.mark.parametrize(
    "spec",
    [
        lrlab.spec("rank-one-sensing", d1=6, d2=5, rank=2, m=60),
        lrlab.spec("polynomial-network", p=6, r=2, m=60),
        lrlab.spec("inductive-completion", n1=40, n2=40, d1=5, d2=4, rank=2, observed=0.05),
    ],
    ids=lambda spec: spec.model,
)
def test_enough_measurements_need_no_low_rank_and_few_do(spec):
    assert lrlab.solve(spec, "least-squares").metrics["error"] < 1e-8
    few = spec.replace(m=12) if hasattr(spec, "m") else spec.replace(observed=0.008)
    trace = lrlab.solve(few, "least-squares")
    problem = few.build()
    d1, d2 = few.size
    rows = np.array([problem.operator.adjoint(e).ravel() for e in np.eye(len(problem.b))])
    expected = np.linalg.lstsq(rows, problem.b, rcond=1e-12)[0].reshape(d1, d2)
    np.testing.assert_allclose(trace.estimate.dense(), expected, atol=1e-7)
    assert trace.metrics["misfit"] < 1e-8 and trace.metrics["error"] > 0.1

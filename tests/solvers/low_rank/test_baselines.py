"""Baselines: least squares over all entries, and completion of the table before regression."""

from itertools import islice

import numpy as np
import pytest

import lrlab
from lrlab import catalog
from lrlab.parameters import InputError
from lrlab.protocol import Stop

TABLE = lrlab.spec("inductive-completion", n1=60, n2=50, d1=10, d2=12, rank=2, seed=1000)
"""40 unknowns with features, 216 without."""


@pytest.mark.parametrize("features", ["orthonormal", "correlated"])
def test_it_needs_the_entries_that_decide_the_table(features):
    spec = TABLE.replace(observed=0.3, features=features)
    trace = lrlab.solve(spec, "complete-then-regress")
    assert trace.metrics["error"] < 1e-6
    few = spec.replace(observed=0.05, features="orthonormal")
    assert few.measurements > 3 * few.degrees_of_freedom
    trace = lrlab.solve(few, "complete-then-regress", max_iter=25)
    assert trace.stop is not Stop.CONVERGED and trace.metrics["error"] > 0.3
    assert "degrees of freedom" in trace.note
    assert lrlab.solve(few, "gauss-newton").metrics["error"] < 1e-10


def test_the_second_stage_is_the_regression_on_the_completed_table():
    spec = lrlab.spec("multilabel-regression", n=70, d=5, labels=20, rank=2, observed=0.3, noise=0.1)
    trace = lrlab.solve(spec, "complete-then-regress")
    A = trace.problem.operator
    table = lrlab.spec("inductive-completion", n1=70, n2=20, rank=2, features="canonical").build()
    table.operator, table.b = A.without_features(), trace.problem.b
    states = catalog.solver("matrix-irls").run(table, rng=np.random.default_rng(0))
    *_, state = islice(states, len(trace.rows))
    expected = np.linalg.lstsq(A.X, state.estimate.dense(), rcond=None)[0]
    np.testing.assert_allclose(trace.estimate.dense(), expected, atol=1e-6)


def test_a_table_without_features_has_no_second_stage():
    with pytest.raises(InputError, match="features must be other than canonical"):
        lrlab.solve(TABLE.replace(features="canonical", observed=0.3), "complete-then-regress")


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

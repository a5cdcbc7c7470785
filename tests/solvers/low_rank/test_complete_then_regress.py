"""Completion first, regression second: exact where entries decide the table, and only there."""

import numpy as np
import pytest

import lrlab
from lrlab import catalog
from lrlab.parameters import InputError
from lrlab.protocol import Stop

TABLE = lrlab.spec("inductive-completion", n1=60, n2=50, d1=10, d2=12, rank=2, seed=1000)
"""40 unknowns with features, 216 without."""


@pytest.mark.parametrize("completion", ["matrix-irls", "gauss-newton"])
@pytest.mark.parametrize("features", ["orthonormal", "correlated"])
def test_it_needs_the_entries_that_decide_the_table(completion, features):
    spec = TABLE.replace(observed=0.3, features=features)
    trace = lrlab.solve(spec, "complete-then-regress", completion=completion)
    assert trace.metrics["error"] < 1e-6
    few = spec.replace(observed=0.05, features="orthonormal")
    assert few.measurements > 3 * few.degrees_of_freedom
    trace = lrlab.solve(few, "complete-then-regress", completion=completion, max_iter=25)
    assert trace.stop is not Stop.CONVERGED and trace.metrics["error"] > 0.3
    assert "degrees of freedom" in trace.note
    assert lrlab.solve(few, "gauss-newton").metrics["error"] < 1e-10


def test_the_second_stage_is_the_regression_on_the_completed_table():
    spec = lrlab.spec("multilabel-regression", n=70, d=5, labels=20, rank=2, observed=0.3, noise=0.1)
    trace = lrlab.solve(spec, "complete-then-regress", completion="gauss-newton")
    A = trace.problem.operator
    table = lrlab.spec("inductive-completion", n1=70, n2=20, rank=2, features="canonical").build()
    table.operator, table.b = A.without_features(), trace.problem.b
    for state in catalog.solver("gauss-newton").run(table, rng=np.random.default_rng(0)):
        if state.residual < 1e-8:
            break
    expected = np.linalg.lstsq(A.X, state.estimate.dense(), rcond=None)[0]
    np.testing.assert_allclose(trace.estimate.dense(), expected, atol=1e-6)


def test_a_table_without_features_has_no_second_stage():
    with pytest.raises(InputError, match="features must be other than canonical"):
        lrlab.solve(TABLE.replace(features="canonical", observed=0.3), "complete-then-regress")

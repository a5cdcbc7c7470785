"""Features of very different sizes: no solver of labels claims an optimum that it has not reached."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from lrlab import catalog
from lrlab.data.dataset import Dataset
from lrlab.data.label_task import LabelProblem
from lrlab.protocol import Stop
from lrlab.runs.run import drive

DRAWN = np.random.default_rng(7100)
ROWS = DRAWN.standard_normal((60, 8)) + 0.3
LABELS = csr_array((ROWS @ DRAWN.standard_normal((8, 4)) + DRAWN.standard_normal((60, 4)) > 0).astype(float))

RUNS = [
    ("leml-squared", {"regularization": 1e-3}),
    ("leml-squared", {"regularization": 1e-3, "inner": "exact"}),
    ("leml-logistic", {}),
    ("leml-squared-hinge", {}),
    ("trace-norm-squared", {"regularization": 1e-3}),
    ("trace-norm-logistic", {}),
    ("binary-relevance", {"regularization": 1e-3}),
    ("binary-relevance", {"loss": "logistic"}),
    ("binary-relevance", {"loss": "squared-hinge"}),
]


def ended(solver, options, size, most=60, observed=None):
    """Return the stop of a run on rows half of whose features are `size` times as large, and its last objective."""
    X = ROWS * np.where(np.arange(8) < 4, 1.0, size)
    data, last = Dataset(X, LABELS, observed=observed), []
    problem = LabelProblem.between(data, data.rows(slice(0, 0)), 4, scaling="none")
    entry = catalog.solver(solver, "multilabel")
    iterates = entry.run(problem, **dict(entry.settle(options).options), rng=np.random.default_rng(0))
    stop = drive(iterates, lambda number, seconds, at: last.append(at.objective), max_iter=most)
    return stop, last[-1]


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "options"), RUNS)
def test_a_claim_of_an_optimum_holds_in_any_units(solver, options):
    best = ended(solver, options, 1.0, 400)[1]
    for size in (1e4, 1e8):
        stop, value = ended(solver, options, size)
        # A penalty is next to nothing on weights of larger features.
        assert stop not in (Stop.CONVERGED, Stop.FINISHED) or value < 1.01 * best


def test_ridge_regression_is_exact_in_any_units():
    sizes = (1.0, 1e4, 1e6, 1e8)
    ends = [ended("binary-relevance", {"regularization": 1e-3}, size) for size in sizes]
    assert all(stop is Stop.CONVERGED for stop, _ in ends)
    assert [value for _, value in ends] == pytest.approx([ends[0][1]] * len(sizes), rel=1e-4)

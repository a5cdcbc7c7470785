"""Kernel LEML: features and predictors against scikit-learn and definitions."""

import pickle
from functools import partial

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

from lrlab.models.multilabel import Multilabel
from lrlab.models.multilabel_problem import MultilabelProblem
from lrlab.protocol import Stop
from lrlab.solvers.multilabel import predictors
from lrlab.solvers.multilabel.kernel_leml import kernel_leml
from lrlab.solvers.multilabel.leml import leml
from lrlab.solvers.multilabel.predictors import KernelRank
from tests.solvers import driving
from tests.solvers.driving import dense

SPEC = Multilabel(n=60, d=5, labels=6, rank=2, per_row=2, noise=0.2)
SPECS = {"dense": SPEC, "sparse": SPEC.replace(d=25, density=0.3), "missing": SPEC.replace(observed=0.5)}
every_spec = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)


run = partial(driving.run, kernel_leml, max_iter=5)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(predictors, "ROWS", 7)


def whole(estimate, X):
    return estimate.scores(X)(slice(None))


@pytest.mark.parametrize("name", ["dense", "sparse"])
def test_the_squared_loss_at_full_rank_is_kernel_ridge_regression(name):
    problem = SPECS[name].build()
    options = {"bandwidth": 3.0, "penalty": "frobenius", "regularization": 0.5, "fitted_rank": 6}
    stop, iterates = run(problem, max_iter=500, steps=200, tol=1e-10, **options)
    assert stop is Stop.CONVERGED
    units = StandardScaler().fit(dense(problem.X))
    X, X_test = units.transform(dense(problem.X)), units.transform(dense(problem.X_test))
    ridge = KernelRidge(alpha=0.5, kernel="rbf", gamma=1 / 18).fit(X, problem.Y.toarray())
    assert whole(iterates[-1].estimate, problem.X_test) == pytest.approx(ridge.predict(X_test), abs=1e-6)


@pytest.mark.slow
@every_spec
@pytest.mark.parametrize("landmarks", [0, 25])
def test_estimates_are_normalised_and_travel_whole(spec, landmarks):
    problem = spec.build()
    _, iterates = run(problem, max_iter=3, landmarks=landmarks)
    values = [iterate.objective for iterate in iterates]
    assert (np.diff(values) <= 1e-9 * values[0]).all()
    estimate = iterates[-1].estimate
    K = rbf_kernel(estimate.landmarks, estimate.landmarks, gamma=1.0)
    assert estimate.U.T @ K @ estimate.U == pytest.approx(np.eye(2), abs=1e-6)
    arrays = estimate.arrays()
    assert all(isinstance(part, np.ndarray) and np.issubdtype(part.dtype, np.number) for part in arrays.values())
    for copy in (KernelRank.restored(arrays), pickle.loads(pickle.dumps(estimate))):
        assert (whole(copy, problem.X_test) == whole(estimate, problem.X_test)).all()
    assert iterates[-1].note.endswith(f"; {landmarks or 60} landmarks")


@pytest.mark.parametrize("options", [{}, {"loss": "logistic"}, {"landmarks": 60}])
def test_labels_that_no_hyperplane_separates_are_learned(options):
    rng = np.random.default_rng(7)
    X, X_test = rng.standard_normal((2, 400, 4))

    def labels(X):
        product, radius = X[:, 0] * X[:, 1], (X[:, 2:] ** 2).sum(axis=1)
        return np.stack([product > 0, product <= 0, radius > 1.4, radius <= 1.4], axis=1).astype(float)

    problem = MultilabelProblem.of(X, labels(X), None, X_test, labels(X_test), 4)
    linear = next(leml(problem, rng=rng)).estimate
    result = run(problem, **options)[1][-1].estimate
    assert problem.score(linear)["auc"] < 0.65 and problem.score(result)["auc"] > 0.85
    assert problem.score(result)["hamming"] < 0.25

"""Support vector machines: optima by the dual, and more passes for labels that need them."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from lrlab.models.multilabel import Multilabel
from lrlab.protocol import Stop
from lrlab.solvers.multilabel import classifiers
from lrlab.solvers.multilabel.binary_relevance import binary_relevance
from lrlab.solvers.multilabel.label_losses import HINGE, LOSSES
from tests.solvers import driving
from tests.solvers.driving import dense, observed_of

SPEC = Multilabel(n=60, d=6, labels=12, rank=2, per_row=3)
SPECS = {
    "dense": SPEC,
    "dense-missing": SPEC.replace(observed=0.4),
    "sparse-missing": SPEC.replace(d=20, density=0.3, observed=0.4),
    "wide": SPEC.replace(n=30, d=80),
}
run = partial(driving.run, binary_relevance, loss="hinge")


def dual_optimum(X, a, weight):
    """Return max over 0 <= alpha <= 1 of sum(alpha) - ||X^T (a alpha)||^2 / (2 lambda): the least value of F."""
    G = (X * a[:, None]) @ (X * a[:, None]).T / weight
    optimum = minimize(
        lambda v: (v @ G @ v / 2 - v.sum(), G @ v - 1), np.zeros(len(a)), jac=True, bounds=[(0, 1)] * len(a),
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000},
    )  # fmt: skip
    return -optimum.fun


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_the_objective_is_the_optimum_of_the_dual(spec):
    problem, weight = spec.build(), 2.0
    stop, iterates = run(problem, regularization=weight)
    X, a, observed = dense(problem.X), 2 * problem.Y.toarray() - 1, observed_of(problem)
    assert stop is Stop.FINISHED
    for iterate in iterates:
        Z = iterate.estimate.dense()
        losses = np.maximum(0, 1 - a * (X @ Z))[observed].sum()
        assert iterate.objective == pytest.approx(losses + weight * (Z**2).sum() / 2, rel=1e-9)
        assert isinstance(iterate.estimate, HINGE.kind)
    best = sum(dual_optimum(X[observed[:, j]], a[observed[:, j], j], weight) for j in range(spec.labels))
    assert best * (1 - 1e-9) <= iterates[-1].objective <= best * (1 + 1e-3)


@pytest.mark.parametrize(
    "loss, model",
    {
        "logistic": LogisticRegression(C=0.5, fit_intercept=False, tol=1e-8, max_iter=10_000),
        "squared-hinge": LinearSVC(C=0.5, fit_intercept=False, tol=1e-8, dual=False),
        "hinge": LinearSVC(C=0.5, fit_intercept=False, tol=1e-6, loss="hinge", random_state=0, max_iter=100_000),
    }.items(),
)
def test_features_more_than_rows_are_fitted_in_a_basis_of_their_span(loss, model, monkeypatch):
    problem, widths, fit = SPEC.replace(n=30, d=800).build(), set(), classifiers.classifier
    monkeypatch.setattr(classifiers, "classifier", lambda X, *rest: widths.add(X.shape[1]) or fit(X, *rest))
    _, iterates = driving.run(binary_relevance, problem, loss=loss, regularization=2.0)
    signs = 2 * problem.Y.toarray() - 1

    def objective(Z):
        return LOSSES[loss].value(signs, problem.X @ Z).sum() + (Z**2).sum()

    best = objective(np.column_stack([model.fit(problem.X, a).coef_[0] for a in signs.T]))
    assert widths == {30} and iterates[-1].objective == pytest.approx(best, rel=1e-3)
    assert objective(iterates[-1].estimate.dense()) == pytest.approx(iterates[-1].objective, rel=1e-9)


def test_labels_get_more_passes_where_they_need_them():
    _, iterates = run(SPEC.build(), regularization=1e-3)
    wanting = [int(iterate.note.split(" ")[0]) if iterate.note else 0 for iterate in iterates]
    assert len(wanting) > 1 and wanting == sorted(wanting, reverse=True)
    assert iterates[0].note == f"{wanting[0]} of 12 labels want more than 10 passes."
    values = [iterate.objective for iterate in iterates]
    assert values[-1] == min(values)
    # Those that were found are not fitted again.
    first, last = iterates[0].estimate.dense(), iterates[-1].estimate.dense()
    same = (abs(first - last) < 1e-12 * abs(first).max()).all(axis=0)
    assert same.sum() == 12 - wanting[0]

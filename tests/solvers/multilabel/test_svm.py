"""Support vector machines: optima by an independent solver, duality, missing labels, memory."""

import numpy as np
import pytest
from scipy.optimize import minimize

from lrlab.models.multilabel import Multilabel
from lrlab.protocol import Stop
from lrlab.runs.run import drive
from lrlab.solvers.multilabel import classifiers
from lrlab.solvers.multilabel.binary_relevance import binary_relevance
from lrlab.solvers.multilabel.label_losses import HINGE, LOSSES

SPEC = Multilabel(n=60, d=6, labels=12, rank=2, per_row=3)
SPECS = {
    "dense": SPEC,
    "dense-missing": SPEC.replace(observed=0.4),
    "sparse": SPEC.replace(d=20, density=0.3),
    "sparse-missing": SPEC.replace(d=20, density=0.3, observed=0.4),
}
every_spec = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)


def run(problem, **options):
    iterates = []
    stop = drive(
        binary_relevance(problem, loss="hinge", rng=np.random.default_rng(0), **options),
        lambda i, s, it: iterates.append(it),
    )
    return stop, iterates


def tables(problem):
    X = problem.X if isinstance(problem.X, np.ndarray) else problem.X.toarray()
    observed = np.ones(problem.Y.shape, bool) if problem.mask is None else problem.mask.toarray()
    return X, 2 * problem.Y.toarray() - 1, observed


def dual_optimum(X, a, weight):
    """Return max over 0 <= alpha <= 1 of sum(alpha) - ||X^T (a alpha)||^2 / (2 lambda): the least value of F."""
    G = (X * a[:, None]) @ (X * a[:, None]).T / weight
    optimum = minimize(
        lambda v: (v @ G @ v / 2 - v.sum(), G @ v - 1), np.zeros(len(a)), jac=True, bounds=[(0, 1)] * len(a),
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000},
    )  # fmt: skip
    return -optimum.fun


@every_spec
def test_the_objective_is_the_optimum_of_the_dual(spec):
    problem, weight = spec.build(), 2.0
    stop, iterates = run(problem, regularization=weight)
    X, a, observed = tables(problem)
    assert stop is Stop.FINISHED
    for iterate in iterates:
        Z = iterate.estimate.dense()
        losses = np.maximum(0, 1 - a * (X @ Z))[observed].sum()
        assert iterate.objective == pytest.approx(losses + weight * (Z**2).sum() / 2, rel=1e-9)
        assert isinstance(iterate.estimate, HINGE.kind)
    best = sum(dual_optimum(X[observed[:, j]], a[observed[:, j], j], weight) for j in range(12))
    assert best * (1 - 1e-9) <= iterates[-1].objective <= best * (1 + 1e-3)


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


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "logistic"])
def test_fewer_rows_than_features_are_fitted_in_the_span_of_the_rows(loss):
    spec = SPEC.replace(n=30, d=80)
    problem, known = spec.build(), LOSSES[loss]
    *_, last = classifiers.one_by_one(problem, known, 10.0)
    target = known.coded(problem.Y.toarray())
    for j, w in enumerate(last.estimate.dense().T):
        expected = classifiers.classifier(problem.X, target[:, j], known, 10.0, 10_000, False)[0]
        # As exact as the tolerance of L-BFGS.
        assert w == pytest.approx(expected, rel=1e-6, abs=1e-4 if loss == "logistic" else 1e-8)

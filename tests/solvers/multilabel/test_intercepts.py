"""Intercepts of all label solvers, and support vector machines: ridge regression's, stationary, optimal by the dual."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from lrlab import catalog
from lrlab.data.dataset import Dataset
from lrlab.data.label_task import LabelProblem
from lrlab.protocol import Limits
from lrlab.runs.run import drive
from lrlab.solvers.multilabel import binary_relevance as br
from lrlab.solvers.multilabel import classifiers
from lrlab.solvers.multilabel.binary_relevance import binary_relevance
from lrlab.solvers.multilabel.labels import LOGISTIC, LOSSES, SQUARED
from tests.solvers import driving
from tests.solvers.driving import SPEC, SPECS, dense, observed_of

ALL = tuple(
    one.name for one in catalog.solvers_for("multilabel", ["leml-logistic", "trace-norm-logistic", "svm", "plst"])
)
COMPLETE = ("cplst", "plst")


def tables(n=90, d=8, L=6, seed=1001, sparse=False, observed=1.0):
    """Return features far from 0, labels of unequal frequencies, and the pattern of those observed."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + rng.uniform(2, 5, d)
    if sparse:
        X *= rng.random((n, d)) < 0.4
    Y = rng.standard_normal((n, L)) + (X - X.mean(axis=0)) @ rng.standard_normal((d, L)) / 2 > np.linspace(-1, 2, L)
    known = None if observed == 1 else rng.random((n, L)) < observed
    return (csr_array(X) if sparse else X), Y.astype(float), known


def problem_of(X, Y, known=None, rank=3, intercept=True):
    """Return the problem whose training rows are its test rows."""
    Y = Y if known is None else Y * known
    data = Dataset(X, csr_array(Y), None if known is None else csr_array(known, dtype=bool))
    return LabelProblem(data, data, rank, intercept=intercept, scaling="none")


def scores(solver, problem, max_iter=10, tol=1e-12, **settings):
    """Return the scores of the training rows after some iterations."""
    entry, found = catalog.solver(solver, "multilabel"), []
    run = entry.run(problem, **dict(entry.settle(settings).options), rng=np.random.default_rng(7))
    drive(run, lambda k, seconds, iterate: found.append(iterate), Limits(tol, max_iter))
    return found[-1].estimate.scores(problem.X)(slice(None))


@pytest.mark.parametrize("observed", [1.0, 0.6])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("shape", [(90, 8), (12, 20)])
def test_binary_relevance_is_the_ridge_regression_of_scikit_learn(shape, sparse, observed, monkeypatch):
    X, Y, known = tables(*shape, sparse=sparse, observed=observed)
    dense = X.toarray() if sparse else X
    observed = np.ones(Y.shape, bool) if known is None else known
    expected = np.column_stack(
        [Ridge(0.3).fit(dense[observed[:, j]], Y[observed[:, j], j]).predict(dense) for j in range(Y.shape[1])]
    )
    problem = problem_of(X, Y, known)
    assert scores("binary-relevance", problem, 300, regularization=0.3) == pytest.approx(expected, abs=1e-8)
    monkeypatch.setattr(br, "CLOSED", 0)
    assert scores("binary-relevance", problem, 300, regularization=0.3) == pytest.approx(expected, abs=1e-8)


def test_incomes_beside_constant_and_equal_columns_are_fitted_as_well():
    X, Y, _ = tables(60, 5, seed=1003)
    X[:, 0], X[:, 1], X[:, 2] = 1e6 * X[:, 0], 7.5, X[:, 3]
    expected = Ridge(1e-3, solver="svd").fit(X, Y).predict(X)
    assert scores("binary-relevance", problem_of(X, Y), regularization=1e-3) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("observed", [1.0, 0.6])
@pytest.mark.parametrize("sparse", [False, True])
def test_leml_at_full_rank_is_that_regression_too(sparse, observed):
    X, Y, known = tables(sparse=sparse, observed=observed)
    problem = problem_of(X, Y, known, rank=6)
    expected = scores("binary-relevance", problem, 300, regularization=2.0)
    settings = {"regularization": 2.0, "penalty": "frobenius", "steps": 40}
    assert scores("leml-squared", problem, 400, **settings) == pytest.approx(expected, abs=1e-6)
    if observed == 1:
        assert scores("leml-squared", problem, 400, inner="exact", **settings) == pytest.approx(expected, abs=1e-6)
        assert scores("cplst", problem, regularization=2.0) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("observed", [1.0, 0.6])
@pytest.mark.parametrize(
    ("loss", "solvers"),
    [(SQUARED, ("leml-squared", "trace-norm-squared")), (LOGISTIC, ("leml-logistic", "trace-norm-logistic"))],
)
def test_intercepts_are_free_of_penalties_so_that_slopes_sum_to_zero(loss, solvers, observed):
    X, Y, known = tables(observed=observed)
    observed = np.ones(Y.shape, bool) if known is None else known
    found = []
    for solver in solvers:
        found.append(scores(solver, problem_of(X, Y, known, rank=6), 600, regularization=4.0))
        slopes = loss.slope(loss.coded(Y), found[-1]) * observed
        assert np.abs(slopes.sum(axis=0)).max() < 1e-4
    # Factors of full rank and the convex problem have the same optimum.
    assert found[0] == pytest.approx(found[1], abs=1e-3)


@pytest.mark.parametrize("solver", ALL)
def test_a_shift_of_the_features_changes_nothing(solver):
    X, Y, known = tables(observed=1.0 if solver in COMPLETE else 0.7)
    near, far = (scores(solver, problem_of(X + shift, Y, known), 3) for shift in (0.0, 50.0))
    # LIBLINEAR and L-BFGS stop early.
    assert far == pytest.approx(near, abs=1e-2 if solver in ("svm",) else 1e-6)


# Sparse rows are not centered for WSABIE, whose steps touch few features, nor for LIBLINEAR, which cannot do so.
@pytest.mark.parametrize("solver", [name for name in ALL if name not in ("wsabie", "svm")])
def test_sparse_features_give_what_dense_ones_give(solver):
    X, Y, known = tables(sparse=True, observed=1.0 if solver in COMPLETE else 0.7)
    sparse, dense = (scores(solver, problem_of(table, Y, known), 3) for table in (X, X.toarray()))
    assert sparse == pytest.approx(dense, abs=1e-6)


@pytest.mark.parametrize("solver", ALL)
def test_labels_that_features_do_not_predict_get_their_frequencies(solver):
    rng = np.random.default_rng(1002)
    X, share = rng.standard_normal((400, 5)) + 3, np.array([0.02, 0.1, 0.3, 0.7])
    Y = (rng.random((400, 4)) < share).astype(float)
    settings = {"wsabie": {}, "bcs": {"ratio": 1.0}}.get(solver, {"regularization": 1e4})
    found = scores(solver, problem_of(X, Y, rank=2), 10, **settings)
    order = found.mean(axis=0)
    assert (np.diff(order) > 0).all()
    if solver in ("binary-relevance", "leml", "cplst", "trace-norm"):
        assert order == pytest.approx(Y.mean(axis=0), abs=1e-8)


@pytest.mark.parametrize("solver", ALL)
@pytest.mark.parametrize("positive", [[0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 1]])
@pytest.mark.parametrize("known", [None, 0.0, 1.0])
def test_labels_that_are_all_the_same_or_unobserved_are_no_error(solver, positive, known):
    X = np.random.default_rng(4).standard_normal((12, 3))
    X[5:] = 0.0
    Y = np.tile(np.array(positive, dtype=float), (12, 1))
    problem = problem_of(X, Y, None if known is None or solver in COMPLETE else np.full(Y.shape, known), rank=2)
    assert np.isfinite(scores(solver, problem, 3)).all()


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared-hinge"])
def test_labels_observed_only_on_or_only_off_are_opposite_and_unobserved_ones_have_no_slope(loss):
    X, Y = np.random.default_rng(9).standard_normal((30, 3)), np.zeros((30, 4))
    Y[:, 0], Y[:15, 1] = 1, 1
    problem = problem_of(X, Y, np.tile([True, True, True, False], (30, 1)), rank=2, intercept=False)
    Z = driving.run(binary_relevance, problem, loss=loss, regularization=1.0)[1][-1].estimate.dense()
    assert Z[:, 0] == pytest.approx(-Z[:, 2], abs=1e-3) and Z[:, 3] == pytest.approx(0, abs=1e-12)


WIDE = SPEC.replace(n=30, d=80)
PEERS = {
    "squared": Ridge(2.0, fit_intercept=False),
    "logistic": LogisticRegression(C=0.5, fit_intercept=False, tol=1e-8, max_iter=10_000),
    "squared-hinge": LinearSVC(C=0.5, fit_intercept=False, tol=1e-8, dual=False),
    "hinge": LinearSVC(C=0.5, fit_intercept=False, tol=1e-6, loss="hinge", random_state=0, max_iter=100_000),
}


@pytest.mark.parametrize("spec", [*SPECS.values(), WIDE], ids=[*SPECS, "wide"])
@pytest.mark.parametrize("loss", PEERS)
def test_binary_relevance_is_what_scikit_learn_finds_for_each_label(loss, spec, monkeypatch):
    problem, widths, fit = spec.build(), {0}, classifiers.classifier
    monkeypatch.setattr(classifiers, "classifier", lambda X, *rest: widths.add(X.shape[1]) or fit(X, *rest))
    _, iterates = driving.run(binary_relevance, problem, loss=loss, regularization=2.0)
    X, observed = dense(problem.X), observed_of(problem)
    a = LOSSES[loss].coded(problem.Y.toarray())

    def objective(Z):
        return LOSSES[loss].value(a, X @ Z)[observed].sum() + (Z**2).sum()

    best = objective(
        np.column_stack([PEERS[loss].fit(X[o], y[o]).coef_.ravel() for y, o in zip(a.T, observed.T, strict=True)])
    )
    for iterate in iterates:
        assert iterate.objective == pytest.approx(objective(iterate.estimate.dense()), rel=1e-9)
        assert isinstance(iterate.estimate, LOSSES[loss].kind)
    assert iterates[-1].objective == pytest.approx(best, rel=1e-3 if loss == "hinge" else 1e-6)
    assert max(widths) <= min(X.shape), "more features than rows are fitted in a basis of their span"


def test_labels_get_more_passes_where_they_need_them():
    problem = SPEC.replace(n=60, d=6, labels=12, per_row=3).build()
    _, iterates = driving.run(binary_relevance, problem, loss="hinge", regularization=1e-3)
    wanting = [int(iterate.note.split(" ")[0]) if iterate.note else 0 for iterate in iterates]
    assert len(wanting) > 1 and wanting == sorted(wanting, reverse=True)
    assert iterates[0].note == f"{wanting[0]} of 12 labels want more than 10 passes."
    values = [iterate.objective for iterate in iterates]
    assert values[-1] == min(values)
    # Those that were found are not fitted again.
    first, last = iterates[0].estimate.dense(), iterates[-1].estimate.dense()
    same = (abs(first - last) < 1e-12 * abs(first).max()).all(axis=0)
    assert same.sum() == 12 - wanting[0]

"""Solvers on own measurements as estimators of scikit-learn: its own checks, pipelines, searches, pickles."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import lrlab
from tests.own import cases

SEED = 20_032
ESTIMATORS = [
    lrlab.SingleIndexClassifier(),
    lrlab.BilinearRegressor(),
    lrlab.QuadraticNetworkRegressor(),
    lrlab.LowRankImputer(),
]
NAMES = [type(estimator).__name__ for estimator in ESTIMATORS]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_s_own_checks(estimator, check):
    check(estimator)


def rows_of(estimator):
    """Return rows, and what is fitted to them: of a form of rank 2, of a direction, or a table with gaps."""
    if isinstance(estimator, lrlab.SingleIndexClassifier):
        return cases.answers(SEED)[:2]
    if isinstance(estimator, lrlab.LowRankImputer):
        return cases.gaps(SEED)[0], None
    if isinstance(estimator, lrlab.BilinearRegressor):
        X, Z, y, _ = cases.bilinear(SEED)
        return np.hstack([X, Z]), y
    return cases.quadratic(SEED)[:2]


def output(estimator, X):
    """Return what an estimator makes of rows."""
    return estimator.transform(X) if hasattr(estimator, "transform") else estimator.predict(X)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=NAMES)
def test_a_pickle_predicts_the_same(estimator):
    X, y = rows_of(estimator)
    fitted = clone(estimator).fit(X, y)
    before = output(fitted, X)
    assert np.array_equal(output(pickle.loads(pickle.dumps(fitted)), X), before)


@pytest.mark.parametrize("estimator", ESTIMATORS[:3], ids=NAMES[:3])
def test_pipelines_and_searches_take_it(estimator):
    X, y = rows_of(estimator)
    name = type(estimator).__name__.lower()
    settings = {"bilinearregressor": {"first": 8}}.get(name, {})
    grid = {"singleindexclassifier": {"scaling": ["columns", "whitened"]}}.get(name, {"rank": [1, 4]})
    pipeline = make_pipeline(StandardScaler(), clone(estimator).set_params(**settings))
    search = GridSearchCV(pipeline, {f"{name}__{key}": values for key, values in grid.items()}, cv=3).fit(X, y)
    assert search.best_score_ > (0.75 if name == "singleindexclassifier" else 0.99)
    assert name == "singleindexclassifier" or search.best_params_[f"{name}__rank"] == 4
    assert output(search, X).shape == y.shape


def test_a_search_for_the_rank_of_an_imputer_has_a_score_of_what_follows():
    given, _ = cases.gaps(SEED)
    y = cases.gaps(SEED)[1][:, :2].sum(axis=1)
    pipeline = make_pipeline(lrlab.LowRankImputer(scaling="none"), StandardScaler(), Ridge(1e-3))
    search = GridSearchCV(pipeline, {"lowrankimputer__rank": [1, 2]}, cv=4).fit(given, y)
    assert search.best_params_["lowrankimputer__rank"] == 2 and search.best_score_ > 0.99


def test_an_imputer_fills_new_rows():
    given, T = cases.gaps(SEED, n1=80)
    imputer = lrlab.LowRankImputer("matrix-irls", rank=2, scaling="none").fit(given[:60])
    assert np.allclose(imputer.transform(given[60:]), T[60:])
    assert np.array_equal(imputer.transform(given)[~np.isnan(given)], given[~np.isnan(given)])


def test_the_direction_of_a_classifier_is_in_the_units_of_the_columns():
    X, y, b = cases.answers(SEED, n=4000)
    classifier = lrlab.SingleIndexClassifier().fit(X, np.where(y, "yes", "no"))
    assert abs(classifier.coef_[0] @ b) > 0.99 * np.linalg.norm(b)
    assert list(classifier.classes_) == ["no", "yes"] and classifier.score(X, np.where(y, "yes", "no")) > 0.8
    assert classifier.predict_proba(X).sum(axis=1) == pytest.approx(1.0)
    assert set(classifier.trace_.link.table) == {"index", "chance", "low", "high"}


@pytest.mark.parametrize(
    ("estimator", "sentence"),
    [
        (lrlab.SingleIndexClassifier("als"), "solver must be"),
        (lrlab.SingleIndexClassifier(scaling="rows"), "scaling must be one of"),
        (lrlab.BilinearRegressor(first=99), r"first must be in 1\.\.13"),
        (lrlab.QuadraticNetworkRegressor(rank=0), "r must be"),
        (lrlab.LowRankImputer(scaling="rows"), "scaling must be one of"),
        (lrlab.LowRankImputer(settings={"steps": 1}), "option must be one of"),
    ],
)
def test_what_is_wrong_is_one_sentence(estimator, sentence):
    with pytest.raises(lrlab.InputError, match=sentence):
        estimator.fit(*rows_of(estimator))

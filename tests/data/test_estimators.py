"""Solvers on own measurements as estimators of scikit-learn: its own checks, pipelines, searches, pickles."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lrlab
from tests.data import cases

SEED = 20_032
ESTIMATORS = [
    lrlab.SingleIndexClassifier(),
    lrlab.BilinearRegressor(),
    lrlab.QuadraticNetworkRegressor(),
    lrlab.LowRankImputer(),
]
NAMES = [type(estimator).__name__ for estimator in ESTIMATORS]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("estimator", [*ESTIMATORS, lrlab.LabelEstimator()], ids=lambda one: type(one).__name__)
def test_scikit_learn_s_own_checks(estimator):
    from sklearn.utils.estimator_checks import check_estimator  # imports most of scikit-learn

    check_estimator(estimator)


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


@pytest.mark.slow
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


def near_pair(seed, gap):
    """Return rows whose last column is the first one but for noise of size `gap`, answers, and the direction."""
    rng = np.random.default_rng(seed)
    X, b = rng.standard_normal((400, 6)), rng.standard_normal(6)
    y = X @ b + rng.logistic(size=400) > 0
    return np.column_stack([X, 2.0 * X[:, 0] + 1.0 + gap * rng.standard_normal(400)]), y, np.append(b, 0.0)


@pytest.mark.slow
def test_a_classifier_s_intervals_hold_where_two_columns_are_nearly_the_same():
    held = []
    for seed in range(SEED, SEED + 20):
        X, y, b = near_pair(seed, 0.01)
        trace = lrlab.SingleIndexClassifier(scaling="whitened").fit(X, y).trace_
        # By the index: the entries of the pair, which are large, are noise.
        sign = np.sign(np.corrcoef(X @ b, X @ trace.recovered)[0, 1])
        standard = sign * b * X.std(axis=0) / (X @ b).std()
        held.append((trace.intervals.low <= standard) & (standard <= trace.intervals.high))
    assert np.mean(held) > 0.9


@pytest.mark.parametrize(
    ("estimator", "sentence"),
    [
        (lrlab.BilinearRegressor(first=99), r"first must be a whole number in 1\.\.13"),
        (lrlab.BilinearRegressor(first="half"), r"first must be a whole number in 1\.\.13, got half"),
        (lrlab.QuadraticNetworkRegressor(rank=0), "r must be"),
        (lrlab.LowRankImputer(scaling="rows"), "scaling must be one of"),
        (lrlab.LowRankImputer(settings={"steps": 1}), "option must be one of"),
    ],
)
def test_what_is_wrong_is_one_sentence(estimator, sentence):
    with pytest.raises(lrlab.InputError, match=sentence):
        estimator.fit(*rows_of(estimator))


def test_a_column_without_numbers_stays_unknown_and_is_named():
    table = cases.gaps(SEED)[0]
    table[:, 2] = np.nan
    imputer = lrlab.LowRankImputer(rank=2).fit(table)
    filled = imputer.transform(table)
    assert np.isnan(filled[:, 2]).all() and np.isfinite(np.delete(filled, 2, axis=1)).all()
    assert imputer.note_ == "Columns 3 have no number: they stay nan."

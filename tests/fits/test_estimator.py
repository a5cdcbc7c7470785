"""Multi-label solvers as estimators of scikit-learn: its own checks, pipelines, searches, and Ridge."""

import numpy as np
import pytest
from scipy.sparse import csc_matrix, csr_array, csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.metrics import f1_score, make_scorer, ndcg_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import lrlab
from lrlab import datasets
from lrlab.datasets.dataset import Dataset
from lrlab.parameters import InputError

# scikit-learn itself skips check_array_api_input, which wants SCIPY_ARRAY_API set.
ESTIMATORS = [lrlab.LabelEstimator(name) for name in ("leml-squared", "wsabie", "bcs")]
# Of few settings, which are tuned as others are.
ESTIMATORS += [lrlab.LabelEstimator(tune_by="ndcg@5", regularization=1.0, feature_scaling="none")]


# One of scikit-learn's checks casts nan to integers.
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_s_own_checks(estimator, check):
    check(estimator)


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@parametrize_with_checks([lrlab.LabelEstimator(tune_by="ndcg@5")])
def test_scikit_learn_s_own_checks_of_one_that_is_tuned(estimator, check):
    check(estimator)


@pytest.mark.parametrize("scaling", ["none", "deviations", "rows"])
@pytest.mark.parametrize("kind", [csr_matrix, csc_matrix])
def test_sparse_rows_of_every_kind_are_scaled(rows, scaling, kind):
    X, Y = np.where(rows[0] > 7.0, rows[0], 0.0), rows[1]
    first, other = (lrlab.LabelEstimator(rank=2, feature_scaling=scaling).fit(of(X), Y) for of in (csr_array, kind))
    np.testing.assert_allclose(other.decision_function(kind(X)), first.decision_function(X), atol=1e-9)


def test_few_rows_are_tuned_by_few_settings(rows):
    # In scikit-learn's checks each fit is to a few rows: with 20 settings on each they took more than 240 s.
    tuned = [lrlab.LabelEstimator(tune_by="ndcg@5").fit(rows[0][:n], rows[1][:n]).tuned for n in (20, 300)]
    assert [len(one.table) for one in tuned] == [5, 21]


@pytest.fixture(scope="module")
def rows():
    """Return features with units of their own and the labels of two directions of them."""
    rng = np.random.default_rng(1010)
    Z = rng.standard_normal((300, 8))
    W = rng.standard_normal((8, 2)) @ rng.standard_normal((2, 6))
    Y = (Z @ W + 0.5 * rng.standard_normal((300, 6)) > 0.5).astype(int)
    return Z * 10.0 ** np.arange(-3, 5) + 7.0, Y


@pytest.fixture(scope="module")
def fitted(rows, tmp_path_factory):
    """Return what `lrlab.fit` returns for files of these rows."""
    paths = [tmp_path_factory.mktemp("rows") / f"{part}.npz" for part in ("train", "test")]
    for path, cut in zip(paths, (slice(0, 200), slice(200, 300)), strict=True):
        datasets.save_npz(path, Dataset(rows[0][cut], csr_array(rows[1][cut].astype(float))))
    return lrlab.fit(*paths, rank=2, regularization=0.5, inner="exact")


def test_what_fit_returns_is_an_estimator(rows, fitted):
    X, Y = rows
    assert fitted.get_params()["settings"] == {"inner": "exact"} and fitted.get_params()["rank"] == 2
    again = clone(fitted)
    with pytest.raises(NotFittedError):
        again.predict(X)
    again.fit(X[:200], Y[:200])
    assert again.decision_function(X) == pytest.approx(fitted.decision_function(X), abs=1e-10)
    assert np.mean(fitted.predict(X[200:]) != Y[200:]) == pytest.approx(fitted.rows[-1]["hamming"])
    assert fitted.model.threshold == 0.5 and fitted.summary()["auc"] > 0.9 and fitted.options["inner"] == "exact"
    with pytest.raises(AttributeError, match="nothing"):
        _ = fitted.nothing


@pytest.mark.parametrize("table", [np.array, csr_array])
def test_binary_relevance_is_ridge_with_intercepts(rows, table):
    X, Y = StandardScaler().fit_transform(rows[0]) + 3, rows[1]
    estimator = lrlab.LabelEstimator("binary-relevance", regularization=2.0, feature_scaling="none")
    scores = estimator.fit(table(X[:200]), table(Y[:200])).decision_function(table(X[200:]))
    assert scores + 0.5 == pytest.approx(Ridge(2.0).fit(X[:200], Y[:200]).predict(X[200:]), abs=1e-8)


def test_pipelines_and_searches_take_it(rows):
    pipeline = make_pipeline(StandardScaler(), lrlab.LabelEstimator(feature_scaling="none"))
    grid = {"labelestimator__regularization": [1e-2, 1.0, 1e4], "labelestimator__rank": [1, 2]}
    scoring = make_scorer(ndcg_score, response_method="decision_function", k=3)
    search = GridSearchCV(pipeline, grid, scoring=scoring, cv=3).fit(*rows)
    assert (
        search.best_params_["labelestimator__rank"] == 2 and search.best_params_["labelestimator__regularization"] < 9
    )
    assert search.best_score_ > 0.8 and search.predict(rows[0]).shape == rows[1].shape
    micro = make_scorer(f1_score, average="micro")
    assert cross_val_score(search.best_estimator_, *rows, scoring=micro, cv=3).min() > 0.8


def test_unknown_labels_are_nan_and_names_come_from_columns(rows):
    import pandas as pd

    X, Y = rows[0], rows[1].astype(float)
    hidden = np.random.default_rng(0).random(Y.shape) < 0.4
    table = pd.DataFrame(np.where(hidden, np.nan, Y), columns=list("abcdef"))
    estimator = lrlab.LabelEstimator(rank=2).fit(X, table)
    assert estimator.model.label_names == tuple("abcdef") == tuple(estimator.classes_)
    assert (estimator.predict(X) == Y)[hidden].mean() > 0.85
    as_zeros = lrlab.LabelEstimator(rank=2).fit(X, np.where(hidden, 0, Y))
    assert (as_zeros.predict(X) == Y)[hidden].mean() < (estimator.predict(X) == Y)[hidden].mean()


@pytest.mark.parametrize(
    ("settings", "Y", "sentence"),
    [
        ({"solver": "leml-square"}, [[0, 1], [1, 0]], 'did you mean "leml-squared"'),
        ({"rank": 3}, [[0, 1], [1, 0]], r"rank must be in 0..2"),
        ({"rank": 1.5}, [[0, 1], [1, 0]], "rank must be a whole number, got 1.5: give rank such a value"),
        ({"settings": {"iner": "exact"}}, [[0, 1], [1, 0]], "option of leml-squared must be one of"),
        ({}, [[0, 2], [1, 0]], "y must be a table of 0 and 1, nan where unknown"),
        ({}, [[0, 1], [1, 0], [1, 1]], "y must be of as many rows as X, 2, got 3"),
    ],
)
def test_what_is_wrong_is_one_sentence(settings, Y, sentence):
    with pytest.raises(InputError, match=sentence):
        lrlab.LabelEstimator(**settings).fit(np.eye(2), np.array(Y))


def test_a_rank_may_be_given_as_text(rows):
    assert lrlab.LabelEstimator(rank="2").fit(*rows).score(*rows) == lrlab.LabelEstimator(rank=2).fit(*rows).score(
        *rows
    )


def test_settings_are_tuned_within_a_fit(rows):
    estimator = lrlab.LabelEstimator(tune_by="ndcg@3", rank=2, iterations=2).fit(*rows)
    assert estimator.tuned.chosen.candidate.rank == 2 and estimator.summary()["tuned"]["score"] > 0.8

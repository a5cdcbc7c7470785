"""Estimators and fits to labels: scikit-learn's own checks, pipelines, tuning, held-out rows, models as files."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lrlab
from lrlab.__main__ import main
from lrlab.data.dataset import Dataset
from lrlab.data.label_task import metric_of
from lrlab.data.reading import read
from lrlab.data.spec import Comparison
from tests.data import cases
from tests.data.cases import save_npz
from tests.thorough import a_third

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


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ESTIMATORS[:3], ids=NAMES[:3])
def test_pipelines_and_searches_take_it(estimator):
    X, y = rows_of(estimator)
    name = type(estimator).__name__.lower()
    settings = {"first": 8} if name == "bilinearregressor" else {}
    grid = {"singleindexclassifier": {"scaling": ["columns", "whitened"]}}.get(name, {"rank": [1, 4]})
    pipeline = make_pipeline(StandardScaler(), clone(estimator).set_params(**settings))
    search = GridSearchCV(pipeline, {f"{name}__{key}": values for key, values in grid.items()}, cv=3).fit(X, y)
    assert search.best_score_ > (0.75 if name == "singleindexclassifier" else 0.99)
    assert name == "singleindexclassifier" or search.best_params_[f"{name}__rank"] == 4
    assert (search.transform if hasattr(search, "transform") else search.predict)(X).shape == y.shape


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


LOW = lrlab.spec("multilabel", n=240, d=12, labels=10, rank=2, per_row=3, noise=0.3, seed=4).build()
rng = np.random.default_rng(6)


def data(drawn=LOW):
    """Return rows to learn from and to test on."""
    return Dataset(drawn.X, drawn.Y), Dataset(drawn.X_test[:200], drawn.Y_test[:200])


@pytest.mark.parametrize("kind", ["low rank", "full rank", "unlike scales"])
def test_the_default_is_not_behind_logistic_regression(kind):
    X, W = rng.standard_normal((500, 8)), rng.standard_normal((8, 6))
    W = W if kind != "low rank" else W[:, :1] @ np.ones((1, 6)) + 0.3 * W
    Y = (X @ W + rng.logistic(size=(500, 6)) > 0.5).astype(int)
    X = X * 10.0 ** rng.uniform(-4, 4, 8) if kind == "unlike scales" else X
    fitted = lrlab.LabelEstimator().fit(X[:300], Y[:300])
    rival = make_pipeline(StandardScaler(), OneVsRestClassifier(LogisticRegression())).fit(X[:300], Y[:300])
    ours = roc_auc_score(Y[300:], fitted.decision_function(X[300:]), average="macro")
    theirs = roc_auc_score(Y[300:], rival.decision_function(X[300:]), average="macro")
    assert ours > theirs - 0.015
    assert "on held-out samples chose" in fitted.trace_.summary()["message"]


@pytest.mark.slow
@pytest.mark.parametrize("metric", a_third(["macro_auc", "precision@3", "hamming"]))
def test_tuning_tunes_what_is_compared(metric):
    given, fresh = data()
    plain = lrlab.recover((given, fresh), solver="leml-squared", max_iter=5)
    tuned = lrlab.recover((given, fresh), solver="leml-squared", tune_by=metric)
    before, after = (metric_of(metric, trace.estimate, fresh.X, fresh.Y, None) for trace in (plain, tuned))
    assert after > before - 0.02
    again = lrlab.recover((given, fresh), solver="leml-squared", tune_by=metric)
    assert again.job == tuned.job and f"{metric} " in tuned.summary()["message"]


def test_held_out_labels_are_not_given():
    given, _ = data()
    trace = lrlab.recover(given, solver="binary-relevance")
    out = trace.job.spec.held
    spoiled = given.Y.toarray()
    spoiled[out] = 1 - spoiled[out]
    again = lrlab.recover(Dataset(given.X, csr_array(spoiled)), solver="binary-relevance")
    assert np.array_equal(again.estimate.scores(given.X), trace.estimate.scores(given.X))
    assert again.rows[-1]["auc"] < 0.5 < trace.rows[-1]["auc"]


def test_unknown_labels_and_names_are_kept():
    Y = LOW.Y.toarray().astype(float)
    Y[rng.random(Y.shape) < 0.3] = np.nan
    trace = lrlab.recover(pd.DataFrame(Y).convert_dtypes(), LOW.X, model="multilabel", solver="leml-squared", rank=2)
    assert trace.job.spec.values()["observed"] == pytest.approx(0.7, abs=0.05) and trace.rows[-1]["auc"] > 0.6


def test_classes_are_predicted():
    X, y = load_iris(return_X_y=True)
    assert cross_val_score(make_pipeline(StandardScaler(), lrlab.LabelEstimator()), X, y).mean() > 0.8
    words = np.array(["setosa", "versicolor", "virginica"])[y]
    assert set(lrlab.LabelEstimator().fit(X, words).predict(X)) == set(words)


@pytest.mark.parametrize("solver", ["leml-squared", "kernel-leml", "bcs"])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_model_is_saved_and_predicts_the_same(solver, sparse, tmp_path, capsys):
    given, fresh = data()
    suffix = "svm" if sparse else "npz"
    paths = [tmp_path / name for name in (f"train.{suffix}", f"test.{suffix}", "model.npz")]
    for path, one in zip(paths, (given, fresh), strict=False):
        if sparse:
            dump_svmlight_file(one.X, one.Y, str(path), multilabel=True)
        else:
            save_npz(path, one)
    given = read(paths[0])
    fresh = read(paths[1], like=given)
    command = ["fit", *map(str, paths[:1]), "--test", str(paths[1]), "--labels", "10", "--solver", solver]
    assert main([*command, "--iterations", "3", "--save", str(paths[2]), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["understood"].startswith("240 rows, 12 features, 10 labels, 200 rows to test on")
    assert {"score", "within", "baseline"} <= set(document["held_out"])
    assert ["no better" in str(Comparison("AUC", 0.6, 0.1, 0.5, up)) for up in (True, False)] == [False, True]
    trace = lrlab.recover((given, fresh), solver=solver, max_iter=3)
    model = lrlab.load_model(paths[2])
    assert np.allclose(model.scores(fresh.X), trace.estimate.scores(fresh.X))
    assert main(["predict", str(paths[2]), str(paths[1]), "--top", "2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["predictions"]
    assert len(rows) == 400 and rows[0]["place"] == 1 and rows[0]["score"] >= rows[1]["score"]


def test_columns_of_other_rows_are_matched_by_name(tmp_path, capsys):
    table = pd.DataFrame(np.hstack([LOW.X, LOW.Y.toarray()]), columns=list("abcdefghijklmnopqrstuv"))
    train, straight, permuted, model = (str(tmp_path / name) for name in ("a.csv", "b.csv", "c.csv", "model.npz"))
    table[:200].to_csv(train, index=False)
    table[200:].to_csv(straight, index=False)
    table[200:].iloc[:, ::-1].to_csv(permuted, index=False)
    command = ["fit", train, "--labels", "last:10", "--solver", "binary-relevance", "--save", model, "--json", "--test"]
    scores, predictions = list[object](), list[object]()
    for rows in (straight, permuted):
        assert main([*command, rows]) == 0
        scores.append(json.loads(capsys.readouterr().out)["held_out"])
        assert main(["predict", model, rows, "--json"]) == 0
        predictions.append(json.loads(capsys.readouterr().out))
    assert scores[0] == scores[1] and predictions[0] == predictions[1]


def test_removed_names_say_what_replaces_them():
    with pytest.raises(AttributeError, match=r"was removed in 0.3: use lrlab.fit"):
        _ = lrlab.fit_ratings

"""Probabilities of labels, calibrated on rows held out: against a known curve, in models, in scikit-learn's form."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.base import clone

import lrlab
from lrlab.datasets.dataset import Dataset
from lrlab.fits import explanations
from lrlab.fits.calibration import calibrated, held_out
from lrlab.fits.fitted_model import load_model, save_model
from lrlab.lowrank import from_product
from lrlab.models.own_rows import OwnProblem
from lrlab.parameters import InputError


def scored(scores, Y):
    """Return what rows held out say of these scores."""
    n, L = scores.shape
    empty, test = Dataset(np.zeros((1, n)), csr_array((1, L))), Dataset(np.eye(n), csr_array(Y.astype(float)))
    return held_out([OwnProblem.between(empty, test, 1)], [from_product(np.eye(n), scores.T.copy())])


@pytest.mark.parametrize(("a", "b"), [(4.0, -3.0), (0.02, 1.0), (300.0, -5.0)])
def test_the_curve_is_that_of_the_labels(a, b):
    rng = np.random.default_rng(1015)
    scores = rng.standard_normal((600, 40)) * 2 / a - b / a
    slope, intercept = calibrated(scored(scores, rng.random(scores.shape) < expit(a * scores + b)))
    assert slope == pytest.approx(a, rel=0.05) and intercept == pytest.approx(b, abs=0.1 * max(1, abs(b)))


def test_scores_that_say_nothing_give_the_share_and_separable_ones_no_certainty():
    rng = np.random.default_rng(1016)
    Y = rng.random((50, 4)) < 0.3
    (slope, intercept), certain = calibrated(scored(-1.0 * Y, Y)), calibrated(scored(5.0 * Y, Y))
    assert slope == 0 and expit(intercept) == pytest.approx(Y.mean(), abs=0.02)
    p = expit(certain[0] * 5.0 * Y + certain[1])
    assert 0.97 < p[Y].min() < 1 and 0 < p[~Y].max() < 0.02
    assert calibrated(scored(1.0 * Y, np.zeros_like(Y))) == () == calibrated(scored(1.0 * Y, np.ones_like(Y)))


@pytest.fixture(scope="module")
def rows():
    """Return rows with labels whose probabilities are known, (X, Y, P)."""
    rng = np.random.default_rng(1017)
    X = rng.standard_normal((1400, 6))
    P = expit(X @ rng.standard_normal((6, 5)) - np.array([0, 1, 2, 1, 3]))
    return X, (rng.random(P.shape) < P).astype(int), P


@pytest.mark.parametrize(
    ("solver", "iterations"), [("leml-squared", 3), pytest.param("wsabie", 10, marks=pytest.mark.soak)]
)
def test_tuned_estimators_give_probabilities(rows, solver, iterations, tmp_path):
    X, Y, P = rows
    estimator = lrlab.LabelEstimator(solver, tune_by="auc", iterations=iterations, rank=3).fit(X[:400], Y[:400])
    p = estimator.predict_proba(X[400:])
    assert p.shape == (1000, 5) and abs(p.mean() - P.mean()) < 0.03
    assert np.corrcoef(p.ravel(), P[400:].ravel())[0, 1] > 0.9
    table = explanations.calibration(estimator.model, Dataset(X[400:], csr_array(Y[400:].astype(float))))
    assert explanations.is_probability(estimator.model) and explanations.calibration_error(table) < 0.05
    save_model(tmp_path / "model.npz", estimator.model)
    assert load_model(tmp_path / "model.npz").calibration == estimator.model.calibration
    arrays = dict(np.load(tmp_path / "model.npz"))
    for wrong in ([1.0], [np.nan, 0.0], [1e200, 0.0]):
        np.savez(tmp_path / "bad.npz", **{**arrays, "calibration": np.array(wrong)})
        with pytest.raises(InputError, match="a calibration of"):
            load_model(tmp_path / "bad.npz")


def test_there_are_none_without_tuning(rows):
    estimator = lrlab.LabelEstimator()
    assert not hasattr(estimator, "predict_proba") and hasattr(lrlab.LabelEstimator(tune_by="auc"), "predict_proba")
    assert not hasattr(estimator.fit(rows[0][:50], rows[1][:50]), "predict_proba")


def test_probabilities_of_classes_sum_to_one(rows):
    X, y = rows[0][:300], (rows[0][:300, 0] > 0) + (rows[0][:300, 1] > 0.5).astype(int)
    estimator = clone(lrlab.LabelEstimator(tune_by="precision@1", rank=2, iterations=2)).fit(X, y)
    p = estimator.predict_proba(X)
    assert p.sum(axis=1) == pytest.approx(1.0) and (estimator.classes_[p.argmax(axis=1)] == estimator.predict(X)).all()

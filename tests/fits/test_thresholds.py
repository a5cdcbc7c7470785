"""Thresholds of single labels: chosen where they gain, kept in the model, used wherever labels are predicted."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import lrlab
from lrlab.datasets.dataset import Dataset
from lrlab.fits import label_results
from lrlab.fits.calibration import best_threshold, held_out, own_thresholds
from lrlab.fits.fitted_model import load_model, save_model
from lrlab.lowrank import from_product
from lrlab.models.own_rows import OwnProblem
from lrlab.parameters import InputError


def scored(scores, Y, known=None):
    """Return what rows held out say of these scores."""
    n, L = scores.shape
    empty = Dataset(np.zeros((1, n)), csr_array((1, L)))
    test = Dataset(np.eye(n), csr_array((Y if known is None else Y & known).astype(float)), known and csr_array(known))
    return held_out([OwnProblem.between(empty, test, 1)], [from_product(np.eye(n), scores.T.copy())])


def test_a_label_whose_scores_are_shifted_gets_a_threshold_of_its_own():
    rng = np.random.default_rng(1011)
    Y = rng.random((300, 6)) < 0.3
    scores = Y + 0.2 * rng.standard_normal(Y.shape) - [0, 0, 0.4, 0, 0, -0.5]
    held = scored(scores, Y)
    common = best_threshold(held)
    own = dict(own_thresholds(held, common))
    assert set(own) >= {2, 5} and own[2] == pytest.approx(0.1, abs=0.15) and own[5] == pytest.approx(1.0, abs=0.15)
    values = np.full(6, common)
    values[list(own)] = list(own.values())
    assert ((scores > values) != Y).mean() < 0.5 * ((scores > common) != Y).mean()


def test_chance_alone_gives_none():
    rng = np.random.default_rng(1012)
    Y = rng.random((200, 200)) < 0.3
    scores = 0.5 * Y + 0.3 * rng.standard_normal(Y.shape)
    held = scored(scores, Y)
    assert len(own_thresholds(held, best_threshold(held))) <= 0.15 * 200
    assert own_thresholds(held, np.nan) == ()


@pytest.fixture(scope="module")
def fitted():
    """Return rows, and a tuned estimator some of whose labels have thresholds of their own."""
    rng = np.random.default_rng(1013)
    X = rng.standard_normal((400, 6))
    # Some labels are on beyond a bend that no line follows: scores are far from 0 and 1.
    Y = np.exp(X @ rng.standard_normal((6, 5))) > np.array([0.5, 1, 4, 9, 16])
    return X, Y, lrlab.LabelEstimator("binary-relevance", tune_by="ndcg@3").fit(X, Y)


def test_models_keep_them(fitted, tmp_path):
    X, Y, estimator = fitted
    model = estimator.model
    assert model.own and model.own == estimator.tuned.chosen.own
    assert estimator.summary()["own_thresholds"] == len(model.own)
    expected = model.scores(X)(slice(None)) > model.thresholds
    assert np.array_equal(estimator.predict(X), expected) and (expected != Y).mean() < 0.1
    save_model(tmp_path / "model.npz", model)
    loaded = load_model(tmp_path / "model.npz")
    assert loaded.own == model.own and loaded.predict(X, 5) == model.predict(X, 5)
    data = Dataset(X, csr_array(Y.astype(float)))
    assert list(label_results.metrics_by_label(loaded, data)["predicted"]) == list(expected.sum(axis=0))
    arrays = dict(np.load(tmp_path / "model.npz"))
    assert arrays["lrlab_model"] == 3
    for name, value in (("own_labels", [9]), ("own_thresholds", [[0.1]]), ("own_thresholds", [np.nan])):
        np.savez(
            tmp_path / "bad.npz",
            **{**arrays, "own_labels": np.array([1]), "own_thresholds": np.array([0.5]), name: np.array(value)},
        )
        with pytest.raises(InputError, match="thresholds of"):
            load_model(tmp_path / "bad.npz")

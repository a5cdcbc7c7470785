"""Explanations of label models: weights, contributions that add up, labels that are alike, calibration, confusion."""

import csv
import json

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.calibration import calibration_curve
from sklearn.metrics import multilabel_confusion_matrix

import lrlab
from lrlab import datasets
from lrlab.__main__ import main
from lrlab.datasets.dataset import Dataset
from lrlab.fits import explanations, label_results
from lrlab.fits.fitted_model import save_model
from lrlab.parameters import InputError


@pytest.fixture(scope="module")
def rows():
    """Return rows of features with offsets; labels a and b are nearly the same, c is the opposite, d is another."""
    rng = np.random.default_rng(1014)
    Z = rng.standard_normal((400, 5))
    scores = np.column_stack([Z[:, 0], Z[:, 0] + 0.1 * Z[:, 1], -Z[:, 0], Z[:, 2]]) + 0.3 * rng.standard_normal(
        (400, 4)
    )
    names = {"feature_names": tuple("vwxyz"), "label_names": tuple("abcd")}
    return Dataset(Z * [1, 10, 100, 1, 1] + 50, csr_array((scores > 0).astype(float)), **names)


@pytest.fixture(scope="module", params=["leml-squared", "leml-logistic", "binary-relevance"])
def model(request, rows, tmp_path_factory):
    """Return the model of a solver, fitted to these rows."""
    path = tmp_path_factory.mktemp("rows") / "rows.npz"
    datasets.save_npz(path, rows)
    return lrlab.fit(path, path, solver=request.param, rank=3, iterations=10, compared=False, areas=False).model


def test_the_strongest_features_are_those_that_labels_are_made_of(model):
    for label, feature in (("a", "v"), ("d", "x")):
        table = explanations.strongest_features(model, explanations.place_of(model, label), 2)
        assert table["feature"][0] == feature and table["weight"][0] > 3 * abs(table["weight"][1])


@pytest.mark.parametrize("table", [np.asarray, csr_array])
def test_contributions_and_the_mean_add_up_to_the_score(model, rows, table):
    X, scores = table(rows.X), model.scores(rows.X)(slice(None))
    lines, mean = explanations.contributions(model, X, 7, 3, 2)
    assert mean == pytest.approx(scores[:, 3].mean(), abs=1e-9)
    assert mean + lines["contribution"].sum() == pytest.approx(scores[7, 3], abs=1e-9)
    assert list(lines["feature"])[0] == "x" and list(lines["feature"])[-1] == "3 others"
    assert lines["value"][0] == rows.X[7, 2]


def test_labels_that_are_alike_are_near_in_the_embedding(model):
    nearest = explanations.nearest_labels(model, 0, 3)
    assert nearest["label"][0] == "b" and nearest["cosine"][0] > 0.85 and nearest["cosine"][2] < -0.85
    places, share = explanations.label_map(model)
    assert np.linalg.norm(places[0] - places[1]) < 0.3 * np.linalg.norm(places[0] - places[2]) and 0.7 < share <= 1
    table = explanations.embedding_table(model)
    assert list(table["label"]) == list("abcd") and table.shape == (4, 1 + len(model.estimate.s))


def test_calibration_is_that_of_scikit_learn(model, rows):
    table = explanations.calibration(model, rows)
    predicted = explanations.probabilities(model, model.scores(rows.X)(slice(None))).ravel()
    truth = rows.Y.toarray().ravel()
    share, mean = calibration_curve(truth, predicted, n_bins=10, strategy="quantile")
    if len(share) == len(table):
        assert table["share"].to_numpy() == pytest.approx(share, abs=0.02)
        assert table["predicted"].to_numpy() == pytest.approx(mean, abs=0.02)
    # Least squares are too unsure of labels that lines separate.
    error = explanations.calibration_error(table)
    assert table["count"].sum() == 1600 and error < (0.05 if model.solver == "leml-logistic" else 0.2)


def test_confusion_is_that_of_scikit_learn(model, rows):
    table = label_results.metrics_by_label(model, rows)
    predicted = model.scores(rows.X)(slice(None)) > model.thresholds
    (tn, fp), (fn, tp) = multilabel_confusion_matrix(rows.Y.toarray(), predicted).T.swapaxes(0, 1)
    for name, values in (
        ("true_positives", tp),
        ("false_positives", fp),
        ("false_negatives", fn),
        ("true_negatives", tn),
    ):
        assert list(table[name]) == list(values)
    assert label_results.imbalance(np.array([8, 4, 0, 2])) == pytest.approx((1 + 2 + 4) / 3)


def test_kernels_have_no_weights_and_rankings_no_probabilities(rows):
    kernel = lrlab.LabelEstimator("kernel-leml", rank=2).fit(rows.X, rows.Y).model
    with pytest.raises(InputError, match="solver must be one with scores that are linear in features, got kernel-leml"):
        explanations.strongest_features(kernel, 0)
    assert explanations.embeddings(kernel).shape[0] == 4
    ranker = lrlab.LabelEstimator("wsabie", rank=2).fit(rows.X, rows.Y).model
    assert not explanations.is_probability(ranker) and explanations.is_probability(kernel)


def test_from_the_shell(rows, tmp_path, capsys):
    path, saved, out = tmp_path / "rows.npz", tmp_path / "model.npz", tmp_path / "embeddings.csv"
    datasets.save_npz(path, rows)
    save_model(saved, lrlab.fit(path, path, rank=2, compared=False).model)
    assert main(["explain", str(saved), "--label", "a", "--embeddings", str(out), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["features"][0]["feature"] == "v" and shown["nearest labels"][0]["label"] == "b"
    assert [row[0] for row in csv.reader(out.read_text().splitlines())] == ["label", *"abcd"]
    assert main(["explain", str(saved), str(path), "--label", "a", "--row", "3"]) == 0
    assert "contributions" in capsys.readouterr().out
    assert main(["explain", str(saved), str(path), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert len(shown["labels"]) == 4 and len(shown["calibration"]) == 10 and shown["calibration error"] < 0.2
    for arguments, sentence in (
        ([], "explain must be one of --label, --embeddings and FILE, got none"),
        (["--label", "q"], "label must be a label of the model, got q"),
        ([str(path), "--label", "a", "--row", "999"], "row must be in 1..400, got 999"),
        (["--row", "1"], "FILE must be given for --row"),
        (["--label", "a", "--labels", "x.txt"], "--labels must be left out without FILE, got x.txt"),
    ):
        assert main(["explain", str(saved), *arguments]) == 2
        assert sentence in capsys.readouterr().err

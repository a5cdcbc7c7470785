"""Multi-label solvers on files: what is read, hidden, fitted, scored and refused."""

import json

import numpy as np
import pytest
from sklearn.metrics import ndcg_score, roc_auc_score

from lrlab import datasets
from lrlab.__main__ import main
from lrlab.datasets.dataset import Dataset
from lrlab.fits.fitting import fit
from lrlab.models.multilabel import Multilabel
from lrlab.models.own_rows import hide
from lrlab.parameters import InputError
from lrlab.protocol import Stop


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write a small data set as two files, and return their paths."""
    folder = tmp_path_factory.mktemp("data")
    problem = Multilabel(n=200, d=9, labels=8, rank=2, per_row=2, density=0.4, seed=3).build()
    names = {"feature_names": [f"x{j}" for j in range(9)], "label_names": [f"y{j}" for j in range(8)]}
    paths = []
    for part, X, Y in (("train", problem.X, problem.Y), ("test", problem.X_test, problem.Y_test)):
        paths.append(folder / f"{part}.npz")
        datasets.save_npz(paths[-1], Dataset(X=X, Y=Y, observed=None, **names))
    return paths


def test_every_solver_is_fitted_and_tested_after_each_iteration(files):
    for solver in ("leml-squared", "leml-logistic", "leml-squared-hinge", "cplst", "plst", "binary-relevance"):
        found = fit(*files, solver=solver, rank=3, iterations=3).summary()
        assert found["iterations"] == len(found["trace"]) >= 1 and found["stop"] in (
            "CONVERGED",
            "FINISHED",
            "MAX_ITER",
        )
        assert found["precision@3"] == found["trace"][-1]["precision@3"] and found["auc"] > 0.7
        assert 20 < found["precision@1"] <= 100, "in percent"
        assert found["auc_rows"] == 1000


def test_what_is_hidden_is_unknown_and_drawn_with_the_seed(files):
    given = datasets.read(files[0])
    few, same, other = (hide(given, 0.3, seed) for seed in (1, 1, 2))
    assert abs(few.observed.nnz - 0.3 * 200 * 8) <= 1
    assert (few.observed != same.observed).nnz == 0 < (few.observed != other.observed).nnz
    assert (few.Y.multiply(few.observed) != few.Y).nnz == 0 < few.Y.nnz < given.Y.nnz
    assert hide(given, 1.0, 0) is given
    again = hide(few, 0.5, 3)
    assert again.observed.multiply(few.observed).nnz == again.observed.nnz < few.observed.nnz


def test_unknown_labels_of_test_rows_do_not_count(files, tmp_path):
    test = hide(datasets.read(files[1]), 0.5, 0)
    datasets.save_npz(tmp_path / "test.npz", test)
    found = fit(files[0], tmp_path / "test.npz", rank=2, iterations=1)
    scores = found.estimate.scores(test.X)(slice(None))
    known, labels = test.observed.toarray(), test.Y.toarray()
    assert found.summary()["hamming"] == pytest.approx(((scores > 0.5) != labels)[known].mean(), abs=1e-12)
    assert found.summary()["micro_auc"] == pytest.approx(roc_auc_score(labels[known], scores[known]), abs=1e-12)
    both = (labels.sum(1) > 0) & (labels.sum(1) < known.sum(1))
    assert found.summary()["auc_rows"] == both.sum() < 1000


def test_more_scores_are_those_of_scikit_learn(files):
    found = fit(*files, rank=3, iterations=2)
    test, summary = datasets.read(files[1]), found.summary()
    scores, labels = found.estimate.scores(test.X)(slice(None)), test.Y.toarray()
    assert summary["ndcg@5"] == pytest.approx(ndcg_score(labels, scores, k=5), abs=1e-12)
    assert summary["macro_auc"] == pytest.approx(roc_auc_score(labels, scores, average="macro"), abs=1e-12)
    assert summary["auc_labels"] == 8


def test_the_same_seed_gives_the_same_fit(files):
    one, two = (fit(*files, rank=2, iterations=2, observed=0.5, seed=4).summary() for _ in range(2))
    for row in (*one["trace"], *two["trace"], one, two):
        row.pop("seconds")
    assert one == two


def test_from_the_shell(files, capsys):
    arguments = ["fit", str(files[0]), "--test", str(files[1]), "--rank", "2", "--iterations", "2"]
    assert main([*arguments, "--regularization", "10", "--set", "inner=exact", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["options"]["regularization"] == 10 and found["options"]["inner"] == "exact"
    assert {"precision@1", "precision@3", "precision@5", "hamming", "auc", "auc_rows", "seconds", "iterations"} <= set(
        found
    )
    assert main(arguments) == 0
    assert "precision@3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        ("--rank 2 --set fitted_rank=3", "--rank must be left out beside --set fitted_rank, got 2"),
        ("--regularization 2 --set regularization=3", "--regularization must be left out beside --set regularization"),
        ("--rank 2 --solver svm", "--rank must be left out of svm, which has none, got 2"),
        ("--solver svm --set inner=exact", "option of svm must be one of"),
    ],
)
def test_an_option_that_counts_for_nothing_is_refused(files, capsys, extra, sentence):
    assert main(["fit", str(files[0]), "--test", str(files[1]), *extra.split()]) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"solver": "leml-square"}, 'solver must be one of .* did you mean "leml-squared"'),
        ({"rank": 9}, r"rank must be in 0..8, the smaller number of features and labels, got 9"),
        ({"rank": 1.5}, "rank must be a whole number, got 1.5"),
        ({"observed": 0.0}, "observed must be a share above 0, at most 1, got 0"),
        ({"iterations": 0}, "iterations must be a whole number from 1"),
        ({"regularisation": 1}, 'option of leml-squared must be one of .* did you mean "regularization"'),
        ({"train": "nowhere.npz"}, "file must be"),
    ],
)
def test_bad_input_is_one_sentence(files, changes, sentence):
    train = changes.pop("train", files[0])
    with pytest.raises(InputError, match=sentence) as caught:
        fit(train, files[1], **changes)
    assert "\n" not in str(caught.value)


def test_a_stopped_fit_keeps_what_it_has(files):
    found = fit(*files, rank=2, iterations=50, max_seconds=0.0)
    assert found.stop is Stop.TIMEOUT and len(found.rows) == 1 and np.isfinite(found.estimate.s).all()


def test_areas_over_very_many_scores_are_left_out_with_a_sentence(files, monkeypatch):
    monkeypatch.setattr("lrlab.fits.row_fit.AREAS_ENTRIES", 7_999)
    for areas, given in ((None, False), (True, True), (False, False)):
        summary = fit(*files, rank=2, iterations=1, compared=False, areas=areas).summary()
        assert ("micro_auc" in summary) is given
        assert any("they sort 8,000 scores" in note for note in summary.get("notes", ())) is (areas is None)

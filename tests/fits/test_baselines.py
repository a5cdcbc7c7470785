"""Baselines of label fits: on labels of unequal frequencies and features with offsets, every solver beats them."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array

from lrlab import catalog, datasets
from lrlab.__main__ import main
from lrlab.datasets.dataset import Dataset
from lrlab.fits import baselines
from lrlab.fits.fitting import fit
from lrlab.fits.settings import Candidate, fit_settings
from lrlab.fits.tuning import evaluate
from lrlab.models.multilabel_problem import label_shares
from lrlab.models.own_rows import OwnProblem, split

ALL = tuple(entry.name for entry in catalog.solvers_for("multilabel"))


def unequal(seed, n=400, d=15, L=20, signal=1.0, sparse=False):
    """Return training and test rows: features with offsets and units of their own, labels on in 1% to 60% of the rows.

    Their scores are linear in three directions of the features, signal times, and noise.
    """
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((2 * n, d))
    W = rng.standard_normal((d, 3)) @ rng.standard_normal((3, L)) / np.sqrt(3 * d)
    scores = signal * Z @ W + 0.5 * rng.standard_normal((2 * n, L))
    Y = scores > np.quantile(scores, 1 - np.geomspace(0.01, 0.6, L), axis=0).diagonal()
    X = Z * 10.0 ** rng.uniform(-2, 2, d) + 10.0 ** rng.uniform(-1, 3, d)
    X = csr_array(X * (rng.random(X.shape) < 0.5)) if sparse else X
    return [Dataset(X[cut], csr_array(Y[cut].astype(float))) for cut in (slice(0, n), slice(n, 2 * n))]


@pytest.fixture
def files(tmp_path):
    """Return a function that writes such rows, and returns the paths."""

    def write(*arguments, **settings):
        paths = [tmp_path / "train.npz", tmp_path / "test.npz"]
        for path, data in zip(paths, unequal(*arguments, **settings), strict=True):
            datasets.save_npz(path, data)
        return paths

    return write


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("solver", ALL)
def test_every_solver_beats_label_frequencies_or_says_that_it_does_not(files, solver, sparse):
    found = fit(*files(1005, sparse=sparse), solver=solver, iterations=1 if solver == "svm" else 10)
    lead = found.rows[-1]["auc"] - found.baselines[baselines.FREQUENCIES]["auc"]
    assert lead >= 0.03 or "label frequencies" in found.remark, lead
    # With half of the features left out, half of the signal is.
    assert lead >= 0.03 or sparse or solver == "bcs", lead


def test_label_frequencies_are_those_of_the_observed_rows():
    train, test = unequal(1006)
    known = np.random.default_rng(0).random(train.Y.shape) < 0.5
    hidden = Dataset(train.X, csr_array(train.Y.toarray() * known), csr_array(known))
    for data in (train, hidden):
        observed = np.ones_like(known) if data.observed is None else known
        shares = label_shares(data.Y, data.observed)
        assert shares == pytest.approx((train.Y.toarray() * observed).sum(axis=0) / observed.sum(axis=0))
    problem = OwnProblem.between(train, test, 2)
    scores = problem.score(baselines.frequencies(train.d, train.Y, None))
    assert 0.6 < scores["auc"] < 0.95


def test_what_is_below_a_baseline_is_said_in_one_sentence(files, capsys):
    paths = files(1007, signal=0.0)
    assert main(["fit", str(paths[0]), "--test", str(paths[1]), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["baselines"]) == {"label frequencies", "full rank"}
    assert set(found["baselines"]["full rank"]) >= {"precision@1", "auc", "hamming"}
    assert found["remark"].startswith("The AUC, 0.") and "that of label frequencies" in found["remark"]
    assert main(["fit", str(paths[0]), "--test", str(paths[1])]) == 0
    out = capsys.readouterr().out
    assert found["remark"] in out and "label frequencies 0." in out
    full = {"full rank": {"auc": 0.8}, "label frequencies": {"auc": 0.6}}
    assert baselines.remark({"auc": 0.75}, full) == "The AUC, 0.750, is below that of full rank, 0.800."
    assert baselines.remark({"auc": 0.85}, full) == ""


def test_full_rank_is_tuned_where_the_fit_is(files):
    paths = files(1008)
    found = fit(*paths, tune_by="auc", rank=3, iterations=2, regularization=1.0)
    alone = fit(*paths, solver="binary-relevance", tune_by="auc", iterations=1, scaling=found.scaling.name)
    assert found.baselines["full rank"]["auc"] == alone.rows[-1]["auc"]
    assert "full rank" not in alone.baselines


def test_baselines_have_thresholds_of_their_own(files):
    train, test = unequal(1009, L=5)
    paths = files(1009, L=5)
    found = fit(*paths, solver="bcs", scaling="deviations", tune_by="auc")
    assert found.threshold is not None and found.own
    expected = OwnProblem.between(train, test, 1).score(baselines.frequencies(train.d, train.Y, None))["hamming"]
    assert found.baselines[baselines.FREQUENCIES]["hamming"] == expected


def test_a_single_label_has_no_auc_in_a_row_and_wants_another_metric(files):
    paths = files(1010, L=1, signal=0.0)
    found = fit(*paths, solver="wsabie", iterations=2)
    wrong, fewest = found.rows[-1]["hamming"], found.baselines[baselines.FREQUENCIES]["hamming"]
    assert wrong > fewest
    assert found.remark == f"The Hamming loss, {wrong:.3f}, is above that of label frequencies, {fewest:.3f}."
    tuned = [fit(*paths, solver="binary-relevance", tune_by=metric) for metric in ("ndcg@5", "macro_auc")]
    assert tuned[0].tuned.chosen == tuned[1].tuned.chosen and not tuned[1].notes
    assert 0 < tuned[0].tuned.chosen.score < 1
    assert tuned[0].notes == ("Of a single label ndcg@5 is the same for all settings: tuned by macro_auc.",)


def test_scores_of_a_single_label_that_are_shrunk_to_nothing_have_no_order():
    rows = unequal(1012, L=5)[0]
    rows = Dataset(rows.X, rows.Y[:, [3]])
    problems = [OwnProblem.between(*split(rows, 0.2, 0), 1)]
    task = fit_settings("leml-squared", {}, rank=1, iterations=10, metric="ndcg@5").of_labels(1)
    assert task.metric == "macro_auc" and task.of_labels(2) == task
    good, nothing = (evaluate(problems, task, Candidate(1, weight)).score for weight in (1.0, 1e4))
    assert nothing == 0.5 < good


def test_a_metric_that_tells_no_settings_apart_is_said(files):
    paths = files(1011, L=2, d=2, signal=0.0)
    found = fit(*paths, solver="binary-relevance", tune_by="ndcg@5")
    assert found.notes == (
        "All settings have the same ndcg@5, so that it chose none of them: tune by macro_auc or hamming.",
    )


def test_what_is_printed_as_equal_is_not_said_to_be_below():
    close = {baselines.FREQUENCIES: {"auc": 0.5, "hamming": 0.21238}, baselines.FULL_RANK: {"auc": 0.82541}}
    assert not baselines.remark({"auc": 0.82539, "hamming": 0.21241}, close)
    assert "0.824, is below that of full rank, 0.825" in baselines.remark({"auc": 0.8244}, close)
    assert "0.213, is above" in baselines.remark({"auc": 0.9, "hamming": 0.2131}, close)


def test_the_uncertainty_of_a_lead_covers_that_of_independent_and_of_paired_scores():
    rng, rows = np.random.default_rng(0), 400
    within = baselines.uncertainty(0.6, 0.5, rows)
    for paired in (False, True):
        first = rng.random((2000, rows))
        second = first if paired else rng.random((2000, rows))
        leads = (first < 0.6).mean(axis=1) - (second < 0.5).mean(axis=1)
        covered = (abs(leads - 0.1) < within).mean()
        assert covered > 0.99 if paired else covered == pytest.approx(0.95, abs=0.015)
    assert baselines.uncertainty(0.6, 0.5, 0) is None

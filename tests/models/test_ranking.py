"""Ranking measures against scikit-learn, against sums over all orders of ties, and on parts of a table."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.metrics import hamming_loss, ndcg_score, roc_auc_score

from lrlab.lowrank import THRESHOLDS
from lrlab.models import ranking


def precision_at(scores, Y, ks=(1, 3, 5), observed=None):
    measures = ranking.row_measures(scores, Y, 0.0, observed, precisions=ks)
    return {k: measures[f"precision_{k}"] for k in ks}


def hamming(scores, Y, threshold, observed=None):
    return ranking.row_measures(scores, Y, threshold, observed)["hamming"]


def ndcg_at(scores, Y, k, observed=None):
    return ranking.row_measures(scores, Y, 0.0, observed, gains=(k,))[f"ndcg_{k}"]


def row_auc(scores, Y, observed=None):
    """Return the mean AUC within a row, and the number of rows that have one."""
    measures = ranking.row_measures(scores, Y, 0.0, observed)
    return measures["auc"], measures["auc_rows"]


def table(seed: int, n: int = 40, L: int = 12, tied: bool = True):
    """Return scores (ties if wanted) and labels; the first row has no label, the second has all."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(-3, 4, (n, L)) / 2 if tied else rng.standard_normal((n, L))
    labels = rng.random((n, L)) < 0.3
    labels[0], labels[1] = False, True
    return scores.astype(float), labels, rng


cases = pytest.mark.parametrize("tied", [True, False], ids=["ties", "no-ties"])


@cases
@pytest.mark.parametrize("k", [1, 3, 5, 12, 50])
def test_ndcg_is_that_of_scikit_learn(tied, k):
    scores, labels, _ = table(k, tied=tied)
    assert ndcg_at(scores, csr_array(labels), k) == pytest.approx(ndcg_score(labels, scores, k=k), abs=1e-12)


@cases
def test_areas_are_those_of_scikit_learn(tied):
    scores, labels, _ = table(0, tied=tied)
    both = labels.any(1) & ~labels.all(1)
    value, count = row_auc(scores, csr_array(labels))
    assert count == both.sum() < 40
    assert value == pytest.approx(roc_auc_score(labels[both], scores[both], average="samples"), abs=1e-12)
    expected = roc_auc_score(labels, scores, average="macro")
    assert ranking.label_auc(scores, csr_array(labels)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("coding", ["zero-one", "signs"])
def test_hamming_takes_the_threshold_of_the_coding(coding):
    scores, labels, rng = table(2)
    exact = labels * 1.0 if coding == "zero-one" else np.where(labels, 1.0, -1.0)
    noisy = exact + 0.6 * rng.standard_normal(exact.shape)
    threshold = THRESHOLDS[coding]
    assert hamming(exact, csr_array(labels), threshold) == 0
    expected = hamming_loss(labels, noisy > threshold)
    assert 0 < hamming(noisy, csr_array(labels), threshold) == pytest.approx(expected, abs=1e-15)


@given(
    st.lists(st.integers(0, 2), min_size=5, max_size=5),
    st.lists(st.booleans(), min_size=5, max_size=5),
    st.integers(1, 5),
)
@settings(max_examples=60)
def test_precision_is_the_mean_over_all_orders_of_equal_scores(scores, labels, k):
    scores, labels = np.array(scores, dtype=float), np.array(labels)
    orders = (np.array(order) for order in permutations(range(5)))
    shares = [labels[order[np.argsort(-scores[order], kind="stable")[:k]]].mean() for order in orders]
    result = precision_at(scores[None], csr_array(labels[None]), (k,))
    assert result[k] == pytest.approx(np.mean(shares), abs=1e-12)


def test_unobserved_entries_are_ignored():
    scores, labels, rng = table(4, n=30)
    observed = rng.random(labels.shape) < 0.7
    Y, mask = csr_array(labels & observed), csr_array(observed)
    wild = np.where(observed, scores, 1e6 * rng.standard_normal(scores.shape))
    areas, gains, hits = [], [], []
    for row, known, truth in zip(scores, observed, labels, strict=True):
        if 0 < truth[known].sum() < known.sum():
            areas.append(roc_auc_score(truth[known], row[known]))
        gains.append(ndcg_score([truth[known]], [row[known]], k=3))
        hits.append(precision_at(row[None, known], csr_array(truth[None, known]), (3,))[3])
    assert row_auc(wild, Y, mask) == (pytest.approx(np.mean(areas), abs=1e-12), len(areas))
    assert ndcg_at(wild, Y, 3, mask) == pytest.approx(np.mean(gains), abs=1e-12)
    assert precision_at(wild, Y, (3,), mask)[3] == pytest.approx(np.mean(hits), abs=1e-12)
    columns = [roc_auc_score(labels[o, j], scores[o, j]) for j, o in enumerate(observed.T)]
    assert ranking.label_auc(wild, Y, mask) == pytest.approx(np.mean(columns), abs=1e-12)
    wrong = hamming_loss(labels[observed], scores[observed] > 0)
    assert hamming(wild, Y, 0.0, mask) == pytest.approx(wrong, abs=1e-15)


def test_blocks_of_rows_and_scores_computed_on_demand_give_the_same(monkeypatch):
    scores, labels, rng = table(6)
    Y, observed = csr_array(labels), csr_array(rng.random(labels.shape) < 0.8)
    whole = everything(scores, Y, observed)
    monkeypatch.setattr(ranking, "COLUMN_ENTRIES", 5 * len(labels))
    monkeypatch.setattr(ranking, "BLOCK_ENTRIES", 7 * labels.shape[1])
    slices = []
    parts = everything(lambda rows: slices.append(rows) or scores[rows], Y, observed)
    assert parts == pytest.approx(whole, abs=1e-13)
    assert max(rows.stop - rows.start for rows in slices) == 7


def everything(scores, Y, observed):
    areas = *row_auc(scores, Y, observed), ranking.label_auc(scores, Y, observed)
    precisions = precision_at(scores, Y, (1, 3), observed)
    rest = ndcg_at(scores, Y, 5, observed), hamming(scores, Y, 0.0, observed)
    return [*areas, *precisions.values(), *rest]


def test_nothing_to_measure_is_nan_with_count_0():
    scores, nothing = np.zeros((3, 4)), csr_array((3, 4))
    assert row_auc(scores, nothing) == (pytest.approx(np.nan, nan_ok=True), 0)
    assert np.isnan(ranking.label_auc(scores, nothing))
    assert np.isnan(hamming(scores, nothing, 0.5, csr_array((3, 4), dtype=bool)))
    assert precision_at(scores, nothing) == {1: 0.0, 3: 0.0, 5: 0.0} and ndcg_at(scores, nothing, 3) == 0


@pytest.mark.parametrize("scores", [np.full((2, 3), np.nan), np.zeros((2, 4))], ids=["nan", "size"])
def test_scores_that_are_no_numbers_or_of_another_size_are_refused(scores):
    with pytest.raises(ValueError, match="scores of rows 0..1 must be 3 finite numbers per row"):
        ndcg_at(scores, csr_array(np.eye(2, 3)), 2)


def test_labels_of_one_kind_have_no_area_and_do_not_count():
    scores, labels, _ = table(4)
    labels[:, 3], labels[:, 7] = False, True
    areas = ranking.label_areas(scores, csr_array(labels))
    assert list(np.flatnonzero(np.isnan(areas))) == [3, 7]
    expected = [roc_auc_score(labels[:, j], scores[:, j]) for j in range(12) if j not in (3, 7)]
    assert areas[~np.isnan(areas)] == pytest.approx(expected, abs=1e-12)
    assert ranking.label_auc(scores, csr_array(labels)) == pytest.approx(np.mean(expected))
    assert np.isnan(ranking.label_areas(np.zeros((0, 4)), csr_array((0, 4)))).all()

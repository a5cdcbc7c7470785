"""The multi-label model: what is drawn, what is seen, and ranking metrics against scikit-learn and orders of ties."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.metrics import hamming_loss, ndcg_score, roc_auc_score

from lrlab import lowrank
from lrlab.models import ranking
from lrlab.models.multilabel import Multilabel, MultilabelProblem, best_linear
from tests.solvers.driving import dense

SPEC = Multilabel(n=300, d=12, labels=20, rank=3, per_row=2)
SPARSE = SPEC.replace(d=200, density=0.1)


@pytest.mark.parametrize("spec", [SPEC, SPARSE])
def test_labels_are_those_of_the_highest_scores(spec):
    problem, W = spec.replace(noise=0.0).build(), spec.truth()
    for X, Y in ((problem.X, problem.Y), (problem.X_test, problem.Y_test)):
        scores, on = dense(X) @ W.dense(), Y.toarray() > 0
        assert (on.sum(axis=1) == spec.per_row).all()
        assert (np.where(on, scores, np.inf).min(axis=1) >= np.where(on, -np.inf, scores).max(axis=1)).all()
    assert (dense(problem.X)[:, 0] == 1).all()
    score = problem.score(W)
    assert score["precision_1"] == score["auc"] == 1 and score["precision_5"] == pytest.approx(spec.per_row / 5)


def test_unobserved_zero_and_positive_labels_are_distinct():
    problem, whole = SPEC.replace(observed=0.3).build(), SPEC.build()
    observed, on = problem.mask.toarray(), whole.Y.toarray() > 0
    assert observed.sum() == pytest.approx(0.3 * observed.size, rel=0.01)
    assert ((problem.Y.toarray() > 0) == (on & observed)).all() and (on & ~observed).any() and (~on & observed).any()
    assert (problem.X == whole.X).all() and (problem.Y_test != whole.Y_test).nnz == 0


def own(rng, rows, labels=6):
    X, Y = rng.standard_normal((rows, 4)), (rng.random((rows, labels)) < 0.3).astype(int)
    return X, Y


def test_own_tables_are_used_without_being_changed():
    rng = np.random.default_rng(0)
    (X, Y), (X_test, Y_test) = own(rng, 20), own(rng, 9)
    mask = rng.random(Y.shape) < 0.5
    problem = MultilabelProblem(X, csr_array(Y * mask), csr_array(mask), X_test, csr_array(Y_test), 2)
    assert (problem.Y.toarray() == Y * mask).all() and (problem.mask.toarray() == mask).all()
    assert X.flags.writeable and not problem.X.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        problem.Y.data[0] = 2


FEW = Multilabel(n=300, d=12, labels=20, rank=3, per_row=0, seen_per_row=2)


@pytest.mark.parametrize("spec", [FEW, FEW.replace(density=0.3)])
def test_labels_are_on_where_scores_are_positive_and_few_of_each_row_are_observed(spec):
    problem, W = spec.replace(noise=0.0).build(), spec.truth()
    on, observed = dense(problem.X) @ W.dense() > 0, problem.mask.toarray()
    assert (observed.sum(axis=1) == 2).all() and observed.sum(axis=0).min() > 10, "drawn for each row"
    assert ((problem.Y.toarray() > 0) == (on & observed)).all()
    whole = spec.replace(noise=0.0, seen_per_row=0).build()
    assert whole.mask is None and ((whole.Y.toarray() > 0) == on).all()
    held = sum(part.nbytes for t in (problem.Y, problem.mask) for part in (t.data, t.indices, t.indptr))
    assert held <= spec.data_bytes and problem.mask.nnz == spec.observed_entries


def test_the_best_predictor_is_that_of_many_rows():
    spec = FEW.replace(n=200_000, noise=0.7, seen_per_row=0)
    problem, best = spec.build(), best_linear(spec.truth(), 0.7)
    assert problem.best.dense() == pytest.approx(best.dense()) and len(best.s) == 4
    assert csr_array.mean(problem.Y, axis=0) == pytest.approx(best.dense()[0], abs=0.01)
    fitted = np.linalg.lstsq(problem.X, problem.Y.toarray())[0]
    assert fitted == pytest.approx(best.dense(), abs=0.01)
    # The rest is the difference of two risks, here on given rows.
    risks = [
        ((problem.Y.toarray() - problem.X @ Z) ** 2).sum(axis=1) / (2 * spec.labels)
        for Z in (1.2 * best.dense(), best.dense())
    ]
    excess = problem.score(best._replace(s=1.2 * best.s))["excess_risk"]
    gap = risks[0] - risks[1]
    assert excess == pytest.approx(gap.mean(), abs=5 * gap.std() / np.sqrt(spec.n))


def measures(scores, Y, threshold=0.0, observed=None):
    """Return all metrics of scores."""
    rows = ranking.row_measures(scores, Y, threshold, observed, precisions=(1, 3, 5), gains=(1, 3, 5, 12, 50))
    return {**rows, "label_auc": ranking.label_auc(scores, Y, observed)}


def table(tied, n=40, L=12):
    """Return scores (ties if wanted), labels and which are observed; the first row and a column are all negative."""
    rng = np.random.default_rng(4)
    scores = rng.integers(-3, 4, (n, L)) / 2 if tied else rng.standard_normal((n, L))
    labels = rng.random((n, L)) < 0.3
    labels[0] = labels[:, 3] = False
    return scores.astype(float), labels, rng.random(labels.shape) < 0.7


def both(labels):
    return 0 < labels.sum() < len(labels)


@pytest.mark.parametrize("tied", [True, False], ids=["ties", "no-ties"])
@pytest.mark.parametrize("missing", [True, False])
@pytest.mark.parametrize("turned", [True, False])
def test_metrics_are_those_of_scikit_learn_on_observed_entries(tied, missing, turned):
    scores, labels, observed = table(tied)
    observed |= not missing
    labels ^= turned
    rows = [(truth[known], row[known]) for truth, row, known in zip(labels, scores, observed, strict=True)]
    columns = [(truth[known], row[known]) for truth, row, known in zip(labels.T, scores.T, observed.T, strict=True)]
    wild = np.where(observed, scores, 1e6)
    found = measures(wild, csr_array(labels & observed), 0.25, csr_array(observed) if missing else None)
    areas = [roc_auc_score(*row) for row in rows if both(row[0])]
    assert found["auc_rows"] == len(areas) < 40 and found["auc"] == pytest.approx(np.mean(areas), abs=1e-12)
    areas = [roc_auc_score(*column) if both(column[0]) else np.nan for column in columns]
    assert found["label_auc"] == pytest.approx(np.nanmean(areas), abs=1e-12) and np.isnan(areas).sum() == 1
    assert ranking.label_areas(wild, csr_array(labels & observed), csr_array(observed)) == pytest.approx(
        areas, abs=1e-12, nan_ok=True
    )
    for k in (1, 3, 12, 50):
        gains = [ndcg_score([truth], [row], k=k) for truth, row in rows]
        assert found[f"ndcg_{k}"] == pytest.approx(np.mean(gains), abs=1e-12)
    wrong = hamming_loss(labels[observed], scores[observed] > 0.25)
    assert found["hamming"] == pytest.approx(wrong, abs=1e-15)


def test_the_threshold_is_the_estimates():
    rng = np.random.default_rng(1)
    (X, Y), (X_test, Y_test) = own(rng, 30), own(rng, 50)
    problem, W = MultilabelProblem(X, csr_array(Y), None, X_test, csr_array(Y_test), 2), rng.standard_normal((4, 6))

    class AtZero(lowrank.LowRank):
        threshold = 0.0

    for kind, threshold in ((lowrank.LowRank, 0.5), (AtZero, 0.0)):
        score = problem.score(kind(*lowrank.from_dense(W)))
        expected = measures(X_test @ W, csr_array(Y_test), threshold)
        assert score == pytest.approx({name: expected[name] for name in score})


@given(
    st.lists(st.integers(0, 2), min_size=5, max_size=5),
    st.lists(st.booleans(), min_size=5, max_size=5),
    st.sampled_from([1, 3, 5]),
    st.integers(0, 2),
)
@settings(max_examples=60)
def test_precision_is_the_mean_over_all_orders_of_equal_scores(scores, labels, k, unobserved):
    """Entries that are not observed are not there."""
    values, truth = np.array(scores, dtype=float), np.array(labels)
    orders = (np.array(order) for order in permutations(range(5)))
    fractions = [truth[order[np.argsort(-values[order], kind="stable")[:k]]].mean() for order in orders]
    wide = np.concatenate([values, np.full(unobserved, 9.0)])[None]
    observed = csr_array((np.arange(5 + unobserved) < 5)[None])
    result = measures(wide, csr_array(np.pad(truth, (0, unobserved))[None]), observed=observed)
    assert result[f"precision_{k}"] == pytest.approx(np.mean(fractions), abs=1e-12)


def test_blocks_of_rows_and_scores_computed_on_demand_give_the_same(monkeypatch):
    scores, labels, observed = table(tied=True)
    Y, mask, slices = csr_array(labels & observed), csr_array(observed), []
    whole = measures(scores, Y, observed=mask)
    monkeypatch.setattr(ranking, "COLUMN_ENTRIES", 5 * len(labels))
    monkeypatch.setattr(ranking, "BLOCK_ENTRIES", 7 * labels.shape[1])
    parts = measures(lambda rows: slices.append(rows) or scores[rows], Y, observed=mask)
    assert parts == pytest.approx(whole, abs=1e-13) and max(rows.stop - rows.start for rows in slices) == 7


def test_nothing_to_measure_is_nan_with_count_0():
    nothing = csr_array((3, 4))
    found = measures(np.zeros((3, 4)), nothing, observed=csr_array((3, 4), dtype=bool))
    assert all(np.isnan(found[name]) for name in ("auc", "label_auc", "hamming")) and found["auc_rows"] == 0
    assert found["precision_1"] == found["precision_5"] == found["ndcg_3"] == 0
    assert np.isnan(ranking.label_areas(np.zeros((0, 4)), csr_array((0, 4)))).all()


@pytest.mark.parametrize("scores", [np.full((2, 3), np.nan), np.zeros((2, 4))], ids=["nan", "size"])
def test_scores_that_are_no_numbers_or_of_another_size_are_refused(scores):
    with pytest.raises(ValueError, match="scores of rows 0..1 must be 3 finite numbers per row"):
        measures(scores, csr_array(np.eye(2, 3)))

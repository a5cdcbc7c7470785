"""The multi-label model: what is drawn, what is seen, and ranking metrics against scikit-learn and orders of ties."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, issparse
from sklearn.metrics import hamming_loss, ndcg_score, roc_auc_score

from lrlab import catalog, lowrank
from lrlab.models import ranking
from lrlab.models.multilabel import Multilabel
from lrlab.models.multilabel_problem import MultilabelProblem, best_linear
from lrlab.parameters import InputError
from lrlab.runs.job import make_job
from lrlab.runs.run import run_job
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


def test_data_bytes_cover_what_is_held():
    for spec in (SPEC, SPARSE.replace(observed=0.5), SPEC.replace(observed=0.2)):
        problem = spec.build()
        tables = [problem.X, problem.Y, problem.mask, problem.X_test, problem.Y_test]
        parts = [p for t in tables if issparse(t) for p in (t.data, t.indices, t.indptr)]
        held = sum(part.nbytes for part in parts + [t for t in tables if isinstance(t, np.ndarray)])
        assert held <= spec.data_bytes


def own(rng, rows, labels=6):
    X, Y = rng.standard_normal((rows, 4)), (rng.random((rows, labels)) < 0.3).astype(int)
    return X, Y


def test_own_tables_are_used_without_being_changed():
    rng = np.random.default_rng(0)
    (X, Y), (X_test, Y_test) = own(rng, 20), own(rng, 9)
    mask = rng.random(Y.shape) < 0.5
    problem = MultilabelProblem.of(X, csr_array(5 * Y), mask, X_test, Y_test, 2)
    assert (problem.Y.toarray() == Y * mask).all() and (problem.mask.toarray() == mask).all()
    assert X.flags.writeable and not problem.X.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        problem.Y.data[0] = 2


@pytest.mark.parametrize(
    ("cut", "sentence"),
    [
        ({"Y": slice(5)}, "Y must be a table of 20 rows, as the features have, got 5"),
        ({"Y_test": slice(5)}, "Y_test must be a table of 9 rows"),
        ({"X_test": (slice(None), slice(3))}, "X_test must be a table of the 4 columns of the training samples, got 3"),
        ({"mask": slice(5)}, r"mask must be of the size \(20, 6\) of the labels"),
    ],
)
def test_tables_that_do_not_fit_are_refused(cut, sentence):
    rng = np.random.default_rng(0)
    (X, Y), (X_test, Y_test) = own(rng, 20), own(rng, 9)
    tables = {"X": X, "Y": Y, "mask": Y, "X_test": X_test, "Y_test": Y_test}
    with pytest.raises(InputError, match=sentence):
        MultilabelProblem.of(**{name: t[cut[name]] if name in cut else t for name, t in tables.items()}, rank=2)
    with pytest.raises(InputError, match="rank must be in 1..min"):
        MultilabelProblem.of(**tables, rank=5)


def test_scores_are_those_of_scikit_learn_and_the_threshold_is_the_estimates():
    rng = np.random.default_rng(1)
    (X, Y), (X_test, Y_test) = own(rng, 30), own(rng, 50)
    problem = MultilabelProblem.of(X, Y, None, X_test, Y_test, 2)
    W = rng.standard_normal((4, 6))
    score, scores = problem.score(lowrank.from_dense(W)), X_test @ W
    both = [i for i in range(50) if 0 < Y_test[i].sum() < 6]
    assert score["auc"] == pytest.approx(np.mean([roc_auc_score(Y_test[i], scores[i]) for i in both]), abs=1e-12)
    assert score["hamming"] == pytest.approx(((scores > 0.5) != Y_test).mean(), abs=1e-12)

    class AtZero(lowrank.LowRank):
        threshold = 0.0

    signed = problem.score(AtZero(*lowrank.from_dense(W)))
    assert signed["hamming"] == pytest.approx(((scores > 0) != Y_test).mean(), abs=1e-12)
    assert signed["auc"] == score["auc"]


FEW = Multilabel(n=300, d=12, labels=20, rank=3, per_row=0, seen_per_row=2)


@pytest.mark.parametrize("spec", [FEW, FEW.replace(density=0.3)])
def test_labels_are_on_where_scores_are_positive_and_few_of_each_row_are_observed(spec):
    problem, W = spec.replace(noise=0.0).build(), spec.truth()
    X = problem.X if isinstance(problem.X, np.ndarray) else problem.X.toarray()
    on, observed = X @ W.dense() > 0, problem.mask.toarray()
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


def test_solvers_that_need_all_labels_refuse_missing_ones():
    with pytest.raises(InputError, match="seen_per_row must be 0 for this solver, .* got 2: set seen_per_row=0"):
        make_job(FEW, "cplst")
    for entry in catalog.solvers_for("multilabel"):
        try:
            trace = run_job(make_job(FEW, entry.name, max_iter=3))
        except InputError as refusal:
            assert "seen_per_row must be 0" in str(refusal)
        else:
            assert np.isfinite(trace.table["auc"]).all()


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
    # Labels of one kind have no area and do not count.
    labels[:, 3], labels[:, 7] = False, True
    areas, others = ranking.label_areas(scores, csr_array(labels)), np.delete(np.arange(12), (3, 7))
    assert list(np.flatnonzero(np.isnan(areas))) == [3, 7]
    assert areas[others] == pytest.approx(roc_auc_score(labels[:, others], scores[:, others], average=None), abs=1e-12)
    assert ranking.label_auc(scores, csr_array(labels)) == pytest.approx(np.mean(areas[others]), abs=1e-12)
    assert np.isnan(ranking.label_areas(np.zeros((0, 4)), csr_array((0, 4)))).all()


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

"""The multi-label model: what is drawn, what is seen, and how predictions are scored."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.metrics import roc_auc_score

from lrlab import catalog, lowrank
from lrlab.models.multilabel import Multilabel
from lrlab.models.multilabel_problem import MultilabelProblem, best_linear
from lrlab.parameters import InputError
from lrlab.runs.job import make_job
from lrlab.runs.run import run_job

SPEC = Multilabel(n=300, d=12, labels=20, rank=3, per_row=2)
SPARSE = SPEC.replace(d=200, density=0.1)


def dense(table):
    return table.toarray() if issparse(table) else table


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


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"rank": 30}, r"rank must be in 1..min\(d, labels\) = 12, got 30: lower the rank"),
        ({"per_row": 20}, "per_row must be less than labels = 20, got 20"),
        ({"seen_per_row": 20}, "seen_per_row must be less than labels = 20, got 20: set it to 0"),
        ({"observed": 0.5, "seen_per_row": 2}, "observed must be 1 if seen_per_row is not 0, got 0.5"),
    ],
)
def test_contradictions_are_refused(changes, sentence):
    with pytest.raises(InputError, match=sentence):
        SPEC.replace(**changes)


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

"""Labels seen a few a row, labels that are on by themselves, and the risk that is left of predictors."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from lrlab import catalog
from lrlab.models.multilabel import Multilabel
from lrlab.models.multilabel_problem import best_linear
from lrlab.parameters import InputError
from lrlab.runs.job import make_job
from lrlab.runs.run import run_job

SPEC = Multilabel(n=300, d=12, labels=20, rank=3, per_row=0, seen_per_row=2)


@pytest.mark.parametrize("spec", [SPEC, SPEC.replace(density=0.3)])
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
    spec = SPEC.replace(n=200_000, noise=0.7, seen_per_row=0)
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


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"seen_per_row": 20}, "seen_per_row must be less than labels = 20, got 20: set it to 0"),
        ({"observed": 0.5}, "observed must be 1 if seen_per_row is not 0, got 0.5"),
    ],
)
def test_contradictions_are_refused(changes, sentence):
    with pytest.raises(InputError, match=sentence):
        SPEC.replace(**changes)


def test_solvers_that_need_all_labels_refuse_missing_ones():
    with pytest.raises(InputError, match="seen_per_row must be 0 for this solver, .* got 2: set seen_per_row=0"):
        make_job(SPEC, "cplst")
    for entry in catalog.solvers_for("multilabel"):
        try:
            trace = run_job(make_job(SPEC, entry.name, max_iter=3))
        except InputError as refusal:
            assert "seen_per_row must be 0" in str(refusal)
        else:
            assert np.isfinite(trace.table["auc"]).all()

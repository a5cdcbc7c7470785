"""Gross errors: how they are drawn, and that trimmed least squares recovers where least squares does not."""

import numpy as np
import pytest

import lrlab
from lrlab.models.low_rank_problem import OUTLIER
from lrlab.protocol import Stop
from lrlab.solvers.low_rank.trimmed import within

SPECS = [
    lrlab.spec("rank-one-sensing", d1=30, d2=30, rank=2, m=500),
    lrlab.spec("polynomial-network", p=40, r=2, m=400),
    lrlab.spec("inductive-completion", features="canonical", n1=60, n2=60, rank=2, observed=0.35),
    lrlab.spec("multilabel-regression", n=120, d=15, labels=40, rank=2, observed=0.3),
]
IDS = [spec.model for spec in SPECS]


@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_so_many_measurements_are_wrong_by_so_much(spec):
    clean, wrong = spec.build().b, spec.replace(outliers=0.1).build().b
    apart = np.abs(wrong - clean)
    hit = apart > 1e-9
    assert hit.sum() == round(0.1 * len(clean)) and (wrong[~hit] == clean[~hit]).all()
    assert apart[hit] == pytest.approx(OUTLIER * np.sqrt(np.mean(clean**2)))


@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_it_recovers_with_a_fifth_of_the_measurements_wrong(spec):
    for seed in (32000, 32001):
        wrong = spec.replace(outliers=0.2, seed=seed)
        trimmed = lrlab.solve(wrong, "trimmed-gauss-newton")
        assert trimmed.stop is Stop.SETTLED and trimmed.metrics["weakest_error"] < 1e-8
        assert f"{round(0.2 * wrong.measurements)} of {wrong.measurements} measurements excluded" in trimmed.note
        squares = lrlab.solve(wrong, "gauss-newton", max_iter=30)
        assert squares.metrics["weakest_error"] > 0.5 and trimmed.metrics["misfit"] > 0.9 * squares.metrics["misfit"]


def test_under_noise_the_objective_is_that_of_what_fits():
    trace = lrlab.solve(SPECS[0].replace(noise=0.05, outliers=0.1), "trimmed-gauss-newton")
    problem = trace.problem
    rest = problem.operator(trace.estimate) - problem.b
    fits = within(rest, 3.0, 0.0)
    assert trace.stop is Stop.SETTLED and 0.9 * 500 >= fits.sum() > 0.85 * 500
    assert trace.metrics["objective"] == pytest.approx(float(rest[fits] @ rest[fits]) / 2)
    assert trace.metrics["weakest_error"] < 0.05


def test_without_gross_errors_it_ends_where_gauss_newton_does():
    trimmed, squares = (lrlab.solve(SPECS[0], name) for name in ("trimmed-gauss-newton", "gauss-newton"))
    assert trimmed.estimate.dense() == pytest.approx(squares.estimate.dense(), abs=1e-9)


def test_the_sentence_on_a_misfit_counts_gross_errors():
    spec = SPECS[0].replace(outliers=0.2, assumed_rank=2)
    assert spec.judgement({"misfit": 0.97}) == ""
    assert "is larger than noise leaves" in spec.replace(outliers=0.0).judgement({"misfit": 0.97})
